#!/bin/sh
# Drop and resume at agent-serve, whose events have ids: each action out exactly
# once, however many were missed.
. "${0%/*}/../lib.sh"
. "$cli/servers/soak.sh"
needs sse-tail action-filter agent-serve jq python3

serve_agent serve
soaked serve "$url" /api/actions --actions $((100 * breaks)) --cuts "$breaks" --gap 3000
exactly_once "each action is out exactly once across $breaks breaks"
is "$(cat "$tmp/tail.err")" "" "no gap is reported by agent-serve"
done_testing
