#!/bin/sh
# `sse-tail voice` at a server that sends no ids: the voice actions that were missed
# while the stream was down are fetched, and what cannot be is reported.
. "${0%/*}/../lib.sh"
needs sse-tail action-filter jq curl python3

# post FROM TO [HOW]: actions with these numbers as content, a millisecond apart; every
# third is of voice. HOW voice: all of one voice kind, quiet: none of voice, odd: those of
# voice are of a kind that nobody knows.
post() {
  awk -v from="$1" -v to="$2" -v how="${3:-}" 'BEGIN {
    for (n = from; n <= to; n++) {
      kind = n % 3 ? n % 2 ? "llm_call" : "text_runtime" : n % 2 ? "voice_runtime" : "voice_turn_in"
      if (how == "odd" && n % 3 == 0) kind = "voice_invented_yesterday"
      if (how == "voice") kind = "voice_runtime"
      if (how == "quiet") kind = n % 2 ? "llm_call" : "text_runtime"
      printf "{\"kind\":\"%s\",\"guildId\":\"%d\",\"content\":\"n%d\",", kind, n % 2 + 1, n
      printf "\"createdAt\":\"2026-01-01T00:00:%02d.%03dZ\"}\n", n / 1000, n % 1000
    }
  }' | curl -sf --data-binary @- "$url/control/actions" >/dev/null
}
follow() {
  start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.2 --token s3cret "$@"
  printf s3cret >"$tmp/token"
  chmod 600 "$tmp/token"
  dashboard=$pid
  AGENT_URL=$url
  export AGENT_URL
}
tail_it() {
  start tail sse-tail --token-file "$tmp/token" --retry-wait 0.3 "$@" voice
  tail=$pid
  wait_until 30 has "$tmp/tail.out" voice_state
}
# shellcheck disable=SC2317  # called by wait_until
clients() { [ "$(curl -sf "$url/control/state" | jq .clients)" -eq "$1" ]; }
# away FROM TO [HOW]: posts while the stream is down, and waits until it is back.
away() {
  curl -sf -d '' "$url/control/drop?how=between&away=1" >/dev/null
  post "$@"
  curl -sf -d '' "$url/control/back" >/dev/null
  wait_until 30 clients 1
}
came() { wait_until 30 has "$tmp/tail.out" "\"content\":\"n$1\""; }
numbers() { action-filter -u "$tmp/tail.out" 2>/dev/null | grep -o '"content":"n[0-9]*"' | tr -dc '0-9\n'; }
# threes FROM TO TITLE: each of voice once, and in order.
threes() {
  numbers >"$tmp/numbers"
  seq "$1" "$2" | awk '$1 % 3 == 0' >"$tmp/wanted"
  ok "$3" cmp "$tmp/numbers" "$tmp/wanted"
}
finish() {
  stop "$tail"
  stop "$dashboard"
}
fetches() { curl -sf "$url/control/state" | jq -r '.requests[] | select(startswith("/api/actions"))'; }

# --- short breaks, one after the other
follow
post 1 30
tail_it -L
post 31 60
came 60
away 61 90
post 91 120
came 120
away 121 150
away 151 180
post 181 210
came 210
threes 31 210 "what was missed in three breaks comes, each once and in order"
not_ok "no gap is reported" has "$tmp/tail.out" '"type":"gap"'
is "$(jq -r '.event // .type' "$tmp/tail.out" | grep -A1 actions_backfill | grep -v '^-' | sort -u |
  tr '\n' ' ')" "actions_backfill voice_state " \
    "missed actions come before the state that follows them"
is "$(fetches | sort | uniq -c | tr -s ' ')" \
  " 3 /api/actions?limit=1000
 1 /api/actions?limit=20" "one question is asked at the start, and one for each break"
finish

# --- before the first event
follow
post 1 30
tail_it -L
away 31 60
came 60
threes 31 60 "a break before the first event loses nothing"
finish
follow
tail_it -L
away 1 60
came 60
threes 1 60 "a break at a server without actions loses nothing"
not_ok "no gap is reported" has "$tmp/tail.out" '"type":"gap"'
finish

# --- more than an answer holds
follow --guilds 1,2
post 1 30
tail_it -L
post 31 33
came 33
away 34 3600
post 3601 3603
came 3603
threes 31 3603 "more actions than an answer holds come once and in order"
not_ok "no gap is reported" has "$tmp/tail.out" '"type":"gap"'
is "$(cat "$tmp/tail.err")" "" "nothing is said when all missed actions come"
ok "few requests are made" test "$(fetches | wc -l)" -le 12
finish

