#!/bin/sh
# transcript-tail and turn-fold beside the real Claude Code: subagents, commands of the person, and
# compaction, as its transcripts tell them.
. "${0%/*}/lib.sh"
bound=60

claude_in "$box_folder"
wait_until 30 stands idle || bail "Claude Code is not at its prompt"
# done_with COUNT: as many turns have ended, and it is at its prompt.
fold() { transcript-tail --once >"$tmp/lines" 2>/dev/null && turn-fold -v -f "$tmp/lines" 2>"$tmp/unknown"; }
ended() { [ "$(fold | jq -c 'select(.type == "turn" and .state == "completed" and .parent == null)' | grep -c .)" -ge "$1" ]; }
done_with() { wait_until 30 ended "$1" && wait_until 30 stands idle || diag "$(state)"; }
say() { run agent-say -q --return-delay 0.3 "$@"; }
say . -- say hello
done_with 1
say . -- agent say what a subagent says
done_with 3
say --command . -- '!echo one; echo two >&2'
done_with 4
say . -- /compact
compacted() { fold | jq -e 'select(.role == "system") | .text | startswith("Conversation compacted")' >/dev/null; }
ok "compaction is told" wait_until 30 compacted
wait_until 30 stands idle
say . -- say after
done_with 5

fold >"$tmp/turns"
told() { jq -c "select(.type == \"$1\") | $2" "$tmp/turns"; }
call=$(told tool_call 'select(.tool == "Agent").id')
is "$(told turn 'select(.tool_call).tool_call')" "$call" "a subagent stands under the call that made it"
is "$(told turn 'select(.tool_call).parent')" "$(told tool_call 'select(.tool == "Agent").turn')" \
  "and is a part of the turn in which that was made"
is "$(told turn 'select(.parent == null and (.duration_ms | not)).id')" "" "each turn has its time"
is "$(told tool_call 'select(.tool == "Bash") | [.arguments.command, .state, .stdout, .stderr]')" \
  '["echo one; echo two >&2","succeeded","one\ntwo",null]' "a command of the person is a call, with what it printed"
is "$(told message 'select(.role == "user").text')" '"say hello"
"agent say what a subagent says"
"!echo one; echo two >&2"
"say after"' "what a person typed, and nothing else, is said by a person"
is "$(cat "$tmp/unknown")" "" "no line is of an unknown type"
transcript-tail --once | turn-fold | turn-format --tree -W 80 >"$tmp/tree"
ok "the tree has it" grep -q '^│     └─ .*what a subagent says' "$tmp/tree"
run agent-cost -o json --by subagent -p .
is "$(jq -c 'select(.subagent == "general-purpose").count' "$out")" 1 "agent-cost knows its kind"
done_testing
