#!/bin/sh
# ws-tail and the server of the Python package websockets understand each other.
. "${0%/*}/../lib.sh"
needs ws-tail jq
needs_peers

start_server peer "$peers" "$cli/servers/peer_socket.py" "$tmp/log"
ended() { wait_until 5 grep -q "\"$1\"" "$tmp/log"; }

run ws-tail -d -n 1 --max-retries 0 "$url/parts"
out_is '"fragments of π"' "a text in fragments is read"

run sh -c "printf 'hello\n{\"a\":1.10}\n' | ws-tail --send -n 2 $url/echo"
out_is '{"data":"hello"}
{"data":{"a":1.10}}' "what we send comes back"

python3 -c "print('\\u03c0' * 4000000)" >"$tmp/large"
run sh -c "ws-tail -d --send -n 1 $url/echo <$tmp/large"
is "$(jq -r . "$out" | md5sum)" "$(md5sum <"$tmp/large")" "8 MB go there and back"

run ws-tail -n 2 "$url/large"
is "$(jq -r '.data // empty | length' "$out")" 8388608 "16 MB of text come"
is "$(jq -r '.binary // empty' "$out" | base64 -d | wc -c)" 16777216 "16 MB of bytes come"

run ws-tail -d -n 1 "$url/pings"
out_is '{"pongs": 10}' "the pings of the server are answered"

t 75 "a connection that the server closes has status 75" \
  sh -c "echo x | ws-tail -v --send --max-retries 0 $url/closes"
err_like 'the server closed the connection: 4001, that is enough$' \
  "the code and the reason of the server's close are told"
ok "a connection that the server closes ends" ended /closes
is "$(jq -r 'select(.path == "/closes") | .code' "$tmp/log")" 4001 \
  "the server has our echo of its close code"

run sh -c "echo x | ws-tail -d --send -n 1 --subprotocol v1 --subprotocol v3 $url/echo"
wait_until 5 grep -q '"v1"' "$tmp/log"
is "$(jq -r 'select(.subprotocol) | .subprotocol' "$tmp/log")" v1 "a subprotocol is agreed on"

done_testing
