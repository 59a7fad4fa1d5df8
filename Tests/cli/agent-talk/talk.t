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
is "$(cat "$recording")" "$(at one state | jq .pid)" "and that is agent-talk"
ok "silence has none" at one expect ' --------------------  Enter'
ok "and the time passes" grep -q ' 0:0[2-9] -' "$tmp/one.screen"
at one send '\r'
ok "what was heard is shown" at one expect 'run the tests'
ended one 0 "Return ends it"
ok "the text is typed" wait_until 20 typed_text 'run the tests'
ok "nothing is left" nothing_left
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
  ended "$seat" "$want" "$key throws it away"
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
  ended "$signal" "$want" "SIG$signal"
  ok "the recorder is gone, too" wait_until 20 gone "$(cat "$tmp/$signal")"
done <<'END'
HUP 129
INT 130
QUIT 131
TERM 143
END
not_ok "no clip of these was heard" test -e "$tmp/heard"
ok "or is left" nothing_left
ok "nothing is typed" session_empty

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
  ok "$seat: it has ended" gone "$(cat "$tmp/$seat")"
  wait_until 20 test -s "$tmp/$seat.ears"
  at "$seat" send "$key"
  ok "$key while it is heard" at "$seat" expect "left $want"
  ok "ends the recogniser" gone "$(cat "$tmp/$seat.ears")"
  not_ok "and no shell tells of its jobs" grep -E 'Terminated|Killed|Done|\[[0-9]\]' "$tmp/$seat.screen"
  at "$seat" send '\r'
  ended "$seat" "$want" "$seat"
done <<'END'
dash-pipe \x03 130
dash-deaf \x1c 131
bash-pipe \x1c 131
bash-deaf \x03 130
END
not_ok "nobody records any more" test -e "$recording"
ok "and nothing is left" nothing_left

# --- what it is told
# shellcheck disable=SC2016  # for nobody
says 'end; $(touch made) `touch made` "'"'"
printf 'and \033[31mred\r\n\tlast' >>"$tmp/says"
talk hostile --recorder "$speaks" --command "$hears" .
at hostile expect '####'
at hostile send '\n'
ended hostile 0 "hostile words"
# shellcheck disable=SC2016
ok "are typed as text" wait_until 20 typed_text 'end; $(touch made) `touch made` "'"'"' and \e[31mred last'
not_ok "nothing of it is run" test -e made
clear_prompt
says 'echo said $((40 + 2))'
talk return --seconds 1 --recorder "cat '$tmp/loud.wav'; sleep 1000" --command "$hears" -r .
ended return 0 "--seconds ends it"
ok "-r presses Return" wait_until 20 session_shows 'said 42'
clear_prompt

# --- what goes wrong: again several at once
says 'not lost'
talk silent --recorder "cat '$tmp/loud.wav'" --command 'echo " "' .
talk nowhere --recorder "cat '$tmp/loud.wav'" --command "$hears" -s nowhere .
talk deaf --recorder "cat '$tmp/loud.wav'" --command 'printf "no\033[31m model\n\302\233x\n" >&2; exit 3' .
talk broken --recorder 'echo "no microphone" >&2; exit 1' --command "$hears_never" .
talk mute --recorder 'sleep 1000' --command "$hears_never" .
ended silent 1 "no words"
ok "the screen says so" grep -q 'agent-talk: no words were heard' "$tmp/silent.screen"
ended nowhere 1 "no such session"
ok "the words are told" grep -q 'agent-talk: not typed: not lost' "$tmp/nowhere.screen"
ended broken 2 "a recorder that fails"
ok "the screen says why" grep -q 'agent-talk: recorder: no microphone' "$tmp/broken.screen"
at mute send ' '
ended mute 2 "one that records nothing"
ok "its silence is told" grep -q 'agent-talk: recorder: nothing was recorded' "$tmp/mute.screen"
not_ok "they are not heard" test -e "$tmp/heard"
ended deaf 2 "a recogniser that fails"
ok "the screen says why" grep -q 'agent-talk: --command: ended with status 3' "$tmp/deaf.screen"
ok "what it said is shown" grep -q 'no?\[31m model' "$tmp/deaf.screen"
not_ok "it is not obeyed" grep -q "$(printf '\033\\|\302\233')" "$tmp/deaf.screen"
kept=$(sed -n 's/.*agent-talk: kept \(.*\), to try again with clip-transcribe.*/\1/p' "$tmp/deaf.screen")
ok "the clip is kept" cmp "$kept" "$tmp/loud.wav"
# shellcheck disable=SC2012  # the name is ours
like "$(ls -l "$kept")" '^-rw-------' "the clip is for the user alone"
is "$(ls "${kept%/*}")" clip.wav "nothing else is kept"
rm -r "${kept%/*}"
ok "nothing more is left" nothing_left
ok "nothing is typed" session_empty
done_testing
