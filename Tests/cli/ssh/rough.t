#!/bin/sh
# Narrow and slow links, and login files that talk.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

start_sshd box
direct=$port

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
  t 1 "$transport: noisy login files: a list without sessions has status 1" \
    tmux-attach $attach_args -l
  err_empty "$transport: no reason is told"
  out_empty "$transport: the answer is empty"
  start_proxy "$transport"
  attach "$transport" -s "$transport"
  ok "$transport: the prompt is there" at "$transport" expect 'claude> '
  at "$transport" quiet 0.3
  at "$transport" seen
  # shellcheck disable=SC2086
  run tmux-attach $attach_args -l
  is "$(jq -r .name "$out")" "$transport" "$transport: the list is right"
  link rst
  ok "$transport: the screen is back" at "$transport" expect '\e[?1049h'
  # As with ssh, login files may have something to say, or to ask; once.
  is "$(grep -ac 'last words' "$tmp/$transport.screen")" 1 \
    "$transport: the noise of login files is not shown again after a loss"
  at "$transport" send '\r~.'
  ok "$transport: ~. ends a terminal with noisy login files" at "$transport" end 30
  rtmux kill-server
done
rm "$remote_home/.bashrc"
# shellcheck disable=SC2016
echo 'PATH=$HOME/bin:$PATH' >"$remote_home/.profile"

# A link with 300 ms each way, and one with 20 kB/s: slow, and right.
for transport in $transports; do
  port=$direct
  start_proxy "$transport"
  attach "$transport" -s "$transport"
  ok "$transport: the prompt is there" at "$transport" expect 'claude> '
  link delay 300
  at "$transport" send 'inc\r'
  ok "$transport: a key is seen over a far link" at "$transport" expect 'count 1'
  # A farewell that waited for the host would take 20 s.
  link delay 10000
  at "$transport" send '\r~.'
  ok "$transport: ~. works at once over a far link" at "$transport" end 10
  link delay 300
  attach "far$transport" -s "$transport"
  ok "$transport: an attach from far away works" at "far$transport" expect 'claude> '
  link pass
  link rate 50000
  at "far$transport" send 'flood 200000\r'
  ok "$transport: a flood comes over a narrow link" at "far$transport" within 40 expect flooded
  at "far$transport" send 'inc\r'
  ok "$transport: keys work after a flood" at "far$transport" expect 'count 2'
  link pass
  at "far$transport" kill TERM
  ok "$transport: TERM ends the terminal" at "far$transport" end 30
  is "$(seat_says "far$transport" '.termios, .modes')" 'true
[]' "$transport: TERM leaves the terminal as it was"
done
done_testing
