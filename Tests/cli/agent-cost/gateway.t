#!/bin/sh
# agent-cost on an OpenClaw gateway, alone and beside a dashboard, by what a real one counted.
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-serve agent-call action-filter action-format jq python3

start_gateway claw
line() { sed -n "$1p" "$root/Tests/fixtures/recorded/openclaw-lists.ndjson" | jq -c .payload; }
line 2 >"$tmp/fresh"
tell claw answers sessions.usage "$tmp/fresh"
tab=$(printf '\t')
cost() { run agent-cost -p claw -S 2026-11-29T00:00:00Z "$@"; }

cost -o json
status_is 0 "a gateway can be counted"
is "$(cat "$out")" '{"type":"count","model":"tide-1","count":8,"usd_cost":0.0053300000000000001,"input_tokens":3890,"output_tokens":360}
{"type":"count","model":"tide-2","count":1,"usd_cost":0,"input_tokens":450,"output_tokens":40}
{"type":"count","count":9,"usd_cost":0.0053300000000000001,"input_tokens":4340,"output_tokens":400}' "the costs are counted by model"
err_is "agent-cost: sessions.usage: 1 answer has no price (tide-2): the dollars are at least what was spent" \
  "a line says what has no price"
cost --by agent
is "$(sed 1d "$out" | cut -f 1-3)" "main${tab}7${tab}0.0035500000000000001
stoat${tab}2${tab}0.00178" "the costs are counted by agent"
cost --by day,thread -o json
is "$(head -n 1 "$out")" '{"type":"count","day":"2026-11-29T00:00:00.000Z","thread":"agent:main:asks","count":2,"usd_cost":0.0011900000000000001,"input_tokens":870,"output_tokens":80}' \
  "the costs are counted by day and conversation"
TZ=America/St_Johns cost --by hour -o json
is "$(jq -r .hour "$out" | head -n 1)" 2026-11-29T09:30:00.000Z "the hours are those of a zone"
cost -o table -W 80 --by thread
like "$(sed -n 1p "$out")" '^thread +calls +in +out +share +cost' "a table has a row for each conversation"
cost -q --limit 0.005
status_is 1 "a limit holds for a gateway"
cost -S 2026-11-29T10:35:00Z -o json
is "$(tail -n 1 "$out" | jq .count)" 5 "what was spent before a time is left out"

serve_agent dash -D :memory: --ingest "$root/Tests/fixtures/sample-day.ndjson"
profile dash "$url"
run agent-cost -p claw,dash -S 2026-01-01 --by profile -o json
is "$(jq -c '[.profile, .count > 0]' "$out")" '["dash",true]
["claw",true]
[null,true]' "a dashboard is counted beside a gateway"
# A server that counts nothing says so in its own words, which are about a method.
serve_agent loud -D :memory: --gateway 0
printf '[profile loud]\nkind = openclaw\nurl = %s\n' \
  "$(jq -r 'select(.type == "gateway") | .url' "$tmp/loud.out")" >>"$XDG_CONFIG_HOME/agentutils/config"
t 2 "a server that does not count is an error" agent-cost -p loud --week
err_is "agent-cost: loud: this server does not tell what was spent" \
  "a server that does not count is told in one plain line"

tell claw door '{"error":{"type":"down"}}'
t 75 "a gateway that is away gives status 75" agent-cost -p claw -o line
out_is '○ unreachable' "a bar says that a gateway is away"
done_testing
