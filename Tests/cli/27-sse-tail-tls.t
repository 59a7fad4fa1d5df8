#!/bin/sh
# sse-tail over TLS: whom it believes.
. "${0%/*}/lib.sh"
needs openssl python3

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
  -keyout "$tmp/key" -out "$tmp/authority" -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null || bail "openssl makes no certificate"
cat >"$tmp/server.py" <<'END'
import json, socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"type": "listening", "url": "https://localhost:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)
while True:
    plain, _ = listener.accept()
    plain.settimeout(10)
    try:
        with context.wrap_socket(plain, server_side=True) as secure:
            secure.recv(65536)
            secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                           b"event: hello\ndata: {}\n\n")
    except OSError:
        pass
END
start_server tls python3 "$tmp/server.py" "$tmp/authority" "$tmp/key"

run sse-tail --cacert "$tmp/authority" -n 1 "$url/"
status_is 0 "an authority that is named is believed"
out_is '{"event":"hello","id":"","data":{}}' "and the event arrives"

run sse-tail -v --max-retries 0 "$url/"
status_is 75 "nobody vouches for the certificate"
out_empty "nothing is printed"
err_like "certificate" "and the reason is said"

run sse-tail --cacert "$tmp/authority" --max-retries 0 "https://127.0.0.1:$port/"
status_is 75 "the certificate is for another name"
out_empty "nothing is printed"

run sse-tail --cacert "$tmp/missing" --max-retries 0 "$url/"
isnt "$status" 0 "a file that is not there"
out_empty "believes nobody"
err_like "^sse-tail: " "and is told"

done_testing
