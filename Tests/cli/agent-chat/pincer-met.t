#!/bin/sh
# agent-chat with a Pincer server: turns as they were recorded from a real one.
. "${0%/*}/../lib.sh"
. "${0%/*}/../pincer.sh"
needs agent-chat turn-fold curl jq python3

start_pincer pin
met=$root/Tests/fixtures/pincer-met.ndjson
restart=$root/Tests/fixtures/pincer-restart.ndjson
play() { run agent-chat -p pin --retry-wait 0.05 --wait -t "$(new_thread pin)" "$@"; }

play play "$met" 1 5
is "$status: $(cat "$out")" "0: Thought about tides" "A turn that thinks ends with its answer."
play play "$met" 6 18
is "$status: $(cat "$out")" "0: I have read it." "A turn with two tools ends with its answer."
play play "$met" 19 36
is "$status: $(cat "$out")" "0: I will run it.
Done with bash." "A turn whose command failed with 3 goes on to its answer."
play play "$met" 37 49
is "$status: $(tail -n 1 "$out")" "0: Done with bash." "A turn goes on behind a denial."

play -o json play "$met" 50 77
is "$status" 0 "A turn with two approved actions ends well."
is "$(jq -r 'select(.role == "assistant" and .state == "final") | .text' "$out")" "Two commands.
Both resolved.
Now both have run." "The last answer of such a turn comes though it was called complete before."
is "$(jq -r 'select(.type == "turn") | .state' "$out" | tail -n 2 | xargs)" "running completed" \
  "The last record of such a turn says completed."
is "$(jq -r 'select(.type == "turn" and .state == "completed") | .message' "$out")" \
  msg_0889b9e1c2423c71 "The record says completed once, with the last answer."
play play "$met" 50 73
is "$status: $(tail -n 1 "$out")" "0: Both resolved." \
  "A turn that does not go on behind its last action ends all the same."
play --timeout 1 play "$met" 50 72
is "$status" 75 "A turn whose second action has not run is not over."

play -o json play "$met" 78 90
is "$status $(jq -r 'select(.type == "tool_call") | .state' "$out" | tail -n 1)" "0 succeeded" \
  "A call that was carried out without an execution has succeeded."
play -o json play "$met" 91 105
is "$status $(jq -r 'select(.type == "tool_call") | .state + " " + (.reason // "")' "$out" | tail -n 1)" \
  "0 failed timed out" "A call that took too long has failed."
play play "$met" 106 109
status_is 1 "A model that fails is a failed turn."
out_empty "What the server says of that is not printed as an answer."
err_like 'the agent failed: Planner error: the model answered 500$' \
  "The failure of a model is told on standard error."

play play "$restart" 1 18
is "$status: $(tail -n 1 "$out")" "0: Done with bash." \
  "A command that is run again by a restarted server does not end the turn."
play play "$restart" 19 23
status_is 0 "A turn that a restarted server begins anew is the same turn."
is "$(lines "$out")" 1 "The answer of a turn that is begun anew comes once."

run python3 "$cli/terminal.py" agent-chat -p pin --wait -t "$(new_thread pin)" play "$met" 19 36
out_unlike 'run_bash run_bash' "The name of a tool is not said twice on a terminal."
out_like 'run_bash .*echo low water' "What a tool is called with is said on a terminal."

# --- a turn that the server gives up

thread=$(new_thread pin)
start given agent-chat -p pin --retry-wait 0.05 --idle-timeout 0.5 --timeout 100 -t "$thread" hang
wait_until 20 watched pin "$(($(calls pin EventsService/WatchThread | wc -l) + 1))"
tell pin cut error internal internal error
begun=$(date +%s)
finished "$pid"
is "$status" 75 "A turn that the server gives up is given up, too."
ok "A turn that the server gives up is noticed at once." test $(($(date +%s) - begun)) -lt 15
like "$(cat "$tmp/given.err")" 'the turn is over, and how it ended is not said' \
  "The message says that it is not known how the turn ended."

# --- the same by turn-fold

fold() {
  file=$1
  shift
  run turn-fold "$@" "$file"
}
fold "$met" -o state
is "$(jq -r '.turns[].status' "$out" | sort | uniq -c | xargs)" "8 completed" \
  "All turns of the recorded thread are complete."
is "$(jq -r '.turns[].calls[] | .tool + " " + .state' "$out")" "read_file succeeded
list_dir succeeded
run_bash failed
run_bash rejected
run_bash succeeded
run_bash succeeded
gmail_create_draft succeeded
run_bash failed" "Each call of the recorded thread has its state."
fold "$met"
is "$(jq -r 'select(.type == "turn" and .state != "running" and .state != "paused") | .state' "$out" |
  xargs)" "completed completed completed completed completed completed completed failed" \
  "A turn whose end comes too early is told to have ended once."
head -n 73 "$met" >"$tmp/part"
fold "$tmp/part"
is "$(jq -r 'select(.id == "turn_f9cf3fb358194b84") | .state' "$out" | tail -n 1)" running \
  "A turn that may go on is not told to be complete."
fold "$tmp/part" -o state
is "$(jq -r '.turns[-1] | .status + " " + .ended_at' "$out")" \
  "completed $(sed -n 70p "$met" | jq -r .occurredAt)" \
  "The state of a turn that may go on is what the events say."
head -n 74 "$met" >"$tmp/part"
fold "$tmp/part" -o state
is "$(jq -r '.turns[-1] | .status + " " + (.ended_at // "no end")' "$out") $(jq -r .active_turn "$out")" \
  "running no end turn_f9cf3fb358194b84" "A turn that goes on is active again."
fold "$restart" -o state
is "$(jq -c '[.turns[0].calls[0].executions[] | [.streaming, .exit_code]]' "$out")" \
  '[[false,null],[false,0]]' "An execution whose end was lost in a restart is not running."
done_testing
