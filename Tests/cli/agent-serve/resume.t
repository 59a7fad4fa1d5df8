#!/bin/sh
# agent-serve: streams that go on after an action that is of another kind, or gone.
. "${0%/*}/../lib.sh"
. "${0%/*}/stream-head.sh"
needs agent-serve curl
follow() {
  start "$1" curl -sN --max-time 60 -H "Last-Event-ID: $2" "$url/api/$3/events"
}

# --- the newest action is none of the voice stream's, and the server is a new one
serve_agent first
for kind in voice_runtime daily daily; do post "{\"kind\":\"$kind\"}"; done
stop "$pid"
serve_agent first
follow voice 1 voice
# The first state opens the stream; more come to who is live.
states() { [ "$(grep -c '^event: voice_state' "$tmp/voice.out")" -ge 2 ]; }
ok "the voice stream is live" wait_until 30 states
post '{"kind":"voice_turn_in"}'
ok "what comes on the voice stream then is delivered" \
  wait_until 30 has "$tmp/voice.out" '"kind":"voice_turn_in"'
is "$(grep -c '^event: voice_event' "$tmp/voice.out")" 1 \
  "what comes on the voice stream then comes alone"

# --- the newest action was deleted
post '{"kind":"memory_reflection_start","metadata":{"runId":"r1"}}'
curl -s -X DELETE "$url/api/memory/reflections/r1" >"$tmp/deleted"
follow activity 4 activity
updated() { has "$tmp/activity.out" '^event: stats_update'; }
ok "the activity stream is live" wait_until 30 updated
post '{"kind":"after"}'
ok "what comes on the activity stream then is delivered" \
  wait_until 30 has "$tmp/activity.out" '"kind":"after"'
is "$(grep -c '^event: action_event' "$tmp/activity.out")" 1 \
  "what comes on the activity stream then comes alone"

done_testing
