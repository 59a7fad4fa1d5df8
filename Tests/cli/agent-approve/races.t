#!/bin/sh
# Answers under races: answered elsewhere, expired, a gateway that goes in between.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-approve jq python3

# listed GATEWAY ID
listed() { agent-approve -p "$1" -l 2>/dev/null | grep -q "\"id\":\"$2\""; }
# ask GATEWAY ID: an approval waits there.
ask() {
  tell "$1" ask "$2" '{"command":"make"}'
  wait_until 20 listed "$1" "$2" || bail "$2 is not asked"
}
# sent GATEWAY: the answers that came.
sent() { frames "$1" exec.approval.resolve | jq -r '"\(.id) \(.decision)"'; }
# answers GATEWAY: decisions are read from descriptor 3 and answered into live.out.
answers() {
  rm -f "$tmp/policy"
  mkfifo "$tmp/policy"
  start live sh -c 'exec agent-approve -p "$2" --retry-wait 0.1 <"$1"' - "$tmp/policy" "$1"
  live=$pid
  exec 3>"$tmp/policy"
  # Once this is answered it knows what waits.
  echo '{"id":"none","decision":"deny"}' >&3
  wait_until 20 has "$tmp/live.out" '"id":"none"' || bail "$(cat "$tmp/live.err")"
}
# came ID RESULT [REASON]: the answer to an approval.
came() {
  wait_until 20 has "$tmp/live.out" "\"id\":\"$1\"" || diag "$(cat "$tmp/live.err")"
  is "$(jq -r --arg id "$1" 'select(.id == $id) | "\(.result) \(.reason // "")"' "$tmp/live.out")" "$2" "$3"
}
end_input() {
  exec 3>&-
  finished "$live"
}

start_gateway claw
ask claw a1
ask claw a2
ask claw a3
answers claw
tell claw resolve a1 deny
wait_until 20 sh -c '! agent-approve -p claw -l | grep -q \"a1\"'
echo '{"id":"a1","decision":"approve"}' >&3
came a1 "late it was answered: deny" \
    "an answer is late when the event says that somebody else was faster"
tell claw resolve a2 allow-once
wait_until 20 sh -c '! agent-approve -p claw -l | grep -q \"a2\"'
echo '{"id":"a2","decision":"approve"}' >&3
came a2 "already " "the same answer as somebody else's is already given"
is "$(sent claw)" "" "nothing is sent for what is known to be over"

# The gateway knows and the event has not come: it never does here.
tell claw settle a3 deny
wait_until 20 sh -c '! agent-approve -p claw -l | grep -q \"a3\"'
echo '{"id":"a3","decision":"approve"}' >&3
came a3 "late answered elsewhere, or expired" "an error that it is over is no acceptance"
is "$(sent claw)" "a3 allow-once" "only what waited by the events was sent"

# The same again while the first is under way.
ask claw a4
printf '%s\n' '{"id":"a4","decision":"deny"}' '{"id":"a4","decision":"deny"}' \
  '{"id":"a4","decision":"approve"}' >&3
wait_until 20 at_least "$tmp/live.out" 7
is "$(grep '"a4"' "$tmp/live.out" | jq -r .result | xargs)" "accepted already late" \
  "the first of several answers for one approval counts"
is "$(sent claw | grep -c a4)" 1 "only the first of several answers for one approval is sent"

# The reply is lost, the answer counted.
ask claw a5
tell claw cut exec.approval.resolve
echo '{"id":"a5","decision":"approve"}' >&3
came a5 "already " "an answer counts by its event when the link goes before the reply"
is "$(sent claw | grep -c a5)" 1 "an answer whose event came is not sent again"

# The request is lost: it waits still, and is sent again.
ask claw a6
tell claw lose exec.approval.resolve
echo '{"id":"a6","decision":"deny"}' >&3
came a6 "accepted " "what was lost on its way counts in the end"
is "$(sent claw | grep -c a6)" 2 "the second try brings what was lost on its way"

# The gateway restarts in between and knows nothing any more.
ask claw a7
tell claw crash exec.approval.resolve
echo '{"id":"a7","decision":"approve"}' >&3
came a7 "unknown no reply came, and nothing is known of it" "no result is invented"
is "$(sent claw | grep -c a7)" 1 \
  "nothing is sent for what a gateway does not know after its restart"
is "$(frames claw exec.approval.get | jq -r .id)" a7 \
  "the gateway is asked for what it does not know any more"
ok "the loss is told when there is somebody to tell" \
  agent-approve -p claw -v -w --max-time 0.5 -q
end_input
is "$status" 75 "an answer of which nothing is known may be tried again"

# No reply comes.
ask claw a8
tell claw mute exec.approval.resolve
t 75 "a reply that does not come in time has status 75" \
  agent-approve -p claw --approve a8 --max-time 1
is "$(jq -r '"\(.id) \(.result)"' "$out")" "a8 unknown" \
  "the result of an answer without a reply is unknown"

# A gateway of earlier versions has no code of its own for it.
start_gateway early --approvals early --protocol 3
ask early c1
tell early settle c1 deny
run agent-approve -p early --approve c1
is "$(jq -r .result "$out")" not_found "what is not listed is not sent"
ask early c2
answers early
tell early settle c2 allow-once
wait_until 20 sh -c '! agent-approve -p early -l | grep -q \"c2\"'
echo '{"id":"c2","decision":"approve"}' >&3
came c2 "late answered elsewhere, or expired" \
  "the words of an earlier gateway for what is over are known"
ask early c
ask early c30
echo '{"id":"c3","decision":"approve"}' >&3
came c3 not_found\  "the beginning of an id is not taken for the whole"
end_input
is "$status" 1 "a late answer is a no"
is "$(sent early)" "c2 allow-once" "nothing but a late answer was sent to an earlier gateway"

# One of later versions says itself who was faster.
start_gateway late --approvals late
ask late d1
ask late d2
answers late
tell late settle d1 deny
wait_until 20 sh -c '! agent-approve -p late -l | grep -q \"d1\"'
echo '{"id":"d1","decision":"approve"}' >&3
came d1 "late it was answered: deny (by device dddddddddddd)" "the loser is told who was faster"
tell late lose approval.resolve
echo '{"id":"d2","decision":"deny"}' >&3
came d2 "accepted " "the answer of the winner is accepted"
is "$(frames late approval.resolve | jq -c . | tail -n 1)" '{"id":"d2","kind":"exec","decision":"deny"}' \
  "a later gateway is answered by the method for all kinds"
end_input
is "$status" 1 "a late answer to a later gateway has status 1"

# What is followed: it comes, is answered elsewhere, expires, over losses.
start watch agent-approve -p late -w --retry-wait 0.1
watch=$pid
ask late e1
told() { wait_until 20 has "$tmp/watch.out" "$1"; }
ok "an approval that comes is told" told '"id":"e1".*"state":"pending"'
tell late resolve e1 allow-always
ok "an answer from elsewhere is told" \
  told '"id":"e1".*"state":"approved","decision":"allow-always","by":"someone"'
tell late brief e2 1500
ok "another approval that comes is told" told '"id":"e2".*"state":"pending"'
ok "an approval that expires is told, though no event tells it" told '"id":"e2".*"state":"expired"'
ask late e3
ok "an approval before a loss is told" told '"id":"e3".*"state":"pending"'
tell late lose exec.approval.list
tell late drop
tell late settle e3 deny
ok "what ended while the link was down is told" told '"id":"e3".*"state":"expired","reason":"it does not wait any more"'
tell late event exec.approval.requested '{"id":"e4","request":7}'
tell late event exec.approval.requested '{"id":"e5","request":{"command":"a\u001b[2J\u202e"},"createdAtMs":1e300,"expiresAtMs":"soon"}'
ok "odd members of a request do no harm" told '"id":"e5".*"state":"pending"'
not_ok "a request that is not an object is not told" has "$tmp/watch.out" e4
is "$(jq -r 'select(.id == "e5") | .request.command' "$tmp/watch.out" | od -An -c | tr -d ' \n')" \
  'a033[2J342200256\n' "a record keeps what came"
stop "$watch"
is "$(jq -r .id "$tmp/watch.out" | uniq -c | awk '{ print $2, $1 }' | xargs)" "e1 2 e2 2 e3 2 e5 1" \
  "-w tells nothing twice"
done_testing
