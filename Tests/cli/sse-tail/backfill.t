#!/bin/sh
# `sse-tail activity` at a server that sends no ids: what was missed while the
# stream was down is fetched, and what cannot be is reported.
. "${0%/*}/../lib.sh"
needs sse-tail action-filter jq curl python3

# post FROM TO [HOW]: actions with these numbers as content, a millisecond apart;
# HOW same: all in one, mixed: seven in each, of several kinds and guilds, rare:
# of another kind.
post() {
  awk -v from="$1" -v to="$2" -v how="${3:-}" 'BEGIN {
    split("llm_call,llm_call,llm_call,voice_runtime,sent_reply,invented_yesterday", kinds, ",")
    for (n = from; n <= to; n++) {
      at = how == "same" ? to : how == "mixed" ? int(n / 7) * 7 : n
      kind = how == "mixed" ? kinds[n % 6 + 1] : how == "rare" ? "tts_call" : "llm_call"
      guild = how == "mixed" ? n % 2 + 1 : 1
      printf "{\"kind\":\"%s\",\"guildId\":\"%d\",\"content\":\"n%d\",", kind, guild, n
      printf "\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", at / 1000, at % 1000
    }
  }' | curl -sf --data-binary @- "$url/control/actions" >/dev/null
}
# drop HOW: the stream is cut. leave HOW: until `back`, the client may come as often as
# it will.
drop() { curl -sf -d '' "$url/control/drop?how=$1" >/dev/null; }
leave() { drop "$1&away=1"; }
back() {
  curl -sf -d '' "$url/control/back" >/dev/null
  wait_until 30 clients 1
}
# shellcheck disable=SC2317  # called by wait_until
clients() { [ "$(curl -sf "$url/control/state" | jq .clients)" -eq "$1" ]; }
fetches() { curl -sf "$url/control/state" | jq -r '.requests[] | select(startswith("/api/actions"))'; }
# follow [OPTION...]: a fresh server.
follow() {
  start_server dashboard python3 "$cli/servers/dashboard.py" --token s3cret "$@"
  printf s3cret >"$tmp/token"
  chmod 600 "$tmp/token"
  dashboard=$pid
  AGENT_URL=$url
  export AGENT_URL
}
tail_it() {
  start tail sse-tail --token-file "$tmp/token" --retry-wait 0.3 "$@" activity
  tail=$pid
  wait_until 30 has "$tmp/tail.out" activity_snapshot
}
# away FROM TO HOW [HOW]: posts while the stream is down, and waits until it is back.
away() {
  leave "$3"
  post "$1" "$2" "${4:-}"
  back
}
# seen COUNT: an action after the drop has come.
came() { wait_until 30 has "$tmp/tail.out" "\"content\":\"n$1\""; }
numbers() { action-filter -u "$tmp/tail.out" | grep -o '"content":"n[0-9]*"' | tr -dc '0-9\n'; }
# all TO TITLE: every number once.
all() {
  numbers | sort -n >"$tmp/numbers"
  seq "$1" >"$tmp/wanted"
  ok "$2" cmp "$tmp/numbers" "$tmp/wanted"
}
events() { jq -r '.event // .type' "$tmp/tail.out" | grep -v stats_update | uniq | tr '\n' ' '; }

# --- a snapshot reaches back
follow
post 1 10
tail_it
post 11 20
came 20
away 21 200 between same
post 201 201
came 201
all 201 "actions that the snapshot holds come once each"
is "$(fetches)" "" "nothing more is asked for than the snapshot"
is "$(events)" "activity_snapshot action_event activity_snapshot action_event " \
  "actions of the snapshot come in the server's own records"
stop "$tail"
stop "$dashboard"

# --- it does not
for how in inside reset; do
  follow
  post 1 300
  tail_it
  post 301 310
  came 310
  away 311 900 "$how"
  post 901 901
  came 901
  numbers | sort -n >"$tmp/numbers"
  # What was there before it began may come or not.
  is "$(sed '/^301$/,$!d' "$tmp/numbers" | cksum)" "$(seq 301 901 | cksum)" \
    "$how: no action is missed"
  is "$(uniq -d "$tmp/numbers")" "" "$how: no action comes twice"
  is "$(fetches)" "/api/actions?limit=1000" "$how: the missing rows need one question"
  is "$(events)" "activity_snapshot action_event actions_backfill activity_snapshot action_event " \
    "$how: a record of missing rows comes before newer events"
  like "$(grep '"event":"actions_backfill"' "$tmp/tail.out")" \
    '^\{"event":"actions_backfill","id":"","data":\{"actions":\[\{"id":[0-9]+,"created_at":' \
    "$how: the record has the rows as they are"
  is "$(cat "$tmp/tail.err")" "" "$how: no gap is reported"
  stop "$tail"
  stop "$dashboard"
done

