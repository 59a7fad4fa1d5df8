#!/bin/sh
# ws-tail over TLS and through a proxy.
. "${0%/*}/../lib.sh"
needs ws-tail openssl python3 jq

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
  -keyout "$tmp/key" -out "$tmp/authority" -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null || bail "openssl makes no certificate"
: >"$tmp/script"
log=$tmp/log
start_server raw python3 "$cli/servers/raw.py" "$tmp/script" "$log" "$tmp/authority" "$tmp/key"
wss=ws${url#http}

script <<'S'
switch
frame 81 "hello"
receive 1
frame 82 bytes
listen
S
t 0 "an authority that is named is believed" \
  sh -c "echo hi | ws-tail --cacert '$tmp/authority' --send -n 2 $wss/s"
out_is '{"data":"hello"}
{"binary":"Ynl0ZXM="}' "messages arrive over TLS"
is "$(jq -r 'select(.first == "81") | .text' "$log")" hi "a message is sent over TLS"

# TLS hands over 16 KB at a time: what it still holds is not waited for.
script <<'S'
switch
send \x81\x01a\x81\x01b\x81\x01c
bytes 3000000 x
frame 81 "end"
receive 1
frame 88 \x03\xe8
listen
S
head -c 3000000 /dev/zero | tr '\0' z >"$tmp/large"
t 0 "large messages go both ways" \
  sh -c "ws-tail --cacert '$tmp/authority' --send -n 5 $wss/s <$tmp/large"
is "$(jq -r '.data // (.binary | length)' "$out" | tr '\n' ' ')" "a b c 4000000 end " \
  "large messages arrive whole over TLS"
script <<'S'
switch
frame 81 1
frame 88 \x03\xe8
listen
S
run ws-tail -d --cacert "$tmp/authority" --max-retries 0 "$wss/s"
is "$(jq -r 'select(.what == "frame") | .code' "$log")" 1000 "a close is answered over TLS"

t 75 "a certificate that nobody vouches for is refused" ws-tail -v --max-retries 0 "$wss/"
out_empty "nothing is printed of a server that is refused"
err_like "certificate" "the message on a refused server names the certificate"
t 75 "a certificate for another name is refused" \
  ws-tail --cacert "$tmp/authority" --max-retries 0 "wss://127.0.0.1:$port/"
run ws-tail --cacert "$tmp/missing" "$wss/"
isnt "$status" 0 "an authority that is not there is an error"

# A connection that breaks while much is being sent is a loss, and no signal.
script <<'S'
switch
reset
---
switch
frame 81 1
listen
S
run sh -c "ws-tail -d --cacert '$tmp/authority' --send --retry-wait 0.01 -n 1 $wss/ <$tmp/large"
is "$status $(cat "$out")" "0 1" "ws-tail goes on behind a reset"

# --- proxies
cat >"$tmp/proxy.py" <<'END'
"""An HTTP proxy that only tunnels. Each request line goes to the log."""
import json, select, socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
log = open(sys.argv[1], "a", buffering=1)
print(json.dumps({"type": "listening", "url": "http://127.0.0.1:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)
def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        more = client.recv(4096)
        if not more:
            return
        head += more
    log.write(head.replace(b"\r\n", b"|").decode() + "\n")
    method, target = head.split(b" ", 2)[:2]
    if method != b"CONNECT":
        client.sendall(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
        return
    port = int(target.rsplit(b":", 1)[1])
    server = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    pair = {client: server, server: client}
    while True:
        for ready in select.select(list(pair), [], [])[0]:
            data = ready.recv(65536)
            if not data:
                client.close(), server.close()
                return
            pair[ready].sendall(data)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
: >"$tmp/proxied"
start_server proxy python3 "$tmp/proxy.py" "$tmp/proxied"
proxy=$url
script <<'S'
forever
switch
frame 81 1
listen
S
run env https_proxy="$proxy" ws-tail -d --cacert "$tmp/authority" -n 1 -H 'X-Key: abc' "$wss/s"
is "$status $(cat "$out")" "0 1" "wss goes through a proxy"
like "$(cat "$tmp/proxied")" '^CONNECT localhost:[0-9]+ ' "wss goes by a tunnel of the proxy"
unlike "$(cat "$tmp/proxied")" 'X-Key' "the proxy sees no header of the request"
fingerprint=$(openssl x509 -noout -fingerprint -sha256 -in "$tmp/authority")
config=$XDG_CONFIG_HOME/agentutils/config
printf '[profile own]\nurl = %s\ntls-fingerprint = %s\n' "$wss" "${fingerprint#*=}" >"$config"
run env https_proxy="$proxy" ws-tail -p own -d -n 1 "$wss/s"
is "$status $(cat "$out")" "0 1" \
  "a server that is known by its fingerprint is reached through a proxy"
printf '[profile own]\nurl = %s\ntls-fingerprint = %064d\n' "$wss" 0 >"$config"
: >"$log"
t 77 "a wrong fingerprint is refused behind the proxy" \
  env https_proxy="$proxy" ws-tail -p own -n 1 "$wss/s"
err_like 'certificate has changed' \
  "the message behind the proxy says that the certificate has changed"
is "$(requests .path)" "" "nothing is sent to a changed certificate behind the proxy"

serve </dev/null
script <<'S'
forever
switch
frame 81 1
listen
S
: >"$tmp/proxied"
run env http_proxy="$proxy" ws-tail -d -n 1 "ws${url#http}/s"
is "$status $(cat "$out")" "0 1" "ws goes through a proxy"
like "$(cat "$tmp/proxied")" '^CONNECT 127.0.0.1:[0-9]+ ' "ws goes by a tunnel of the proxy, too"
: >"$tmp/proxied"
echo secret-token-1 >"$tmp/token"
chmod 600 "$tmp/token"
run env http_proxy="$proxy" ws-tail -d -n 1 --token-file "$tmp/token" "ws${url#http}/s"
is "$status $(cat "$tmp/proxied")" "0 " "a token in clear text goes past the proxy"

done_testing
