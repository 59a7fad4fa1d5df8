#!/bin/sh
# agent-talk at a terminal: keys, the level, what is heard and typed, and what is left.
# shellcheck disable=SC2154  # of ssh.sh and talk.sh
. "${0%/*}/../lib.sh"
. "${0%/*}/../ssh.sh"
. "${0%/*}/talk.sh"

# --- recording
says 'run the tests'
talk one --recorder "$speaks; :" --command "stat -c %a \"\$1\" \"\${1%/*}\" >'$tmp/modes'; $hears" .
ok "the level is shown" at one expect ' ###################-  Enter ends, q throws it away'
ok "the recorder runs" kill -0 "$(cat "$recording")"
is "$(cat "$recording")" "$(at one state | jq .pid)" "the process of the recorder is told"
ok "silence has no level" at one expect ' --------------------  Enter'
ok "the time of the recording passes" grep -q ' 0:0[2-9] -' "$tmp/one.screen"
at one send '\r'
ok "what was heard is shown" at one expect 'run the tests'
ended one 0 "Return ends the recording"
ok "what was heard is typed" wait_until 20 typed_text 'run the tests'
ok "nothing is left after the recording" nothing_left
is "$(tr '\n' ' ' <"$tmp/modes")" "600 700 " "nobody else can read the clip"
clear_prompt

# --- keys and signals: several people at once
says 'never said'
hears_never="touch '$tmp/heard'; $hears"
for seat in q esc break quit; do talk "$seat" --recorder "$speaks" --command "$hears_never" .; done
for signal in HUP INT QUIT TERM; do
  talk "$signal" --recorder "sh -c 'echo \$\$ >$tmp/$signal; exec sleep 1000' | cat; :" \
    --command "$hears_never" .
done
while read -r seat key want; do
  at "$seat" expect '####'
  at "$seat" send "$key"
  ended "$seat" "$want" "$key throws the recording away"
