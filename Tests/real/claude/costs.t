#!/bin/sh
# agent-cost beside the real Claude Code: the dollars of a session are those that it counts itself.
. "${0%/*}/lib.sh"
bound=300

CLAUDE_CONFIG_DIR=$tmp/config
export CLAUDE_CONFIG_DIR
mkdir "$CLAUDE_CONFIG_DIR"
cp "$HOME/.claude.json" "$CLAUDE_CONFIG_DIR/.claude.json"
cd "$box_folder" || bail "no $box_folder"
# shellcheck disable=SC2086  # options are words
while IFS='|' read -r options prompt; do
  t 0 "a session: $prompt $options" claude -p "$prompt" $options </dev/null
done <<'END'
|say hello
--model sonnet|slow 1
--model haiku|think
--model claude-opus-4-8|say more
|run echo hi
|agent say what a subagent says
|search tides
END
counted() {
  cat "$CLAUDE_CONFIG_DIR"/projects/*/*.jsonl | jq -c 'select(.type == "cost-state") | [.sessionId, .totalCostUSD]' |
    jq -cs 'group_by(.[0]) | map(last)[]'
}
counted >"$tmp/counted"
agent-cost -o json --by session "$CLAUDE_CONFIG_DIR" >"$tmp/ours" 2>"$tmp/said"
is "$(lines "$tmp/counted")" 7 "each session says what it cost"
while read -r pair; do
  id=$(printf '%s' "$pair" | jq -r '.[0]')
  is "$(jq --argjson pair "$pair" 'select(.session == $pair[0]) | .usd_cost - $pair[1] | fabs < 1e-6' "$tmp/ours")" true \
    "$(jq -r --arg id "$id" 'select(.session == $id) | .title' "$tmp/ours"): the same dollars"
done <"$tmp/counted"
is "$(cat "$tmp/said")" "" "nothing differs from what it counted"
done_testing
