#!/usr/bin/env python3
"""A dashboard over TLS: one answer for questions, one for streams.

usage: tls.py CERTIFICATE KEY HEADER JSON EVENTS

A request without the line HEADER is refused with 401, unless HEADER is empty.
"""

import json
import socket
import ssl
import sys

certificate, key, header, answer, events = sys.argv[1:6]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"type": "listening", "url": "https://localhost:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)
while True:
    plain, _ = listener.accept()
    plain.settimeout(10)
    try:
        with context.wrap_socket(plain, server_side=True) as secure:
            lines = secure.recv(65536).decode("latin-1").split("\r\n")
            if header and header not in lines:
                status, kind, body = "401 No", "application/json", "{}"
            elif "Accept: text/event-stream" in lines:
                status, kind, body = "200 OK", "text/event-stream", events
            else:
                status, kind, body = "200 OK", "application/json", answer
            body = body.encode()
            secure.sendall(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    except OSError:
        pass
