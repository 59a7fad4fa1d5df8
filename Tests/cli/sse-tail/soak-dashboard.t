#!/bin/sh
# Drop and resume at a server without ids: each action out exactly once, and a
# gap, which only more than 1000 missed actions of one kind in one guild make, is
# reported.
. "${0%/*}/../lib.sh"
. "$cli/servers/soak.sh"
needs sse-tail action-filter jq python3

start_server dashboard python3 "$cli/servers/dashboard.py"
dashboard=$pid
soaked exact "$url" /control/actions --actions $((100 * breaks)) --cuts "$breaks" \
  --at-most 900
exactly_once "each action is out exactly once across $breaks breaks"
is "$(cat "$tmp/tail.err")" "" "no gap is reported across $breaks breaks"
stop "$dashboard"

start_server dashboard python3 "$cli/servers/dashboard.py"
dashboard=$pid
soaked pages "$url" /control/actions --actions 1000 --cuts 8 --at-most 900 --gap 1500
exactly_once "1500 missed actions of several kinds are out exactly once"
is "$(cat "$tmp/tail.err")" "" "no gap is reported for 1500 actions of several kinds"
stop "$dashboard"

start_server dashboard python3 "$cli/servers/dashboard.py"
soaked gap "$url" /control/actions --actions 1000 --cuts 8 --at-most 900 --gap 1500 \
  --gap-kind llm_call
is "$(comm -23 "$tmp/got" "$tmp/want")" "" "nothing comes that was not posted, nothing twice"
comm -13 "$tmp/got" "$tmp/want" >"$tmp/lost"
is "$(grep -cv '^gap' "$tmp/lost")" 0 "what is lost is in the gap"
ok "what is lost is what 1000 rows cannot reach ($(lines "$tmp/lost") lost)" \
  test "$(lines "$tmp/lost")" -le 600
is "$(grep -c '^sse-tail: .*gap' "$tmp/tail.err")" 1 "the gap is reported, once"
done_testing
