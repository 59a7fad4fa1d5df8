#!/bin/sh
# What the agents of a gateway ask a person: shown beside approvals, answered by a choice or in words.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve agent-chat agent-notify jq python3
TERM=xterm
export TERM
bound=60

start_gateway claw --approvals late --questions
approve() { run agent-approve -p claw --retry-wait 0.1 "$@"; }
listed() { agent-approve -p claw -l 2>/dev/null | grep -q "\"id\":\"$1\""; }
harbour='[{"questionId":"q1","header":"Tide","question":"Which harbour?","options":[{"label":"North","description":"deep"},{"label":"South"}],"isOther":true}]'
strict='[{"questionId":"q1","header":"Tide","question":"Which harbour?","options":[{"label":"North"},{"label":"South"}]}]'
both='[{"questionId":"q1","header":"Tide","question":"Which harbours?","multiSelect":true,"options":[{"label":"North"},{"label":"South"},{"label":"East"}]},{"questionId":"q2","header":"Boat","question":"Which boat?","options":[]}]'
ask() {
  tell claw question "$1" "$2"
  wait_until 20 listed "$1" || bail "$1 is not asked"
}
resolved() { frames claw question.resolve | tail -n 1; }
result() { jq -r '[.result, .decision, .reason // "-"] | join(" ")' "$out"; }

# --- what is asked

start talk agent-chat -p claw -o json "ask_user $harbour"
talk=$pid
asked() { agent-approve -p claw -l 2>/dev/null >"$tmp/list"; }
ok "what an agent asks is listed" wait_until 20 asked
is "$(frames claw connect | jq -c .scopes | sort -u)" '["operator.read","operator.approvals","operator.questions"]
["operator.read","operator.write","operator.approvals","operator.questions"]' \
  "a scope of its own is asked for, as well by who begins a turn"
id=$(jq -r .id "$tmp/list")
is "$(jq -c '[.type, .tool, .thread, .turn == .request.runId, .state, .summary, .decisions]' "$tmp/list")" \
  '["approval","question","agent:heron:main",true,"pending","Which harbour? (North, South)",["North","South","deny"]]' \
  "a question is told as an approval, whose choices are its decisions"
is "$(jq -c .request.questions "$tmp/list")" "$harbour" "the gateway's own object is its request"
wait_until 20 has "$tmp/talk.out" '"state":"paused"'
is "$(jq -r 'select(.type == "turn").state' "$tmp/talk.out" | tail -n 1)" paused "the turn that asks waits"
ok "the turn says what it waits for" wait_until 20 has "$tmp/talk.out" '"tool":"question"'
approve --answer "$id" north
is "$status $(result)" "0 accepted North -" "a choice is answered by its name"
is "$(resolved)" "{\"id\":\"$id\",\"answers\":{\"answers\":{\"q1\":[\"North\"]}},\"resolvedBy\":\"agent-approve\"}" \
  "an answer is sent as the gateway spells it"
wait_until 20 has "$tmp/talk.out" '"state":"completed"'
is "$(jq -r 'select(.type == "approval") | [.id == "'"$id"'", .state, .decision // "-"] | join(" ")' "$tmp/talk.out")" \
  'true pending -
true approved North' "whoever talks with the agent hears the answer as well"
like "$(jq -r 'select(.role == "assistant").text' "$tmp/talk.out" | tail -n 1)" '^answered: .*North' \
  "the turn goes on with the answer"
stop "$talk" 2>/dev/null
approve --answer "$id" South
is "$status $(result)" "1 late South it was answered: North (by agent-approve)" "a second answer hears the first"
approve --answer "$id" 1
is "$status $(result)" "0 already 1 by agent-approve" "the same answer again is already given"
approve --deny "$id"
is "$status $(result)" "1 late deny it was answered: North (by agent-approve)" "what was answered cannot be denied any more"

# --- answers

ask a1 "$harbour"
before=$(frames claw question.resolve | wc -l)
approve --approve a1
is "$status $(result)" "1 refused approve approve is none of: 1 North, 2 South" "a question cannot be approved"
agent-approve -p claw -l 2>/dev/null | jq -c '.decision = "allow-once"' >"$tmp/all"
approve <"$tmp/all"
is "$status $(jq -r .result "$out")" "1 refused" "a filter that approves everything answers no question"
approve --answer a1 3
is "$status $(result)" "1 refused 3 3 is none of: 1 North, 2 South" "a number that no choice has is a slip"
approve --answer a1 North South
is "$status $(result)" "1 refused North; South 1 question wants 1 answer, not 2" "one question has one answer"
is "$(frames claw question.resolve | wc -l)" "$before" "no refused answer was sent"
approve --answer a1 'the old one'
is "$status $(result)" "0 accepted the old one -" "words of one's own are taken where the question takes them"
ask a2 "$strict"
approve --answer a2 'the old one'
is "$status $(result)" "1 refused the old one the old one is none of: 1 North, 2 South" \
  "words of one's own are refused where the question does not take them"
