#!/bin/sh
# agent-serve: the activity stream, event by event, and its resumption.
. "${0%/*}/../lib.sh"
. "${0%/*}/stream-head.sh"
needs agent-serve curl jq python3
client() { bounded 90 python3 "$cli/clients/serve.py" "$@"; }

start_server serve agent-serve -l 127.0.0.1:0 -D :memory:
for number in 1 2 3; do post "{\"kind\":\"before\",\"content\":\"$number\"}"; done

# --- the head
start live curl -siN --max-time 30 "$url/api/activity/events"
live=$tmp/live.out
ok "the stream opens" wait_until 30 has "$live" '^event: activity_snapshot'
head_is_the_dashboards "$live"

# --- the snapshot
is "$(field event "$live" | head -n 1)" activity_snapshot "the snapshot comes first"
field data "$live" | head -n 1 >"$tmp/snapshot"
is "$(jq -c 'keys_unsorted' "$tmp/snapshot")" '["actions","stats"]' \
  "the snapshot has actions and stats"
is "$(jq -c '.actions | map(.content)' "$tmp/snapshot")" '["3","2","1"]' \
  "the newest action comes first"

# --- a live action
post '{"kind":"sent_reply","guild_id":"7","content":"a\nb","metadata":{"x":1.10},"level":"warn"}'
ok "an action is delivered" wait_until 30 has "$live" '^event: action_event'
sed -n '/^event: action_event/,/^$/p' "$live" | tr -d '\r' | head -n 4 >"$tmp/event"
is "$(field id "$tmp/event")" 4 "the id of an action is on a line"
is "$(field data "$tmp/event" | sed 's/"createdAt":"[^"]*"/T/')" \
  '{"kind":"sent_reply","guildId":"7","content":"a\nb","metadata":{"x":1.10},"level":"warn",T,"id":4}' \
  "an action is in the live spelling, with its id"
run sh -c 'curl -s "$1/api/actions?limit=1" | sed "s/\"created_at\":\"[^\"]*\"/\"created_at\":\"T\"/"' - "$url"
out_is '[{"id":4,"created_at":"T","guild_id":"7","channel_id":null,"message_id":null,"user_id":null,"kind":"sent_reply","content":"a\nb","metadata":{"x":1.10},"usd_cost":0,"level":"warn"}]' \
  "the level of an action is in the row, too"
ok "the stats follow an action" wait_until 30 has "$live" '^data: .*"sent_reply":1'

# --- a burst
before=$(grep -c '^event: stats_update' "$live")
for number in 1 2 3 4 5 6 7 8 9 10; do
  seq 20 | sed 's/.*/{"kind":"burst","content":"&"}/' | curl -s --data-binary @- "$url/api/actions" \
    >/dev/null
done
bursts() { [ "$(grep -c '"kind":"burst"' "$live")" -ge 200 ]; }
ok "a burst of 200 is delivered" wait_until 30 bursts
after=$(grep -c '^event: stats_update' "$live")
ok "a burst costs few stats ($((after - before)))" test $((after - before)) -le 4
is "$(field id "$live" | tail -n 1)" 204 "ids count on"
is "$(field id "$live" | sed 1d | sort -n | uniq | wc -l | tr -d ' ')" 201 \
  "each action of a burst comes once"

# --- resumption
is "$(client events "$url" 3 201 | jq -c .id | xargs)" "202 203 204" \
  "Last-Event-ID brings what was missed"
is "$(client events "$url" 204 0 | jq -c .id | tail -n 1)" 204 "all of the stream comes from 0"
is "$(client first "$url" 203)" action_event "no snapshot comes behind a usable id"
for unusable in 205 99999999999999999999 x -1 ''; do
  is "$(client first "$url" "$unusable")" activity_snapshot "'$unusable' brings a snapshot"
done
start newest curl -sN --max-time 30 -H 'Last-Event-ID: 204' "$url/api/activity/events"
post '{"kind":"after"}'
ok "a client that missed nothing goes on live" wait_until 30 has "$tmp/newest.out" '"kind":"after"'
is "$(grep -c '^event: a' "$tmp/newest.out")" 1 "nothing comes before what is live"
ok "the snapshot has an id to resume from" has "$tmp/live.out" '^id: 3'
ok "3000 actions over random drops come exactly once" client resume "$url" 3000 7
is "$(client gone "$url" 50)" gone "subscribers come and go"

# --- the clock
stats() { [ "$(grep -c '^event: stats_update' "$tmp/newest.out")" -ge 3 ]; }
ok "stats come without actions" wait_until 30 stats
ok "a heartbeat comes" wait_until 30 has "$live" '^: heartbeat'
done_testing
