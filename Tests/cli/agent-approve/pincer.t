#!/bin/sh
# agent-approve with a Pincer server: what waits, answers, what was answered before.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-approve curl jq python3

start_pincer pin
approve() { run agent-approve -p pin --retry-wait 0.05 "$@"; }
# wants COUNT: a turn that asks for so many approvals; the ids are $1 and so on of `ids`.
wants() {
  ask pin TurnsService/SendTurn \
    "{\"threadId\":\"$(new_thread pin)\",\"userText\":\"ask $1\"}" >"$tmp/said"
}
ids() { ask pin ApprovalsService/ListApprovals '{}' | jq -r '.items[]?.actionId' | xargs; }
state() { # state ID
  for _state in PENDING APPROVED REJECTED EXECUTED; do
    ask pin ApprovalsService/ListApprovals "{\"status\":\"$_state\"}" |
      jq -r --arg id "$1" '.items[]? | select(.actionId == $id) | .status'
  done
}
decided() { calls pin ApprovalsService/ApproveAction; calls pin ApprovalsService/RejectAction; }
results() { jq -r '"\(.id) \(.decision) \(.result)" + (.reason // "" | if . == "" then . else ": " + . end)' "$out"; }

approve -l
status_is 1 "nothing waits"
out_empty "and nothing is printed"
err_empty "nothing is said, either"

wants 2
# shellcheck disable=SC2046  # two words
set -- $(ids)
approve -l
status_is 0 "what waits"
is "$(jq -c '[.type, .backend, .profile, .id, .tool, .risk, .decisions, .state]' "$out" | head -n 1)" \
  "[\"approval\",\"pincer\",\"pin\",\"$1\",\"bash\",\"HIGH\",[\"approve\",\"reject\"],\"pending\"]" \
  "it is a record"
is "$(jq -c .request "$out" | head -n 1)" \
  '{"tool":"bash","riskClass":"HIGH","preview":{"command":"tide --port KIL --day 0"}}' \
  "what is decided on is not in the model's words"
is "$(jq -r '.expires != null and .thread == "thr_0000000000000001"' "$out" | sort -u)" true \
  "it says until when, and where"
out_unlike "$(printf '\033')" "a summary is made visible"
is "$(calls pin ApprovalsService/ListApprovals | sort -u)" '{"status":"PENDING"}' \
  "what waits is all that is asked for"

approve --approve "$1"
status_is 0 "it is approved"
is "$(jq -c '[.type, .backend, .profile, .id, .decision, .result]' "$out")" \
  "[\"approval_answer\",\"pincer\",\"pin\",\"$1\",\"approve\",\"accepted\"]" "the answer counts"
carried_out() { [ "$(state "$1")" = EXECUTED ]; }
ok "it is carried out" wait_until 20 carried_out "$1"
approve --deny "$2" not on a Sunday
status_is 0 "it is denied"
is "$(calls pin ApprovalsService/RejectAction)" \
  "{\"actionId\":\"$2\",\"reason\":\"not on a Sunday\"}" "the reason goes with it"

approve --approve "$1"
status_is 0 "the same answer may come again"
is "$(results)" "$1 approve already" "the result says that it is known"
approve --deny "$2"
status_is 0 "and so is the same denial"
is "$(results)" "$2 reject already: not on a Sunday" "with what was said of it"
approve --deny "$1"
status_is 1 "another answer"
is "$(results)" "$1 reject late: it was answered: approve" "comes late"
approve --approve "$2"
status_is 1 "and so does this"
is "$(results)" "$2 approve late: it was answered: reject (not on a Sunday)" "with what was said"
approve --approve tc_none
status_is 1 "what there is not"
is "$(results)" "tc_none approve not_found" "the result says that it is not there"

wants 2
# shellcheck disable=SC2046
set -- $(ids)
tell pin expire "$1"
tell pin age "$2"
approve --approve "$1"
is "$status: $(results)" "1: $1 approve late: it is expired" "what the server has given up"
approve --approve "$2"
is "$status: $(results)" "1: $2 approve late: it is expired" "what it finds too old now"
approve --deny "$2"
is "$status: $(results)" "1: $2 reject late: it is expired" "an expired one is no denial"

# --- standard input

wants 4
# shellcheck disable=SC2046
set -- $(ids)
t 1 "ids come from standard input" \
  sh -c 'printf "%s\n" "$@" | agent-approve -p pin --approve -' - "$1" tc_none '' "$2"
is "$(results)" "$1 approve accepted
tc_none approve not_found
$2 approve accepted" "each has a result on a line, in their order"
t 0 "a list of what waits has status 0" \
  sh -c 'agent-approve -p pin -l | agent-approve -p pin --deny - not so many'
is "$(results)" "$3 reject accepted
$4 reject accepted" "a list is denied as a whole"
is "$(calls pin ApprovalsService/RejectAction | tail -n 1 | jq -r .reason)" "not so many" "the reason is sent"
wants 3
# shellcheck disable=SC2046
set -- $(ids)
{
  echo "{\"id\":\"$1\",\"decision\":\"approve\"}"
  echo 'no JSON'
  echo "{\"id\":\"$2\",\"decision\":\"reject\",\"reason\":\"why\"}"
  echo "{\"id\":\"$1\",\"decision\":\"deny\"}"
  echo "{\"id\":\"$3\",\"decision\":\"always\"}"
} >"$tmp/decisions"
t 2 "decisions, and a line that is none" sh -c 'agent-approve -p pin <"$1"' - "$tmp/decisions"
is "$(results | sed 's/late: .*/late/')" "$1 approve accepted
$2 reject accepted
$1 reject late
$3 always refused: the server takes: approve, reject" "each has a result on a line, in their order"
err_like '^agent-approve: standard input:2: not JSON: ' "the line is named"
approve --deny "$3"

