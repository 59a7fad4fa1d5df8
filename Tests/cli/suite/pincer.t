#!/bin/sh
# The commands and a Pincer server whose Connect is not ours: JSON over several lines, the
# head of a stream with its first message, its errors and its spelling.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-approve agent-call agent-chat agent-tail turn-fold jq python3 curl
needs_peers

start_connect pin
thread=$(new_thread pin)
ids() { ask pin ApprovalsService/ListApprovals '{}' | jq -r '.items[]?.actionId' | xargs; }
waits() { [ -n "$(ids)" ]; }

start tail agent-tail -p pin -L --retry-wait 0.05 "$thread"
tail=$pid
ok "a thread without events is followed" wait_until 20 has "$tmp/tail.out" '"type":"open"'
t 0 "a question is answered" agent-chat -p pin -t "$thread" read x
out_is "High water at 06:12." "the answer of a question is printed"
came() { [ "$(jq -r 'select(.event) | .id' "$tmp/tail.out" | tail -n 1)" = "$1" ]; }
ok "the events of a thread come" wait_until 20 came 8
is "$(jq -r 'select(.event) | .id' "$tmp/tail.out" | xargs)" "1 2 3 4 5 6 7 8" \
  "the events of a thread are in order"
is "$(jq -r 'select(.id == "4") | .data.toolExecutionOutputDelta | [.chunk, .stream, .utf8 | tostring]
  | join(" ")' "$tmp/tail.out")" "MDY6MTIgNC4xIG0sIGNhZsOpCg== STDOUT true" \
    "each event is on a line of its own"
t 1 "a turn that fails has status 1" agent-chat -p pin -t "$thread" fail
err_like 'FAILED_MODEL_OUTPUT: the model said nothing of use' "the reason of a failed turn is told"
t 75 "a turn that dies has status 75" agent-chat -p pin -t "$thread" --timeout 1 die

start wait agent-chat -p pin -t "$thread" -o json --wait ask 2
wait_until 20 waits
run agent-approve -p pin -l
is "$(jq -r '.tool + " " + .risk + " " + .request.preview.command' "$out" | head -n 1)" \
  "bash HIGH tide --port KIL --day 0" "agent-approve -l lists what is asked"
# shellcheck disable=SC2046  # two words
set -- $(ids)
run agent-approve -p pin --approve "$1"
is "$(jq -r .result "$out")" accepted "one of two actions is approved"
run agent-approve -p pin --deny "$2" no
is "$(jq -r .result "$out")" accepted "the other of two actions is denied"
run agent-approve -p pin --approve "$2"
is "$status $(jq -r .result "$out")" "1 late" "an action is decided once"
run agent-approve -p pin --approve tc_none
is "$status $(jq -r .result "$out")" "1 not_found" "an action that does not exist is not found"
finished "$pid"
is "$status" 0 "the turn goes on to its end after the decisions"
is "$(jq -r 'select(.type == "tool_call") | .id[-1:] + " " + .state' "$tmp/wait.out" | sort -u |
  grep -E 'succeeded|rejected')" "2 succeeded
3 rejected" "the calls of the turn tell what became of them"
is "$(jq -r 'select(.type == "tool_call") | .stdout // empty' "$tmp/wait.out" | tail -n 2 | xargs)" \
  "café 06:12" "a character that was cut is whole"
done_here() { [ "$(jq -r 'select(.event == "turnCompleted") | .id' "$tmp/tail.out" | wc -l)" -eq 2 ]; }
ok "all events of the turn are followed" wait_until 20 done_here
stop "$tail"
run turn-fold "$tmp/tail.out"
is "$(jq -r 'select(.type == "turn") | .id[-1:] + " " + .state' "$out" | sort -u)" "1 completed
1 running
2 failed
2 running
3 running
4 completed
4 paused
4 running" "the events are folded into turns"

run agent-chat -p pin --threads
out_like "^$thread" "the threads are listed"
run agent-chat -p pin --history -t "$thread" -n 1
out_is "assistant: High water at 06:12." "a history is shown"
tell pin threads 130
run agent-call -p pin threads
is "$(jq -r .threadId "$out" | sort -u | wc -l)" 131 "threads are listed page by page"
ask pin JobsService/CreateJob '{"goal":"tides"}' >"$tmp/said"
run agent-call -p pin jobs
is "$(jq -c '[.goal, .status]' "$out")" '["tides","JOB_RUNNING"]' "the jobs are listed"
is "$(lines "$out")" 1 "a row of a job is a line"
run agent-call -p pin devices
is "$(jq -r .isCurrent "$out")" true "the devices are listed"
run agent-call -p pin audit
is "$(jq -r .eventType "$out" | head -n 1)" action_proposed "the audit is listed"
t 1 "a server without schedules has status 1" agent-call -p pin schedules
code=$(ask pin AuthService/CreatePairingCode '{}' | jq -r .code)
t 0 "pairing succeeds" sh -c 'echo "$1" | agent-call -p pin pair "$2"' - "$code" "$tmp/token"
run agent-call -p pin --token-file "$tmp/token" -o tsv devices
is "$(lines "$out")" 2 "pairing makes a device"
run agent-tail -p pin thr_none
isnt "$status" 0 "an error of a stream is an error"
err_like 'not_found: thread not found$' "the message names the thread that is not found"
tell pin revoke
for words in "agent-tail -p pin $thread" "agent-chat -p pin -t $thread x" "agent-approve -p pin -l" \
  "agent-call -p pin jobs"; do
  t 77 "${words%% *} needs a token" sh -c "$words </dev/null"
  err_one_line "${words%% *}" "${words%% *} without a token is told in one line"
done
done_testing