# --- a gap
follow
post 1 50
tail_it -L
post 51 51
came 51
away 52 1200 between
post 1201 1201
came 1201
gap=$(jq -c 'select(.type == "gap")' "$tmp/tail.out")
like "$gap" '^\{"type":"gap"' "a gap is a record when more than 1000 actions were missed"
is "$(printf '%s' "$gap" | jq -c '(.after | test("^20.*Z$")) and (.before | test("^20.*Z$")) and .after < .before')" \
  true "a gap has the times between which actions may be lost"
is "$(printf '%s\n' "$gap" | wc -l | tr -d ' ')" 1 "a gap is told once"
is "$(grep -c '^sse-tail: .*gap' "$tmp/tail.err")" 1 "one line on stderr tells it, without -v"
like "$(cat "$tmp/tail.err")" "$(printf '%s' "$gap" | jq -r .after)" \
  "the line of a gap has the time"
numbers | sort -n >"$tmp/numbers"
is "$(uniq -d "$tmp/numbers")" "" "what came with a gap came once"
is "$(tail -n 1000 "$tmp/numbers" | head -n 1)" 202 "the newest 1000 actions are there with a gap"
stop "$tail"
stop "$dashboard"

# --- more than an answer holds
# in_order TO TITLE: every number once, in the order they happened.
in_order() {
  numbers >"$tmp/numbers"
  seq "$1" >"$tmp/wanted"
  ok "$2" cmp "$tmp/numbers" "$tmp/wanted"
}
# The agent has left guild 2.
follow --guilds 1,3
post 1 50 mixed
tail_it -L
post 51 60 mixed
came 60
away 61 2900 between mixed
post 2901 2910
came 2910
in_order 2910 "2840 missed actions of several kinds and guilds come once and in order"
not_ok "no gap is reported when pages bring all" has "$tmp/tail.out" '"type":"gap"'
is "$(cat "$tmp/tail.err")" "" "nothing is said when pages bring all"
ok "few requests are made for the pages" test "$(fetches | wc -l)" -le 15
is "$(jq -c 'select(.event == "actions_backfill") | .data.actions | length <= 1000' "$tmp/tail.out" |
  sort -u)" true "no record has more rows than an answer"
stop "$tail"
stop "$dashboard"

# Actions that come while the pages are fetched.
follow
post 1 50 mixed
tail_it -L
post 51 60 mixed
came 60
leave between
post 61 2600 mixed
back
from=2601
while [ "$from" -lt 3000 ]; do
  post "$from" "$((from + 24))" rare
  from=$((from + 25))
done
came 3000
in_order 3000 "actions that come meanwhile are neither lost nor doubled"
not_ok "actions that come meanwhile leave no gap" has "$tmp/tail.out" '"type":"gap"'
stop "$tail"
stop "$dashboard"

# A kind that was seen once, long ago, and one that nobody has seen.
follow
echo '{"kind":"seen_once","guildId":"1","content":"n1"}' |
  sed 's/}/,"createdAt":"2026-01-01T00:00:00.001Z"}/' |
  curl -sf --data-binary @- "$url/control/actions" >/dev/null
post 2 50
tail_it -L
post 51 51
came 51
leave between
for kind in seen_once never_seen; do
  printf '{"kind":"%s","guildId":"1","content":"%s","createdAt":"2026-01-01T00:00:00.052Z"}\n' \
    "$kind" "$kind" | curl -sf --data-binary @- "$url/control/actions" >/dev/null
done
post 53 1200 mixed
back
post 1201 1201
came 1201
ok "a kind that was seen is asked for" has "$tmp/tail.out" '"content":"seen_once"'
not_ok "a kind that nobody has seen cannot be asked for" \
  has "$tmp/tail.out" '"content":"never_seen"'
is "$(jq -c 'select(.type == "gap") | .after' "$tmp/tail.out")" '"2026-01-01T00:00:00.051Z"' \
  "a hole in the ids is told as one gap"
stop "$tail"
stop "$dashboard"

# One instant at the border between the missing rows and the snapshot.
follow
post 1 10
tail_it -L
away 11 400 between same
post 401 401
came 401
in_order 401 "rows of the snapshot's oldest instant come in the order of their ids"
stop "$tail"
stop "$dashboard"

# One instant at the beginning, of which the first snapshot had a part.
follow
post 1 300 mixed
tail_it -L
away 301 800 between mixed
came 800
numbers >"$tmp/numbers"
{
  seq 77 79
  seq 84 800
} >"$tmp/wanted"
ok "what was before the first snapshot stays out, also of its oldest instant" \
  cmp "$tmp/numbers" "$tmp/wanted"
stop "$tail"
stop "$dashboard"

# What the store keeps otherwise than it was said live is the same action.
follow
post 1 10
tail_it
odd=$(printf '{"kind":"odd","createdAt":"2026-01-01T00:00:00.011Z"%s}\n' ',"content":""' \
  ',"content":0,"guildId":"2"' ',"content":"x","userId":0,"channelId":false' \
  ',"content":7,"messageId":1234567890123456' ',"content":true,"userId":1e21')
