#!/bin/sh
# tmux-attach: typing into a session and reading its screen, byte for byte. Bytes and a
# lost link over both transports; what the script does at the host, over one.
# shellcheck disable=SC2154,SC2086  # of ssh.sh; $attach_args is words
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"

# say BYTES(printf format) OPTION...
say() {
  _bytes=$1
  shift
  # shellcheck disable=SC2059
  printf -- "$_bytes" >"$tmp/text"
  # shellcheck disable=SC2016
  run sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/text" $attach_args -t "$@"
}
# got SESSION FILE: the agent has received what is in the file.
got() { agent_typed "$1" | cmp -s - "$2"; }
forget() { : >"$(agent_log "${1:-riff}")"; }

start_sshd
for transport in $transports; do
  attach_args
  rtmux kill-server 2>/dev/null
  run tmux-attach -q $attach_args -N -s riff
  run tmux-attach -q $attach_args -N -s riff-1
  run tmux-attach -q $attach_args -N -s riff-10
  wait_until 30 agent_log riff-10

  say ' \n hello  there\t\n\n'
  status_is 0 "$transport: text is typed"
  ok "$transport: text is trimmed, has a blank behind it and no Return, and goes to the base" \
    wait_until 30 typed riff 'hello  there '
  forget
  say ' \n\t '
  status_is 0 "$transport: blank text is not typed"
  say ''
  say ' \n' -r
  say 'one;' -s riff-1
  status_is 0 "$transport: a session is named"
  ok "$transport: a semicolon at the end is typed" wait_until 30 typed riff-1 'one; '
  is "$(agent_typed riff)$(agent_typed riff-10)" "" \
    "$transport: no other session got anything, and blank text is not typed"
  forget riff-1

  say 'it'"'"'s "q" $HOME `x` #{pane_id} \\ ~ -- %%1 {a} [b] *? \\; ;;\n' -s riff-1
  printf '%s ' 'it'"'"'s "q" $HOME `x` #{pane_id} \ ~ -- %1 {a} [b] *? \; ;;' >"$tmp/want"
  ok "$transport: quotes, formats and signs are typed as they are" \
    wait_until 30 got riff-1 "$tmp/want"
  forget riff-1
  say '-l Enter C-c' -s riff-1
  ok "$transport: what looks like an option or a key is typed as it is" \
    wait_until 30 typed riff-1 '-l Enter C-c '
  forget riff-1
  say 'Grüße 日本 👩‍👩‍👧 e\\0314\\0201 \\0357\\0277\\0275 \\0363\\0240\\0200\\0201.' -s riff-1
  cp "$tmp/text" "$tmp/want"
  printf ' ' >>"$tmp/want"
  ok "$transport: UTF-8 arrives" wait_until 30 got riff-1 "$tmp/want"
  forget riff-1

  # --- Return is a keystroke of its own
  say 'inc' -r --return-delay 0.2 -s riff-1
  status_is 0 "$transport: text is typed and Return pressed"
  ok "$transport: a line with Return is obeyed" wait_until 30 typed riff-1 "inc $(printf '\r')"
  is "$(jq -r 'select(.what == "input").hex' "$(agent_log riff-1)" | tail -n 1)" 0d \
    "$transport: Return comes alone"
  ok "$transport: Return comes later than the text" \
    jq -se '[.[] | select(.what == "input").t] | .[-1] - .[-2] >= 0.19' "$(agent_log riff-1)"
  forget riff-1

  # --- what is a key is no text
  for bytes in 'a\033b' 'a\rb' 'a\177b' 'a\003' 'a\302\233b' 'a\000b' 'a\377b'; do
    say "$bytes" -s riff-1
    status_is 2 "$transport: a text with a control or a bad byte is refused: $bytes"
  done
  err_like '\-\-raw' "$transport: the message names --raw"
  is "$(agent_typed riff-1)" "" "$transport: nothing of refused texts was typed"
  say 'a\033[A\r\n\377;' --raw -s riff-1
  ok "$transport: --raw types every byte as it is" wait_until 30 got riff-1 "$tmp/text"
  forget riff-1

  # --- long, and of several lines: a paste
  say '\rpaste on\r' --raw -s riff-1
  ok "$transport: a program wants pastes marked" \
    wait_until 30 typed riff-1 "$(printf '\rpaste on\r')"
  pasting() { [ "$(rtmux display-message -p -t =riff-1: '#{cursor_x}')" -eq 8 ]; }
  wait_until 30 pasting
  forget riff-1
  python3 -c 'print("".join(chr(0x20 + n % 0x5f) for n in range(300001)) + ";", end="")' >"$tmp/long"
  t 0 "$transport: 300 KB are typed" \
    sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/long" $attach_args -t -s riff-1
  { printf '\033[200~' && sed 's/^ *//' "$tmp/long" && printf ' \033[201~'; } >"$tmp/want"
  ok "$transport: 300 KB come in one bracketed paste" wait_until 30 got riff-1 "$tmp/want"
  is "$(rtmux list-buffers | wc -l)" 0 "$transport: no buffer is left behind a paste"
  forget riff-1
  say 'two\nlines' -s riff-1
  printf '\033[200~two\nlines \033[201~' >"$tmp/want"
  ok "$transport: a line feed is not typed as Return" wait_until 30 got riff-1 "$tmp/want"
  forget riff-1
  head -c 8100 "$tmp/long" | tr "a-z" "'" >"$tmp/quotes"
  run sh -c 'text=$1; shift; exec tmux-attach "$@" <"$text"' - "$tmp/quotes" $attach_args -t -s riff-1
  { sed 's/^ *//' "$tmp/quotes" && printf ' '; } >"$tmp/want"
  ok "$transport: a text just under 8 KB, with quotes, is typed" \
    wait_until 30 got riff-1 "$tmp/want"
