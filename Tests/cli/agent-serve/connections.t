#!/bin/sh
# agent-serve: connections as networks, proxies and careless clients make them.
. "${0%/*}/../lib.sh"
needs agent-serve curl python3
client() { bounded 120 python3 "$cli/clients/connections.py" "$@"; }

start_server both agent-serve -l 127.0.0.1:0 -D :memory: --gateway 0 -v --max-backlog 1000000
gateway=$(sed -n 's/.*"type":"gateway","url":"\([^"]*\)".*/\1/p' "$tmp/both.out" | head -n 1)
is "$(client second "$gateway")" "200 101 greeted" "an upgrade may be the second request"
if [ -d "/proc/$pid/fd" ]; then
  is "$(client still "$url" "$pid")" still "a client that has said half a request costs nothing"
  is "$(client coming "$url" "$pid" 1500)" nothing "nothing is left of clients who came and went"
  is "$(client mute "$url" "$pid")" flat "a client that reads nothing takes no memory for long"
  ok "a client that is cut off is told with the reason" has "$tmp/both.err" \
    'a client is cut off: it reads too slowly'
  is "$(grep -c 'cut off: it reads too slowly' "$tmp/both.err")" 1 \
    "a client that is cut off is told once a minute"
fi
is "$(client ended "$gateway" "$pid")" "close 1012" \
  "a socket that has not connected gets its close frame when the server ends"
stop "$pid"
is "$status" 0 "agent-serve ends well with open sockets"

# --- a stream is one also where the request has a body
start_server bodied agent-serve -l 127.0.0.1:0 -D :memory:
run curl -s -i -m 2 -X GET -d abc "$url/api/activity/events"
out_like '^event: activity_snapshot' "a GET with a body gets the stream"
stop "$pid"

# --- what will be refused need not be sent
printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
start_server guarded agent-serve -l 127.0.0.1:0 -D :memory: --token-file "$tmp/token"
head -c 3000000 /dev/zero | tr '\0' x >"$tmp/body"
refused() {
  curl -s -o "$tmp/answer" -m 20 -w '%{http_code} %{size_upload}' -X POST \
    -H 'Expect: 100-continue' --expect100-timeout 15 --data-binary @"$tmp/body" "$@"
}
is "$(refused "$url/api/actions")" "401 0" "a request without a token is refused before its body"
printf 'x-dashboard-token: sample-token' >"$tmp/header"
is "$(refused -H @"$tmp/header" "$url/api/nowhere")" "404 0" \
  "a request to nowhere is refused before its body"
is "$(refused -H @"$tmp/header" "$url/api/actions" --data-binary @"$tmp/body" \
  --data-binary @"$tmp/body")" "413 0" "a request with too much is refused before its body"
stop "$pid"
start_server open agent-serve -l 127.0.0.1:0 -D :memory:
is "$(refused -H 'Host: evil.example' "$url/api/actions")" "421 0" \
  "a request to another name is refused before its body"
stop "$pid"
done_testing
