"""A long stream of 2 KB events: wall time against curl's, peak memory."""
import json
import socket
import threading

import record
from common import measure, median, setting, skipped, table, tails

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
EVENT_BYTES = 2048
BLOCK_EVENTS = 4096


def event(number):
    action = {"kind": "llm_call", "guildId": "100000000000000001", "usdCost": 0.0012,
              "content": "claude:sample", "metadata": {"n": number, "text": ""},
              "createdAt": "2026-03-01T12:00:00.000Z"}
    empty = len(json.dumps(action)) + len("event: action_event\ndata: \n\n")
    action["metadata"]["text"] = ("lorem \\\"ipsum\\\" dolor\n" * 200)[:EVENT_BYTES - empty]
    text = json.dumps(action)
    while len(text) + len("event: action_event\ndata: \n\n") > EVENT_BYTES:
        action["metadata"]["text"] = action["metadata"]["text"][:-8]
        text = json.dumps(action)
    return f"event: action_event\ndata: {text}\n\n".encode()


class Source:
    """Sends `size` bytes of events to each connection, then closes it."""

    def __init__(self):
        self.block = b"".join(event(number) for number in range(BLOCK_EVENTS))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.size = 0
        self.body = None
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                try:
                    connection.recv(65536)
                    connection.sendall(HEAD)
                    if self.body is not None:
                        connection.sendall(self.body)
                        continue
                    left = self.size
                    while left > 0:
                        connection.sendall(self.block)
                        left -= len(self.block)
                except OSError:
                    pass


def note(name, size, pairs):
    """The figures of a client beside those of curl."""
    bounds = {"must": 1.8} if name == "sse-tail" else {}
    by = name.removeprefix("Python ")
    for what, column, more in (("time", 0, bounds), ("CPU", 1, {})):
        record.ratio(what, by, "curl", [b[column] for _, b in pairs],
                     [a[column] for a, _ in pairs], size=size, **more)
    record.figure("memory", by, "MiB", max(b[2] for _, b in pairs), size=size, runs=len(pairs))
    if name == "sse-tail":
        record.figure("time", "curl", "s", [a[0] for a, _ in pairs], size=size)
        record.figure("memory", "curl", "MiB", max(a[2] for a, _ in pairs), size=size,
                      runs=len(pairs))


def report():
    source = Source()
    size = setting("BENCH_MB", 1000)
    rounds = setting("BENCH_ROUNDS", 3)
    found, missing = tails(source.url)
    if "curl -sN" not in found:
        return table("Stream", ["client"], [], ["curl is needed to compare."])
    rows = []
    for name, command in found.items():
        if name == "curl -sN":
            continue
        # The interpreted ones take minutes for a gigabyte.
        mine = size if name == "sse-tail" else max(size // 10, 1)
        source.size = mine * 1_000_000
        pairs = []
        for _ in range(rounds if name == "sse-tail" else 1):
            pairs.append((measure(found["curl -sN"]), measure(command)))
        wall = median([b[0] for _, b in pairs])
        curl = median([a[0] for a, _ in pairs])
        ratio = median([b[0] / a[0] for a, b in pairs])
        cpu = median([b[1] / a[1] for a, b in pairs])
        note(name, f"{mine} MB", pairs)
        if name == "sse-tail":
            rows.append(["curl -sN", f"{mine}", f"{curl:.2f}", "1", "1",
                         f"{max(a[2] for a, _ in pairs):.1f}"])
        rows.append([name, f"{mine}", f"{wall:.2f}", f"{ratio:.1f}", f"{cpu:.1f}",
                     f"{max(b[2] for _, b in pairs):.1f}"])
    notes = skipped(missing)
    if "sse-tail" in found:
        large = 64
        source.body = b'data: "' + b"x" * (large << 20) + b'"\n\n'
        _, _, rss = measure(found["sse-tail"])
        record.figure("memory, one large event", "sse-tail", "MiB", rss, size=f"{large} MiB")
        notes.append(f"One event of {large} MiB: sse-tail's peak is {rss:.0f} MiB.")
    return table("One stream of 2 KB events",
                 ["client", "MB", "wall s", "wall / curl", "CPU / curl", "peak RSS MiB"],
                 rows, notes)
