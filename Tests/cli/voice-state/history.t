#!/bin/sh
# voice-state history and replay: past sessions and their events.
. "${0%/*}/../lib.sh"
needs python3 jq
[ -x "$root/bin/agent-serve" ] || skip_all "needs agent-serve"

cd "$tmp" || exit 1
"$root/Tests/fixtures/as-of-now" "$root/Tests/fixtures/sample-day.ndjson" >day
start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/serve.sqlite" --ingest day
AGENT_URL=$url
export AGENT_URL

t 0 "the history is printed as json" voice-state history -o json
ok "the rows of the history are the backend's own" \
  sh -c 'curl -sf "$AGENT_URL/api/voice/history/sessions" | jq -c ".[]" | cmp - out'
count=$(lines "$out")
ok "the history has sessions: $count" test "$count" -ge 2
id=$(head -n 1 "$out" | jq -r .sessionId)
last=$(tail -n 1 "$out" | jq -r .sessionId)
guild=$(tail -n 1 "$out" | jq -r .guildId)
run voice-state history
is "$(lines "$out")" "$((count + 1))" "each session of the history has a row, below a head"
like "$(sed -n 2p "$out")" "^20[0-9-]* [0-9:]* .* $id\$" \
  "the latest session comes first, with its id last"
out_like ' Repair Café 🔧 +[-0-9a-f]+$' "guilds have their names in the history"
sed "s/640100000000000007/1184019000000000513/" "$root/Tests/fixtures/voice/full.json" |
  curl -sf -o "$tmp/put" -X PUT -H 'content-type: application/json' --data-binary @- "$url/api/voice/state"
run voice-state --panel session
out_like 'guild Repair Café 🔧' "a session that goes on has the name of its guild"
run voice-state -v --panel session
out_like 'guild 1184019000000000513' "-v shows the id of the guild"
printf 'Repair Caf|q\\c\n' >keys
t 0 "a live screen tells the guild by its name" python3 "$cli/talk.py" voice-state -w <keys
printf '1184019000000000513|q\\c\n' >keys
t 0 "-v shows the id of the guild on a live screen" python3 "$cli/talk.py" voice-state -wv <keys
out_unlike 'Repair' "-v shows no name of the guild on a live screen"
echo '{"sessions":[]}' |
  curl -sf -o "$tmp/put" -X PUT -H 'content-type: application/json' --data-binary @- "$url/api/voice/state"
run voice-state history -n 1
is "$(lines "$out")" 2 "-n limits the rows"
run voice-state history -g "$guild" -o json
is "$(jq -r .guildId "$out" | sort -u)" "$guild" "-g selects a guild"
run voice-state history -s "$(printf %s "$last" | cut -c1-8)" -o json
is "$(jq -r .sessionId "$out")" "$last" "-s selects a session"
run voice-state history --since 1s -o json
out_empty "--since finds no session so young"
run voice-state history -S 3d -o json
is "$(lines "$out")" "$count" "--since 3d finds all sessions of three days"
run voice-state history -W 40
ok "-W cuts rows" python3 -c 'import sys; sys.exit(max(map(len, open(sys.argv[1], encoding="utf-8").read().split("\n"))) > 40)' "$out"

t 0 "a session is replayed in a pipe" voice-state replay "$id"
like "$(head -n 1 "$out")" "Z $(printf %s "$id" | cut -c1-8) begins: " \
  "a replay begins with the beginning of the session"
like "$(tail -n 3 "$out")" " (ends|agent: |[A-Z][a-z]*: )" "a replay tells what was said"
like "$(tail -n 1 "$out")" "Z $(printf %s "$id" | cut -c1-8) ends: inactivity_timeout$" \
  "a replay ends with how the session ended"
