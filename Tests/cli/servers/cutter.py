#!/usr/bin/env python3
"""cutter.py --to URL [--refuse PATH COUNT]: a way to a server that breaks.

Passes connections on to the server, one request each. --refuse answers the
first COUNT requests whose path begins with PATH by resetting the connection.
soak.py breaks streams through it, at any byte.
"""
import argparse
import json
import select
import socket
import struct
import threading
from urllib.parse import urlsplit

RESET = struct.pack("ii", 1, 0)


class Cutter:
    """target: (host, port); refuse: None or (path, count)."""

    def __init__(self, target, refuse=None):
        self.target = target
        self.refused, self.refusals = refuse or ("", 0)
        self.lock = threading.Condition()
        self.streams = set()
        self.doomed = set()
        self.budget = 0
        self.closed = False
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def close(self, closed):
        """While closed, every new connection is reset."""
        with self.lock:
            self.closed = closed

    def wait_for_stream(self, seconds):
        with self.lock:
            return self.lock.wait_for(lambda: self.streams, timeout=seconds)

    def break_streams(self, after):
        """Breaks the streams that are open, after so many more bytes from the
        server, and waits (some seconds) until they are broken."""
        with self.lock:
            self.doomed = set(self.streams)
            self.budget = after
            broken = self.lock.wait_for(lambda: not self.doomed & self.streams, timeout=5)
            self.doomed = set()
            return broken

    def hurry(self):
        """Lets a break that is under way happen now."""
        with self.lock:
            self.budget = 0

    def serve(self, client):
        try:
            with client:
                self.exchange(client)
        except OSError:
            pass

    def exchange(self, client):
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
            refuse = refuse or self.closed
        if refuse:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            return
        first, _, rest = head.partition(b"\r\n")
        lines = [line for line in rest.split(b"\r\n")
                 if not line.lower().startswith(b"connection:")]
        with socket.create_connection(self.target) as server:
            server.sendall(b"\r\n".join([first, b"Connection: close"] + lines))
            is_stream = path.split("?")[0].endswith("/events")
            if is_stream:
                with self.lock:
                    self.streams.add(client)
                    self.lock.notify_all()
            try:
                self.copy(client, server, is_stream)
            finally:
                with self.lock:
                    self.streams.discard(client)
                    self.lock.notify_all()

    def copy(self, client, server, is_stream):
        while True:
            # Wakes now and then: a stream may be doomed while it is silent.
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
            allowed = self.allowed(client, len(data)) if is_stream else None
            if allowed is not None:
                client.sendall(data[:allowed])
                # Half of the breaks are resets, half look like an end.
                if allowed % 2:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                return
            client.sendall(data)

    def allowed(self, client, count):
        """How many of the next bytes may still pass; None when all may."""
        with self.lock:
            if client not in self.doomed:
                return None
            if 0 < self.budget and count <= self.budget:
                self.budget -= count
                return None
            return self.budget


def target_of(url):
    parts = urlsplit(url)
    return parts.hostname, parts.port


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--to", required=True)
    parser.add_argument("--refuse", nargs=2)
    options = parser.parse_args()
    refuse = (options.refuse[0], int(options.refuse[1])) if options.refuse else None
    cutter = Cutter(target_of(options.to), refuse)
    print(json.dumps({"type": "listening", "url": cutter.url}, separators=(",", ":")), flush=True)
    cutter.run()


if __name__ == "__main__":
    main()