agent-approve -p claw -l 2>/dev/null | jq -c '.decision = "South"' >"$tmp/south"
approve <"$tmp/south"
is "$status $(result)" "0 accepted South -" "a record names a choice as its decision"
ask a3 "$both"
is "$(agent-approve -p claw -l | jq -c .decisions)" '["deny"]' "two questions have no common choice"
approve --answer a3 '3, north' Grebe
is "$status $(result)" "0 accepted East, North; Grebe -" "several choices are taken, and an answer to each question"
is "$(resolved | jq -c .answers.answers)" '{"q1":["East","North"],"q2":["Grebe"]}' "each answer goes by the id of its question"
ask a4 "$both"
echo '{"id":"a4","answers":["South","the Skua"]}' >"$tmp/answers"
approve <"$tmp/answers"
is "$status $(resolved | jq -c .answers.answers)" '0 {"q1":["South"],"q2":["the Skua"]}' "a record may have an answer to each question"
echo '{"id":"a4","answers":["South",2]}' >"$tmp/bad"
approve <"$tmp/bad"
is "$status" 2 "answers that are no strings are an error"
err_is "agent-approve: standard input:1: the answers are not strings" "what is wrong with them is said"
ask ask_5 "$both"
approve --deny ask_5
is "$status $(result)" "0 accepted deny -" "a question can be denied"
is "$(resolved)" '{"id":"ask_5","cancel":true,"resolvedBy":"agent-approve"}' "deny cancels what was asked"
approve --deny ask_5
is "$status $(result)" "0 already deny by agent-approve" "a question is cancelled once"
approve --answer ask_0 North
is "$status $(result)" "1 not_found North -" "a question that is not there is not found"
tell claw question a6 '[{"questionId":"q1","header":"Key","question":"Which key?","options":[],"isSecret":true}]'
wait_until 20 listed a6
approve --answer a6 mine
is "$status $(result)" "1 refused mine it asks for a secret, which is not to be given here" "no secret is answered"
tell claw question s1 '[{"questionId":"q1","header":"Key","question":"Which key?","options":[],"isSecret":true}]'
start secret agent-approve -p claw -w
wait_until 20 has "$tmp/secret.out" '"id":"s1"'
tell claw answer s1 '{"q1":["the-hidden-key"]}'
wait_until 20 has "$tmp/secret.out" '"state":"approved"'
stop "$pid" 2>/dev/null
is "$(jq -r 'select(.id == "s1" and .state == "approved").decision' "$tmp/secret.out")" answered \
  "what somebody else answers to a question for a secret is not told"
not_ok "the secret is nowhere in what -w tells" has "$tmp/secret.out" hidden-key
approve --answer s1 another
err_unlike 'hidden-key' "a secret is not told to who answers late, either"
ask a9 "$harbour"
approve --answer a9 -- -9223372036854775808
is "$(jq -r .result "$out")" refused "the smallest number is a number that no choice has"
approve --deny a9
tell claw ask e1 '{"command":"ls"}'
wait_until 20 listed e1 || bail "e1 is not asked"
approve --answer e1 yes
is "$status $(result)" "1 refused allow-once it is no question" \
  "an answer to what is not a question allows nothing"
is "$(frames claw approval.resolve | grep -c e1)" 0 \
  "nothing is sent for an answer to what is not a question"
approve --deny e1
approve --deny a6
t 2 "an answer has words" agent-approve -p claw --answer a6
err_is "agent-approve: --answer: what is to be answered?
usage: agent-approve [options] -l|-w|-i|-|--approve ID|--deny ID|--answer ID ..." \
  "--answer without words is told as a mistake"

# A reply that is lost: what still waits is answered again, and what was answered is not.
ask c1 "$harbour"
tell claw lose question.resolve
approve --answer c1 North
is "$status $(result)" "0 accepted North -" "an answer that was lost is sent again"
ask c2 "$harbour"
before=$(frames claw question.resolve | wc -l)
tell claw cut question.resolve
approve --answer c2 North
is "$status $(jq -r '[.result, .decision] | join(" ")' "$out")" "0 already North" \
  "an answer whose reply was lost is found"
