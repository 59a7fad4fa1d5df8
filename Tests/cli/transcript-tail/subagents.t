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
    "$place: a subagent stands behind its session"
  turn-fold -f "$out" | jq -r 'select(.type == "turn") | "\(.state) \(.parent // "-" | .[-2:])"' \
    >turns
  is "$(grep -v ' -$' turns)" "completed 03" "$place: a subagent is a part of the turn that sent it"
  run sh -c 'transcript-tail --once "$1" | turn-fold | turn-format -W 80' - "$place"
  out_like 'All 365 days, twice each' "$place: turn-format shows the words of a subagent"
  run transcript-tail --once --all "$place"
  is "$(jq -r '.data.n // empty' "$out" | sort | xargs)" "2 3" "$place: other files are left alone"
  start follow transcript-tail --new -L "$place"
  wait_until 10 has follow.out '"open"'
  sleep 0.3
  echo '{"type":"system","isSidechain":true,"agentId":"a1"}' >>"$agent"
  ok "$place: a subagent is followed" wait_until 10 has follow.out '"id":"agent-a1/'
  mkdir -p "$site/later/subagents"
  cp "$agent" "$site/later/subagents/agent-c.jsonl"
  ok "$place: a subagent that begins is followed" wait_until 10 has follow.out '"id":"agent-c/'
  stop "$pid"
  rm -r "$site/later"
done

# --- who made it
echo '{"agentType": "Explore",
  "toolUseId": "toolu_1"}' >"${agent%.jsonl}.meta.json"
for place in "$HOME/.claude/projects" .:; do
  run transcript-tail --once --state state "$place"
  is "$status $(jq -c 'select(.event == "agent-meta") | [.id, .data]' "$out")" \
    '0 ["agent-a1/0",{"agentType":"Explore","toolUseId":"toolu_1"}]' \
      "$place: what is said of a subagent is printed"
  is "$(jq -r '.id | select(startswith("agent-a1"))' "$out" | head -n 1)" agent-a1/0 \
    "$place: what is said of a subagent is in front of its lines"
  run transcript-tail --once --state state "$place"
  out_empty "$place: what is said of a subagent is not printed again"
  rm state
  for text in garbage '[1]' '' "$(perl -e 'print q({"x":"), "y" x 70000, q("})')"; do
    printf '%s' "$text" >"$site/other/subagents/agent-b.meta.json"
    run transcript-tail --once --all "$place"
    is "$status $(grep -c agent-meta "$out")" "0 1" \
      "$place: a description that is not an object is left alone"
  done
  rm "$site/other/subagents/agent-b.meta.json"
done

# --- what they say of each other
mkdir -p circle/s/subagents
for pair in 'a b' 'b a'; do
  # shellcheck disable=SC2086  # two words
  set -- $pair
  awk -v id="$1" -v other="$2" 'BEGIN { for (i = 0; i < 20000; i++)
    printf "{\"type\":\"user\",\"uuid\":\"%s%d\",\"toolUseResult\":{\"agentId\":\"%s\"}}\n", id, i, other }' \
    >"circle/s/subagents/agent-$1.jsonl"
done
echo '{"type":"user","toolUseResult":{"agentId":"a"}}' >circle/s.jsonl
run transcript-tail --once --all circle
is "$status $(lines "$out") $(head -n 2 "$out" | jq -r .id | cut -d / -f 1 | xargs)" "0 40001 s agent-a" \
  "all is printed once, with a subagent behind the line that made it"

# --- since a time
for place in "$HOME/.claude/projects" .:; do
  run transcript-tail --once -S 2019-12-31 "$place"
  is "$(jq -r '.data.n // empty' "$out" | sort | xargs)" "2 3" "$place: -S prints what was written to since then"
  run transcript-tail --once -S 2020-01-02 "$place"
  is "$(jq -r '.id | split("/")[0]' "$out" | sort -u | xargs)" "$name agent-a1" \
    "$place: -S prints nothing older"
done
t 2 "-S with --all is refused" transcript-tail -S 1h --all
t 2 "a time of -S that makes no sense is refused" transcript-tail -S soon

# --- lines that a crash leaves
{ printf '{"type":"user","timest\ngarbage\n' && head -n 1 "$agent"; } >torn.jsonl
t 2 "a line that is not JSON is an error" transcript-tail --once torn.jsonl
t 0 "--lenient passes over a line that is not JSON" transcript-tail --lenient --once torn.jsonl
is "$(lines "$out")$(cat "$err")" 1 "--lenient says no word, and the other lines are printed"
done_testing