done <<'END'
q q 1
esc \e[A 1
break \x03 130
quit \x1c 131
END
for signal in HUP INT QUIT TERM; do
  at "$signal" expect '----'
  wait_until 20 test -s "$tmp/$signal"
  at "$signal" kill "$signal"
done
while read -r signal want; do
  ended "$signal" "$want" "SIG$signal ends the recording"
  ok "the recorder is gone after SIG$signal" wait_until 20 gone "$(cat "$tmp/$signal")"
done <<'END'
HUP 129
INT 130
QUIT 131
TERM 143
END
not_ok "no clip of these was heard" test -e "$tmp/heard"
ok "no clip of these is left" nothing_left
ok "nothing of these is typed" session_empty

# --- all of a recorder that is a pipe ends with the recording, whatever shell runs the
# script, and not only because a terminal went away with its first process
for shell in dash bash; do
  command -v "$shell" >/dev/null || continue
  for seat in "$shell-pipe" "$shell-deaf"; do
    trap=:
    [ "$seat" = "$shell-pipe" ] || trap="trap '' TERM"
    # shellcheck disable=SC2016  # for a shell of its own
    TMPDIR=$tmp/scratch sit "$seat" 24x80 sh -c 'trap : INT QUIT; "$@"; status=$?
      printf "left %s\n" "$status"; read -r line; exit "$status"' - "$shell" "$root/bin/agent-talk" \
      --recorder "(cat '$tmp/loud.wav'; $trap; sh -c 'echo \$\$ >$tmp/$seat; exec sleep 1000'; :) | cat; :" \
      --command "echo \$\$ >'$tmp/$seat.ears'; exec sleep 1000" .
  done
done
for seat in dash-pipe dash-deaf bash-pipe bash-deaf; do
  [ -e "$tmp/$seat.pid" ] || continue
  at "$seat" expect '####'
  wait_until 20 test -s "$tmp/$seat"
  at "$seat" send ' '
done
while read -r seat key want; do
  [ -e "$tmp/$seat.pid" ] || continue
  at "$seat" expect 'listening to it'
  ok "$seat: the recorder has ended" gone "$(cat "$tmp/$seat")"
  wait_until 20 test -s "$tmp/$seat.ears"
  at "$seat" send "$key"
  ok "$seat: $key ends agent-talk while a clip is heard" at "$seat" expect "left $want"
  ok "$seat: $key ends the recogniser" gone "$(cat "$tmp/$seat.ears")"
  not_ok "$seat: no shell tells of its jobs" \
    grep -E 'Terminated|Killed|Done|\[[0-9]\]' "$tmp/$seat.screen"
  at "$seat" send '\r'
  ended "$seat" "$want" "$seat: agent-talk ends with status $want"
done <<'END'
dash-pipe \x03 130
dash-deaf \x1c 131
bash-pipe \x1c 131
bash-deaf \x03 130
END
not_ok "nobody records any more after all these" test -e "$recording"
ok "nothing is left after all these" nothing_left

# --- what it is told
# shellcheck disable=SC2016  # for nobody
says 'end; $(touch made) `touch made` "'"'"
printf 'and \033[31mred\r\n\tlast' >>"$tmp/says"
talk hostile --recorder "$speaks" --command "$hears" .
at hostile expect '####'
at hostile send '\n'
ended hostile 0 "hostile words do not stop agent-talk"
# shellcheck disable=SC2016
ok "hostile words are typed as text" \
  wait_until 20 typed_text 'end; $(touch made) `touch made` "'"'"' and \e[31mred last'
not_ok "nothing of hostile words is run" test -e made
clear_prompt
says 'echo said $((40 + 2))'
talk return --seconds 1 --recorder "cat '$tmp/loud.wav'; sleep 1000" --command "$hears" -r .
ended return 0 "--seconds ends the recording"
ok "-r presses Return" wait_until 20 session_shows 'said 42'
clear_prompt

# --- what goes wrong: again several at once
says 'not lost'
talk silent --recorder "cat '$tmp/loud.wav'" --command 'echo " "' .
talk nowhere --recorder "cat '$tmp/loud.wav'" --command "$hears" -s nowhere .
talk deaf --recorder "cat '$tmp/loud.wav'" --command 'printf "no\033[31m model\n\302\233x\n" >&2; exit 3' .
talk broken --recorder 'echo "no microphone" >&2; exit 1' --command "$hears_never" .
talk mute --recorder 'sleep 1000' --command "$hears_never" .
ended silent 1 "a clip without words has status 1"
ok "a clip without words is told on the screen" \
  grep -q 'agent-talk: no words were heard' "$tmp/silent.screen"
ended nowhere 1 "a session that does not exist has status 1"
ok "words that are not typed are told" \
  grep -q 'agent-talk: not typed: not lost' "$tmp/nowhere.screen"
ended broken 2 "a recorder that fails has status 2"
ok "the screen says why the recorder failed" \
  grep -q 'agent-talk: recorder: no microphone' "$tmp/broken.screen"
at mute send ' '
ended mute 2 "a recorder that records nothing has status 2"
ok "a recorder that records nothing is told" \
  grep -q 'agent-talk: recorder: nothing was recorded' "$tmp/mute.screen"
not_ok "recordings that failed are not heard" test -e "$tmp/heard"
ended deaf 2 "a recogniser that fails has status 2"
ok "the screen says why the recogniser failed" \
  grep -q 'agent-talk: --command: ended with status 3' "$tmp/deaf.screen"
ok "what a recogniser that fails said is shown" grep -q 'no?\[31m model' "$tmp/deaf.screen"
not_ok "what a recogniser that fails said is not obeyed" \
  grep -q "$(printf '\033\\|\302\233')" "$tmp/deaf.screen"
kept=$(sed -n 's/.*agent-talk: kept \(.*\), to try again with clip-transcribe.*/\1/p' "$tmp/deaf.screen")
ok "the clip is kept when the recogniser fails" cmp "$kept" "$tmp/loud.wav"
# shellcheck disable=SC2012  # the name is ours
like "$(ls -l "$kept")" '^-rw-------' "the clip that is kept is for the user alone"
is "$(ls "${kept%/*}")" clip.wav "nothing but the clip is kept"
rm -r "${kept%/*}"
ok "nothing more is left after failures" nothing_left
ok "nothing is typed after failures" session_empty
done_testing
