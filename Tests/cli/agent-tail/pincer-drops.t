#!/bin/sh
# A thread of a Pincer server over a wire that is cut at random: at any byte, with and
# without an end, DROPS times (30); over the end of its backlog; and killed.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-tail jq python3

drops=${DROPS:-30}
seed=${SEED:-$(date +%s)}
start_pincer pin --drops "$drops" --seed "$seed" --pace 0.004
thread=$(new_thread pin)
ids() { jq -r 'select(.event) | .id' "$1" | xargs; }

start tail agent-tail -p pin -L --retry-wait 0.02 "$thread"
say() { ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"$1\"}" >"$tmp/said"; }
used() { [ "$(jq -r 'select(.type == "lost") | .type' "$tmp/tail.out" | wc -l)" -ge "$drops" ]; }
turns=0
until used || [ "$turns" -ge $((drops * 2)) ]; do
  say "slow 50"
  turns=$((turns + 1))
done
ok "the stream was cut $drops times (seed $seed)" used
say "slow 50"
turns=$((turns + 1))
last=$(ask pin ThreadsService/GetThreadSnapshot "{\"threadId\":\"$thread\"}" | jq -r .lastSequence)
all() { [ "$(jq -r 'select(.event) | .id' "$tmp/tail.out" | tail -n 1)" = "$last" ]; }
ok "the last event comes" wait_until 40 all
is "$(ids "$tmp/tail.out")" "$(seq -s ' ' 1 "$last")" "all $last events come in order, each once"
is "$(jq -r 'select(.event == "toolExecutionOutputDelta") | .data.toolExecutionOutputDelta.chunk' \
  "$tmp/tail.out" | base64 -di | xargs)" "$(turn=0; while [ "$turn" -lt "$turns" ]; do
    seq -s ' ' 0 49; turn=$((turn + 1)); done | xargs)" \
  "all events say what they said without a cut"
not_ok "no gap is told over the cuts" has "$tmp/tail.out" '"type":"gap"'
stop "$pid"

# More than a server sends of what it has stored; nothing new comes that would show it.
thread=$(new_thread pin)
tell pin fill "$thread" 4100
run agent-tail -p pin -n 4100 --retry-wait 0.02 "$thread"
is "$(ids "$out" | md5sum)" "$(seq -s ' ' 1 4100 | md5sum)" \
  "4100 events come, of which the server sends 2000 at a time"

# Killed again and again, with a file for the resume point.
start_pincer die --pace 0.004
thread=$(new_thread die)
ask die TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"slow 300\"}" >"$tmp/said" &
turn=$!
: >"$tmp/all"
round=0
while kill -0 "$turn" 2>/dev/null && [ "$round" -lt 20 ]; do
  round=$((round + 1))
  start part agent-tail -p die --state "$tmp/state" --retry-wait 0.02 "$thread"
  wait_until 10 test -s "$tmp/part.out"
  stop "$pid" KILL
  cat "$tmp/part.out" >>"$tmp/all"
done
wait "$turn"
last=$(ask die ThreadsService/GetThreadSnapshot "{\"threadId\":\"$thread\"}" | jq -r .lastSequence)
run agent-tail -p die --state "$tmp/state" --max-time 1 "$thread"
cat "$out" >>"$tmp/all"
is "$(jq -R 'fromjson? | .id | tonumber' "$tmp/all" | sort -nu | xargs)" "$(seq -s ' ' 1 "$last")" \
  "nothing is lost when agent-tail is killed $round times"
done_testing
