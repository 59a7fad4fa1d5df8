#!/bin/sh
# What subagents do, in files of their own below the folder of their session: here and on a host.
. "${0%/*}/../lib.sh"
needs transcript-tail turn-fold turn-format jq python3
cd "$tmp" || exit 1
sample=$root/Tests/fixtures/transcript.ndjson
name=7d0c9a52-3b1e-4a6f-9d57-1c2e8b90f4aa
site=$HOME/.claude/projects/-home-ada-site
mkdir -p "$site/$name/subagents" "$site/$name/tool-results" "$site/other/subagents"
grep -v '"isSidechain":true' "$sample" >"$site/$name.jsonl"
agent=$site/$name/subagents/agent-a1.jsonl
grep '"isSidechain":true' "$sample" | jq -c '.agentId = "a1"' >"$agent"
echo '{"type":"user","n":1}' >"$site/$name/tool-results/x.jsonl"
echo '{"type":"user","n":2}' >"$site/other/subagents/agent-b.jsonl"
echo '{"type":"user","n":3}' >"$site/other.jsonl"
touch -d 2020-01-01 "$site/other.jsonl" "$site/other/subagents/agent-b.jsonl"
for place in "$HOME/.claude/projects" .:; do
  t 0 "$place: a session with a subagent is read" transcript-tail --once "$place"
  is "$(jq -r '.id | split("/")[0]' "$out" | uniq | xargs)" "$name agent-a1" \
    "$place: which stands behind it"
  turn-fold -f "$out" | jq -r 'select(.type == "turn") | "\(.state) \(.parent // "-" | .[-2:])"' \
    >turns
  is "$(grep -v ' -$' turns)" "completed 03" "$place: and is a part of the turn that sent it"
  run sh -c 'transcript-tail --once "$1" | turn-fold | turn-format -W 80' - "$place"
  out_like 'All 365 days, twice each' "$place: as turn-format shows"
  run transcript-tail --once --all "$place"
  is "$(jq -r '.data.n // empty' "$out" | sort | xargs)" "2 3" "$place: other files are left alone"
  start follow transcript-tail --new -L "$place"
  wait_until 10 has follow.out '"open"'
  sleep 0.3
  echo '{"type":"system","isSidechain":true,"agentId":"a1"}' >>"$agent"
  ok "$place: it is followed" wait_until 10 has follow.out '"id":"agent-a1/'
  mkdir -p "$site/later/subagents"
  cp "$agent" "$site/later/subagents/agent-c.jsonl"
  ok "$place: and so is one that begins" wait_until 10 has follow.out '"id":"agent-c/'
  stop "$pid"
  rm -r "$site/later"
done
done_testing
