#!/usr/bin/env python3
"""cutter.py --to URL [--refuse PATH COUNT]: a way to a server that breaks.

Passes connections on to the server. --refuse answers the first COUNT requests
whose path begins with PATH by closing the connection. A line on standard input
is a command:

    cut BYTES   after so many further bytes from the server, every stream that
                is open is reset (0: now), anywhere in an event
    drop        every stream is closed now

and each is answered by a line with the number of streams that it broke, when
it has. At the end of standard input nothing is broken any more.
"""
import argparse
import json
import select
import socket
import struct
import sys
import threading
import time
from urllib.parse import urlsplit

RESET = struct.pack("ii", 1, 0)


class Cutter:
    def __init__(self, options):
        target = urlsplit(options.to)
        self.target = (target.hostname, target.port)
        self.refused = options.refuse[0] if options.refuse else None
        self.refusals = int(options.refuse[1]) if options.refuse else 0
        self.lock = threading.Condition()
        self.streams = set()
        self.budget = None

    def serve(self, client):
        with client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            path = head.split(b" ")[1].decode()
            with self.lock:
                refuse = self.refusals > 0 and path.startswith(self.refused)
                self.refusals -= refuse
            if refuse:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            # One request a connection, so that each answer is seen from its start.
            name, _, rest = head.partition(b"\r\n")
            lines = [l for l in rest.split(b"\r\n") if not l.lower().startswith(b"connection:")]
            with socket.create_connection(self.target) as server:
                server.sendall(name + b"\r\nConnection: close\r\n" + b"\r\n".join(lines))
                self.copy(client, server, stream=path.split("?")[0].endswith("/events"))

    def copy(self, client, server, stream):
        mine = {"broken": None}
        if stream:
            with self.lock:
                mine["client"] = client
                self.streams.add(id(client))
                self.lock.notify_all()
        try:
            while True:
                ready = select.select([client, server], [], [], 0.02)[0]
                if client in ready:
                    data = client.recv(65536)
                    if not data:
                        return
                    server.sendall(data)
                data = b""
                if server in ready:
                    data = server.recv(65536)
                    if not data:
                        return
                cut = stream and self.spend(client, len(data))
                if cut is not None and cut is not False:
                    client.sendall(data[:cut])
                    # Half of the cuts are resets, half look like an end.
                    if cut % 2:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    return
                client.sendall(data)
        except OSError:
            pass
        finally:
            with self.lock:
                self.streams.discard(id(client))
                self.lock.notify_all()

    def spend(self, client, count):
        """How many of the next bytes may pass, when the stream is to break."""
        with self.lock:
            if self.budget is None or id(client) not in self.doomed:
                return None
            if count < self.budget:
                self.budget -= count
                return None
            allowed = self.budget
            return allowed

    def break_streams(self, after):
        """Breaks what is open, after so many bytes; returns how many."""
        with self.lock:
            self.doomed = set(self.streams)
            count = len(self.doomed)
            self.budget = after
            self.lock.wait_for(lambda: not (self.doomed & self.streams), timeout=10)
            self.budget = None
            return count

    doomed = frozenset()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--to", required=True)
    parser.add_argument("--refuse", nargs=2)
    cutter = Cutter(parser.parse_args())
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(json.dumps({"type": "listening", "url": f"http://127.0.0.1:{listener.getsockname()[1]}"},
                     separators=(",", ":")), flush=True)

    def commands():
        for line in sys.stdin:
            word, _, number = line.strip().partition(" ")
            print(cutter.break_streams(int(number or 0) if word == "cut" else 0), flush=True)

    threading.Thread(target=commands, daemon=True).start()
    while True:
        client, _ = listener.accept()
        threading.Thread(target=cutter.serve, args=(client,), daemon=True).start()


if __name__ == "__main__":
    main()
