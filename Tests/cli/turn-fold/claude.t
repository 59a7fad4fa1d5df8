#!/bin/sh
# What a transcript of Claude Code tells besides what was said: subagents under the call that made
# them, commands of the person, compaction, how long a turn took, and what nobody knows.
. "${0%/*}/../lib.sh"
needs turn-fold turn-format transcript-tail jq
cd "$tmp" || exit
one=aaaaaaaa-0000-4000-8000-000000000001
two=bbbbbbbb-0000-4000-8000-000000000002

# Lines of a transcript: a time in seconds, an id, and what else is in them, as jq has it.
line() {
  jq -nc --arg s "${session:-$one}" --arg id "$2" --arg at "2026-05-04T10:00:$1.000Z" \
    "{parentUuid: null, isSidechain: false, uuid: \$id, timestamp: \$at, sessionId: \$s} + $3"
}
said() { line "$1" "$2" "{type: \"user\", message: {role: \"user\", content: \"$3\"}}${4:-}"; }
# answers AT ID STOP BLOCK [MORE]
answers() {
  line "$1" "$2" "{type: \"assistant\", message: {id: \"msg_of_answer_$2\", role: \"assistant\",
    content: [$4], stop_reason: \"$3\"}}${5:-}"
}
text() { printf '{type: "text", text: "%s"}' "$1"; }
call() { printf '{type: "tool_use", id: "%s", name: "Agent", input: {description: "Look"}}' "$1"; }
result() { # AT ID CALL TOOL-USE-RESULT
  line "$1" "$2" "{type: \"user\", message: {role: \"user\", content: [{type: \"tool_result\",
    tool_use_id: \"$3\", content: \"launched\"}]}, toolUseResult: $4}"
}
system() { line "$1" "$2" "{type: \"system\", subtype: \"$3\"} + $4"; }
side='+ {isSidechain: true, agentId: "a1"}'
turns() { jq -c 'select(.type == "turn") | [.id, .state, .parent, .tool_call]'; }
last() { jq -sc 'map(select(.type == "turn")) | group_by(.id) | map(last | [.id, .state, .parent, .tool_call])[]'; }

# --- a subagent that runs on in the background
site=$HOME/.claude/projects/-home-ada-site
mkdir -p "$site/$one/subagents"
{
  said 01 u1 'look at the tides'
  answers 02 a1 tool_use "$(text 'I ask.'), $(call toolu_1)"
  result 03 r1 toolu_1 '{isAsync: true, status: "async_launched", agentId: "a1"}'
  answers 05 a2 end_turn "$(text 'It is at work.')"
  system 05 d1 turn_duration '{durationMs: 4200, pendingBackgroundAgentCount: 1}'
  said 09 n1 '<task-notification>\n<task-id>a1</task-id>\n<status>completed</status></task-notification>' \
    '+ {origin: {kind: "task-notification"}}'
  answers 10 a3 end_turn "$(text 'High at nine.')"
} >"$site/$one.jsonl"
agent=$site/$one/subagents/agent-a1.jsonl
{
  said 03 s1 'which tide?' "$side"
  answers 06 s2 tool_use "$(text 'I look.')" "$side"
  answers 08 s3 end_turn "$(text 'At nine.')" "$side"
} >"$agent"
want='["u1","completed",null,null]
["a1","completed","u1","toolu_1"]
["n1","completed",null,null]'
run sh -c 'transcript-tail --once | turn-fold -f'
is "$(turns <"$out" | sort)" "$(printf '%s\n' "$want" | sort)" \
  "a subagent belongs to the turn and to the call that made it"
run sh -c 'transcript-tail --once | turn-fold | turn-format --tree -W 80'
out_like '^├─ .*✓ Agent' "the call is drawn"
out_like '^│  └─ .*✓ turn' "the turn of a subagent is drawn below its call"
out_like '^│     └─ .*At nine' "the tree shows what the subagent said"
t 0 "a subagent is folded in whatever order the files are read" \
  turn-fold -f "$agent" "$site/$one.jsonl"
