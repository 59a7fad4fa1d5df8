#!/bin/sh
# tmux-attach -t: how often it asks the host's tmux, and what it says where nothing can be
# typed. What is typed, byte for byte, is in typing.t.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; $attach_args is words
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

# A tmux that notes each time that it is called.
start_sshd
cat >"$remote_home/bin/tmux" <<EOF
#!/bin/sh
echo "\$*" >>"$tmp/calls"
exec $(command -v tmux) "\$@"
EOF
# And a wait before Return that ends when the test says so.
cat >"$remote_home/bin/sleep" <<EOF
#!/bin/sh
until [ -e "$tmp/go" ]; do $(command -v sleep) 0.02; done
EOF
chmod +x "$remote_home/bin/tmux" "$remote_home/bin/sleep"
touch "$tmp/go"
calls() { grep -c . "$tmp/calls"; }

# say TEXT(printf format) OPTION...
say() {
  # shellcheck disable=SC2059
  printf -- "$1" >"$tmp/text"
  shift
  : >"$tmp/calls"
  # shellcheck disable=SC2016
  run sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/text" $attach_args -t "$@"
}

prompts() { rtmux capture-pane -p -t =riff: | grep -q 'claude>'; }
for transport in $transports; do
  attach_args
  no_server
  run tmux-attach -q $attach_args -N -s riff
  # Terminals are used again: its log may be of the agent before.
  wait_until 30 prompts
  say 'word'
  ok "$transport: a word is typed" wait_until 30 typed riff 'word '
  is "$(calls)" 1 "$transport: tmux is asked once"
  say ' more' -r --return-delay 0
  ok "$transport: Return is pressed, too" wait_until 30 typed riff "word more $(printf '\r')"
  is "$(calls)" 2 "$transport: tmux is asked once more"
  say 'Gr\303\274\303\237e'
  ok "$transport: more than ASCII is typed" \
    wait_until 30 typed riff "word more $(printf '\r')Grüße "
  is "$(calls)" 2 "$transport: tmux is asked once for the buffer and once for the session"
  t 0 "$transport: a list comes after typing" tmux-attach $attach_args -l

  # --- nobody is there
  for text in 'x' 'two\nlines'; do
    say "$text" -s gone
    status_is 1 "$transport: a session that does not exist has status 1: $text"
    err_is "tmux-attach: 127.0.0.1: no session gone" \
      "$transport: the message names the missing session: $text"
  done
  is "$(rtmux list-buffers)" "" "$transport: no buffer is left behind without a session"
  rtmux select-pane -d -t =riff:
  for text in 'x' 'two\nlines'; do
    say "$text"
    status_is 2 "$transport: a pane that takes no keys is an error: $text"
    err_is "tmux-attach: 127.0.0.1: tmux: nothing reads there: the program has ended, or the pane takes no keys" \
      "$transport: the message says that nothing reads there: $text"
  done
  rtmux select-pane -e -t =riff:
  is "$(rtmux list-buffers)" "" "$transport: no buffer is left behind where nothing reads"
  is "$(agent_typed riff)" "word more $(printf '\r')Grüße " \
    "$transport: nothing was typed where nothing reads"
done
transport=${transports%% *}
attach_args

# --- names that mean something to a shell or to tmux
for name in "it's;" '"a b"' '{x} %%1' '~*?' 'Ü!!' '+1'; do
  run tmux-attach -q $attach_args -N -s "$name"
  wait_until 30 agent_log "$name"
  say 'to you' -s "$name"
  status_is 0 "text is typed into $name"
  ok "text has come to $name" wait_until 30 typed "$name" 'to you '
done

# --- the session ends between the text and Return
rm "$tmp/go"
run tmux-attach -q $attach_args -N -s brief
wait_until 30 agent_log brief
printf 'bye' >"$tmp/text"
# shellcheck disable=SC2016
start brief sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/text" \
  $attach_args -t -r --return-delay 30 -s brief
brief=$pid
wait_until 30 typed brief 'bye '
rtmux kill-session -t =brief
touch "$tmp/go"
finished "$brief"
is "$status" 1 "a session that ends before Return has status 1"
is "$(cat "$tmp/brief.err")" "tmux-attach: 127.0.0.1: the text was typed, but Return may be missing: no session brief" \
  "the message says that Return may be missing: no session"

# --- or what runs in it does
# Terminals are used again: what the agent before got is not to be taken for this one's.
rm "$tmp/go" "$agents"/*
run tmux-attach -q $attach_args -N -s brief
rtmux set-option -w -t =brief: remain-on-exit on
wait_until 30 agent_log brief
# shellcheck disable=SC2016
start brief sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/text" \
  $attach_args -t -r --return-delay 30 -s brief
brief=$pid
wait_until 30 typed brief 'bye '
rtmux respawn-pane -k -t =brief: true
dead() { [ "$(rtmux display-message -p -t =brief: '#{pane_dead}')" = 1 ]; }
wait_until 30 dead
touch "$tmp/go"
finished "$brief"
is "$status" 2 "a program that ends before Return has status 2"
like "$(cat "$tmp/brief.err")" 'Return may be missing: tmux: nothing reads there' \
  "the message says that Return may be missing: nothing reads there"

rtmux kill-server
say 'x'
status_is 1 "a host without a tmux server has status 1"
err_is "tmux-attach: 127.0.0.1: no session riff" \
  "the message says that there is no session without a server"
done_testing
