#!/bin/sh
# The stand-in for the dashboard says what a real one was recorded to say
# (servers/recorded): the other tests lean on it.
. "${0%/*}/../lib.sh"
needs curl jq python3

recorded=$cli/servers/recorded
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.05
post() { curl -sf --data-binary @- "$url/control/actions"; }
frames() { sed -n "/^event: $1\$/{p;n;p;n;p;}" "$2"; }

# The recording's ids begin at 27.
seq 26 | sed 's/.*/{"kind":"filler","createdAt":"2026-11-21T05:00:00.&Z","content":"&"}/' |
  post >/dev/null
start stream curl -siN "$url/api/activity/events"
stream=$tmp/stream.out
wait_until 30 has "$stream" '^event: activity_snapshot'
sed -n '/^event: action_event$/{n;s/^data: //p;}' "$recorded/activity.sse" >"$tmp/lives"
post <"$tmp/lives" >/dev/null
wait_until 30 has "$stream" 'automation_post'
wait_until 30 has "$stream" '^: heartbeat'

is "$(frames action_event "$stream" | tr -d '\r' | grep -v '^[0-9a-f]*$' | cksum)" \
  "$(frames action_event "$recorded/activity.sse" | grep -v '^$' | cksum)" \
  "live actions have the recorded bytes"
curl -s "$url/api/actions?limit=14" >"$tmp/rows"
is "$(cat "$tmp/rows")" "$(sed 1,3d "$recorded/actions-after-stream.http")" \
  "rows have the recorded bytes, order and ids"

tr -d '\r' <"$stream" >"$tmp/plain"
for header in 'HTTP/1.1 200 OK' 'Content-Type: text/event-stream' 'Cache-Control: no-cache' \
  'Connection: keep-alive' 'X-Accel-Buffering: no' 'Transfer-Encoding: chunked'; do
  ok "the head has $header" grep -qx "$header" "$tmp/plain"
done
not_ok "there is no id and no retry" grep -Eq '^(id|retry)' "$tmp/plain"
is "$(grep '^event' "$tmp/plain" | head -n 1)" "event: activity_snapshot" "the snapshot is first"
is "$(grep '^event' "$tmp/plain" | grep -A1 action_event | grep -c stats_update)" 14 \
  "stats follow each action"
shape() {
  sed -n '/^event: activity_snapshot/{n;s/^data: //p;}' "$1" |
    jq -c '[keys_unsorted, (.stats | keys_unsorted), (.actions[0] | keys_unsorted)]'
}
is "$(shape "$tmp/plain")" "$(shape "$recorded/activity.sse")" "the snapshot has the recorded shape"

seq 300 | sed 's/.*/{"kind":"burst","content":"&"}/' | post >/dev/null
snapshot() { curl -sN -m 20 "$url/api/activity/events" | sed -n '2{s/^data: //p;q;}'; }
is "$(snapshot | jq '.actions | length')" 220 "a snapshot holds 220 actions"
is "$(snapshot | jq -c '[.actions[:3][].content]')" '["1","2","3"]' \
  "rows of one millisecond ascend by id"
count() { curl -s "$url/api/actions$1" | jq length; }
is "$(count '')" 200 "200 rows come by default"
is "$(count '?limit=0') $(count '?limit=abc')" "1 200" \
  "limits are clamped, and a limit of junk is the default"
seq 900 | sed 's/.*/{"kind":"burst","content":"&"}/' | post >/dev/null
is "$(count '?limit=5000')" 1000 "at most 1000 rows come"
is "$(count '?limit=50&kinds=llm_call,tts_call')" 1 "kinds select rows"
is "$(count '?limit=50&kinds=bot_error&sinceHours=0.0001')" 0 "sinceHours selects rows"
is "$(count '?guildId=100000000000000001')" 10 "guildId selects rows"
is "$(printf '%s' '{"kind":"cut","content":"'"$(head -c 1999 /dev/zero | tr '\0' x)"'🌿!"}' |
  post >/dev/null && curl -s "$url/api/actions?limit=1" | jq -c '.[0].content[1998:]')" \
  '"x�"' "content is cut at 2000 UTF-16 units"

for how in between inside reset; do
  start cut curl -siN "$url/api/activity/events"
  wait_until 30 has "$tmp/cut.out" '^event: activity_snapshot'
  curl -s -d '' "$url/control/drop?how=$how" >/dev/null
  finished "$pid"
  case $how in
  between) is "$status" 0 "the stream ends in order when it is dropped between frames" ;;
  *) isnt "$status" 0 "the stream breaks off when it is dropped: $how ($status)" ;;
  esac
done

start_server guarded python3 "$cli/servers/dashboard.py" --token secret
is "$(curl -s -w ' %{http_code}' "$url/api/activity/events")" \
  '{"error":"Unauthorized. Provide x-dashboard-token."} 401' "no stream comes without a token"
is "$(curl -s -H 'x-dashboard-token: secret' "$url/api/health")" '{"ok":true}' \
  "an answer comes with the token"
is "$(curl -s -w ' %{http_code}' -H 'x-dashboard-token: secret' "$url/api/nothing-here")" \
  'Not found. 404' "an unknown path is not found"
done_testing