done
transport=${transports%% *}
attach_args
forget riff-1

# --- copy mode, and the other modes
for mode in copy-mode 'copy-mode ; send-keys -X begin-selection' choose-tree clock-mode; do
  # shellcheck disable=SC2086
  rtmux ${mode%%;*} -t =riff-1:
  say 'q' -s riff-1
  ok "text gets out of $mode" wait_until 30 typed riff-1 'q '
  is "$(rtmux display-message -p -t =riff-1: '#{pane_in_mode}')" 0 "typing leaves $mode"
  forget riff-1
done

# --- who is not there
say 'x' -s riff-2
status_is 1 "typing into a session that does not exist has status 1"
err_is "tmux-attach: 127.0.0.1: no session riff-2" "the missing session is named"

rtmux set-option -w -t =riff: remain-on-exit on \; respawn-pane -k -t =riff: true
wait_until 30 sh -c 'tmux "$@" | grep -q 1' - -S "$remote_tmp/tmux-$(id -u)/riff" \
  list-panes -t =riff: -F '#{pane_dead}'
say 'x'
status_is 2 "a program that has ended is an error"
err_like 'nothing reads there' "the message says that nothing reads there"

# --- capture
t 0 "the screen is captured" tmux-attach $attach_args --capture -s riff-10
out_is "claude>" "--capture prints what the pane shows"
say 'say Gr\303\274\303\237e' -r -s riff-10
shows() { run tmux-attach $attach_args --capture -s riff-10 && grep -q "$1" "$out"; }
ok "--capture prints what the agent says" wait_until 30 shows '^Grüße$'
t 1 "--capture of a session that does not exist has status 1" \
  tmux-attach $attach_args --capture -s riff-2
run tmux-attach $attach_args --capture -o json -s riff-10
like "$(jq -r '.type + .session + .text' "$out")" '^Grüße' \
  "--capture -o json has the screen in a record"

# --- follow, over a link that breaks
for transport in $transports; do
  rtmux kill-session -t =riff-10 2>/dev/null
  attach_args
  run tmux-attach -q $attach_args -N -s riff-10
  start_proxy "$transport"
  start "follow-$transport" tmux-attach $attach_args -P "$port" --capture --follow -s riff-10
  follow=$pid
  said=$tmp/follow-$transport
  ok "$transport: follow shows the screen" wait_until 30 has "$said.out" 'claude>'
  rtmux send-keys -t =riff-10: -l 'one'
  ok "$transport: follow shows the screen again when it changes" \
    wait_until 30 has "$said.out" 'claude> one'
  link rst
  rtmux send-keys -t =riff-10: -l ' two'
  ok "$transport: follow shows the screen over a new link, too" \
    wait_until 30 has "$said.out" 'claude> one two'
  # ssh may have another connection for the next call, and nothing is lost.
  if [ "$transport" = libssh2 ]; then
    like "$(cat "$said.err")" 'link is down: .*next try in 1 s' \
      "$transport: the loss of the link is told"
    like "$(cat "$said.err")" 'link is back after [0-9]+ s' \
      "$transport: a link that is back is told"
  fi
  is "$(grep -c "$(printf '\f')" "$said.out")" 2 \
    "$transport: a form feed stands between two screens"
  rtmux kill-session -t =riff-10
  finished "$follow"
  is "$status" 1 "$transport: the session's end ends follow"
  is "$(tail -n 1 "$said.err")" "tmux-attach: 127.0.0.1: no session riff-10" \
    "$transport: the message names the session that ended"
done

# What is typed is in nobody's command line while Return waits.
run tmux-attach -q $attach_args -N -s riff-10
prompts() { rtmux capture-pane -p -t =riff-10: | grep -q 'claude>'; }
wait_until 30 prompts
printf 'hunter2' >"$tmp/secret"
start secret sh -c 'secret=$1; shift; exec tmux-attach "$@" <"$secret"' sh "$tmp/secret" $attach_args \
  -t -s riff-10 -r --return-delay 2
ok "the text is typed, and Return is to come" wait_until 30 typed riff-10 'hunter2 '
is "$(ps -e -o args= | grep '[h]unter2' | cut -c 1-200)" "" \
  "no process has the text in its command line"
finished "$pid"
is "$status" 0 "Return is pressed after its delay"
ok "Return has come" wait_until 30 typed riff-10 "hunter2 $(printf '\r')"

# Bad input is one line, before anybody is called.
t 2 "a control character is bad input before anybody is called" \
  sh -c "printf 'a\\033b' | tmux-attach -t 127.0.0.1:1"
err_one_line tmux-attach "bad input is told in one line"
done_testing
