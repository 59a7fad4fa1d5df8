#!/bin/sh
# agent-serve: the voice state, in and out, and the voice stream event by event.
. "${0%/*}/../lib.sh"
. "${0%/*}/stream-head.sh"
needs agent-serve curl jq python3
client() { bounded 60 python3 "$cli/clients/voice.py" "$@"; }
put() { curl -s -o "$tmp/body" -w '%{http_code}' -X PUT "$@" "$url/api/voice/state"; }

start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
state=$url/api/voice/state
empty='{"activeCount":0,"sessions":[]}'
is "$(curl -s "$state")" "$empty" "no voice session is up where nobody told a state"
is "$(curl -s "$url/api/voice/asr-sessions")" '{"sessions":[]}' "there is no recogniser"
is "$(curl -s "$url/api/voice/tool-events")" '{"events":[]}' "there is no tool"
is "$(curl -s "$url/api/mcp/status")" '{"servers":[]}' "there is no server"
is "$(curl -s "$url/api/voice/history/sessions")" '[]' "there is no past session"
is "$(curl -s "$url/api/voice/history/sessions/none/events")" '[]' \
  "an unknown session has no events"

# --- the head
start both curl -sN --max-time 40 "$url/api/activity/events"
start voice curl -siN --max-time 40 "$url/api/voice/events"
voice=$tmp/voice.out
ok "the stream opens" wait_until 30 has "$voice" '^event: voice_state'
opened=$(date +%s)
head_is_the_dashboards "$voice"
is "$(field data "$voice" | head -n 1)" "$empty" "the state comes first on the voice stream"
run curl -sI -m 5 "$url/api/voice/events"
out_like '^Content-Type: text/event-stream' "HEAD of the stream ends"

# --- a state
cat >"$tmp/state" <<'END'
{
  "activeCount" : 2,
  "sessions" : [
    { "sessionId": "a", "latency": {"turnCount": 1.10}, "more": [1e400, "é\u2028"],
      "mcpStatus": [{"serverName": "x", "connected": false, "lastError": "late"}] },
    { "sessionId": "b", "toolCalls": null, "asrSessions": {"wrong": "type"},
      "mcpStatus": [7, {"serverName": "x", "connected": true, "tools": [{"name": "t"}]}, {}] }
  ]
}
END
is "$(put --data-binary @"$tmp/state") $(cat "$tmp/body")" '200 {"ok":true}' "a state is put"
curl -s "$state" >"$tmp/got"
ok "a state comes back as it was, to the byte" cmp "$tmp/state" "$tmp/got"
tr -d '\n' <"$tmp/state" >"$tmp/line"
arrived() { field data "$voice" | grep -qxFf "$tmp/line"; }
ok "a state comes on one line of the stream" wait_until 30 arrived
is "$(curl -s "$url/api/mcp/status")" \
  '{"servers":[{"serverName":"x","connected":true,"tools":[{"name":"t","description":""}],"lastError":"late"}]}' \
  "a server of two sessions is one"
is "$(curl -s "$url/api/voice/asr-sessions")$(curl -s "$url/api/voice/tool-events")" \
  '{"sessions":[]}{"events":[]}' "what has a wrong type is left out"

# --- what is not a state
bad() {
  is "$(printf '%b' "$1" | put --data-binary @-) $(jq -c '[.ok, .error, .reason]' "$tmp/body")" \
    "400 [false,\"$2\",\"$3\"]" "a state is refused with 400: $1"
}
bad '' invalid_json_body 'no value'
bad 'hello' invalid_json_body 'a word without quotes'
bad '{"activeCount":0,"sessions":[]' invalid_json_body 'unbalanced brackets'
bad '[]' invalid_voice_state 'not an object'
bad 'null' invalid_voice_state 'not an object'
bad '{"sessions":[]}' invalid_voice_state 'activeCount is not a count'
bad '{"activeCount":"1","sessions":[]}' invalid_voice_state 'activeCount is not a count'
bad '{"activeCount":-1,"sessions":[]}' invalid_voice_state 'activeCount is not a count'
bad '{"activeCount":1}' invalid_voice_state 'sessions is not an array'
bad '{"activeCount":1,"sessions":{}}' invalid_voice_state 'sessions is not an array'
bad '{"activeCount":1,"sessions":[1]}' invalid_voice_state 'a session is not an object'
head -c 8388608 /dev/zero | tr '\0' ' ' >"$tmp/large"
is "$(put --data-binary @"$tmp/large") $(cat "$tmp/body")" '413 {"error":"payload_too_large"}' \
  "a body of 8 MiB is refused"
