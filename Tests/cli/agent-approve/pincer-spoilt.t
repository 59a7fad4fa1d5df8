#!/bin/sh
# agent-approve and agent-chat with a Pincer server that cannot send a text that is not UTF-8.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-approve agent-chat agent-tail curl jq python3

start_pincer pin
approve() { run agent-approve -p pin --retry-wait 0.05 "$@"; }
asked() { # asked WORDS: a turn that waits; its calls are the arguments of `set`
  thread=$(new_thread pin)
  ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"$1\"}" >"$tmp/said"
}
calls_of() { # the ids of the calls that the thread has planned, by its events
  run agent-tail -p pin "$thread" --from 0 --max-time 1 -n 30
  jq -r '.data.toolCallPlanned.toolCallId // empty' "$out" | xargs
}
results() { jq -r '"\(.id) \(.decision) \(.result)"' "$out"; }

asked "ask 1"
plain=$(ask pin ApprovalsService/ListApprovals '{}' | jq -r '.items[0].actionId')
asked "spoilt 2"
is "$(ask pin ApprovalsService/ListApprovals '{}' | jq -r .code)" internal \
  "One text that is not UTF-8 makes the server refuse the whole list."
# shellcheck disable=SC2046  # two words
set -- $(calls_of)
is "$#" 2 "The ids of actions are those of the planned calls."
approve -l
status_is 0 "What waits is told without the list."
is "$(jq -r .id "$out" | sort | xargs)" "$(printf '%s\n' "$plain" "$1" "$2" | sort | xargs)" \
  "All that waits is told, also what no event proposes."
is "$(jq -r 'select(.id == "'"$1"'") | .request' "$out")" \
  "$(jq -n '{tool: "bash", riskClass: "HIGH", preview: {command: "tide --port KIL --day 0"}}')" \
  "A request whose proposal is lost is what the call was planned with."
err_like 'cannot list what waits' "It is said that the list cannot be read."

approve --approve "$1"
is "$status: $(results)" "0: $1 approve accepted" "A spoilt request is approved by its id."
approve --approve "$1"
is "$status: $(results)" "0: $1 approve already" \
  "What became of a spoilt request is known from its thread, as no list can tell."
approve --deny "$1"
is "$status: $(results)" "1: $1 reject late" "Another answer to a spoilt request comes late."
approve --deny "$2"
is "$status: $(results)" "0: $2 reject accepted" "The other spoilt request is denied."
asked "spoilt 1"
id=$(calls_of)
tell pin settle "$id" deny
approve --deny "$id"
is "$status: $(results)" "0: $id reject already" "A denial of what is spoilt is known, too."
approve --approve tc_none
is "$status: $(results)" "1: tc_none approve not_found" "What there is not is not found."

asked "spoilt 1"
start watch agent-approve -p pin -w --retry-wait 0.05
id=$(calls_of)
ok "What waits is followed without the list." wait_until 20 has "$tmp/watch.out" "\"id\":\"$id\""
tell pin settle "$id" approve
ok "Its end is told, too." wait_until 20 has "$tmp/watch.out" "\"id\":\"$id\".*\"executed\""
stop "$pid"

# --- the person who talks

thread=$(new_thread pin)
run agent-chat -p pin -t "$thread" spoilt
status_is 75 "A turn waits for an action that nothing proposes."
err_like 'waits for a person: bash \(HIGH\) .*"tide --port KIL --day 0".*, approval tc_[0-9a-f]+' \
  "The action that the turn waits for is told by the call that was planned."

# --- messages

thread=$(new_thread pin)
for word in one two three; do
  ask pin TurnsService/SendTurn "{\"threadId\":\"$thread\",\"userText\":\"$word\"}" >"$tmp/said"
done
tell pin spoil "$thread" 1
tell pin spoil "$thread" 4
run agent-chat -p pin -t "$thread" --history -o json
is "$(jq -r .text "$out" | xargs)" "You said: one two three You said: three" \
  "The messages around those that cannot be sent are read."
err_like "message 1 of thread $thread: .*not UTF-8" \
  "The first message that cannot be sent is named."
err_like "message 4 of thread $thread: " "The second message that cannot be sent is named, too."
run agent-chat -p pin -t "$thread" --history -n 2 -o json
is "$(jq -r .text "$out" | xargs)" "three You said: three" "The last messages are read whole."
err_empty "A spoilt message that is not asked for is not named."
run agent-chat -p pin -t "$thread" hello
is "$status: $(cat "$out")" "0: You said: hello" "One can talk in a thread with spoilt messages."
tell pin lose TurnsService/StartTurn
run agent-chat -p pin --retry-wait 0.05 --timeout 20 -t "$thread" lost words
is "$status: $(cat "$out")" "0: You said: lost words" \
  "A lost reply is found in a thread with spoilt messages."
run agent-tail -p pin "$thread" --from 0 -n 3 --max-time 10
is "$(lines "$out")" 3 "A thread with spoilt messages can be followed."
done_testing
