#!/bin/sh
# The sample day holds what the other tests and the manuals lean on.
. "${0%/*}/../lib.sh"
needs python3 perl

fixtures=$root/Tests/fixtures
day=$fixtures/sample-day.ndjson
python3 "$fixtures/make-sample-day.py" >"$tmp/made"
ok "it is what its generator makes" cmp "$tmp/made" "$day"
ok "it is small" test "$(wc -c <"$day")" -lt 1000000

# The kinds that action-filter knows are those that its completions offer.
action-filter --completions words --kind '' | sort >"$tmp/known"
action-filter -u --by kind "$day" >"$tmp/counts"
sed 's/.*"kind":"\([a-z_]*\)".*/\1/' "$tmp/counts" | sort >"$tmp/seen"
ok "there are known kinds" at_least "$tmp/known" 60
comm -12 "$tmp/known" "$tmp/seen" >"$tmp/both"
ok "most of them are in it" at_least "$tmp/both" 73
is "$(action-filter -u --by domain "$day" | wc -l)" 14 "every domain is in it"
isnt "$(comm -13 "$tmp/known" "$tmp/seen")" "" "and some that nobody knows"

count() { grep -c -e "$1" "$day"; }
is "$(count '^{"event":"activity_snapshot"')" 2 "there are two snapshots"
for mark in '"createdAt":' '"created_at":' '"usdCost":4e-7' '\\u001b' '\\u0000' '\\ud83d' \
  '^{"type":"lost"' '^{"type":"resumed"' '^{"type":"comment"' '"id":9007199254740993'; do
  ok "holds $mark" grep -q -e "$mark" "$day"
done
ok "it has raw line separators" perl -0777 -ne 'exit !/\xe2\x80\xa8/' "$day"
ok "it has raw C1" perl -0777 -ne 'exit !/\xc2\x9b/' "$day"
ok "it has raw bidi overrides" perl -0777 -ne 'exit !/\xe2\x80\xae/' "$day"

# The voice session that is up at its end has every member, and none is empty
# but those that a session of this kind never has.
grep '^{"event":"voice_state"' "$day" | tail -n 1 >"$tmp/voice"
is "$(jq -c '[.data.activeCount, (.data.sessions | length)]' "$tmp/voice")" "[1,1]" "a session is up"
is "$(jq -r '.data.sessions[0] | keys | length' "$tmp/voice")" 37 "it has every member"
jq -r '.data.sessions[0] | to_entries[] | select(.value == null or .value == [] or .value == {}) |
  .key' "$tmp/voice" >"$tmp/empty"
is "$(cat "$tmp/empty")" "" "each has something in it"
for panel in activeCaptures membershipEvents recentTurns asrSessions brainTools toolCalls \
  mcpStatus durableContext; do
  ok "$panel holds several" jq -e ".data.sessions[0].$panel | length > 1" "$tmp/voice"
done
ok "a tool call runs" jq -e '.data.sessions[0].toolCalls | any(.completedAt == null)' "$tmp/voice"
for event in guilds automations automation_runs public_https llm_models; do
  is "$(count "^{\"event\":\"$event\"")" 1 "$event"
done

# What it remembers.
is "$(count '^{"event":"fact"')" 200 "there are 200 facts"
python3 "$fixtures/sample_day_memory.py" >"$tmp/questions"
ok "the questions are what their generator makes" cmp "$tmp/questions" "$fixtures/memory-questions.ndjson"
is "$(lines "$tmp/questions")" 60 "there are 60 questions"
jq -r .fact "$tmp/questions" | sort >"$tmp/wanted"
sed -n 's/^{"event":"fact".*"data":\(.*\)}$/\1/p' "$day" | jq -r 'select(.scope == "guild").fact' | sort >"$tmp/remembered"
is "$(comm -23 "$tmp/wanted" "$tmp/remembered")" "" "each is about a fact of a guild"

# What it comes to, also when it is moved to the present.
actions=$(action-filter -u -N "$day")
ok "there are at least 400 actions" test "$actions" -ge 400
"$fixtures/as-of-now" "$day" >"$tmp/now"
is "$(action-filter -u -N "$tmp/now")" "$actions" "as many, moved to now"
is "$(action-filter -u -S 24h -N "$tmp/now")" "$actions" "all are of the last 24 hours then"
is "$(action-filter -S 24h -N "$day")" 0 "which it is not by itself"
ok "today has costs" grep -q "\"day\":\"$(date -u +%F)\",\"usd\":[1-9]" "$tmp/now"

done_testing
