#!/bin/sh
# A session of Claude Code, from the transcript that it keeps, as turns.
. "${0%/*}/../lib.sh"
needs turn-fold turn-format jq
cd "$tmp" || exit 1
session=$root/Tests/fixtures/transcript.ndjson
python3 "$root/Tests/fixtures/make-transcript.py" >made
ok "the sample is what its maker makes" cmp made "$session"

t 0 "a transcript is folded" turn-fold -f "$session"
err_empty "nothing is said on standard error of a transcript"
cp "$out" records
is "$(jq -r 'select(.type == "turn") | [.id[-2:], .state, .reason // "-", .parent[-2:]? // "-"] |
  join(" ")' records)" "09 completed - 03
03 completed - -
15 aborted interrupted -
19 completed - -
23 failed API Error: 529 overloaded -" "a transcript has its turns and that of a subagent"
is "$(jq -r 'select(.type == "turn" and .id[-2:] == "03").usage | [.input_tokens, .output_tokens] |
  join(" ")' records)" "30875 165" "the tokens of each answer count once"
is "$(jq -r 'select(.type == "tool_call") | [.tool, .label // "-", .state] | join("|")' records)" \
  "Bash|Build the table|succeeded
Grep|2026-02-30|succeeded
Task|Check the rows|succeeded
Bash|rm old.csv|rejected
AskUserQuestion|-|succeeded" "a transcript has its tools"
is "$(jq -r 'select(.type == "message" and .role == "user").text' records)" \
  "does the tide table still build?
delete the old table
what would you call the new one?
and in Chinese?" "a user's message is what a person typed and nothing else"
run sh -c 'turn-fold "$1" | jq -r "select(.type == \"turn\" and .id[-2:] == \"19\").state" |
  uniq | xargs' - "$session"
out_is "running paused running completed" "a question pauses its turn"
head -n 22 "$session" >asked
run turn-fold asked
is "$(jq -r 'select(.type == "turn") | "\(.state) \(.reason)"' "$out" | tail -n 1)" \
  "paused a question" "a turn stays paused while nobody answers"

cat "$session" "$session" >twice
run turn-fold -f twice
is "$(jq -S -c 'del(.time)' "$out" | sort -u | wc -l)" \
  "$(jq -S -c 'del(.time)' records | sort -u | wc -l)" "a copy of its lines says nothing new"
head -n 8 "$session" >running
run turn-fold running
is "$(jq -r 'select(.type == "turn").state' "$out" | tail -n 1)" running "a turn that goes on runs"
run sh -c 'turn-fold "$1" | turn-format -W 80' - "$session"
out_like 'tides-26\.csv \\e\[31mred' "what a terminal would obey is made visible"
{
  head -c 3000 /dev/urandom | tr '\n' x
  echo
  printf '{"type":"user","sessionId":"s","uuid":7,"message":[]}\n{"type":"assistant","sessionId":"s"}\n'
  cat "$session"
} >noise
t 2 "a transcript behind noise has status 2" turn-fold -f noise
is "$(jq -c 'select(.type == "turn")' "$out" | wc -l)" "$(jq -c 'select(.type == "turn")' records | wc -l)" \
  "noise hides no turn"

done_testing
