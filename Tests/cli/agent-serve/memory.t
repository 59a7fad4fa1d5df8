#!/bin/sh
# agent-serve: the memory. What a real dashboard answered is answered to the byte,
# from the same facts.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq
recorded=$cli/servers/recorded
guild=100000000000000001

body() { sed '1,/^.\{0,1\}$/d' "$recorded/$1.http"; }
code() { sed -n '1s/.* \([0-9][0-9][0-9]\).*/\1/p' "$recorded/$1.http"; }
# same NAME CURL-ARGUMENT...: status, type and body.
same() {
  _name=$1
  shift
  body "$_name" >"$tmp/want"
  is "$(curl -s -o "$tmp/got" -w '%{http_code} %{content_type}' "$@")" \
    "$(code "$_name") ${type-application/json}" "$_name: status and type are those of the dashboard"
  ok "$_name: the body is that of the dashboard" cmp "$tmp/want" "$tmp/got"
}
# alike NAME JQ CURL-ARGUMENT...: the body but for what JQ takes away.
alike() {
  _name=$1
  _filter=$2
  shift 2
  is "$(curl -s "$@" | jq -c "$_filter")" "$(body "$_name" | jq -c "$_filter")" \
    "$_name: the answers are alike"
}
json() {
  _method=$1
  _path=$2
  shift 2
  curl -s -X "$_method" -H 'Content-Type: application/json' "$url$_path" "$@"
}

start_server serve agent-serve -l 127.0.0.1:0 -D "$tmp/memory.sqlite"

# --- the facts, in the order in which they were learnt; one of them is of another guild
{ body memory-facts | jq -c '.facts[]' && body memory-search-all | jq -c '.results[] | select(.id == 7)'; } |
  jq -sc 'sort_by(.id)[]' >"$tmp/facts"
is "$(lines "$tmp/facts")" 8 "there are eight facts"
is "$(curl -s --data-binary @"$tmp/facts" "$url/api/memory/facts")" \
  '{"ok":true,"stored":8,"ids":[1,2,3,4,5,6,7,8],"errors":[]}' "eight facts are posted, one a line"
sed -n '/^event: activity_snapshot/{n;s/^data: //p;}' "$recorded/activity.sse" |
  jq -c '.actions | sort_by(.id)[]' | curl -s -o "$tmp/answer" --data-binary @- "$url/api/actions"
body voice-state | curl -s -o "$tmp/answer" -X PUT --data-binary @- "$url/api/voice/state"

# --- what is read
m=$url/api/memory
same memory-facts "$m/facts?guildId=$guild"
same memory-facts-subject "$m/facts?guildId=$guild&subject=300000000000000002&limit=1"
same memory-facts-q "$m/facts?guildId=$guild&q=cello"
same memory-facts-no-guild "$m/facts"
same memory-subjects "$m/subjects?guildId=$guild"
same memory-subjects-no-guild "$m/subjects"
same memory-search "$m/search?q=ferns&guildId=$guild&limit=5"
same memory-search-all "$m/search?q=__ALL__&guildId=$guild&limit=3"
same memory-search-nothing "$m/search?q=zeppelin&guildId=$guild"
same memory-search-no-guild "$m/search?q=ferns"
# A score falls with the age of the fact.
alike memory-search-limit-text 'del(.results[].score)' "$m/search?q=fern&guildId=$guild&limit=abc"
# A text for a person: the members are the dashboard's, the words our own.
alike memory-no-guild '.markdown = ""' "$m"
alike memory '.markdown = ""' "$m?guildId=$guild"
is "$(curl -s "$m?guildId=$guild" | jq -r .markdown)" '# Memory

## __lore__

- Use short replies in the evening.
- The Workshop holds a fern show every May.' "the memory of a guild is told as text"
is "$(curl -s "$m" | jq -r .markdown | grep -c '^- ')" 8 "all of the memory is told without a guild"
alike memory 'del(.ok) | .markdown = ""' \
  -H 'Content-Type: application/json' -d "{\"guildId\":\"$guild\"}" "$m/refresh"
is "$(json POST /api/memory/refresh -d '{}' | jq -c 'keys_unsorted, .ok, .guildId' | xargs)" \
  "[ok,guildId,markdown] true null" "refresh says that it was done"
