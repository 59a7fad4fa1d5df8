#!/bin/sh
# agent-tail, agent-status and agent-approve over all threads and jobs of a Pincer server.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-tail agent-status agent-approve agent-call curl jq python3

start_pincer pin
say() { ask pin TurnsService/SendTurn "{\"threadId\":\"$1\",\"userText\":\"$2\"}" >"$tmp/said"; }
old=$(new_thread pin)
say "$old" before
start all agent-tail -p pin --retry-wait 0.05
all=$pid
wait_until 20 watched pin 1
say "$old" again
ok "What happens in a thread that was there is told." \
  wait_until 20 has "$tmp/all.out" 'You said: again'
not_ok "What happened in a thread before is not told." has "$tmp/all.out" 'You said: before'
new=$(new_thread pin)
say "$new" hello
ok "A thread that is made meanwhile is followed from its first event." \
  wait_until 20 has "$tmp/all.out" "$new.*You said: hello"
job=$(ask pin JobsService/CreateJob '{"goal":"tides"}' | jq -r '.item.jobId + " " + .item.threadId')
tell pin thread "${job#* }" of a job
tell pin event "${job#* }" '{"jobStatusChanged":{"jobId":"'"${job% *}"'","status":"RUNNING"}}'
ok "The thread of a job is followed, too." \
  wait_until 20 has "$tmp/all.out" '"event":"jobStatusChanged"'
tell pin cut bare
say "$old" "once more"
ok "A stream that is cut goes on." wait_until 20 has "$tmp/all.out" 'You said: once more'
is "$(jq -r '.data.eventId' "$tmp/all.out" | sort | uniq -d)" "" "Each event is told once."
is "$(jq -r '.data.threadId' "$tmp/all.out" | sort -u | wc -l | tr -d ' ')" 3 \
  "Each event says which thread it is of."
stop "$all"
run agent-tail -p pin --from 0 --max-time 4
is "$(jq -r '.data.assistantMessageCommitted.fullText // empty' "$out" | sort | xargs)" \
  "You said: again You said: before You said: hello You said: once more" \
  "With --from 0 what is stored is told."
t 2 "A number is one of a thread." agent-tail -p pin --from 7
err_like 'events of a Pincer server have numbers in each thread' \
  "The message says that each thread has its numbers."

run agent-status -p pin
is "$status" 0 "A server with a model is healthy."
out_like 'healthy' "A server with a model is shown as healthy."
run agent-call -p pin -o json health
is "$(jq -r '.source + " " + .status + " " + .summary' "$out")" "server healthy 
jobs healthy 1 jobs, 1 running, 0 wait for a person
approvals healthy 0 wait for a person" "The parts of a server are told."
say "$new" "spoilt 1"
run agent-status -p pin
is "$status" 1 "A server that cannot list its approvals is degraded."
out_like 'degraded: approvals' "A server that cannot list its approvals is shown with that."

start_pincer two
ask two TurnsService/SendTurn "{\"threadId\":\"$(new_thread two)\",\"userText\":\"ask 1\"}" >"$tmp/said"
thread=$(ask two ThreadsService/ListThreads '{}' | jq -r '.items[0].threadId')
run python3 "$cli/terminal.py" agent-approve -p two -l
out_like "thread .*$thread" "The thread of an approval is shown."
job=$(ask two JobsService/CreateJob '{"goal":"tides"}' | jq -r '.item.jobId + " " + .item.threadId')
id=$(ask two ApprovalsService/ListApprovals '{}' | jq -r '.items[0].actionId')
tell two of "$id" "${job% *}"
run agent-approve -p two -l
is "$(jq -r '.thread + " " + .request.job' "$out")" "${job#* } ${job% *}" \
  "An approval of a job names the job and its thread."
done_testing
