"""A long stream of 2 KB messages on a WebSocket, and message to line: others against
ws-tail, in one run."""
import base64
import hashlib
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading

import latency
from common import HERE, measure, median, percentile, setting, skipped, table
from stream import BLOCK_EVENTS, HEAD, event

ROUNDS = 5


def frame(payload):
    """A text message in one frame."""
    count = len(payload)
    if count < 126:
        return bytes([0x81, count]) + payload
    return struct.pack("!BBH", 0x81, 126, count) + payload


def message(number):
    """The event of the same bench of streams, as a message."""
    text = event(number).split(b"data: ", 1)[1].rstrip(b"\n")
    return frame(text)


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
    digest = hashlib.sha1(fields[b"sec-websocket-key"]
                          + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                       b"Connection: Upgrade\r\nSec-WebSocket-Accept: "
                       + base64.b64encode(digest) + b"\r\n\r\n")
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
    peers = os.path.join(HERE, "..", "..", ".build", "peers", "bin", "python")
    for python in (peers, sys.executable):
        if os.path.exists(python) and not subprocess.run(
                [python, "-c", "import websockets"], capture_output=True).returncode:
            script = os.path.join(HERE, "peers", "tail_websockets.py")
            found["Python websockets"] = [python, script, url]
            found["Python websockets, JSON unseen"] = [python, script, url, "unseen"]
            break
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
    taken = {}
    for _ in range(ROUNDS):
        for name, command in list(found.items()):
            make = event if name == "sse-tail" else message
            try:
                taken.setdefault(name, []).append(
                    latency.times(command, listener, b"\n", greet=answer, make=make))
            except OSError as error:
                missing.append(f"{name} ({error})")
                del found[name]
    rows = []
    for name in found:
        halves = [median(values) for values in taken[name]]
        everything = [value for values in taken[name] for value in values]
        ratio = ""
        if "sse-tail" in found:
            others = [median(values) for values in taken["sse-tail"]]
            ratio = f"{median([half / other for half, other in zip(halves, others)]):.2f}"
        rows.append([name, f"{median(halves):.0f}", f"{percentile(everything, 0.99):.0f}", ratio])
    return table("Message to line, one at a time",
                 ["client", "median us", "p99 us", "median / sse-tail"], rows, skipped(missing))


def report():
    return throughput() + "\n\n" + delays()