same memory-reflections "$m/reflections?guildId=$guild"
same memory-fact-profile-no-guild "$m/fact-profile"
alike memory-fact-profile-channel 'del(.promptContext)' \
  "$m/fact-profile?guildId=$guild&userId=300000000000000002&channelId=200000000000000010&queryText=fern%20show"
alike memory-runtime-snapshot 'del(.promptContext, .counts.conversationWindowCount, .counts.recentVoiceSessionCount)' \
  -H 'Content-Type: application/json' "$m/runtime-snapshot" \
  -d "{\"guildId\":\"$guild\",\"channelId\":\"200000000000000010\",\"userId\":\"300000000000000001\",\"queryText\":\"fern show\",\"mode\":\"voice\"}"
same memory-runtime-snapshot-no-guild -H 'Content-Type: application/json' -d '{}' "$m/runtime-snapshot"
# The listener of the recording was another one; the dashboard's own tells the charset.
type='application/json;charset=utf-8'
same bad-json-body -H 'Content-Type: application/json' -d '{"guildId":' "$m/runtime-snapshot"
unset type
same body-wrong-type -H 'Content-Type: text/plain' -d "{\"guildId\":\"$guild\"}" "$m/runtime-snapshot"

# --- what is changed, in the order of the recording
fact() { printf '{"guildId":"%s","subject":"%s","fact":"%s"%s}' "$guild" "$1" "$2" "${3-}"; }
put() { same "$1" -X PUT -H 'Content-Type: application/json' -d "$3" "$m/facts/$2"; }
edited() {
  is "$(json PUT "/api/memory/facts/$2" -d "$3" | jq -c 'del(.fact.updated_at)')" \
    "$(body "$1" | jq -c 'del(.fact.updated_at)')" "$1: the answers are alike"
}
ada=300000000000000001
edited memory-fact-put 1 "$(fact $ada 'Ada grows ferns and moss.' ',"factType":"preference","confidence":0.95')"
put memory-fact-put-missing 1 "$(fact $ada x)"
edited memory-fact-put-confidence-text 1 "$(fact $ada 'Ada grows ferns and moss.' ',"confidence":"0.4"')"
put memory-fact-put-no-guild 1 "{\"subject\":\"$ada\",\"fact\":\"x\",\"confidence\":1}"
put memory-fact-put-duplicate 3 "$(fact 300000000000000002 'Ben plays the cello on Sundays.' ',"factType":"profile","confidence":1')"
put memory-fact-put-unknown 777 "$(fact $ada x ',"confidence":1')"
put memory-fact-put-bad-id abc "$(fact $ada x ',"confidence":1')"
put memory-fact-put-other-guild 7 "$(fact __lore__ x ',"confidence":1')"
same memory-fact-delete-no-body -X DELETE "$m/facts/2"
same memory-fact-delete-query -X DELETE "$m/facts/2?guildId=$guild"
delete() { same "$1" -X DELETE -H 'Content-Type: application/json' -d "{\"guildId\":\"$guild\"}" "$m/facts/2"; }
delete memory-fact-delete
delete memory-fact-delete-again
is "$(curl -s "$m/facts?guildId=$guild" | jq -c '.facts | map(.id)')" '[1,8,5,6,4,3]' \
  "what was edited is the latest, and what was deleted is gone"
is "$(curl -s "$m/search?q=moss&guildId=$guild" | jq '.results | length')" 0 "facts of persons are not searched"

# --- reflections are actions
is "$(json DELETE /api/memory/reflections/run-sample-1)" '{"ok":true,"deleted":2}' "a run is deleted"
is "$(json DELETE /api/memory/reflections/run-sample-1)" '{"ok":true,"deleted":0}' \
  "a run is deleted once"
is "$(curl -s "$m/reflections" | jq -c '[.guildId, (.runs | map(.runId))]')" '[null,["run-sample-2"]]' \
  "one reflection is left"
is "$(curl -s "$url/api/actions?kinds=memory_reflection_complete")" "[]" \
  "the actions of the run that was deleted are gone"
stats=$(curl -s "$url/api/stats" | jq -c .stats)
stop "$pid"
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/memory.sqlite"
is "$stats" "$(curl -s "$url/api/stats" | jq -c .stats)" "the stats are those of what is left"
done_testing
