#!/bin/sh
# What a gateway counts, notes and says of itself: actions, audit, health, titles. The numbers are
# those of a gateway of OpenClaw 2026.9.6 (fixtures/recorded/openclaw-lists.ndjson).
. "${0%/*}/../lib.sh"
. "${0%/*}/../gateway.sh"
needs agent-call action-filter jq python3

start_gateway claw
line() { sed -n "$1p" "$root/Tests/fixtures/recorded/openclaw-lists.ndjson" | jq -c .payload; }
line 1 >"$tmp/old"
line 2 >"$tmp/fresh"
line 3 >"$tmp/health"
day=2026-11-29T00:00:00Z
tab=$(printf '\t')

# --- actions
cat "$tmp/old" "$tmp/fresh" >"$tmp/both"
tell claw answers sessions.usage "$tmp/both"
t 0 "a gateway says what was spent" agent-call -p claw -S "$day" actions
is "$(frames claw sessions.usage | wc -l | tr -d ' ')" 2 "a gateway that counts is asked again"
is "$(frames claw sessions.usage | tail -n 1 | jq -c '[.agentScope, .limit, .startDate]')" \
  '["all",1000,"2026-11-29"]' "the gateway is asked for what all agents spent"
is "$(frames claw connect | tail -n 1 | jq -c .scopes)" '["operator.read"]' "reading is enough"
err_is "agent-call: sessions.usage: 1 answer has no price (tide-2): the dollars are at least what was spent" \
  "a line says what has no price, and nothing more is said"
is "$(jq -s 'map(.usd_cost) | add * 1e7 | round' "$out")" \
  "$(jq '.totals.totalCost * 1e7 | round' "$tmp/fresh")" "the dollars are as many as the gateway counts"
is "$(jq -s 'map(.metadata.usage | .inputTokens + .outputTokens + .cacheReadTokens) | add' "$out")" \
  "$(jq .totals.totalTokens "$tmp/fresh")" "the tokens are as many as the gateway counts"
is "$(jq -c 'select(.metadata.sessionId == "agent:main:both") | [.kind, .metadata.model, .usd_cost]' "$out")" \
  '["usage","tide-1",0.00059]
["usage","tide-2",0]' "two models of a day are told apart"
is "$(jq -r 'select(.metadata.sessionId == "agent:main:asks") | .created_at' "$out")" \
  '2026-11-29T10:34:02.656Z
2026-11-29T10:15:00.000Z' "there is a row for each quarter of an hour, the last with the time of what was last said"
is "$(jq -r .created_at "$out" | sort -r)" "$(jq -r .created_at "$out")" \
  "the newest row comes first"
is "$(jq -c 'select(.usd_cost == 0) | .metadata.sessionId' "$out")" '"agent:main:both"' \
  "a conversation without costs has no row"
is "$(action-filter -u --usage --by thread,agent --total "$out" | tail -n 1 | jq .count)" \
  "$(lines "$out")" "action-filter takes each row for an action of its own"
t 0 "a later time may be given" agent-call -p claw -S 2026-11-29T10:35:00Z -n 20 -o tsv actions
like "$(tail -n 1 "$out")" "^agent:main:works [^$tab]*${tab}2026-11-29T10:35:10.982Z${tab}usage${tab}${tab}${tab}${tab}${tab}0.00059${tab}${tab}\{" \
  "a row older than the time is left out"
t 0 "one row may be asked for" agent-call -p claw -S "$day" -n 1 actions
is "$(jq -r .metadata.agent "$out")" stoat "-n prints the first row"
run python3 "$cli/terminal.py" agent-call -p claw -S "$day" actions
like "$(tr -d '\r' <"$out")" 'stoat +agent:stoat:notes +tide-1 +430 +40 +\$0\.0006' "a terminal gets a table"
jq -c '.sessions |= map(select(.agentId == "stoat"))' "$tmp/fresh" >"$tmp/cut"
tell claw answers sessions.usage "$tmp/cut"
run agent-call -p claw -S "$day" actions
err_like 'sessions.usage: some was spent in conversations that the gateway does not list$' "a line says that not all is listed"
tell claw answers sessions.usage "$tmp/old"
t 75 "a gateway that does not end counting gives status 75" agent-call -p claw --max-time 3 -S "$day" actions
err_is "agent-call: sessions.usage: the gateway still counts: the numbers are old" \
  "the numbers of a gateway that still counts are said to be old"
printf '%s\n' '{"sessions":[{"key":7,"usage":{"totalTokens":1e300,"dailyBreakdown":[{"date":"x"},{"date":"2026-11-29","totalCost":-1e300,"totalTokens":1}],"utcQuarterHourTokenUsage":[{"date":"2026-11-29","quarterIndex":1e300,"totalCost":1}],"lastActivity":-1e300}}],"totals":{"totalTokens":"many","missingCostEntries":-9223372036854775808}}' '{}' '"x"' >"$tmp/odd"
tell claw answers sessions.usage "$tmp/odd"
t 0 "numbers that cannot be are taken" agent-call -p claw actions
is "$(jq -c '[.created_at, .usd_cost, .metadata]' "$out")" \
  '["2026-11-29T23:45:00.000Z",1,{"sessionId":"","usage":{}}]' "numbers that cannot be do no harm"
for _ in 1 2; do t 1 "an answer without conversations is an empty list" agent-call -p claw actions; done
start_gateway early --old
t 1 "an early gateway has an empty list, too" agent-call -p early actions
is "$(frames early sessions.usage | jq -c .)" '{"limit":1000,"agentScope":"all"}
{"limit":1000}' "an early gateway is asked again without what it does not know"

