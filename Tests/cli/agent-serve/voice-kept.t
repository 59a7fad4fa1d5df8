#!/bin/sh
# agent-serve: a voice state survives the server and comes from recordings.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3
client() { bounded 90 python3 "$cli/clients/voice.py" "$@"; }
number() { curl -s "$url/api/voice/state" | jq -r '.sessions[0].guildId'; }

# --- kill -9 while states come in
for round in 1 2 3; do
  start_server "round$round" agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
  server=$pid
  start putter python3 "$cli/clients/voice.py" put "$url" "$tmp/answered.$round"
  ok "round $round: states are answered" wait_until 30 at_least "$tmp/answered.$round" 20
  stop "$server" KILL
  finished "$(cat "$tmp/putter.pid")"
  start_server "after$round" agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
  last=$(tail -n 1 "$tmp/answered.$round")
  kept=$(number)
  ok "the last answered state, $last, is kept: $kept" \
    test "$kept" -ge "$last" -a "$kept" -le $((last + 1))
  stop "$pid"
done

# --- many at once: what is answered afterwards is what is on the disk
start_server race agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
client race "$url" 40 >"$tmp/raced"
seen=$(number)
stop "$pid"
start_server raced agent-serve -l 127.0.0.1:0 -D "$tmp/kept.sqlite"
is "$(cat "$tmp/raced") $(number)" "done $seen" "one of 40 states at once stays, on the disk too"
stop "$pid"

# --- a day is stored with its last state, and everything beside it
day=$root/Tests/fixtures/sample-day.ndjson
start_server day agent-serve -l 127.0.0.1:0 -D "$tmp/day.sqlite" --ingest "$day" -v
sed -n 's/^{"event":"voice_state".*"data":\(.*\)}$/\1/p' "$day" | tail -n 1 >"$tmp/last"
curl -s "$url/api/voice/state" >"$tmp/got"
printf '\n' >>"$tmp/got"
ok "the last state is kept to the byte" cmp "$tmp/last" "$tmp/got"
is "$(curl -s "$url/api/voice/history/sessions" | jq -c 'map([.mode, .durationSeconds])')" \
  '[["openai_realtime",765],["gemini_realtime",38]]' "the sessions that are over are kept"
session=$(jq -r '.sessions[0].sessionId' "$tmp/last")
curl -s "$url/api/voice/history/sessions/$session/events" >"$tmp/events"
ok "the events of the session that is up are kept" \
  jq -e 'length > 40 and all(.kind | startswith("voice_"))
  and any(.metadata.transcript) and any(.content == "realtime_tool_call_started")
  and ([.[].created_at] | . == sort)' "$tmp/events"
is "$(curl -s "$url/api/guilds" | jq length)" 2 "guilds are kept"
guild=$(jq -r '.sessions[0].guildId' "$tmp/last")
is "$(curl -s "$url/api/automations?guildId=$guild" | jq -c '.rows | map(.id)')" '[13,12,9]' "automations are kept"
is "$(curl -s "$url/api/automations/runs?guildId=$guild&automationId=12" | jq -c '.rows | map(.status)')" \
  '["ok","error","skipped"]' "the runs of an automation are kept"
is "$(curl -s "$url/api/agents/browser-sessions?sinceHours=1000000" | jq -c '.sessions | map(.sessionId)')" \
  '["br-8","br-7"]' "browser sessions are kept"
is "$(curl -s "$url/api/public-https" | jq -r .status)" ready "the tunnel is kept"
stop "$pid"
start_server again agent-serve -l 127.0.0.1:0 -D "$tmp/day.sqlite"
is "$(curl -s "$url/api/voice/state" | jq -c .)" "$(jq -c . "$tmp/last")" "all of it is there after a restart"
is "$(client odd "$url" "$tmp/last" 60 7)" fine \
  "60 states out of joint have answers of the same shape"
stop "$pid"

# --- records over HTTP, as --ingest takes them
start_server posted agent-serve -l 127.0.0.1:0 -D :memory:
curl -s --data-binary @"$day" "$url/api/actions" >"$tmp/answer"
is "$(jq -c '[.ok, .errors]' "$tmp/answer") $(curl -s "$url/api/guilds" | jq length)" \
  '[true,[]] 2' "a day of records can be posted"
printf '%s\n' '{"event":"voice_state","id":"","data":{"sessions":[]}}' '{"event":"guilds","data":7}' \
  '{"activeCount":0,"sessions":[]}' '{"event":"tea","data":7}' | curl -s --data-binary @- "$url/api/actions" \
  >"$tmp/answer"
is "$(jq -c '.errors' "$tmp/answer")" \
  '[{"line":1,"reason":"voice_state: activeCount is not a count"},{"line":2,"reason":"guilds: not an array"}]' \
  "faulty records are named"
is "$(curl -s "$url/api/voice/state")" '{"activeCount":0,"sessions":[]}' "a bare state is taken"
stop "$pid"

# --- a recording drives the state
recorded() {
  printf '{"event":"voice_state","id":"","received_at":"2026-03-01T12:00:%s.000Z","data":{"activeCount":%s,"sessions":[{"startedAt":"2026-03-01T11:59:00.000Z","text":"2026-03-01"}]}}\n' "$1" "$2"
}
{ recorded 00 1 && recorded 02 2 && recorded 04 3; } >"$tmp/recording"
start_server replay agent-serve -l 127.0.0.1:0 -D :memory: --replay "$tmp/recording" --speed 2
active() { [ "$(curl -s "$url/api/voice/state" | jq .activeCount)" = "$1" ]; }
for count in 1 2 3; do ok "state $count is played" wait_until 30 active "$count"; done
age=$(curl -s "$url/api/voice/state" | jq '.sessions[0].startedAt | sub("\\.[0-9]+Z"; "Z") | now - fromdate | floor')
ok "the times of a state are as old as when it was recorded ($age s)" \
  test "$age" -ge 63 -a "$age" -le 75
is "$(curl -s "$url/api/voice/state" | jq -r '.sessions[0].text')" 2026-03-01 \
  "the texts of a state stay as they were"
stop "$pid"
done_testing
