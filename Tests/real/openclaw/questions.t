#!/bin/sh
# Questions of the real gateway's agents: seen, answered and told; and how it is to answer.
. "${0%/*}/lib.sh"
needs agent-approve agent-chat agent-notify jq
bound=400

one='{"questions":[{"id":"q1","header":"Tide","question":"Which harbour?","options":[{"label":"North","description":"deep"},{"label":"South"}]}]}'
two='{"questions":[{"id":"q1","header":"Tide","question":"Which harbours?","multiSelect":true,"options":[{"label":"North"},{"label":"South"}]},{"id":"q2","header":"Boat","question":"Which boat?","options":[{"label":"Grebe"},{"label":"Skua"}]}]}'
# ask NAME QUESTIONS: an agent asks in a conversation of this name; $id is the question's.
ask() {
  name=$1
  agent-chat -p claw -o json -t "$run-$name" "call ask_user $2" >"$tmp/$name" 2>&1 &
  asked() {
    id=$(agent-approve -p claw -l 2>/dev/null |
      jq -r --arg name "$run-$name" 'select(.tool == "question" and (.thread | endswith($name))).id')
    [ -n "$id" ]
  }
  wait_until 60 asked || bail "no question in $1"
}
answer() { run agent-approve -p claw "$@"; }
result() { jq -r '[.result, .decision, .reason // "-"] | join(" ")' "$out"; }
heard() { rows "$run-$1" | jq -r '.. | .answers? | .answers? // empty | tojson' | sort -u; }
over() { has "$tmp/$1" '"state":"completed"'; }

start watch agent-approve -p claw -w
watching=$pid
start told agent-notify -p claw --settle 0.2 --exec cat
told=$pid

ask one "$one"
ok "the turn that asks waits" wait_until 20 has "$tmp/one" '"state":"paused"'
ok "the turn says what it waits for" wait_until 20 has "$tmp/one" '"tool":"question"'
ok "a person is told" wait_until 30 has "$tmp/told.out" "approval/$id"
is "$(jq -r --arg id "approval/$id" 'select(.id == $id) | [.title, .text] | join("|")' "$tmp/told.out")" \
  'main asks|Which harbour?
1 North: deep
2 South' "it is told who asks, and what may be chosen"
answer --approve "$id"
is "$status $(result)" "1 refused approve approve is none of: 1 North, 2 South" "a question is not approved"
answer --answer "$id" south
is "$status $(result)" "0 accepted South -" "a choice is taken"
answer --answer "$id" North
is "$status $(result)" "1 late North it was answered: South (by agent-approve)" "a second answer is late"
ok "the turn goes on behind an answer" wait_until 60 over one
state() { jq -r --arg id "$1" 'select(.id == $id) | [.state, .decision // "-"] | join(" ")' "$tmp/watch.out" | tail -n 1; }
is "$(state "$id")" "approved South" "whoever follows is told"

ask two "$two"
answer --answer "$id" '1,2' 'my own'
is "$status $(result)" "0 accepted North, South; my own -" "two questions take several choices, and words"
ok "the turn goes on behind both answers" wait_until 60 over two
ask three "$two"
answer --deny "$id"
is "$status $(result)" "0 accepted deny -" "a question can be denied"
ok "the turn goes on behind what was denied" wait_until 60 over three
is "$(state "$id")" "cancelled -" "that it was cancelled is told"
ask four "${one%\}},\"timeoutSeconds\":60}"
ended() { [ "$(state "$id")" = "expired -" ]; }
ok "that nobody answers in time is told" wait_until 120 ended
answer --answer "$id" North
is "$status" 1 "an answer behind that is too late"

# A turn that another device begins without the scope can ask nothing; one with it is seen here.
as_box -t 30 -k "$tmp/other.pem" -s operator.read,operator.write,operator.questions chat.send \
  "$(jq -cn --arg key "agent:main:$run-far" --arg id "$run-far" --arg words "call ask_user $one" \
    '{sessionKey: $key, message: $words, idempotencyKey: $id}')" >"$tmp/far" 2>&1 &
name=far
ok "what a turn of another device asks is seen" wait_until 60 asked
answer --answer "$id" 2
is "$status" 0 "what another device's turn asks is answered"

# --- how it is to answer

chat() { run agent-chat -p claw --max-time 100 "$@"; }
chat --new -v -o json --thinking low --model tides/tide-1 "say hello"
is "$status $(jq -r 'select(.role == "assistant").text' "$out" | tail -n 1)" "0 hello" "a new conversation answers"
name=$(jq -r 'select(.type == "thread").id' "$out")
chat -t "$name" "say again"
is "$(rows "${name#agent:main:}" | jq -s 'map(select(.role == "user")) | length')" 2 "one goes on with it by its name"
chat -t "$run-bad" --thinking enormous "say x"
is "$status" 2 "a level that is none is refused"
err_like 'use off.minimal.low.medium.high' "the level is refused in the gateway's words"
chat -t "$run-bad" --model nope/x "say x"
is "$status" 2 "a model of nobody is refused"
is "$(rows "$run-bad" | wc -l | tr -d ' ')" 0 "nothing is sent"
for mode in steer followup collect interrupt; do
  [ "$mode" = interrupt ] && seconds=60 || seconds=10
  agent-chat -p claw -t "$run-$mode" "slow $seconds" >"$tmp/slow" 2>&1 &
  slow=$!
  working() { as_box -q -t 0 chat.history "{\"sessionKey\":\"agent:main:$run-$mode\"}" | grep -q '"inFlightRun"'; }
  wait_until 60 working
  chat -t "$run-$mode" --busy "$mode" "say also $mode"
  is "$status $(cat "$out")" "0 also $mode" "$mode: the answer is found"
  status=0
  wait "$slow" || status=$?
  [ "$mode" = interrupt ] && want=1 || want=0
  is "$status" "$want" "$mode: the other turn ends as it should"
  [ "$status" = "$want" ] || diag "$(tail -c 400 "$tmp/slow")"
done
stop "$told"
stop "$watching"
done_testing
