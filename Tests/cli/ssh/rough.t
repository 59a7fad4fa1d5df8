#!/bin/sh
# Narrow and slow links, login files that talk, two people at one session, folders with
# names that shells read otherwise.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
direct=$port
clients_are() { [ "$(rtmux list-clients -t "=$1" | wc -l)" -eq "$2" ]; }

# Noise before, without an end of line, and words like ours.
cat >"$remote_home/.profile" <<'EOF'
PATH=$HOME/bin:$PATH
printf 'Welcome\033[2J to the box\nno server running on /tmp\n'
echo 'error connecting to nowhere' >&2
printf 'last words'
EOF
echo 'echo from bashrc' >"$remote_home/.bashrc"
attach_args
# The first trust is told once.
# shellcheck disable=SC2086
run tmux-attach $attach_args -l
for transport in $transports; do
  port=$direct
  attach_args
  # shellcheck disable=SC2086
  run tmux-attach $attach_args -l
  status_is 1 "$transport: noisy login files: no sessions is an answer"
  err_empty "$transport: without a reason"
  out_empty "$transport: and an empty one"
  start_proxy "$transport"
  attach "$transport" -s "$transport"
  ok "$transport: the prompt" at "$transport" expect 'claude> '
  at "$transport" quiet 0.3
  at "$transport" seen
  # shellcheck disable=SC2086
  run tmux-attach $attach_args -l
  is "$(jq -r .name "$out")" "$transport" "$transport: the list is right"
  link rst
  ok "$transport: back" at "$transport" expect '\e[?1049h'
  # As with ssh, login files may have something to say, or to ask; once.
  is "$(grep -ac 'last words' "$tmp/$transport.screen")" 1 \
    "$transport: back at the session, their noise is not shown again"
  at "$transport" send '\r~.'
  ok "$transport: ended" at "$transport" end 5
  rtmux kill-server
done
rm "$remote_home/.bashrc"
# shellcheck disable=SC2016
echo 'PATH=$HOME/bin:$PATH' >"$remote_home/.profile"

# Folders: none of it may ever be a command.
number=0
touch "$tmp/before"
# shellcheck disable=SC2016
for folder in 'two words' "it's" 'say "so"' 'ends;' ';touch hit;' '$(touch hit)' '`touch hit`' \
  '#{pid}' 'a\b' "-n" '~' 'ünï' '*' '%1' 'x ; kill-server' '!! &&'; do
  mkdir -p "$remote_home/src/$folder"
  number=$((number + 1))
  transport=libssh2
  [ $((number % 4)) -ne 0 ] || transport=ssh
  attach "at$number" -s "at$number" -d "$remote_home/src/$folder"
  at "at$number" expect 'claude> '
  is "$(agent_says "at$number" 'select(.what == "start").cwd')" "$remote_home/src/$folder" \
    "$transport: starts in $folder"
  at "at$number" kill TERM
  rtmux kill-session -t "=at$number"
done
# shellcheck disable=SC2016,SC2088
for folder in '~/src/two words' '$HOME/src/two words' "$remote_home/src/two words"; do
  number=$((number + 1))
  transport=libssh2
  attach "at$number" -s "at$number" -d "$folder"
  at "at$number" expect 'claude> '
  is "$(agent_says "at$number" 'select(.what == "start").cwd')" "$remote_home/src/two words" \
    "starts in $folder"
  at "at$number" kill TERM
done
is "$(find "$tmp" / -maxdepth 1 -name hit 2>/dev/null; find "$remote_home" "$HOME" . -maxdepth 3 -name hit)" '' \
  'and nothing was run'
rtmux kill-server

# Two at one session: the one whose link hangs comes back, the other stays.
for transport in $transports; do
  port=$direct
  attach "stays$transport" -s "$transport"
  ok "$transport: one is there" at "stays$transport" expect 'claude> '
  stays=$(rtmux list-clients -t "=$transport" -F '#{client_pid}')
  start_proxy "$transport"
  attach "$transport" -s "$transport" --keepalive 1
  ok "$transport: another comes" at "$transport" expect 'claude> '
  lost=$(rtmux list-clients -t "=$transport" -F '#{client_pid}' | grep -vx "$stays")
  at "$transport" quiet 0.3
  at "$transport" seen
  link blackhole
  ok "$transport: whose link hangs and is made anew" wait_until 15 tried 2
  ok "$transport: back" at "$transport" within 10 expect '\e[?1049h'
  ok "$transport: two clients" wait_until 5 clients_are "$transport" 2
  clients=$(rtmux list-clients -t "=$transport" -F '#{client_pid}')
  like "$clients" "^$stays\$" "$transport: the one that stayed"
  unlike "$clients" "^$lost\$" "$transport: and not the one that was lost"
  at "stays$transport" send 'inc\r'
  ok "$transport: both see the same" at "$transport" expect 'count 1'
  at "stays$transport" send '\r~.'
  ok "$transport: one leaves" at "stays$transport" end 5
  ok "$transport: the other stays" wait_until 5 clients_are "$transport" 1
done

# A link with 300 ms each way, and one with 20 kB/s: slow, and right.
for transport in $transports; do
  link=$transport
  link pass
  link delay 300
  at "$transport" send 'inc\r'
  ok "$transport: far away, a key is seen" at "$transport" expect 'count 2'
  at "$transport" send '\r~.'
  ok "$transport: and ~. works at once" at "$transport" end 1
  attach "far$transport" -s "$transport"
  ok "$transport: an attach from far away" at "far$transport" expect 'claude> '
  link pass
  link rate 50000
  at "far$transport" send 'flood 200000\r'
  ok "$transport: a flood over a narrow link" at "far$transport" within 40 expect flooded
  at "far$transport" send 'inc\r'
  ok "$transport: and keys after it" at "far$transport" expect 'count 3'
  link pass
  at "far$transport" kill TERM
  ok "$transport: TERM ends it" at "far$transport" end 5
  is "$(seat_says "far$transport" '.termios, .modes')" 'true
[]' "$transport: and the terminal is as it was"
done
done_testing
