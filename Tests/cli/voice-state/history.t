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
ok "its rows are the backend's own" sh -c 'curl -sf "$AGENT_URL/api/voice/history/sessions" | jq -c ".[]" | cmp - out'
count=$(lines "$out")
ok "there are some: $count" test "$count" -ge 2
id=$(head -n 1 "$out" | jq -r .sessionId)
last=$(tail -n 1 "$out" | jq -r .sessionId)
guild=$(tail -n 1 "$out" | jq -r .guildId)
run voice-state history
is "$(lines "$out")" "$((count + 1))" "each has a row, below a head"
like "$(sed -n 2p "$out")" "^20[0-9-]* [0-9:]* .* $id\$" "the latest comes first, with its id last"
out_like ' Repair Café 🔧 +[-0-9a-f]+$' "Guilds have their names."
sed "s/640100000000000007/1184019000000000513/" "$root/Tests/fixtures/voice/full.json" |
  curl -sf -o "$tmp/put" -X PUT -H 'content-type: application/json' --data-binary @- "$url/api/voice/state"
run voice-state --panel session
out_like 'guild Repair Café 🔧' "So has the guild of a session that goes on."
run voice-state -v --panel session
out_like 'guild 1184019000000000513' "With -v it has its id."
printf 'Repair Caf|q\\c\n' >keys
t 0 "a live screen tells the guild by its name" python3 "$cli/talk.py" voice-state -w <keys
printf '1184019000000000513|q\\c\n' >keys
t 0 "with -v, a live screen tells its id" python3 "$cli/talk.py" voice-state -wv <keys
out_unlike 'Repair' "with -v, no name is on the live screen"
echo '{"sessions":[]}' |
  curl -sf -o "$tmp/put" -X PUT -H 'content-type: application/json' --data-binary @- "$url/api/voice/state"
run voice-state history -n 1
is "$(lines "$out")" 2 "-n limits the rows"
run voice-state history -g "$guild" -o json
is "$(jq -r .guildId "$out" | sort -u)" "$guild" "-g selects a guild"
run voice-state history -s "$(printf %s "$last" | cut -c1-8)" -o json
is "$(jq -r .sessionId "$out")" "$last" "-s selects a session"
run voice-state history --since 1s -o json
out_empty "--since finds none so young"
run voice-state history -S 3d -o json
is "$(lines "$out")" "$count" "all of three days are found"
run voice-state history -W 40
ok "-W cuts rows" python3 -c 'import sys; sys.exit(max(map(len, open(sys.argv[1], encoding="utf-8").read().split("\n"))) > 40)' "$out"

t 0 "a session is replayed in a pipe" voice-state replay "$id"
like "$(head -n 1 "$out")" "Z $(printf %s "$id" | cut -c1-8) begins: " "begins"
like "$(tail -n 3 "$out")" " (ends|agent: |[A-Z][a-z]*: )" "and tells what was said"
like "$(tail -n 1 "$out")" "Z $(printf %s "$id" | cut -c1-8) ends: inactivity_timeout$" "and how it ended"
is "$(grep -c ' begins: ' "$out")" 1 "it begins once"
out_like ' tool [a-z_]* runs$' "it tells which tools ran"
out_like ' tool [a-z_]* done in ' "it tells how long they took"
out_like ' reply after ' "how long answers took"
ok "the events are in order" sh -c 'cut -d" " -f1 out | sort -c'
cp out whole
run voice-state replay "$(printf %s "$id" | cut -c1-8)"
ok "the beginning of the id will do" cmp -s out whole
run voice-state replay -n 4 "$id"
is "$(lines "$out")" 4 "-n limits the events"
run voice-state replay -o json "$id"
ok "json has the backend's rows" sh -c 'curl -sf "$AGENT_URL/api/voice/history/sessions/'"$id"'/events" | jq -c ".[]" | cmp - out'
run voice-state replay -o text -W 100 --panel session,transcript,tools "$id"
out_like '^-- ' "text: the panels at its end"
t 1 "there is no such session" voice-state replay nobody
err_is "voice-state: session nobody: the backend knows no events of it" \
  "the message names the session"
t 1 "an id is no path" voice-state replay ../../../stats

# Speed: the first and last events of the session are minutes apart.
span=$(curl -sf "$url/api/voice/history/sessions/$id/events" |
  jq '[.[].created_at | sub("\\.[0-9]*Z"; "Z") | fromdate] | .[-1] - .[0]')
began=$(date +%s%N)
run voice-state replay --speed "$span" "$id"
took=$((($(date +%s%N) - began) / 1000000))
ok "--speed plays $span seconds in one: $took ms" test "$took" -ge 900 -a "$took" -le 20000
is "$(cut -d' ' -f2- out)" "$(cut -d' ' -f2- whole)" "the lines are the same"

# On a terminal.
if command -v tmux >/dev/null 2>&1; then
  mux() { tmux -L "ah$$" -f /dev/null "$@"; }
  shows() { mux capture-pane -p -t replay | grep -Eq -e "$1"; }
  mux new-session -d -s keep cat
  mux new-session -d -x 110 -y 40 -s replay "stty -a >before; voice-state replay $id; echo status \$?; stty -a >after; cat"
  ok "a replay runs on the screen" \
    wait_until 30 shows ' 0:0[0-9]/[0-9]+:[0-9]+|^0:0[0-9]/[0-9]+:[0-9]+'
  mux send-keys -t replay Space
  ok "space stops it" wait_until 30 shows 'paused'
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
  ok "its end stays" wait_until 30 shows 'end of the session'
  mux send-keys -t replay q
  ok "q ends it" wait_until 30 test -s after
  ok "and gives the terminal back" cmp before after
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
t 2 "history that is no list" voice-state history
t 0 "rows without members do no harm" voice-state history
unlike "$(cat "$out")" "$(printf '\033')" "escapes are left out"
t 2 "events that are no list" voice-state replay x
t 0 "events without times" voice-state replay y

done_testing
