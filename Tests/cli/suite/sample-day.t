#!/bin/sh
# The sample day holds what the other tests and the manuals lean on.
. "${0%/*}/../lib.sh"
needs python3 perl

fixtures=$root/Tests/fixtures
day=$fixtures/sample-day.ndjson
python3 "$fixtures/make-sample-day.py" >"$tmp/made"
ok "the sample day is what its generator makes" cmp "$tmp/made" "$day"
ok "the sample day is small" test "$(wc -c <"$day")" -lt 1000000

# The kinds that action-filter knows are those that its completions offer.
action-filter --completions words --kind '' | sort >"$tmp/known"
action-filter -u --by kind "$day" >"$tmp/counts"
sed 's/.*"kind":"\([a-z_]*\)".*/\1/' "$tmp/counts" | sort >"$tmp/seen"
ok "action-filter knows many kinds" at_least "$tmp/known" 60
comm -12 "$tmp/known" "$tmp/seen" >"$tmp/both"
ok "most known kinds are in the sample day" at_least "$tmp/both" 73
is "$(action-filter -u --by domain "$day" | wc -l)" 14 "every domain is in the sample day"
isnt "$(comm -13 "$tmp/known" "$tmp/seen")" "" "some kinds that nobody knows are in the sample day"

count() { grep -c -e "$1" "$day"; }
is "$(count '^{"event":"activity_snapshot"')" 2 "the sample day has two snapshots"
for mark in '"createdAt":' '"created_at":' '"usdCost":4e-7' '\\u001b' '\\u0000' '\\ud83d' \
  '^{"type":"lost"' '^{"type":"resumed"' '^{"type":"comment"' '"id":9007199254740993'; do
  ok "the sample day holds $mark" grep -q -e "$mark" "$day"
done
ok "the sample day has raw line separators" perl -0777 -ne 'exit !/\xe2\x80\xa8/' "$day"
ok "the sample day has raw C1 characters" perl -0777 -ne 'exit !/\xc2\x9b/' "$day"
ok "the sample day has raw bidi overrides" perl -0777 -ne 'exit !/\xe2\x80\xae/' "$day"

# The voice session that is up at its end has every member, and none is empty
# but those that a session of this kind never has.
grep '^{"event":"voice_state"' "$day" | tail -n 1 >"$tmp/voice"
is "$(jq -c '[.data.activeCount, (.data.sessions | length)]' "$tmp/voice")" "[1,1]" \
  "a voice session is up at the end of the sample day"
is "$(jq -r '.data.sessions[0] | keys | length' "$tmp/voice")" 37 \
  "the voice session has every member"
jq -r '.data.sessions[0] | to_entries[] | select(.value == null or .value == [] or .value == {}) |
  .key' "$tmp/voice" >"$tmp/empty"
is "$(cat "$tmp/empty")" "" "each member of the voice session has something in it"
for panel in activeCaptures membershipEvents recentTurns asrSessions brainTools toolCalls \
  mcpStatus durableContext; do
  ok "$panel of the voice session holds several" \
    jq -e ".data.sessions[0].$panel | length > 1" "$tmp/voice"
done
ok "a tool call of the voice session runs" \
  jq -e '.data.sessions[0].toolCalls | any(.completedAt == null)' "$tmp/voice"
for event in guilds automations automation_runs public_https llm_models; do
  is "$(count "^{\"event\":\"$event\"")" 1 "the sample day has one event of $event"
done

# What it remembers.
is "$(count '^{"event":"fact"')" 200 "the sample day has 200 facts"
python3 "$fixtures/sample_day_memory.py" >"$tmp/questions"
ok "the questions are what their generator makes" cmp "$tmp/questions" "$fixtures/memory-questions.ndjson"
is "$(lines "$tmp/questions")" 60 "there are 60 questions"
jq -r .fact "$tmp/questions" | sort >"$tmp/wanted"
sed -n 's/^{"event":"fact".*"data":\(.*\)}$/\1/p' "$day" | jq -r 'select(.scope == "guild").fact' | sort >"$tmp/remembered"
is "$(comm -23 "$tmp/wanted" "$tmp/remembered")" "" "each question is about a fact of a guild"

# What it comes to, also when it is moved to the present.
actions=$(action-filter -u -N "$day")
ok "the sample day has at least 400 actions" test "$actions" -ge 400
"$fixtures/as-of-now" "$day" >"$tmp/now"
is "$(action-filter -u -N "$tmp/now")" "$actions" \
  "the day has as many actions when it is moved to now"
is "$(action-filter -u -S 24h -N "$tmp/now")" "$actions" \
  "all actions are of the last 24 hours when the day is moved to now"
is "$(action-filter -S 24h -N "$day")" 0 "the day as it is has no action of the last 24 hours"
ok "today has costs" grep -q "\"day\":\"$(date -u +%F)\",\"usd\":[1-9]" "$tmp/now"

done_testing
