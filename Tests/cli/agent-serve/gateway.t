#!/bin/sh
# agent-serve: the gateway's door: who comes in, who does not, and why.
. "${0%/*}/../lib.sh"
. "${0%/*}/gateway.sh"
needs agent-serve curl jq

start_gateway open -D :memory: --reply-command cat
is "$(jq -r .type "$tmp/open.out" | tr '\n' ' ')" "gateway listening " \
  "the two records say where both ports are"
checks gateway-door.py hello "$gateway"
checks gateway-door.py closed "$gateway"
checks gateway-door.py proof "$gateway"
checks gateway-door.py order "$gateway"
checks gateway-door.py samples "$gateway"

# --- what is not a WebSocket
http=http${gateway#ws}
answer() { curl -s -m 10 -o "$tmp/body" -w '%{http_code} ' "$@" && cat "$tmp/body"; }
is "$(answer "$http/healthz")" '200 {"ok":true,"status":"live"}' \
  "a request for the health is answered"
is "$(answer "$http/")" '426 {"error":"this port speaks WebSocket"}' "a page is refused"
is "$(answer "$http/nothing")" '404 Not found.' "what does not exist is not found"
is "$(answer -X DELETE "$http/")" '404 {"error":"Not found."}' "another method is not found"
upgrade() {
  answer -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
    -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$@"
}
is "$(upgrade -H 'Origin: http://evil.example' "$http/")" \
  '403 {"error":"cross_origin_post_needs_a_token"}' "a page of a browser opens no WebSocket"
is "$(upgrade -H 'Host: evil.example' "$http/")" '421 {"error":"misdirected_request"}' \
  "a WebSocket whose name only points here is refused"
is "$(upgrade -H 'Sec-WebSocket-Version: 12' -H 'Sec-WebSocket-Version;' "$http/" | cut -c 1-3)" \
  426 "another version is refused"
like "$(answer -m 1 -i -N -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
  -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' "$http/any"
cat "$tmp/body")" 'ccept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=' "the answer to a key is that of RFC 6455"
is "$(answer "$url/healthz")" '404 Not found.' "the other port answers as before"
stop "$pid"
is "$status" 0 "SIGTERM ends it with status 0"
is "$(cat "$tmp/open.err")" "" "nothing was said until SIGTERM"

# --- with a token
printf 'sample-token\n' >"$tmp/token"
chmod 600 "$tmp/token"
start_gateway guarded -D :memory: --token-file "$tmp/token"
checks gateway-door.py token "$gateway" sample-token
checks gateway-door.py limited "$gateway" sample-token
stop "$pid"
unlike "$(cat "$tmp/guarded.err" "$tmp/guarded.out")" sample-token "the token is never shown"

# --- the command line
t 2 "a reply command needs a gateway" agent-serve --reply-command cat
err_like '^agent-serve: --reply-command: it needs --gateway' \
  "the message says that a reply command needs a gateway"
t 2 "approvals of replies need a reply command" agent-serve --gateway 0 --approve-replies
t 2 "pairing needs a gateway" agent-serve --pairing
t 2 "a port that does not exist is refused" agent-serve --gateway 65536
done_testing
