#!/usr/bin/env python3
"""fake_nats.py LOG [CERTIFICATE KEY] [tells=HOST:PORT]: says what a NATS server says first, speaks
TLS if it has a certificate, notes what it is sent, and closes: a server that a cluster tells of and
that is another's, or one that tells of another and lets nobody in."""
import json
import socket
import ssl
import sys

listener = socket.create_server(("127.0.0.1", 0))
url = f"nats://127.0.0.1:{listener.getsockname()[1]}"
print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
info = {"server_id": "F", "version": "2.9.10", "proto": 1, "headers": True, "max_payload": 1048576}
tells = [word.removeprefix("tells=") for word in sys.argv[2:] if word.startswith("tells=")]
if tells:
    info["connect_urls"] = tells
pair = [word for word in sys.argv[2:] if not word.startswith("tells=")]
tls = None
if pair:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*pair)
    info["tls_required"] = True
while True:
    client = listener.accept()[0]
    client.settimeout(2)
    with open(sys.argv[1], "ab", buffering=0) as log:
        log.write(b"dialled\n")
        try:
            client.sendall(b"INFO " + json.dumps(info).encode() + b"\r\n")
            client = tls.wrap_socket(client, server_side=True) if tls else client
            log.write(client.recv(65536))
        except OSError:
            pass
    client.close()