ok "the state before a refused one stays" sh -c "curl -s '$state' | cmp - '$tmp/state'"
is "$(put -H 'Origin: http://example.org' -d "$empty")" 403 "a page in a browser may not write"
is "$(printf '{"activeCount":0,"sessions":[],"x":"\377"}' | put --data-binary @-)" 200 \
  "a state with a byte that is not UTF-8 is taken"
is "$(curl -s "$state")" '{"activeCount":0,"sessions":[],"x":"�"}' \
  "a byte that is not UTF-8 is replaced, and nothing else"
for method in POST DELETE PATCH; do
  is "$(curl -s -X "$method" -d "$empty" "$state")" '{"error":"Not found."}' \
    "$method is not found for the state"
done

# --- live actions
post '{"kind":"voice","content":"no prefix"}'
post '{"kind":"llm_call","content":"another"}'
post '{"kind":"voice_runtime","guildId":"7","content":"line\u2028é","metadata":{"x":1.10},"level":"warn"}'
ok "an action of a voice session comes" wait_until 30 has "$voice" '^event: voice_event'
sed -n '/^event: voice_event/,/^\r*$/p' "$voice" | tr -d '\r' | head -n 3 >"$tmp/event"
is "$(field id "$tmp/event")" 3 "the id of a voice action is on a line"
ok "a voice action is on the activity stream, too" wait_until 30 has "$tmp/both.out" voice_runtime
grep -A 2 '^event: action_event' "$tmp/both.out" | grep voice_runtime >"$tmp/action"
is "$(grep '^data' "$tmp/event")" "$(cat "$tmp/action")" \
  "a voice action has the same data on both streams, to the byte"
post '{"kind":"voice_session_start","metadata":{"sessionId":"a/b c%","mode":"gemini_realtime"}}'
post '{"kind":"voice_session_end","metadata":{"sessionId":"a/b c%"}}'
ended() { [ "$(grep -c '^event: voice_event' "$voice")" -ge 3 ]; }
ok "the end of a voice session comes, too" wait_until 30 ended
is "$(grep -c -e '"kind":"voice"' -e llm_call "$voice")" 0 \
  "other actions are not on the voice stream"

# --- history by odd ids
history=$url/api/voice/history/sessions
is "$(curl -s "$history/a%2Fb%20c%25/events" | jq -c 'map(.kind)')" \
  '["voice_session_start","voice_session_end"]' "an id with a slash can be asked for, encoded"
is "$(curl -s "$history" | jq -c 'map([.sessionId, .guildId, .mode, .durationSeconds < 9, .endReason])')" \
  '[["a/b c%","","gemini_realtime",true,"unknown"]]' "a session that says little of itself is told"
for id in a%2Fb %25 %2e%2e%2f.. %00 a%00b %20 'x%zz' "%27%20OR%201=1" '*' '%5F%5f'; do
  is "$(curl -s --path-as-is "$history/$id/events" 2>&1 | head -c 100)" "[]" "'$id' has no events"
done
for path in a/b/events /events x/events/ x '../sessions/x/events'; do
  is "$(curl -s --path-as-is "$history/$path")" "Not found." \
    "a path of the history is not found: $path"
done
is "$(curl -s "$history?limit=0&sinceHours=x" | jq length)" 1 \
  "limits and times that make no sense are the default"

# --- resumption, and the clock
is "$(curl -sN -m 1 -H 'Last-Event-ID: 3' "$url/api/voice/events" | grep -e ^event -e ^id | xargs)" \
  "event: voice_state event: voice_event id: 4 event: voice_event id: 5" \
  "Last-Event-ID brings the state, and what was missed"
is "$(curl -sN -m 1 -H 'Last-Event-ID: 0' "$url/api/voice/events" | grep ^id | xargs)" "id: 3 id: 4 id: 5" \
  "Last-Event-ID brings those of voice sessions alone"
is "$(curl -sN -m 1 -H 'Last-Event-ID: 99' "$url/api/voice/events" | grep -e ^event -e ^id | xargs)" \
  "event: voice_state id: 5" "Last-Event-ID that was never given out brings the newest"
ok "2000 actions over random drops come exactly once" client resume "$url" 2000 7
ok "a heartbeat comes" wait_until 30 has "$voice" '^: heartbeat'
states=$(grep -c '^event: voice_state' "$voice")
due=$((($(date +%s) - opened) / 3))
ok "the state came every three seconds alone ($states)" test "$states" -ge 5 -a "$states" -le $((due + 4))
is "$(grep -c '^event: stats_update' "$voice")" 0 "no stats come on the voice stream"
stop "$(cat "$tmp/serve.pid")"
is "$status" 0 "SIGTERM ends the server with status 0"
done_testing
