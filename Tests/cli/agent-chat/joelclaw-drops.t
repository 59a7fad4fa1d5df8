#!/bin/sh
# agent-chat with a joelclaw gateway: links that are lost, restarts, what is hostile.
. "${0%/*}/../lib.sh"
. "${0%/*}/../joelgate.sh"
needs agent-chat jq python3

start_joelgate joel
chat() { run agent-chat -p joel --retry-wait 0.1 "$@"; }
prompts() { frames joel prompt | wc -l | tr -d ' '; }
user() { jq -r 'select(.role == "user") | .state' "$1" | uniq | tr '\n' ' '; }

tell joel cut
start cutoff agent-chat -p joel --retry-wait 0.1 -o json hold on
ok "a prompt behind which the connection is lost is looked for" \
  wait_until 20 has "$tmp/cutoff.out" '"role":"user".*"state":"final"'
tell joel go
finished "$pid"
is "$(user "$tmp/cutoff.out")" "queued sent unconfirmed final " \
  "a prompt behind which the connection is lost is found"
is "$(prompts)" 1 "a prompt behind which the connection is lost is not sent again"
tell joel lose
chat --timeout 0.5 -o json never stored
status_is 75 "a prompt that never arrived has status 75"
is "$(user "$out")" "queued sent unconfirmed " "a prompt that never arrived is unconfirmed"
err_like "whether the message was taken is not known$" \
  "nobody claims that a prompt that never arrived was taken"
is "$(prompts)" 2 "a prompt that never arrived is not sent again"

start torn agent-chat -p joel --retry-wait 0.1 -o json hold
wait_until 20 has "$tmp/torn.out" '"state":"partial"'
tell joel drop
next=$(($(jq .connection "$tmp/joel.log" | tail -n 1) + 1))
wait_until 20 has "$tmp/joel.log" "\"connection\": $next,"
tell joel go
finished "$pid"
is "$status" 75 "an answer of which a part is lost with the connection has status 75"
is "$(jq -r 'select(.role == "assistant") | .state' "$tmp/torn.out" | tail -n 1)" aborted \
  "an answer of which a part is lost is not a final text"
like "$(cat "$tmp/torn.err")" 'a part of the answer is lost, and nobody keeps it$' \
  "the message says that a part is lost"

start again agent-chat -p joel --retry-wait 0.1 -o json count 200
wait_until 20 has "$tmp/again.out" '"state":"partial"'
tell joel restart 1500
finished "$pid"
is "$status" 0 "a gateway that is restarted begins again with what it did not finish"
is "$(jq -r 'select(.role == "assistant" and .state == "final") | .text' "$tmp/again.out")" \
  "$(seq -s " " 0 199) " "the answer behind a restart is whole"
is "$(prompts)" 4 "no second prompt is sent behind a restart"
start head agent-chat -p joel --retry-wait 0.5 count 300
wait_until 20 came_frames joel prompt 5
wait_until 20 has "$tmp/joel.out" '"taken":"count 300"'
tell joel restart 0
finished "$pid"
is "$status" 75 "an answer whose beginning came before the link was back is not whole"

start raw agent-chat -p joel -o json forever
wait_until 20 has "$tmp/raw.out" '"state":"partial"'
tell joel raw '{"type":'
tell joel raw 'null'
tell joel raw '{"type":"text_delta","delta":7}'
tell joel raw '{"type":"status","data":{"supersession":7}}'
tell joel raw '{"type":"error","message":"\u001b[2Jbad"}'
tell joel bytes x
kill -INT "$pid"
finished "$pid"
is "$status" 130 "^C ends the command behind frames of the wrong kind"
ok "a frame that cannot be read is named" \
  has "$tmp/raw.err" '^agent-chat: a frame that cannot be read: '
not_ok "nothing of such a frame reaches a terminal as it is" \
  grep -q "$(printf '\033')" "$tmp/raw.err"

chat huge 70
status_is 75 "an answer without an end has status 75"
err_like 'the answer is longer than what is kept$' "the message says that it is too long"
stop "$(cat "$tmp/joel.pid")"
chat --max-retries 1 anybody there
status_is 75 "without a gateway the status is 75"
done_testing
