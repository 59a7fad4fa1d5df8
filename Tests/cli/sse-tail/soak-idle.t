#!/bin/sh
# Without --idle-timeout: 45 s for the two dashboard streams, none for a URL.
# It takes that long, so it runs only when SOAK is set.
. "${0%/*}/../lib.sh"
[ -n "${SOAK:-}" ] || skip_all "waits 45 s; set SOAK=1"
needs sse-tail jq python3

serve <<'S'
on /s
stream
stall
---
on /api/activity/events
stream
stall
---
on /api/voice/events
stall
S
AGENT_URL=$url
export AGENT_URL
start url sse-tail -v "$url/s"
start voice sse-tail -v voice
start activity sse-tail -v activity
wait_until 30 has "$log" /api/activity/events
began=$(date +%s)
ok "a silent stream is lost" wait_until 60 has "$tmp/activity.err" 'down'
took=$(($(date +%s) - began))
ok "a silent stream is lost after 45 s ($took s)" test "$took" -ge 43 -a "$took" -le 50
ok "a silent server is lost, too" wait_until 30 has "$tmp/voice.err" 'down'
not_ok "a silent stream of a URL is not lost" has "$tmp/url.err" 'down'
done_testing