is "$(turns <"$out" | grep '"a1"' | cut -d , -f 1,2)" '["a1","completed"' \
  "a subagent whose file is read first has ended"
# As they were written.
cat "$site/$one.jsonl" "$agent" | jq -sc 'sort_by(.timestamp)[]' >live
run turn-fold live
is "$(last <"$out" | grep '"a1"')" '["a1","completed","u1","toolu_1"]' \
  "a subagent in the background is known by the result of its call"
is "$(jq -c 'select(.type == "turn" and .id == "a1").state' "$out" | uniq | xargs)" "running completed" \
  "a subagent in the background does not end with the turn that made it"
grep -v '"s3"' live >killed
run turn-fold killed
is "$(last <"$out" | grep '"a1"' | cut -d , -f 2)" '"completed"' \
  "a subagent has ended at the latest when the program says so"
sed 's/completed/killed/' killed >failed
run turn-fold failed
is "$(last <"$out" | grep '"a1"' | cut -d , -f 2)" '"failed"' \
  "a subagent that the program ended has failed"

# Of one that says nothing at its end, the file beside it tells.
printf '{"agentType":"Explore","toolUseId":"toolu_1"}\n' >"${agent%.jsonl}.meta.json"
grep -v '"r1"' "$site/$one.jsonl" >plain && cp plain "$site/$one.jsonl"
run turn-fold -f "$site/$one.jsonl" "$agent"
is "$(turns <"$out" | grep '"a1"')" '["a1","completed","u1","toolu_1"]' \
  "the file beside a transcript tells which call made the subagent"
run sh -c 'transcript-tail --once | turn-fold -f'
is "$(turns <"$out" | grep '"a1"')" '["a1","completed","u1","toolu_1"]' \
  "transcript-tail hands on what the file beside a transcript tells"
{
  sed -n 1,2p plain
  result 09 r2 toolu_1 '{stdout: "done"}'
  sed '1,2d' plain
} >"$site/$one.jsonl"
for place in '' .:; do
  # shellcheck disable=SC2086  # none or one
  transcript-tail --once $place >lines
  run sh -c 'turn-fold lines | turn-format --tree -W 80'
  out_like '^│  └─ .*✓ turn' "a subagent is printed behind the result of its call: ${place:-here}"
done
echo '[' >"${agent%.jsonl}.meta.json"
t 0 "a file beside a transcript that cannot be read is left alone" turn-fold -f "$agent"

# --- how long it took
run turn-fold -f "$site/$one.jsonl"
is "$(jq -c 'select(.id == "u1" and .type == "turn") | [.started, .ended, .duration_ms]' "$out")" \
  '["2026-05-04T10:00:01.000Z","2026-05-04T10:00:05.000Z",4200]' \
    "the time that a turn took is told also with -f"
{
  said 01 u1 hello
  answers 02 a1 stop_sequence "$(text 'Yes.')"
  system 03 d1 turn_duration '{durationMs: 2100}'
} >plain
run turn-fold -f plain
is "$(jq -c 'select(.type == "turn") | [.state, .ended, .duration_ms]' "$out")" \
  '["completed","2026-05-04T10:00:03.000Z",2100]' \
    "a record of how long a turn took ends it where nothing else does"

# --- what a person runs
{
  line 01 b1 '{type: "user", message: {role: "user", content: "<bash-input>ls\nwc x</bash-input>"}}'
  line 03 b2 '{type: "user", message: {role: "user", content: "<bash-stdout>a\nb</bash-stdout><bash-stderr>no x</bash-stderr>"}, turnOrigin: "human"}'
} >bash
run turn-fold bash
is "$(jq -sc 'map(select(.type == "tool_call")) | last | [.turn, .tool, .arguments.command, .state, .stdout, .stderr]' "$out")" \
  '["b1","Bash","ls\nwc x","succeeded","a\nb","no x"]' "a command of the person is a call, with what it printed"
