#!/bin/sh
# `sse-tail activity` at a server that sends no ids: what was missed while the
# stream was down is fetched, and what cannot be is reported.
. "${0%/*}/lib.sh"
needs sse-tail action-filter jq curl python3

# post FROM TO [same]: actions with these numbers as content, a millisecond
# apart, or all in one.
post() {
  awk -v from="$1" -v to="$2" -v same="${3:-}" 'BEGIN {
    for (n = from; n <= to; n++) {
      at = same ? to : n
      printf "{\"kind\":\"llm_call\",\"guildId\":\"1\",\"content\":\"n%d\",", n
      printf "\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", at / 1000, at % 1000
    }
  }' | curl -sf --data-binary @- "$url/control/actions" >/dev/null
}
drop() { curl -sf -d '' "$url/control/drop?how=$1" >/dev/null; }
# shellcheck disable=SC2317  # called by wait_until
clients() { [ "$(curl -sf "$url/control/state" | jq .clients)" -eq "$1" ]; }
fetches() { curl -sf "$url/control/state" | jq -r '.requests[] | select(startswith("/api/actions"))'; }
# follow OPTION...: in the background, against a fresh server.
follow() {
  start_server dashboard python3 "$cli/servers/dashboard.py" --token s3cret
  printf s3cret >"$tmp/token"
  chmod 600 "$tmp/token"
  dashboard=$pid
  AGENT_URL=$url
  export AGENT_URL
}
tail_it() {
  start tail sse-tail --token-file "$tmp/token" --retry-wait 0.3 "$@" activity
  tail=$pid
  wait_until 10 has "$tmp/tail.out" activity_snapshot
}
# away FROM TO HOW [same]: posts while the stream is down, and waits until it is back.
away() {
  drop "$3"
  wait_until 10 clients 0
  post "$1" "$2" "${4:-}"
  wait_until 10 clients 1
}
# seen COUNT: an action after the drop has come.
came() { wait_until 20 has "$tmp/tail.out" "\"content\":\"n$1\""; }
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
all 201 "fewer than a snapshot holds were missed: each once"
is "$(fetches)" "" "nothing more is asked for"
is "$(events)" "activity_snapshot action_event activity_snapshot action_event " "in the server's own records"
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
  is "$(sed '/^301$/,$!d' "$tmp/numbers" | cksum)" "$(seq 301 901 | cksum)" "$how: none is missed"
  is "$(uniq -d "$tmp/numbers")" "" "$how: none comes twice"
  is "$(fetches)" "/api/actions?limit=1000" "$how: one question for the missing rows"
  is "$(events)" "activity_snapshot action_event actions_backfill activity_snapshot action_event " \
    "$how: a record of them comes before newer events"
  like "$(grep '"event":"actions_backfill"' "$tmp/tail.out")" \
    '^\{"event":"actions_backfill","id":"","data":\{"actions":\[\{"id":[0-9]+,"created_at":' \
    "$how: with the rows as they are"
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
like "$gap" '^\{"type":"gap"' "more than 1000 were missed: a gap is a record"
is "$(printf '%s' "$gap" | jq -c '(.after | test("^20.*Z$")) and (.before | test("^20.*Z$")) and .after < .before')" \
  true "with the times between which actions may be lost"
is "$(printf '%s\n' "$gap" | wc -l | tr -d ' ')" 1 "once"
is "$(grep -c '^sse-tail: .*gap' "$tmp/tail.err")" 1 "and one line on stderr, without -v"
like "$(cat "$tmp/tail.err")" "$(printf '%s' "$gap" | jq -r .after)" "with the time"
numbers | sort -n >"$tmp/numbers"
is "$(uniq -d "$tmp/numbers")" "" "what came, came once"
is "$(tail -n 1000 "$tmp/numbers" | head -n 1)" 202 "and the newest 1000 are there"
stop "$tail"
stop "$dashboard"

# --- no false gap
follow
tail_it -L
drop between
wait_until 10 has "$tmp/tail.out" '"type":"resumed"'
post 1 3
came 3
away 4 100 inside
post 101 101
came 101
all 101 "a server without actions at first"
not_ok "is no gap" has "$tmp/tail.out" '"type":"gap"'
stop "$tail"
stop "$dashboard"

follow
post 1 1
tail_it -L
away 2 1000 between
post 1001 1001
came 1001
all 1001 "the 1000 newest hold all that was missed"
not_ok "then there is no gap" has "$tmp/tail.out" '"type":"gap"'
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
wait_until 10 has "$tmp/tail.out" '"content":"🌿'
drop inside
wait_until 10 clients 0
twins 2030-01-01T00:00:00.001Z
wait_until 10 clients 1
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
not_ok "nor is a gap reported" has "$tmp/tail.out" '"type":"gap"'
is "$through" "$AGENT_URL" "through a proxy that cuts"
done_testing