# --- losses: an answer is not given twice unless it still waits

wants 4
# shellcheck disable=SC2046
set -- $(ids)
before=$(decided | wc -l)
tell pin lose ApprovalsService/ApproveAction
approve --approve "$1"
is "$status: $(results)" "0: $1 approve already" "an answer whose reply is lost was given"
is "$(decided | wc -l)" $((before + 1)) "it is given once"
tell pin close ApprovalsService/ApproveAction
approve --approve "$2"
is "$status: $(results)" "0: $2 approve accepted" "one that was not taken is given again"
tell pin answer ApprovalsService/ApproveAction 502 text/html '<html>'
approve --approve "$3"
is "$status: $(results)" "0: $3 approve accepted" "and so is one that somebody on the way refused"
tell pin refuse ApprovalsService/ApproveAction internal odd
approve --approve "$4"
is "$status: $(results)" "0: $4 approve accepted" "the server may refuse for now"

# --- what happens to them, live

listings=$(calls pin ApprovalsService/ListApprovals | wc -l)
start watch agent-approve -p pin -w --retry-wait 0.05
watch=$pid
wait_until 20 came_calls pin ApprovalsService/ListApprovals $((listings + 1))
wants 3
# shellcheck disable=SC2046
set -- $(ids)
ok "-w: what is asked" wait_until 20 has "$tmp/watch.out" "\"id\":\"$3\".*\"pending\""
tell pin settle "$1" approve
tell pin settle "$2" reject
tell pin expire "$3"
ok "what somebody else approves is told" wait_until 20 has "$tmp/watch.out" "\"id\":\"$1\".*\"state\":\"(approved|executed)\""
ok "what somebody else rejects is told, too" \
  wait_until 20 has "$tmp/watch.out" "\"id\":\"$2\".*\"state\":\"rejected\""
ok "what expires is told, too" \
  wait_until 20 has "$tmp/watch.out" "\"id\":\"$3\".*\"state\":\"expired\""
ok "what was approved is carried out in the end" \
  wait_until 20 has "$tmp/watch.out" "\"id\":\"$1\".*\"state\":\"executed\""
is "$(jq -r '.id + " " + .state' "$tmp/watch.out" | sort | uniq -d)" "" "each is told once"
tell pin refuse ApprovalsService/ListApprovals unavailable later
listings=$(calls pin ApprovalsService/ListApprovals | wc -l)
wait_until 20 came_calls pin ApprovalsService/ListApprovals $((listings + 3))
wants 1
ok "a server that was away for a moment is asked again" wait_until 20 has "$tmp/watch.out" "\"id\":\"$(ids)\""
stop "$watch"

# --- refusals

tell pin refuse ApprovalsService/ListApprovals unauthenticated unauthorized
approve -l
status_is 77 "a token that is refused has status 77"
err_one_line agent-approve "one line says it"
tell pin answer ApprovalsService/ListApprovals 401 application/json '{"error":"unauthorized"}'
approve -l
status_is 77 "a refusal may have another shape"
tell pin answer ApprovalsService/ListApprovals 404 text/plain '404 page not found'
approve -l
status_is 2 "another server is an error"
tell pin refuse ApprovalsService/ListApprovals unavailable "$(printf 'a\033[31mb')"
approve -l
status_is 75 "one that is away has status 75"
err_like 'a\\e\[31mb' "in its words, made visible"
tell pin revoke
t 77 "a token that was revoked is refused" sh -c 'echo tc_1 | agent-approve -p pin --approve -'
is "$(jq -r .result "$out")" refused "nothing was sent"
not_ok "no token in what was said" grep -rq "${pincer_token#*.}" "$out" "$err" "$tmp/watch.out" "$tmp/watch.err"

# --- the reply is read
# reply WORD METHOD JSON STATUS RESULT: what is decided, what is said to that, what it means.
start_pincer heard
waits() {
  id=$(ask heard ApprovalsService/ListApprovals '{}' | jq -r '.items[]?.actionId')
  [ -n "$id" ]
}
reply() {
  ask heard TurnsService/SendTurn "{\"threadId\":\"$(new_thread heard)\",\"userText\":\"ask 1\"}" >"$tmp/said"
  wait_until 20 waits
  tell heard answer "ApprovalsService/$2" 200 application/json "$(printf '%s' "$3" | sed "s/ID/$id/")"
  run agent-approve -p heard "--$1" "$id"
  is "$status $(jq -r .result "$out")" "$4 $5" "$1, and the reply is $3"
  run agent-approve -p heard --deny "$id"
}
reply approve ApproveAction '{"actionId":"ID","status":"APPROVED"}' 0 accepted
reply approve ApproveAction '{"actionId":"ID","status":"ACTION_STATUS_APPROVED"}' 0 accepted
reply deny RejectAction '{"action_id":"ID","status":3}' 0 accepted
reply approve ApproveAction '{"actionId":"act_other","status":"APPROVED"}' 75 unknown
reply deny RejectAction '{"actionId":"act_other","status":"REJECTED"}' 75 unknown
reply approve ApproveAction '{"actionId":"ID","status":"PENDING"}' 75 unknown
reply approve ApproveAction '{"actionId":"ID","status":"REJECTED"}' 75 unknown
reply deny RejectAction '{"actionId":"ID","status":"APPROVED"}' 75 unknown
reply approve ApproveAction '{"actionId":"ID","ok":false}' 75 unknown
done_testing
