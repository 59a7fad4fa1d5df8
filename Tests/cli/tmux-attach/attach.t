#!/bin/sh
# Sitting at a session: what is typed and shown, sizes, the ways to leave, and the
# terminal afterwards. Over both transports: an ssh has a terminal of its own between.
. "${0%/*}/../lib.sh"
. "$cli/ssh.sh"

unset COLORTERM
start_sshd box

agent_sized() { agent_says "$1" 'select(.what == "size") | "\(.columns)x\(.lines // .rows)"' | grep -qx "$2"; }
typed_line() { agent_typed riff | tr '\r' '\n' | grep -Fqx -e "$1"; }
typed_since() { [ "$(agent_typed riff | wc -c)" -ge $(($1 + $2)) ]; }
clients() { rtmux list-clients -F '#{client_tty}' | wc -l | tr -d ' '; }
clients_are() { [ "$(clients)" -eq "$1" ]; }

for transport in $transports; do
  title="$transport"
  rm -f "$XDG_STATE_HOME/agentutils/sessions-"*
  ok "$title: the agent's prompt comes" seated me
  is "$(jq -r '.last, .known[]' "$XDG_STATE_HOME/agentutils/sessions-"*)" "riff
riff" "$title: the session is remembered"
  is "$(agent_says riff 'select(.what == "start") | .env | [.TMUX, .TMUX_PANE, .HOME]')" \
    "[null,null,\"$remote_home\"]" "$title: the agent does not see tmux, and is at home"
  like "$(rtmux show-options -g)" '^@riff_client_[0-9a-f]{16} [0-9]+$' "$title: the client is known by its id"
  at me send 'inc\r'
  ok "$title: the agent obeys" at me expect 'count 1'
  at me send 'grüße 漢字 👩‍💻\r'
  ok "$title: UTF-8 comes back" at me expect '漢字'
  at me send '\x00\x01\x03\x04\x11\x13\x16\x1a\x1c\x7f\e[A\e[200~two\rlines\e[201~\r'
  ok "$title: every key goes through, ^C and ^Z too" wait_until 30 typed riff "$(
    printf 'inc\rgrüße 漢字 👩‍💻\r\000\001\003\004\021\023\026\032\034\177\033[A\033[200~two\rlines\033[201~\r'
  )"
  at me send 'say \\e]52;c;aGVsbG8=\\x07done\r'
  ok "$title: text gets into the clipboard" at me expect '\e]52;'
  at me resize 40x90
  ok "$title: a new size arrives" wait_until 30 agent_sized riff 90x39
  at me send 'mouse on\rpaste on\r'
  ok "$title: modes are on" at me expect '1006h'

  # Another terminal of the same user is not disturbed.
  ok "$title: a second terminal sits beside it" seated she
  ok "$title: both terminals are there" clients_are 2
  at she send '\x02d'
  ended she 0 "$title: ^B d"
  ok "$title: the first terminal stays" clients_are 1

  at me send '~~\r~x\r'
  ok "$title: ~~ is a tilde" wait_until 30 typed_line '~' 
  at me send '\r~?'
  ok "$title: ~? lists the escapes" at me expect 'suspend'
  at me send 'inc\r'
  ok "$title: the list of escapes is gone with the next key" at me expect 'claude> '
  ok "$title: nothing of an escape was typed" wait_until 30 untyped '?'

  at me send '\r~.'
  ended me 0 "$title: ~."
  ok "$title: the client has gone" wait_until 30 clients_are 0
  ok "$title: the session stays" rtmux has-session -t =riff

  for signal in TERM HUP INT; do
    ok "$title: the terminal is back again" seated me
    at me kill "$signal"
    case $signal in TERM) number=143 ;; HUP) number=129 ;; INT) number=130 ;; esac
    ended me "$number" "$title: SIG$signal"
  done
  ok "$title: the terminal is back after the signals" seated me
  at me hangup
  ok "$title: the command ends when the terminal goes" at me end 30

  # A long text, as fast as it goes.
  ok "$title: the terminal is back once more" seated me
  before=$(agent_typed riff | wc -c)
  perl -e 'printf "%07d ", $_ for 1 .. 25000' >"$tmp/long"
  at me paste "$tmp/long"
  ok "$title: a long text arrives" wait_until 30 typed_since "$before" 200000
  ok "$title: every byte of it arrives" eval 'agent_typed riff | tail -c 200000 | cmp - "$tmp/long"'
  at me send '\r'
  at me expect 'claude> '
  at me send '\r~.'
  at me end >"$tmp/end"

  # Stopped from outside, and by an escape: the terminal is given back, and taken.
  ok "$title: the terminal is back after a long text" seated me
  at me send 'mouse on\r'
  at me expect '1006h'
  at me stop
  at me continue
  ok "$title: the session goes on after SIGSTOP" at me expect 'claude> '
  at me send 'token\r'
  ok "$title: the session takes keys after SIGSTOP" at me expect 'token '

  # The session ends by itself.
  at me send 'exit 0\r'
  ended me 0 "$title: the agent's end"
  not_ok "$title: the agent's end takes the session along" rtmux has-session -t =riff
