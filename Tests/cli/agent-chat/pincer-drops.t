#!/bin/sh
# Questions to a Pincer server over streams that are cut at random, DROPS times (30): each
# is sent once, and has its answer.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-chat curl jq python3

drops=${DROPS:-30}
seed=${SEED:-$(date +%s)}
start_pincer pin --seed "$seed" --pace 0.001
thread=$(new_thread pin)
number=0
cut() { [ "$(jq -c 'select(.cut)' "$tmp/pin.log" | wc -l)" -ge "$drops" ]; }
tell pin drops "$drops"
wrong=
until cut || [ "$number" -ge $((drops * 3)) ]; do
  number=$((number + 1))
  run agent-chat -p pin --retry-wait 0.02 --timeout 20 -t "$thread" number "$number"
  [ "$status: $(cat "$out")" = "0: You said: number $number" ] ||
    wrong="$wrong $number ($status: $(cat "$out" "$err"))"
done
ok "the streams were cut $drops times (seed $seed)" cut
is "$wrong" "" "each of $number questions has its answer"
is "$(calls pin TurnsService/StartTurn | wc -l)" "$number" "each question was sent once"
is "$(ask pin ThreadsService/ListThreadMessages "{\"threadId\":\"$thread\",\"pageSize\":200}" |
  jq -r '.items[] | select(.role == "user") | .content' | sort | uniq -d)" "" \
  "the server has each question once, too"

# In records: what was said before the cut is not said again.
tell pin drops 20
t 0 "a long answer ends well behind cuts" \
  agent-chat -p pin --retry-wait 0.02 --timeout 20 -t "$thread" -o json slow 30
tell pin drops 0
is "$(jq -r 'select(.type == "tool_call") | .stdout // empty' "$out" | tail -n 31 | xargs)" \
  "$(seq -s ' ' 0 29)" "the output of the tool is whole"
is "$(jq -c 'select(.type == "message" and .state == "final")' "$out" | sort | uniq -d)" "" \
  "no message ends twice behind cuts"
is "$(jq -r 'select(.type == "turn") | .state' "$out" | sort | uniq -c | awk '$2 == "completed" { print $1 }')" 1 \
  "each turn ends once behind cuts"
done_testing
