#!/usr/bin/env python3
"""relay.py HOST:PORT: a TCP relay that can be cut. Says its own address; then a line on standard
input cuts the connections that are open (`cut`), keeps new ones out until further notice
(`close`), lets them in again (`open`), or stops passing anything on (`hang`)."""
import json
import select
import socket
import struct
import sys

host, port = sys.argv[1].rsplit(":", 1)
listener = socket.create_server(("127.0.0.1", 0))
url = f"nats://127.0.0.1:{listener.getsockname()[1]}"
print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
pairs = {}
is_open, hangs = True, False
control = open(sys.argv[2], "rb", buffering=0) if len(sys.argv) > 2 else sys.stdin.buffer


def drop(end):
    other = pairs.pop(end, None)
    if other is not None:
        pairs.pop(other, None)
        for each in (end, other):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            each.close()


while True:
    watched = [listener, control] + ([] if hangs else list(pairs))
    for ready in select.select(watched, [], [])[0]:
        if ready is listener:
            client = listener.accept()[0]
            if not is_open:
                client.close()
                continue
            try:
                server = socket.create_connection((host, int(port)))
            except OSError:
                # Nobody listens there for now.
                client.close()
                continue
            pairs[client], pairs[server] = server, client
        elif ready is control:
            word = control.readline().decode().strip()
            if word == "cut" or word == "close":
                for end in list(pairs):
                    drop(end)
            is_open = {"close": False, "open": True}.get(word, is_open)
            hangs = {"hang": True, "open": False, "cut": False}.get(word, hangs)
        elif ready in pairs:
            try:
                data = ready.recv(65536)
                if not data:
                    raise OSError
                pairs[ready].sendall(data)
            except OSError:
                drop(ready)
