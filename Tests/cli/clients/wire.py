#!/usr/bin/env python3
"""wire.py: raw requests over a socket, and connections that keep quiet.

usage: wire.py table URL                 requests of standard input, one a line
       wire.py silent URL COUNT KIND     COUNT connections that ask for nothing
       wire.py late URL TEXT             how a request that stops is answered

A line of the table is `STATUS | title | request`, the request with the escapes of
Python; `@` in it stands for the field Host of this server. Behind each request
comes a second one: a status below 400, 404 or 421 means that both are answered,
any other that the first one is refused and the connection closed, so that the
second is none. Prints `STATUSES title`, and `open` for a connection that is not
closed.
"""

import re
import select
import signal
import socket
import sys
import time

BOUND = 30
PATIENCE = 5  # seconds for connections that nobody may take


def address(url):
    host, port = url.split("//", 1)[1].rstrip("/").rsplit(":", 1)
    return host.strip("[]"), int(port)


def read_all(plain):
    """What comes until the end of the connection, and whether it came."""
    got = b""
    try:
        while piece := plain.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    except socket.timeout:
        return got, False
    return got, True


def statuses(got):
    return " ".join(re.findall(r"HTTP/1\.1 (\d+) ", got.decode("latin-1")))


def table(url):
    host = f"Host: {address(url)[0]}\r\n"
    second = f"GET /api/health HTTP/1.1\r\n{host}Connection: close\r\n\r\n"
    for line in sys.stdin:
        if not line.strip() or line.startswith("#"):
            continue
        _, title, request = (part.strip() for part in line.split("|", 2))
        # Before the escapes: one of them may stand for an @ itself.
        request = request.replace("@", host.encode("unicode_escape").decode())
        text = request.encode().decode("unicode_escape")
        with socket.create_connection(address(url), timeout=BOUND) as plain:
            plain.sendall((text + second).encode("latin-1"))
            got, ended = read_all(plain)
        print(statuses(got) + ("" if ended else " open"), "|", title)


def silent(url, count, kind):
    """KIND: nothing, head (half a one), body (half a one), kept (after an answer),
    unread (an answer that is longer than what the kernel keeps)."""
    host, _ = address(url)
    begin = {
        "nothing": b"",
        "head": b"GET /api/health HTTP/1.1\r\nHost: ",
        "body": b"POST /api/actions HTTP/1.1\r\nHost: %s\r\nContent-Length: 9\r\n\r\n{"
                % host.encode(),
        "kept": b"GET /api/health HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode(),
        "unread": b"GET /api/actions HTTP/1.1\r\nHost: %s\r\n\r\n" % host.encode(),
    }[kind]
    open_ones = []
    for _ in range(int(count)):
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.setblocking(False)
        plain.connect_ex(address(url))
        open_ones.append(plain)
    # Until they are connected. Where nobody takes them any more, some never are.
    limit, coming = time.monotonic() + PATIENCE, open_ones
    while coming and time.monotonic() < limit:
        ready = select.select([], coming, [], 0.1)[1]
        coming = [plain for plain in coming if plain not in ready]
    for plain in open_ones:
        try:
            plain.send(begin)
        except OSError:
            pass
    print("silent", flush=True)
    signal.pause()  # until it is ended


def late(url, text):
    begin = time.time()
    with socket.create_connection(address(url), timeout=BOUND) as plain:
        plain.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
        got, ended = read_all(plain)
    print(statuses(got) or "none", "closed" if ended else "open")
    print(f"after {time.time() - begin:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    {"table": table, "silent": silent, "late": late}[sys.argv[1]](*sys.argv[2:])
