#!/bin/sh
# agent-serve: a client that somebody else wrote, PyPI's openclaw-sdk, which speaks
# protocol 3 and signs the older form.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve
"$peers" -c 'import openclaw_sdk' 2>/dev/null || skip_all "needs openclaw-sdk in .build/peers"

start_gateway sdk -D :memory: --reply-command 'tr a-z A-Z'
checks gateway-sdk.py talk "$gateway"
stop "$pid"
printf "sample-token\n" >"$tmp/token"
chmod 600 "$tmp/token"
start_gateway guarded -D :memory: --token-file "$tmp/token"
checks gateway-sdk.py refused_token "$gateway"
done_testing
