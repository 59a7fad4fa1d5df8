#!/bin/sh
# pds-record watch and agent-tail where a server tells nobody anything who has not logged in.
. "${0%/*}/../lib.sh"
needs pds-record agent-tail jq curl
needs_peers
. "${0%/*}/../pds.sh"
tokens=$XDG_STATE_HOME/agentutils/pds
write() { echo "{\"n\":$2}" | pds-record -p "$1" put $task "k$2" >"$tmp/written"; }
numbers() { jq -r 'select(.event == "#commit").data.ops[].value.n' "$1" | xargs; }

# --- the handle, the stream and the records

start_pds me --private
for number in 1 2; do write me "$number"; done
: >"$tmp/me.log"
rm -r "$tokens"
t 0 "a server that wants one to log in has status 0" \
  pds-record watch -L --max-retries 0 --from 0 -n 2 $task
is "$(numbers "$out")" "1 2" "a server that wants one to log in tells what it has"
is "$(jq -r 'select(.type).type' "$out" | xargs)" "open end" "no link is lost for a log-in"
is "$(asked me createSession)" 1 "the password is sent once"
is "$(jq -r 'select(.authorized | not).method' "$tmp/me.log" | sort | xargs)" \
  "createSession describeRepo" "the log-in asks for no more than it needs"
run agent-tail -p me --from 0 -n 2 $task
is "$(numbers "$out")" "1 2" "agent-tail is told, too"
is "$(asked me createSession)" 1 "the same session serves pds-record and agent-tail"
run pds-record -p me watch -L --repo did:web:alice.test --max-retries 0 --from 0 -n 2 $task
is "$(numbers "$out") $(jq -r 'select(.type).type' "$out" | xargs)" "1 2 open end" \
  "the stream asks for a log-in where no handle is looked up"

# --- tokens that wear out

start_pds short --private --lifetime 1
start watch pds-record -p short watch -L --retry-wait 0.1 $task
wait_until 20 has "$tmp/watch.out" '"type":"open"' || bail "not open"
sleep 1.1
write short 1
wait_until 20 has "$tmp/watch.out" '"n":1'
stop "$pid" INT
is "$(numbers "$tmp/watch.out") $(jq -r 'select(.type).type' "$tmp/watch.out" | xargs)" \
  "1 open end" "tokens that wear out are renewed on the way"
is "$(asked short createSession)" 1 "the password is not needed to renew tokens"

# --- without a stream

fault me '{"method":"subscribeRepos","status":404}'
run pds-record -p me watch --from 0 -n 2 --retry-wait 0.1 --max-time 20 $task
is "$(jq -r '.data | [.by, .ops[0].value.n] | join(" ")' "$out" | xargs)" "poll 1 poll 2" \
  "a server without a stream is polled with the token"
fault short '{"method":"subscribeRepos","status":404}'
start watch pds-record -p short watch -L --repo did:web:alice.test --retry-wait 0.1 $task
wait_until 20 has "$tmp/watch.out" '"type":"open"' || bail "not open"
sleep 1.1
write short 2
wait_until 20 has "$tmp/watch.out" '"n":2'
stop "$pid" INT
is "$(numbers "$tmp/watch.out") $(jq -r 'select(.type).type' "$tmp/watch.out" | xargs)" \
  "2 open end" "new tokens are taken while a server is polled"

# --- nobody is let in

start_pds never --private --lifetime 0
t 77 "a server that takes none of its tokens has status 77" pds-record -p never watch --max-time 20
err_one_line pds-record "one line tells of a server that takes none of its tokens"
ok "a server that takes none of its tokens is not asked for ever" \
  [ "$(asked never createSession)" -lt 4 ]
rm -r "$tokens"
down me
t 75 "a server that is away has status 75" pds-record -p me watch --max-retries 0 --max-time 20
up me
echo wrong >"$tmp/pds.password"
t 77 "a wrong password is refused" pds-record -p me watch --max-time 20
err_like 'was refused for alice.test$' "the message names the account"
: >"$tmp/me.log"
t 77 "agent-tail refuses it, too" agent-tail -p me --max-time 20
is "$(asked me createSession)" 1 "agent-tail tries a wrong password once"

done_testing
