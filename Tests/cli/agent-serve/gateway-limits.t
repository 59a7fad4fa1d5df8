#!/bin/sh
# agent-serve: what the gateway keeps for clients that wait, and of what is over, has an end.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve ps

start_gateway approving -D :memory: --reply-command cat --approve-replies
checks gateway-limits.py decisions "$gateway"
checks gateway-limits.py ends "$gateway"
stop "$pid"
is "$status" 0 "agent-serve ends with approvals that are over"

start_gateway replying -D "$tmp/chat.sqlite" --reply-command 'wc -c'
before=$(ps -o rss= -p "$pid" | tr -d " ")
checks gateway-limits.py ended "$gateway"
after=$(ps -o rss= -p "$pid" | tr -d " ")
ok "30 messages of 7 MB are not kept ($before to $after KiB)" test "$after" -lt $((before + 180000))
stop "$pid"
done_testing
