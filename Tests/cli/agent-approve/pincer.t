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
status_is 1 "-l has status 1 when nothing waits"
out_empty "nothing is printed when nothing waits"
err_empty "nothing is said when nothing waits"

wants 2
# shellcheck disable=SC2046  # two words
set -- $(ids)
approve -l
status_is 0 "-l has status 0 when something waits"
is "$(jq -c '[.type, .backend, .profile, .id, .tool, .risk, .decisions, .state]' "$out" | head -n 1)" \
  "[\"approval\",\"pincer\",\"pin\",\"$1\",\"bash\",\"HIGH\",[\"approve\",\"reject\"],\"pending\"]" \
  "what waits is listed as a record"
is "$(jq -c .request "$out" | head -n 1)" \
  '{"tool":"bash","riskClass":"HIGH","preview":{"command":"tide --port KIL --day 0"}}' \
  "what is decided on is not in the model's words"
is "$(jq -r '.expires != null and .thread == "thr_0000000000000001"' "$out" | sort -u)" true \
  "an approval says until when it waits, and in which thread"
out_unlike "$(printf '\033')" "a summary is made visible"
is "$(calls pin ApprovalsService/ListApprovals | sort -u)" '{"status":"PENDING"}' \
  "-l asks for nothing but what waits"

approve --approve "$1"
status_is 0 "--approve has status 0 for what waits"
is "$(jq -c '[.type, .backend, .profile, .id, .decision, .result]' "$out")" \
  "[\"approval_answer\",\"pincer\",\"pin\",\"$1\",\"approve\",\"accepted\"]" \
  "the answer of --approve is accepted"
carried_out() { [ "$(state "$1")" = EXECUTED ]; }
ok "what is approved is carried out" wait_until 20 carried_out "$1"
approve --deny "$2" not on a Sunday
status_is 0 "--deny with a reason has status 0"
is "$(calls pin ApprovalsService/RejectAction)" \
  "{\"actionId\":\"$2\",\"reason\":\"not on a Sunday\"}" "the reason of --deny is sent with it"

approve --approve "$1"
status_is 0 "the same approval may come again"
is "$(results)" "$1 approve already" "the result of the same approval is already"
approve --deny "$2"
status_is 0 "the same denial may come again"
is "$(results)" "$2 reject already: not on a Sunday" \
  "the result of the same denial has the first reason"
approve --deny "$1"
status_is 1 "another answer to what was approved has status 1"
is "$(results)" "$1 reject late: it was answered: approve" \
  "another answer to what was approved is late"
approve --approve "$2"
status_is 1 "another answer to what was denied has status 1"
is "$(results)" "$2 approve late: it was answered: reject (not on a Sunday)" \
  "another answer to what was denied is late, and told the reason"
approve --approve tc_none
status_is 1 "an answer to what is not there has status 1"
is "$(results)" "tc_none approve not_found" "the result of what is not there is not_found"

wants 2
# shellcheck disable=SC2046
set -- $(ids)
tell pin expire "$1"
tell pin age "$2"
approve --approve "$1"
is "$status: $(results)" "1: $1 approve late: it is expired" \
  "an approval of what the server has given up is late"
approve --approve "$2"
is "$status: $(results)" "1: $2 approve late: it is expired" \
  "an approval of what the server finds too old now is late"
approve --deny "$2"
is "$status: $(results)" "1: $2 reject late: it is expired" "a denial of what is expired is late"

# --- standard input

wants 4
# shellcheck disable=SC2046
set -- $(ids)
t 1 "ids come from standard input" \
  sh -c 'printf "%s\n" "$@" | agent-approve -p pin --approve -' - "$1" tc_none '' "$2"
is "$(results)" "$1 approve accepted
tc_none approve not_found
$2 approve accepted" "each id has a result on a line, in their order"
t 0 "a list of what waits has status 0" \
  sh -c 'agent-approve -p pin -l | agent-approve -p pin --deny - not so many'
is "$(results)" "$3 reject accepted
$4 reject accepted" "a list is denied as a whole"
is "$(calls pin ApprovalsService/RejectAction | tail -n 1 | jq -r .reason)" "not so many" \
  "the reason is sent when a list is denied"
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
t 2 "a line that is not a decision has status 2" \
  sh -c 'agent-approve -p pin <"$1"' - "$tmp/decisions"
is "$(results | sed 's/late: .*/late/')" "$1 approve accepted
$2 reject accepted
$1 reject late
$3 always refused: the server takes: approve, reject" \
  "each decision has a result on a line, in their order"
err_like '^agent-approve: standard input:2: not JSON: ' "the line that is not a decision is named"
approve --deny "$3"

# --- losses: an answer is not given twice unless it still waits

wants 4
# shellcheck disable=SC2046
set -- $(ids)
before=$(decided | wc -l)
tell pin lose ApprovalsService/ApproveAction
approve --approve "$1"
is "$status: $(results)" "0: $1 approve already" "an answer whose reply is lost was given"
is "$(decided | wc -l)" $((before + 1)) "an answer whose reply is lost is given once"
tell pin close ApprovalsService/ApproveAction
approve --approve "$2"
is "$status: $(results)" "0: $2 approve accepted" "an answer that was not taken is given again"
tell pin answer ApprovalsService/ApproveAction 502 text/html '<html>'
approve --approve "$3"
is "$status: $(results)" "0: $3 approve accepted" \
  "an answer that somebody on the way refused is given again"
tell pin refuse ApprovalsService/ApproveAction internal odd
approve --approve "$4"
is "$status: $(results)" "0: $4 approve accepted" \
  "an answer that the server refused for now is given again"

# --- what happens to them, live

listings=$(calls pin ApprovalsService/ListApprovals | wc -l)
start watch agent-approve -p pin -w --retry-wait 0.05
watch=$pid
wait_until 20 came_calls pin ApprovalsService/ListApprovals $((listings + 1))
wants 3
# shellcheck disable=SC2046
set -- $(ids)
ok "-w tells what is asked" wait_until 20 has "$tmp/watch.out" "\"id\":\"$3\".*\"pending\""
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
is "$(jq -r '.id + " " + .state' "$tmp/watch.out" | sort | uniq -d)" "" "-w tells nothing twice"
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
err_one_line agent-approve "a token that is refused is told in one line"
tell pin answer ApprovalsService/ListApprovals 401 application/json '{"error":"unauthorized"}'
approve -l
status_is 77 "a refusal may have another shape"
tell pin answer ApprovalsService/ListApprovals 404 text/plain '404 page not found'
approve -l
status_is 2 "another server is an error"
tell pin refuse ApprovalsService/ListApprovals unavailable "$(printf 'a\033[31mb')"
approve -l
status_is 75 "a server that is away has status 75"
err_like 'a\\e\[31mb' "a server that is away is told in its words, made visible"
tell pin revoke
t 77 "a token that was revoked is refused" sh -c 'echo tc_1 | agent-approve -p pin --approve -'
is "$(jq -r .result "$out")" refused "nothing is sent with a token that was revoked"
not_ok "the token is nowhere in what was said" \
  grep -rq "${pincer_token#*.}" "$out" "$err" "$tmp/watch.out" "$tmp/watch.err"

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