is "$(frames claw question.resolve | wc -l)" $((before + 1)) \
  "an answer whose reply was lost is sent once"

# --- how it ends

start watch agent-approve -p claw -w
watch=$pid
for id in e1 e2 e3; do tell claw question "$id" "$harbour"; done
wait_until 20 has "$tmp/watch.out" '"id":"e3"'
tell claw answer e1 '{"q1":["West"]}'
tell claw overdue e2
tell claw withdraw e3
wait_until 20 has "$tmp/watch.out" '"state":"cancelled"'
is "$(jq -r 'select(.state != "pending") | [.id, .state, .decision // "-"] | join(" ")' "$tmp/watch.out")" \
  'e1 approved West
e2 expired -
e3 cancelled -' "what somebody else answers, nobody answers or is withdrawn is told"
tell claw drop
tell claw question e4 "$harbour"
ok "a question that is asked while the link is down is listed anew" \
  wait_until 20 has "$tmp/watch.out" '"id":"e4"'
stop "$watch"
approve --deny e4

# --- a person

talk() { run python3 "$cli/talk.py" agent-approve -p claw -i --color never --retry-wait 0.1; }
tell claw question b1 '[{"questionId":"q1","header":"Tide","question":"Which \u001b[2Jharbour?","options":[{"label":"North","description":"deep"},{"label":"So\u0007uth"}],"isOther":true}]'
wait_until 20 listed b1
talk <<'END'
deny or later: |
the answer is empty|-
deny or later: |7
7 is none of|-
deny or later: |2
b1 |^D
END
is "$status $(resolved | jq -c .answers.answers)" '0 {"q1":["So\u0007uth"]}' "a choice is answered by its number"
like "$(cat "$out")" '^  asks     Which .e\[2Jharbour\? \(Tide\)' "the question is shown, and obeyed by no terminal"
like "$(cat "$out")" '^    1      North: deep' "the choices have numbers"
like "$(cat "$out")" '^  answers  1 to 2, or your own words' "what may be answered is said"
not_ok "no control byte of the question reaches the terminal" grep -q "$(printf '[\033\007]')" "$out"
ask b2 "$both"
ask b3 "$harbour"
talk <<'END'
Tide? 1 to 3, several with commas; deny or later:|1,2
Boat? your own words; deny or later:|later
approval b3|-
deny or later:|Far Out
b3 Far Out: accepted|
Tide? 1 to 3, several with commas; deny or later:|1,2
Boat? your own words; deny or later:|the Skua
b2 North, South; the Skua: accepted|^D
END
status_is 0 "one question after the other is asked, and later puts them off"
is "$(frames claw question.resolve | jq -c .answers.answers | tail -n 2)" '{"q1":["Far Out"]}
{"q1":["North","South"],"q2":["the Skua"]}' "words are sent as they were typed"
ask b4 "$harbour"
talk <<'END'
deny or later:|deny
b4 deny: accepted|^D
END
is "$(resolved)" '{"id":"b4","cancel":true,"resolvedBy":"agent-approve"}' "deny at the prompt cancels"

# --- scopes

start_gateway less --approvals late --questions --approved operator.read,operator.write,operator.approvals
tell less ask x1 '{"command":"make"}'
run agent-approve -p less --retry-wait 0.1 --approve x1
is "$status $(jq -r .result "$out")" "0 accepted" "without the scope for questions approvals are answered"
is "$(grep -c 'operator.questions: .*devices approve pr-11; what agents ask a person is not seen' "$err")" 1 \
  "how to get the scope for questions is said once"
run agent-approve -p less --retry-wait 0.1 --answer ask_1 North
is "$status $(result)" "1 refused North the gateway does not grant operator.questions" \
  "a question is not answered without the scope for questions"
run agent-chat -p less "ask_user $harbour"
is "$status $(cat "$out")" "0 Session-scoped access requires a verified user profile." "a turn that is begun without it can ask nothing"
err_like 'operator.questions: .*; what asks a person fails in the turns that are begun here$' "that turns cannot ask is said"
is "$(wc -l <"$err" | tr -d ' ') $(frames less connect | tail -n 1 | jq -c .scopes)" \
  '1 ["operator.read","operator.write","operator.approvals"]' "the right to ask for approval is kept"
start_gateway early
run agent-approve -p early -l
err_empty "of a gateway that asks nobody nothing is said"
done_testing
