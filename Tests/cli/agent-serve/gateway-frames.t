#!/bin/sh
# agent-serve: what clients of the gateway must not send, and must not leave unread.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve ps

start_gateway frames -D :memory: --reply-command 'head -c 90000 /dev/zero | tr "\0" x' \
  --max-backlog 400000
"$peers" "$here/gateway-frames.py" patience "$gateway" >"$tmp/patience" &
patient=$!
started="$started $patient"
checks gateway-frames.py violations "$gateway"
checks gateway-frames.py cuts "$gateway"
checks gateway-frames.py closing "$gateway"
checks gateway-frames.py sizes "$gateway"
before=$(ps -o rss= -p "$pid" | tr -d " ")
checks gateway-frames.py slow "$gateway"
checks gateway-frames.py flood "$gateway"
checks gateway-frames.py pings "$gateway"
after=$(ps -o rss= -p "$pid" | tr -d " ")
ok "memory is bounded ($before to $after KiB)" test "$after" -lt $((before + 200000))
finished "$patient"
is "$(cat "$tmp/patience")" "ok who says nothing is shown out" "a client has a while to connect"
"$peers" "$here/gateway-frames.py" shutdown "$gateway" >"$tmp/shutdown" &
last=$!
started="$started $last"
wait_until 10 has "$tmp/shutdown" connected
stop "$pid"
is "$status" 0 "agent-serve ends with clients at its gateway"
finished "$last"
is "$(sed 1d "$tmp/shutdown")" "ok the end is told, and a new start promised" \
  "all are told the end, and that a new start will come"
done_testing
