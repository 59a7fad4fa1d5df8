#!/bin/sh
# Events that wait for missing rows were not printed yet: a lost connection, a
# kill and -n must not resume behind them.
. "${0%/*}/../lib.sh"
needs sse-tail jq python3

serve </dev/null
# row ID TIME: an action as a row.
row() {
  printf '{"id":%s,"created_at":"2026-05-09T12:00:%s.000Z","kind":"k","content":"c%s"}' "$1" "$2" "$1"
}
# snapshot ID ROW...: the event with its id.
snapshot() {
  id=$1
  shift
  rows=$(printf '%s,' "$@")
  printf 'send id: %s\\nevent: activity_snapshot\\ndata: {"actions":[%s]}\\n\\n\n' "$id" "${rows%,}"
}
live() {
  printf 'send id: %s\\nevent: action_event\\ndata: %s\\n\\n\n' "$1" "$(row "$1" "$2")"
}
stream='on /api/activity/events
stream'
asked() {
  requests '[.path, .headers["last-event-id"] // "-"] | join(" ")'
}

# --- the rows cannot be had at first: the connection is given up, and asked for again
script <<EOT
$stream
$(snapshot 1 "$(row 1 01)")
$(live 2 02)
---
$stream
$(snapshot 9 "$(row 9 09)")
$(live 10 10)
stall
---
on /api/actions
status 503 text/html <html>sleeping</html>
---
$stream
$(snapshot 10 "$(row 10 10)" "$(row 9 09)")
stall
---
on /api/actions
status 200 application/json [$(row 10 10),$(row 9 09),$(row 3 03),$(row 2 02)]
EOT
t 0 "the stream goes on after a failed answer" \
  env AGENT_URL="$url" sse-tail --retry-wait 0.1 -n 4 --state "$tmp/state" activity
is "$(asked)" "/api/activity/events -
/api/activity/events 2
/api/actions -
/api/activity/events 2
/api/actions -" "the stream resumes behind what was printed, not behind what was held"
is "$(jq -r '[.event, (.data | (.actions // [.])[].id)] | join(" ")' "$tmp/out")" \
  "activity_snapshot 1
action_event 2
actions_backfill 3
activity_snapshot 10 9" "what was missed comes before the snapshot, each once"
is "$(jq -r .last_event_id "$tmp/state")" 10 "the resume point is the snapshot's"

# --- -n ends on the rows: the snapshot behind them was not printed
script <<EOT
$stream
$(snapshot 1 "$(row 1 01)")
---
$stream
$(snapshot 9 "$(row 9 09)")
stall
---
on /api/actions
status 200 application/json [$(row 9 09),$(row 3 03),$(row 1 01)]
EOT
rm -f "$tmp/state"
t 0 "-n ends on the backfill" \
  env AGENT_URL="$url" sse-tail --retry-wait 0.1 -n 2 --state "$tmp/state" activity
is "$(jq -r .event "$tmp/out" | tail -n 1)" actions_backfill "the backfill is the last record"
is "$(jq -r '.last_event_id + " " + .newest' "$tmp/state")" "1 2026-05-09T12:00:01.000Z" \
  "the state is that of the event before the backfill"

# --- a connection that never was open before
script <<EOT
status 503 text/plain no
---
stream
send data: 1\n\n
EOT
run sse-tail --retry-wait 0.05 -L "$url/s"
is "$(jq -r '.type // .event' "$tmp/out" | head -n 3 | tr '\n' ' ')" "lost open message " \
  "the first connection is open, not resumed"

# --- unfinished events earn no patience
script <<EOT
forever
stream
send data: half
EOT
t 75 "partial events do not start the tries over" \
  sse-tail --retry-wait 0.05 --flush-partial --max-retries 2 "$url/s"
is "$(wc -l <"$tmp/out" | tr -d ' ')" 3 "each try prints one partial event"

done_testing