follow --guilds 1,2
tail_it -L
post 1 3
came 3
away 4 30
away 31 2400 quiet
post 2401 2403
came 2403
is "$(numbers | tr '\n' ' ')" "3 6 9 12 15 18 21 24 27 30 2403 " \
  "the voice actions among many others come"
finish
not_ok "many that are not of voice leave no gap" has "$tmp/tail.out" '"type":"gap"'

follow --guilds 1,2
tail_it -L
post 1 3
came 3
away 4 4003 voice
post 4004 4005 voice
came 4005
is "$(numbers | sed '/^2006$/,$!d' | cksum)" "$(seq 2006 4005 | cksum)" \
  "the newest of more actions than an answer holds are there"
is "$(jq -c 'select(.type == "gap") | [.unreached | sort_by(.guild_id)[] | .kind, .guild_id]' "$tmp/tail.out")" \
  '["voice_runtime","1","voice_runtime","2"]' "actions that cannot be had are a gap"
is "$(grep -c '^sse-tail: possible gap: .*voice_runtime' "$tmp/tail.err")" 1 "the gap is told once"
finish

follow --guilds 1,2
tail_it -L
post 1 3
came 3
away 4 90 odd
came 90
threes 3 90 "actions of unknown voice kinds come, too"
away 91 1500 odd
post 1501 1503
came 1503
threes 3 1503 "actions of kinds seen before come from behind the newest 1000"
finish

follow --guilds 1,2
tail_it -L
post 1 3
came 3
curl -sf -d '' "$url/control/drop?how=between&away=1" >/dev/null
post 4 30 odd
post 31 1400 quiet
curl -sf -d '' "$url/control/back" >/dev/null
wait_until 30 has "$tmp/tail.out" '"type":"gap"'
ok "kinds that nobody can ask for leave a gap" has "$tmp/tail.out" '"type":"gap"'
finish

# --- from run to run
follow
post 1 30
tail_it --state "$tmp/state"
post 31 60
came 60
stop "$tail"
cp "$tmp/tail.out" "$tmp/first.out"
post 61 90
tail_it --state "$tmp/state"
post 91 120
came 120
cat "$tmp/first.out" "$tmp/tail.out" >"$tmp/both.out"
mv "$tmp/both.out" "$tmp/tail.out"
threes 31 120 "--state: what was missed between two runs comes, each once"
finish

# --- the rows cannot be had
start_server dashboard python3 "$cli/servers/dashboard.py" --tick 0.2 --token s3cret
dashboard=$pid
backend=$url
start_server cutter python3 "$cli/servers/cutter.py" --to "$backend" --refuse '/api/actions?limit=1000' 1000
AGENT_URL=$url
url=$backend
post 1 30
tail_it -L
post 31 33
came 33
away 34 60
wait_until 30 has "$tmp/tail.out" '"type":"gap"'
is "$(jq -r 'select(.type == "gap") | .after' "$tmp/tail.out")" 2026-01-01T00:00:00.033Z \
  "rows that cannot be fetched leave a gap, from the last event on"
is "$(grep -c '^sse-tail: possible gap' "$tmp/tail.err")" 1 \
  "a gap of rows that cannot be fetched is told once"
post 61 63
came 63
finish

# --- agent-serve knows itself what was missed
serve_agent agent
agent=$pid
AGENT_URL=$url
start tail sse-tail --retry-wait 0.3 -L voice
tail=$pid
wait_until 30 has "$tmp/tail.out" voice_state
say() { # FROM TO
  seq "$1" "$2" | sed 's/.*/{"kind":"voice_info","content":"n&"}/' |
    curl -sf --data-binary @- "$url/api/actions" >/dev/null
}
say 1 9
came 9
stop "$agent"
start_server agent agent-serve --listen "127.0.0.1:$port" --database "$tmp/agent.sqlite"
agent=$pid
say 10 20
came 20
is "$(numbers | tr '\n' ' ')" "$(seq 1 20 | tr '\n' ' ')" "a server with ids sends them itself"
not_ok "nothing is fetched from a server with ids" has "$tmp/tail.out" actions_backfill
stop "$agent"

# Another database behind the same address.
rm -f "$tmp/agent.sqlite"*
start_server agent agent-serve --listen "127.0.0.1:$port" --database "$tmp/agent.sqlite"
agent=$pid
say 21 25
wait_until 30 has "$tmp/tail.out" '"content":"n25"'
is "$(numbers | tail -n 5 | tr '\n' ' ')" "$(seq 21 25 | tr '\n' ' ')" \
  "everything is new in a new database"
stop "$tail"
stop "$agent"
done_testing