echo "$odd" | curl -sf --data-binary @- "$url/control/actions" >/dev/null
wait_until 30 has "$tmp/tail.out" '"content":true'
away 12 300 between
came 300
is "$(action-filter -u -k odd "$tmp/tail.out" | wc -l | tr -d ' ')" 5 \
  "actions with empty, zero and false members, and numbers, come once"
stop "$tail"
stop "$dashboard"

# A signal while the pages are fetched.
follow --think 60
post 1 50
tail_it -L --state "$tmp/paged"
post 51 51
came 51
away 52 1500 between mixed
# shellcheck disable=SC2317  # called by wait_until
pages() { fetches | grep -q kinds; }
ok "pages are asked for" wait_until 30 pages
stop "$tail"
is "$(kill -l "$status" 2>/dev/null)" TERM "a signal while pages are fetched ends it at once"
is "$(jq -r .newest "$tmp/paged")" 2026-01-01T00:00:00.051Z \
  "the next run begins behind what was printed"
stop "$dashboard"

# The pages cannot be had.
start_server dashboard python3 "$cli/servers/dashboard.py" --token s3cret
dashboard=$pid
backend=$url
start_server cutter python3 "$cli/servers/cutter.py" --to "$backend" --refuse '/api/actions?limit=1000&kinds' 1000
AGENT_URL=$url
url=$backend
post 1 50
tail_it -L
post 51 51
came 51
away 52 1500 between mixed
wait_until 30 has "$tmp/tail.out" '"type":"gap"'
post 1501 1501
came 1501
is "$(jq -c 'select(.type == "gap") | .unreached | length' "$tmp/tail.out")" 1 \
  "pages that fail three times leave one gap"
is "$(numbers | sed '/^507$/,$!d' | cksum)" "$(seq 507 1501 | cksum)" \
  "all that the first answer held is there behind the gap"
stop "$tail"
stop "$dashboard"

# --- no false gap
follow
tail_it -L
drop between
wait_until 30 has "$tmp/tail.out" '"type":"resumed"'
post 1 3
came 3
away 4 100 inside
post 101 101
came 101
all 101 "a server without actions at first is followed"
not_ok "no gap is reported there" has "$tmp/tail.out" '"type":"gap"'
stop "$tail"
stop "$dashboard"

follow
post 1 1
tail_it -L
away 2 1000 between
post 1001 1001
came 1001
all 1001 "the 1000 newest hold all that was missed"
not_ok "no gap is reported when the 1000 newest hold all" has "$tmp/tail.out" '"type":"gap"'
stop "$tail"
stop "$dashboard"

# --- equal twins, long texts, one millisecond
follow
tail_it
long=$(head -c 2500 /dev/zero | tr '\0' x)
twins() {
  for content in twin twin "$long" "🌿$long" "" twin; do
    printf '{"kind":"bot_warning","userId":null,"content":"%s","createdAt":"%s"}\n' "$content" "$1"
  done | curl -sf --data-binary @- "$url/control/actions" >/dev/null
}
twins 2030-01-01T00:00:00.000Z
wait_until 30 has "$tmp/tail.out" '"content":"🌿'
leave inside
twins 2030-01-01T00:00:00.001Z
back
post 1 1
came 1
count() { action-filter -u "$tmp/tail.out" | grep -c "$1"; }
is "$(count 2030.*00:00.000Z) $(count 2030.*00:00.001Z)" "6 6" "equal actions of one millisecond are all there, once"
stop "$tail"
stop "$dashboard"

# --- across a restart
follow
post 1 5
tail_it --state "$tmp/state"
post 6 10
came 10
stop "$tail"
cp "$tmp/tail.out" "$tmp/first.out"
post 11 600
tail_it --state "$tmp/state"
post 601 601
came 601
cat "$tmp/first.out" "$tmp/tail.out" >"$tmp/both.out"
mv "$tmp/both.out" "$tmp/tail.out"
all 601 "--state: what was missed between two runs comes, each once"
stop "$tail"
stop "$dashboard"

# --- the rows cannot be fetched at once
start_server dashboard python3 "$cli/servers/dashboard.py" --token s3cret
dashboard=$pid
backend=$url
start_server cutter python3 "$cli/servers/cutter.py" --to "$backend" --refuse '/api/actions' 2
AGENT_URL=$url
through=$url
url=$backend
post 1 5
tail_it -L
away 6 500 between
post 501 501
came 501
all 501 "a backfill that fails is tried again, and nothing is lost"
not_ok "no gap is reported when a backfill succeeds at last" has "$tmp/tail.out" '"type":"gap"'
is "$through" "$AGENT_URL" "the client goes through a proxy that cuts"
done_testing
