"""A long stream of 2 KB messages on a WebSocket, and message to line: others against
ws-tail, in one run."""
import os
import shutil
import socket
import subprocess
import sys
import threading

from common import HERE, measure, median, setting, skipped, table

sys.path.append(os.path.join(HERE, "..", "cli", "servers"))
import frames
import latency
import record
from stream import BLOCK_EVENTS, HEAD, event


def message(number):
    """The event of the same bench of streams, as a message."""
    text = event(number).split(b"data: ", 1)[1].rstrip(b"\n")
    return frames.frame(0x81, text)


def answer(connection):
    """Reads the request and makes a WebSocket of the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    fields = {}
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    if b"sec-websocket-key" not in fields:
        connection.sendall(HEAD)
        return False
    accept = frames.accept_of(fields[b"sec-websocket-key"].decode())
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                       b"Connection: Upgrade\r\nSec-WebSocket-Accept: "
                       + accept.encode() + b"\r\n\r\n")
    return True


class Source:
    """Sends `size` bytes of messages to each connection, then closes it."""

    def __init__(self):
        self.block = b"".join(message(number) for number in range(BLOCK_EVENTS))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"ws://127.0.0.1:{self.listener.getsockname()[1]}/"
        self.size = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            with connection:
                try:
                    answer(connection)
                    left = self.size
                    while left > 0:
                        connection.sendall(self.block)
                        left -= len(self.block)
                    connection.sendall(b"\x88\x02\x03\xe8")
                    connection.settimeout(60)
                    # The answer to the close; the server is the one that hangs up.
                    connection.recv(65536)
                except OSError:
                    pass


def clients(url):
    """The clients that are here: name -> command, and a word on the missing."""
    found, missing = {}, []
    if shutil.which("ws-tail"):
        found["ws-tail"] = ["ws-tail", "--max-retries", "0", url]
    else:
        missing.append("ws-tail")
    python = record.python("websockets")
    if python:
        script = os.path.join(HERE, "peers", "tail_websockets.py")
        found["Python websockets"] = [python, script, url]
        found["Python websockets, JSON unseen"] = [python, script, url, "unseen"]
    else:
        missing.append("Python websockets")
    flag = "--experimental-websocket"
    test = "process.exit(typeof WebSocket === 'function' ? 0 : 1)"
    for flags in ([], [flag]):
        if shutil.which("node") and not subprocess.run(
                ["node", *flags, "-e", test], capture_output=True).returncode:
            found["Node WebSocket"] = [
                "node", *flags, os.path.join(HERE, "peers", "tail_websocket.mjs"), url]
            break
    else:
        missing.append("Node WebSocket")
    return found, missing


def note(taken, size):
    """The figures of all clients, and those of ws-tail as parts of theirs."""
    ours = taken.get("ws-tail")
    for name, theirs in taken.items():
        by = latency.tool(name)
        record.figure("time", by, "s", [each[0] for each in theirs], size=size)
        record.figure("memory", by, "MiB", max(each[2] for each in theirs), size=size,
                      runs=len(theirs))
        if ours and theirs is not ours:
            for what, column in (("time", 0), ("CPU", 1)):
                record.figure(what, "ws-tail", "x", median([each[column] for each in ours])
                              / median([each[column] for each in theirs]), by, size=size,
                              runs=len(theirs))


def throughput():
    source = Source()
    size = setting("BENCH_MB", 1000)
    rounds = setting("BENCH_ROUNDS", 3)
    source.size = size * 1_000_000
    found, missing = clients(source.url)
    taken = {}
    # Interleaved, so that a busy moment of the machine strikes all.
    for number in range(rounds):
        for name, command in found.items():
            # The interpreted ones take long enough for one round to say it.
            if name == "ws-tail" or number == 0:
                taken.setdefault(name, []).append(measure(command))
    note(taken, f"{size} MB")
    rows = []
    for name in found:
        wall = median([each[0] for each in taken[name]])
        cpu = median([each[1] for each in taken[name]])
        ratios = ["", ""]
        if "ws-tail" in taken:
            ours = taken["ws-tail"]
            ratios = [f"{wall / median([each[0] for each in ours]):.1f}",
                      f"{cpu / median([each[1] for each in ours]):.1f}"]
        rows.append([name, f"{size}", f"{wall:.2f}", *ratios,
                     f"{max(each[2] for each in taken[name]):.1f}"])
    return table("One WebSocket with messages of 2 KB",
                 ["client", "MB", "wall s", "wall / ws-tail", "CPU / ws-tail", "peak RSS MiB"],
                 rows, skipped(missing))


def delays():
    listener = socket.create_server(("127.0.0.1", 0))
    place = f"127.0.0.1:{listener.getsockname()[1]}/"
    found, missing = clients("ws://" + place)
    if shutil.which("sse-tail"):
        found = {"sse-tail": ["sse-tail", "--max-retries", "0", "http://" + place], **found}

    def measured(name, command):
        make = event if name == "sse-tail" else message
        return latency.times(command, listener, b"\n", greet=answer, make=make)

    return latency.compare("Message to line", found, missing, "sse-tail", measured)


def report():
    return throughput() + "\n\n" + delays()
