"""A line into one command, and out of the other: one at a time, ours and theirs by turns."""
import os
import subprocess
import time

from report import median, percentile, record, setting


class Pair:
    def __init__(self, get, put):
        self.getter = subprocess.Popen(get, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.putter = subprocess.Popen(put, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.took = []

    def pass_on(self, line):
        began = time.monotonic()
        os.write(self.putter.stdin.fileno(), line)
        got = b""
        while not got.endswith(b"\n"):
            piece = os.read(self.getter.stdout.fileno(), 1 << 16)
            if not piece:
                raise RuntimeError("the getter ended")
            got += piece
        self.took.append(time.monotonic() - began)
        if got != line:
            raise RuntimeError("another line came out")

    def end(self):
        self.putter.stdin.close()
        self.putter.wait()
        self.getter.terminate()
        self.getter.wait()


def measure(ground, report):
    count = setting("BENCH_LINES", 3000)
    server = ground.server
    server.make("ours")
    server.make("peer")
    with open(ground.records(count + 100, 500), "rb") as file:
        lines = file.readlines()
    pairs = [Pair(ground.peer_get("peer", "peer", 0), [ground.put, server.url, "peer", "one"]),
             Pair(ground.ours_get("ours"), ground.ours_put("ours"))]
    try:
        for line in lines:
            for pair in pairs:
                pair.pass_on(line)
    finally:
        for pair in pairs:
            pair.end()
    # The first ones found nobody awake.
    theirs, ours = (pair.took[100:] for pair in pairs)
    for name, of in (("p50", median), ("p99", lambda values: percentile(values, 0.99))):
        value = of(ours) / of(theirs)
        report.row(f"line in to line out, {name}", f"{of(ours) * 1e3:.2f} ms",
                   f"cnats {of(theirs) * 1e3:.2f} ms", 1.5, 1.15, value, f"{value:.2f}x",
                   against="cnats", runs=len(ours))
        for tool, values in (("bus-get", ours), ("cnats", theirs)):
            record.figure(f"line in to line out, {name}", tool, "ms", of(values) * 1e3,
                          runs=len(values))
    for stream in ("ours", "peer"):
        server.forget(stream)
