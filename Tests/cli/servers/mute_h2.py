#!/usr/bin/env python3
"""Connections of HTTP/2 that go mute: the first MUTE of them answer ANSWERED requests, and then
read and say nothing more.

usage: mute_h2.py CERTIFICATE KEY LOG MUTE ANSWERED TYPE BODY

Every later connection answers everything. One of HTTP/1.1 is answered with 404. LOG gets a line for each request: the number of its
connection. An answer of TYPE text/event-stream does not end.
"""
import json
import socket
import ssl
import sys
import threading

certificate, key, log, mute, answered, kind, body = sys.argv[1:8]
mute, answered = int(mute), int(answered)
body = body.replace("\\n", "\n").encode()
log = open(log, "a", buffering=1)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2", "http/1.1"])
listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"type": "listening", "url": "https://localhost:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)


def frame(what, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([what, flags]) + stream.to_bytes(4, "big") + payload


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(plain, number):
    requests = 0
    try:
        connection = context.wrap_socket(plain, server_side=True)
        if connection.selected_alpn_protocol() != "h2":
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                               b"Connection: close\r\n\r\n")
            connection.close()
            return
        exactly(connection, 24)  # the preface
        connection.sendall(frame(4, 0, 0))
        while True:
            head = exactly(connection, 9)
            exactly(connection, int.from_bytes(head[:3], "big"))
            what, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            if what == 4 and not flags & 1:
                connection.sendall(frame(4, 1, 0))
            if what != 1:
                continue
            requests += 1
            log.write(f"{number}\n")
            if number <= mute and requests > answered:
                continue
            # RFC 7541: `:status: 200` of the static table, and content-type with a value.
            block = b"\x88\x0f\x10" + bytes([len(kind)]) + kind.encode()
            last = 0 if kind == "text/event-stream" else 1
            connection.sendall(frame(1, 4, stream, block) + frame(0, last, stream, body))
    except (OSError, EOFError):
        pass


number = 0
while True:
    accepted, _ = listener.accept()
    number += 1
    threading.Thread(target=serve, args=(accepted, number), daemon=True).start()