is "$(jq -c 'select(.type == "message") | [.role, .text]' "$out")" '["user","!ls\nwc x"]' \
  "what the person typed as a command is a message"
is "$(last <"$out")" '["b1","running",null,null]' \
  "a turn of a person's command runs until the agent answers"
answers 04 a1 end_turn "$(text 'Two files.')" >>bash
is "$(turn-fold -f bash | turns)" '["b1","completed",null,null]' \
  "the answer to a person's command is in the same turn"
jq -c 'del(.turnOrigin)' bash | head -n 2 >plain
is "$(turn-fold -f plain | turns)" '["b1","completed",null,null]' \
  "a command whose line names no turn has a turn that ends with the answer"
{
  said 01 u1 hello
  cat bash
} >plain
is "$(turn-fold -f plain | turns | head -n 1)" '["u1","completed",null,null]' \
  "a command of the person ends the turn before"

# --- what the program does
{
  said 01 u1 hello
  answers 02 a1 end_turn "$(text 'Yes.')"
  system 03 c1 compact_boundary '{content: "Conversation compacted", compactMetadata: {preTokens: 17025, postTokens: 2883}}'
  said 03 c2 'This session is being continued' '+ {isCompactSummary: true}'
  system 04 l1 local_command '{content: "<local-command-stdout>\u001b[2mgone\u001b[22m</local-command-stdout>", commandRun: {command: "clear", args: ""}}'
  system 05 l2 local_command '{content: "<local-command-stdout></local-command-stdout>"}'
  said 06 u2 'and now?'
} >program
run turn-fold -f program
is "$(jq -c 'select(.type == "message" and .role != "assistant") | [.role, .turn, .text]' "$out")" \
  '["user","u1","hello"]
["system",null,"Conversation compacted: 17025 tokens became 2883"]
["system",null,"/clear\n\u001b[2mgone\u001b[22m"]
["user","u2","and now?"]' "compaction and commands of the program are messages"
is "$(jq -c 'select(.type == "turn").id' "$out" | xargs)" u1 \
  "compaction and commands of the program make no turns"
run sh -c 'turn-fold program | turn-format -W 80'
out_unlike "$(printf '\033')" "what a terminal would obey is made visible"

# --- a fork is not counted twice
{ cat program && session=$two && jq -c --arg s $two '.sessionId = $s' program && said 07 u3 'the other way'; } >fork
run turn-fold fork
is "$(jq -r 'select(.type == "turn") | .thread + " " + .id' "$out" | sort -u | cut -c 1,37-)" "a u1
a u2
b u3" "the lines of a fork that are copies are told once"
is "$(jq -r 'select(.type == "message" and .role == "system").id' "$out" | sort | xargs)" "c1 l1" \
  "the lines of the program in a fork are told once, too"

# --- what is unknown
{
  cat program
  for name in tide moon tide; do line 08 "x$name$((number += 1))" "{type: \"$name-note\"}"; done
  system 08 x9 tide_change '{}'
  line 08 xa '{type: "attachment"}'
  printf '{"type":"file-history-delta","messageId":"x"}\n{"type":"odd"}\n'
  line 08 xb "{type: \"$(printf 'a\\u001b[31m')\"}"
} >unknown
t 0 "a line of an unknown type has status 0" turn-fold -f unknown
err_empty "nothing is said of a line of an unknown type"
t 0 "-v with lines of unknown types has status 0" turn-fold -v -f unknown
err_is 'turn-fold: lines of unknown types: 2 tide-note, 1 a?[31m, 1 moon-note, 1 system/tide_change' \
  "one line says how many lines are of which unknown type"
run turn-fold -v -f program
err_empty "-v says nothing where all are known"
cp unknown session.jsonl
run transcript-tail --once session.jsonl
is "$(jq -c .data "$out")" "$(jq -c . unknown)" "transcript-tail loses none of them"
run sh -c 'transcript-tail --once session.jsonl | turn-fold -v -f'
err_like '2 tide-note.* 1 odd' "-v counts unknown lines behind transcript-tail, too"
done_testing
