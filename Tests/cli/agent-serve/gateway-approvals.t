#!/bin/sh
# agent-serve: what waits at the gateway for a person to allow it.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve

start_gateway asked -D :memory: --reply-command 'echo ran >>'"$tmp"'/ran; cat' --approve-replies
checks gateway-approvals.py asked "$gateway"
checks gateway-approvals.py races "$gateway"
checks gateway-approvals.py fates "$gateway"
checks gateway-approvals.py limits "$gateway"
[ ! -e "$tmp/ran" ]
is $? 0 "until somebody allows it, nothing has run"
checks gateway-approvals.py replies "$gateway" "$tmp/ran"
stop "$pid"
done_testing