done

# A shell that controls jobs: stops by an escape and by a signal, and continues.
transport=libssh2
attach_args
cat >"$tmp/jobs" <<END
set -m
tmux-attach $attach_args
echo "stopped \$?"
[ "\$(stty -g)" = "\$1" ] && echo sane
fg >/dev/null
echo "stopped again \$?"
fg >/dev/null
echo "left \$?"
END
# shellcheck disable=SC2016
sit shell 30x100 sh -c 'exec bash "$0" "$(stty -g)"' "$tmp/jobs"
at shell expect 'claude> '
at shell send 'mouse on\r'
at shell expect '1006h'
at shell send '\r~\x1a'
ok 'an escape to stop turns the modes off' at shell expect '1006l'
ok 'an escape to stop tells the shell' at shell expect 'stopped 148'
ok 'the shell has its terminal after a stop' at shell expect 'sane'
ok 'modes are on again when a stopped command continues' at shell expect '1006h'
ok 'the screen is drawn anew when a stopped command continues' at shell expect 'claude> '
at shell send 'inc\r'
ok 'keys arrive when a stopped command continues' at shell expect 'count 1'
kill -TSTP "$(pgrep -P "$(seat_says shell .pid)" tmux-attach)"
ok 'SIGTSTP turns the modes off' at shell expect '1006l'
ok 'SIGTSTP stops the command' at shell expect 'stopped again 148'
ok "modes are on again when the command continues after SIGTSTP" at shell expect '1006h'
at shell send '\r~.'
ok '~. ends a command that was stopped' at shell expect 'left 0'

# Who is no terminal, and options that do not fit.
t 2 "a session needs a terminal" tmux-attach $attach_args </dev/null
err_like '^tmux-attach: .*terminal' "the message says that a terminal is needed"
for name in '' -x a.b a:b '#(x)' '=x'; do
  t 2 "a session named '$name' is refused" tmux-attach -s "$name" $attach_args
done
t 2 'a worktree is for claude' tmux-attach --worktree -H codex $attach_args
run tmux-attach -d 'a
b' $attach_args
status_is 2 'a folder with a line end is refused'
for words in "--list -s riff" "--watch -d /tmp" "--new --raw" "--close x -s riff" "--check -r" \
  "--reconcile -H claude" "--type --worktree" "--type -o json" "--type --follow" \
  "--capture --return" "--capture --return-delay 1" "--authorize -o json" \
  "--fingerprint -s riff" "--forget --max-retries 1"; do
  # shellcheck disable=SC2086  # words
  t 2 "$words exclude each other" tmux-attach $words $attach_args
  err_like "^tmux-attach: --[a-z-]* is not for ${words%% *}\$" "the message names both of $words"
done
for option in -r --raw --follow --return-delay=1 -otsv; do
  run tmux-attach "$option" $attach_args
  err_like '^tmux-attach: --[a-z-]* is not for attaching$' "attaching does not take $option"
done
done_testing