# --- audit
t 1 "an empty list of notes has status 1" agent-call -p claw audit
python3 - >"$tmp/pages" <<'P'
import json
def page(last, count, cursor=None):
    page = {"events": [{"sequence": last - n, "occurredAt": 1795947447260 + last - n, "kind": "tool_action",
                        "action": "tool.action.finished", "status": "failed", "toolName": "exec",
                        "errorCode": "tool_failed", "sessionKey": "agent:main:main"} for n in range(count)]}
    print(json.dumps(page | ({"nextCursor": cursor} if cursor else {})))
page(1200, 500, "701"); page(700, 500, "201"); page(200, 200)
P
tell claw answers audit.activity.list "$tmp/pages"
t 0 "a gateway says what was noted" agent-call -p claw audit
is "$(jq -r .sequence "$out")" "$(seq 1200 -1 1)" "the list is read to its end, the newest first"
is "$(frames claw audit.activity.list | tail -n 3 | jq -c .)" '{"limit":500}
{"limit":500,"cursor":"701"}
{"limit":500,"cursor":"201"}' "the list of notes is read page by page"
tell claw answers audit.activity.list "$tmp/pages"
t 0 "the first notes may be asked for" agent-call -p claw -n 502 -o tsv audit
is "$(lines "$out") $(tail -n 1 "$out")" "502 699${tab}1795947447959${tab}tool.action.finished${tab}failed${tab}${tab}agent:main:main${tab}${tab}exec${tab}${tab}tool_failed" "-n prints so many of them"
is "$(frames claw audit.activity.list | tail -n 1)" '{"limit":2,"cursor":"701"}' \
  "no more notes are asked for than -n"
sed 1q "$tmp/pages" >"$tmp/endless"
tell claw answers audit.activity.list "$tmp/endless"
t 2 "a list without an end is an error" agent-call -p claw audit
err_is "agent-call: audit.activity.list: the pages of the list have no end" \
  "a line says that the pages have no end"

# --- health
tell claw answers health "$tmp/health"
t 0 "a gateway that is well has status 0" agent-call -p claw -o tsv health
is "$(cut -f 1,2 "$out")" "gateway${tab}healthy
main${tab}healthy
stoat${tab}healthy" "there is a row for the gateway and for each agent"
out_like "^gateway$tab.*${tab}version 2026.9.6, up [0-9]+s$tab" "the version and the time since the start are told"
out_like "^main$tab.*5 conversations, idle$tab" "an agent with nothing at work is idle"
is "$(frames claw exec.approval.list | wc -l | tr -d ' ')" 0 "nobody asks then what waits"
jq -c '.eventLoop.degraded = true | .plugins.errors = [{"id":"memory-core","error":"no"}]
  | .channels = {"telegram":{"configured":true,"accounts":{"a":{"configured":true,"probe":{"ok":false,"error":"401\u001b[31m"}}}},
    "signal":{"configured":true,"healthState":"stale","lastError":"late"},"slack":{"configured":false,"linked":false},
    "irc":{"configured":true,"probe":{"ok":true}}}' "$tmp/health" >"$tmp/ill"
tell claw answers health "$tmp/ill"
t 1 "a gateway that is not well has status 1" agent-call -p claw health
is "$(jq -c '[.source, .status, .summary]' "$out" | sed 's/up [0-9]*s/up 0s/')" \
  '["gateway","degraded","the plug-in memory-core failed, version 2026.9.6, up 0s, overloaded"]
["main","healthy","5 conversations, idle"]
["stoat","healthy","1 conversation, idle"]
["telegram","degraded","401\u001b[31m"]
["signal","degraded","stale: late"]
["irc","healthy",""]' "the rows say where, and why"
printf '%s\n' '{"ok":false,"agents":[{"agentId":"heron","sessions":{"count":1e300}},{}],"channels":[1],"plugins":7}' >"$tmp/odd"
tell claw answers health "$tmp/odd"
t 1 "values that cannot be are taken" agent-call -p claw -o tsv health
is "$(cut -f 1,2 "$out")" "gateway${tab}degraded
heron${tab}healthy" "values that cannot be do no harm to the rows"

# --- titles
needs agent-chat
agent-chat -p claw -t notes hello >/dev/null
tell claw label notes 'Harbour notes'
run agent-call -p claw threads
is "$(jq -c '[.key, .label, .derivedTitle]' "$out")" '["agent:heron:notes","Harbour notes","Harbour notes"]' \
  "titles are asked for and printed"
t 0 "an early gateway takes a message" agent-chat -p early -t notes hello
t 0 "an early gateway lists its threads" agent-call -p early threads
is "$(jq -c .key "$out")" '"agent:heron:notes"' \
  "the threads of an early gateway are listed without titles"
is "$(frames early sessions.list | jq -c .)" '{"limit":1000,"includeDerivedTitles":true}
{"limit":1000}' "an early gateway is asked again for threads without the member"
printf '%s\n' '{"sessions":[{"key":"agent:heron:a"}],"hasMore":true}' >"$tmp/more"
tell claw answers sessions.list "$tmp/more"
t 0 "a list that is too long is printed" agent-call -p claw threads
err_is "agent-call: sessions.list: there are more than these: the gateway gives no more at a time" "a line says that there are more"
t 0 "threads with a limit that is reached have status 0" agent-call -p claw -n 1 threads
err_empty "nothing is said of threads beyond the limit"
t 2 "agent-chat has status 2 for a list of threads that is too long" agent-chat -p claw --threads
err_like 'there are more than these: the gateway gives no more at a time$' \
  "agent-chat says that there are more threads"
done_testing