is "$(grep -c ' begins: ' "$out")" 1 "a replay tells the beginning once"
out_like ' tool [a-z_]* runs$' "a replay tells which tools ran"
out_like ' tool [a-z_]* done in ' "a replay tells how long tools took"
out_like ' reply after ' "a replay tells how long answers took"
ok "the events of a replay are in order" sh -c 'cut -d" " -f1 out | sort -c'
cp out whole
run voice-state replay "$(printf %s "$id" | cut -c1-8)"
ok "replay takes the beginning of an id" cmp -s out whole
run voice-state replay -n 4 "$id"
is "$(lines "$out")" 4 "-n limits the events"
run voice-state replay -o json "$id"
ok "replay -o json prints the backend's rows" \
  sh -c 'curl -sf "$AGENT_URL/api/voice/history/sessions/'"$id"'/events" | jq -c ".[]" | cmp - out'
run voice-state replay -o text -W 100 --panel session,transcript,tools "$id"
out_like '^-- ' "replay -o text shows the panels at the end of the session"
t 1 "a replay of a session that does not exist has status 1" voice-state replay nobody
err_is "voice-state: session nobody: the backend knows no events of it" \
  "the message names the session that the backend does not know"
t 1 "an id with a path has status 1" voice-state replay ../../../stats

# Speed: the first and last events of the session are minutes apart.
span=$(curl -sf "$url/api/voice/history/sessions/$id/events" |
  jq '[.[].created_at | sub("\\.[0-9]*Z"; "Z") | fromdate] | .[-1] - .[0]')
began=$(date +%s%N)
run voice-state replay --speed "$span" "$id"
took=$((($(date +%s%N) - began) / 1000000))
ok "--speed plays $span seconds in one: $took ms" test "$took" -ge 900 -a "$took" -le 20000
is "$(cut -d' ' -f2- out)" "$(cut -d' ' -f2- whole)" "--speed leaves the lines as they are"

# On a terminal.
if command -v tmux >/dev/null 2>&1; then
  mux() { tmux -L "ah$$" -f /dev/null "$@"; }
  shows() { mux capture-pane -p -t replay | grep -Eq -e "$1"; }
  mux new-session -d -s keep cat
  mux new-session -d -x 110 -y 40 -s replay "stty -a >before; voice-state replay $id; echo status \$?; stty -a >after; cat"
  ok "a replay runs on the screen" \
    wait_until 30 shows ' 0:0[0-9]/[0-9]+:[0-9]+|^0:0[0-9]/[0-9]+:[0-9]+'
  mux send-keys -t replay Space
  ok "space stops a replay" wait_until 30 shows 'paused'
  mux send-keys -t replay n
  mux send-keys -t replay Space + + +
  ok "plus doubles the speed" wait_until 30 shows ' x8 '
  mux send-keys -t replay -
  ok "minus halves the speed" wait_until 30 shows ' x4 '
  i=0
  while [ "$i" -lt 12 ]; do
    mux send-keys -t replay +
    i=$((i + 1))
  done
  ok "the end of a replay stays on the screen" wait_until 30 shows 'end of the session'
  mux send-keys -t replay q
  ok "q ends a replay" wait_until 30 test -s after
  ok "a replay gives the terminal back as it was" cmp before after
  mux kill-session -t replay
  mux new-session -d -x 110 -y 40 -s replay "voice-state replay --max-time 1 $id; echo status \$?; cat"
  ok "--max-time ends a replay" wait_until 30 shows '^status 0'
  mux kill-server
else
  skip 8 "no tmux"
fi

# A server that answers otherwise.
serve <<'END'
on /api/voice/history/sessions
status 200 application/json {"sessions":[]}
---
on /api/voice/history/sessions
status 200 application/json [{"sessionId":"\\u001b[2Jx","mode":null},3,{}]
---
on /api/voice/history/sessions/x/events
status 200 application/json {"rows":[]}
---
on /api/voice/history/sessions/y/events
status 200 application/json [{"kind":"voice_runtime"},{"kind":"voice_turn_in","content":"voice_activity_started","created_at":"x","metadata":{"sessionId":"y"}},7]
END
AGENT_URL=$url
t 2 "history that is not a list has status 2" voice-state history
t 0 "history rows without members have status 0" voice-state history
unlike "$(cat "$out")" "$(printf '\033')" "escapes are left out of the history"
t 2 "events that are not a list have status 2" voice-state replay x
t 0 "events without times have status 0" voice-state replay y

done_testing
