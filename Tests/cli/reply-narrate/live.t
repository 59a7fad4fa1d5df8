#!/bin/sh
# reply-narrate with a command that takes its time: what waits, what is skipped, when it is
# silent, how it ends.
. "${0%/*}/../lib.sh"
needs reply-narrate jq perl

turn() {
  jq -nc --arg id "$1" '{type:"assistant",isSidechain:false,sessionId:"s1",uuid:$id,
    message:{role:"assistant",stop_reason:"end_turn",content:[{type:"text",text:"Turn \($id)."}]}}'
}
mkfifo "$tmp/in" "$tmp/gate"
# Tells what it is to say, and goes on when somebody opens the gate.
speak="echo \$\$ >'$tmp/speaker'; cat >>'$tmp/said'; read -r _ <'$tmp/gate'; echo done >>'$tmp/said'"
# narrate NAME OPTION...: reads the pipe, which stays open.
narrate() {
  : >"$tmp/said"
  rm -f "$tmp/speaker"
  _narrator=$1
  shift
  start "$_narrator" sh -c 'exec reply-narrate -v "$@" <"$0"' "$tmp/in" "$@" --exec "$speak"
  exec 9>"$tmp/in"
}
said() { [ "$(tr '\n' ' ' <"$tmp/said")" = "$1 " ]; }
pass_gate() { echo >"$tmp/gate"; }
# Whether a process catches TERM.
catches() {
  _caught=$(sed -n 's/^SigCgt:.*\(.....\)$/\1/p' "/proc/$1/status")
  [ $((0x${_caught:-0} & 0x4000)) -ne 0 ]
}
speaker_is() { case $(ps -o stat= -p "$(cat "$tmp/speaker")") in $1*) return 0 ;; *) return 1 ;; esac }

# --- the newest wins

narrate live
turn 1 >&9
ok "the first turn is spoken as soon as it is there" wait_until 10 said "Turn 1."
for id in 2 3 4; do turn "$id"; done >&9
ok "a turn that comes while another is spoken may be skipped" \
  wait_until 10 has "$tmp/live.err" '^reply-narrate: 3: skipped'
is "$(grep -c skipped "$tmp/live.err")" 2 "all but the newest of the waiting turns are skipped"
pass_gate
ok "the newest of the waiting turns is spoken next" wait_until 10 said "Turn 1. done Turn 4."
turn 5 >&9
exec 9>&-
pass_gate
ok "a turn that waits at the end is spoken, too" \
  wait_until 10 said "Turn 1. done Turn 4. done Turn 5."
pass_gate
finished "$pid"
is "$status" 0 "reply-narrate ends when all turns are spoken"

narrate every --all
for id in 1 2 3; do turn "$id"; done >&9
exec 9>&-
for count in 1 3 5; do
  wait_until 10 at_least "$tmp/said" "$count"
  pass_gate
done
finished "$pid"
ok "--all skips no turn" said "Turn 1. done Turn 2. done Turn 3. done"

# --- silence

mark=$XDG_STATE_HOME/agentutils/recording
start recorder sleep 100
recorder=$pid
narrate silent
silent=$pid
turn 1 >&9
wait_until 10 said "Turn 1."
echo "$recorder" >"$mark"
ok "the command stands still while a clip is recorded" wait_until 10 speaker_is T
rm "$mark"
ok "the command goes on when the clip is recorded" wait_until 10 speaker_is S
pass_gate
ok "the command goes on to its end" wait_until 10 said "Turn 1. done"
echo "$recorder" >"$mark.new"
mv "$mark.new" "$mark"
wait_until 10 has "$tmp/silent.err" 'silent while'
: >"$tmp/silent.err"
turn 2 >&9
turn 3 >&9
ok "a turn that comes while a clip is recorded waits" \
  wait_until 10 has "$tmp/silent.err" '2: skipped'
not_ok "a turn that waits for a clip is not spoken" has "$tmp/said" 'Turn [23]'
stop "$recorder"
ok "a turn is spoken when whoever recorded is gone" wait_until 10 said "Turn 1. done Turn 3."
for words in '' 0 -1 x "$recorder"; do
  echo "$words" >"$mark"
  ok "a mark that means nothing stops nobody: $words" speaker_is S
done

# --- a folder of the state that was made again

pass_gate
wait_until 10 said "Turn 1. done Turn 3. done"
rm -r "$XDG_STATE_HOME/agentutils"
mkdir "$XDG_STATE_HOME/agentutils"
start recorder sleep 100
echo "$pid" >"$mark"
: >"$tmp/silent.err"
turn 4 >&9
ok "a mark in a new folder is seen before something is spoken" \
  wait_until 5 has "$tmp/silent.err" 'silent while'
not_ok "the turn waits while the mark is in the new folder" has "$tmp/said" 'Turn 4'
rm "$mark"
ok "the turn is spoken when the mark is gone" wait_until 5 said "Turn 1. done Turn 3. done Turn 4."
echo "$pid" >"$mark"
ok "the mark stops a turn that is spoken, too" wait_until 5 speaker_is T
stop "$pid"
ok "the speaker goes on when whoever recorded is gone" wait_until 5 speaker_is S

# --- the end

start recorder sleep 100
echo "$pid" >"$mark"
wait_until 10 speaker_is T
speaker=$(cat "$tmp/speaker")
stop "$silent"
is "$status" 143 "a signal ends reply-narrate"
ok "a signal ends the command, which stood still" gone "$speaker"
exec 9>&-
rm "$mark"
: >"$tmp/speaker"
start held reply-narrate --exec "trap '' TERM INT; echo \$\$ >'$tmp/speaker'; sleep 100 & wait; wait" \
  "$root/Tests/fixtures/transcript.ndjson"
ok "a command that ignores TERM is at work" wait_until 10 test -s "$tmp/speaker"
stop "$pid" INT
is "$status" 130 "a signal ends reply-narrate though its command ignores TERM"
ok "a command that ignores TERM is gone" gone "$(cat "$tmp/speaker")"

# What the command started and that ignores TERM.
cat >"$tmp/deaf" <<'END'
trap '' TERM INT
echo $$ >"$1.next"
mv "$1.next" "$1"
exec sleep 100
END
t 2 "a command that takes too long is an error" \
  reply-narrate --timeout 0.6 --latest --exec "sh '$tmp/deaf' '$tmp/left' & wait" \
  "$root/Tests/fixtures/transcript.ndjson"
ok "a command that takes too long leaves nothing behind" wait_until 5 gone "$(cat "$tmp/left")"
rm "$tmp/left"
start held reply-narrate --exec "sh '$tmp/deaf' '$tmp/left' & wait" \
  "$root/Tests/fixtures/transcript.ndjson"
wait_until 10 test -s "$tmp/left"
stop "$pid"
is "$status" 143 "a signal ends reply-narrate whose command left something"
ok "what the command left ends with reply-narrate" wait_until 5 gone "$(cat "$tmp/left")"

# A signal while a file is read.
jq -nc '{type:"assistant",isSidechain:true,sessionId:"s1",uuid:"x",message:{}}' >"$tmp/line"
perl -e 'open F, "<", $ARGV[0]; $_ = <F>; print $_ x 400000' "$tmp/line" >"$tmp/long"
start reading reply-narrate --exec cat "$tmp/long"
wait_until 10 catches "$pid"
stop "$pid"
is "$status" 143 "a signal that comes while a file is read ends it"

done_testing
