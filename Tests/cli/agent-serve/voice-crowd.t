#!/bin/sh
# agent-serve: many voice streams with a large state beside the activity stream.
. "${0%/*}/../lib.sh"
needs agent-serve curl jq python3

start_server crowd agent-serve -l 127.0.0.1:0 -D "$tmp/crowd.sqlite"
ok "200 voice subscribers get each event, and the activity stream is not slower" \
  bounded 90 python3 "$cli/clients/voice.py" crowd "$url" 200 60
sed 's/^/# /' "$tmp/ok.said"
descriptors() { [ ! -d "/proc/$pid/fd" ] || [ "$(ls "/proc/$pid/fd" | wc -l)" -lt 100 ]; }
ok "voice subscribers that left are forgotten" wait_until 30 descriptors
stop "$pid"
is "$status" 0 "the server ends as ever after a crowd"
done_testing
