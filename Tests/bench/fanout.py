"""agent-serve: many subscribers, time to delivery, memory."""
import http.client
import json
import multiprocessing
import os
import re
import selectors
import shutil
import socket
import subprocess
import tempfile
import time
from urllib.parse import urlsplit

import record
from common import Peak, descriptors, percentile, setting, table

# Subscribers and actions a second.
CROWDS = ((200, 500), (1000, 100))
BATCH = 5
# The reader is slower than the server: it looks into every tenth stream only,
# the others it empties.
WATCHED = 10
STAMP = re.compile(rb'"content":"at (\d+)"')


def subscribe(address, subscribers, ready, stop, results):
    """Holds the streams open; the delays of the watched ones, in ms."""
    selector = selectors.DefaultSelector()
    for number in range(subscribers):
        connection = socket.create_connection(address)
        connection.sendall(b"GET /api/activity/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        selector.register(connection, selectors.EVENT_READ,
                          {"watched": number % WATCHED == 0, "rest": b""})
    delays, ended = [], 0
    first = time.monotonic() + 2
    while not stop.is_set():
        if time.monotonic() > first:
            ready.set()
        for key, _ in selector.select(0.1):
            data = key.fileobj.recv(1 << 18)
            now = time.monotonic_ns()
            if not data:
                ended += 1
                selector.unregister(key.fileobj)
                continue
            if not key.data["watched"]:
                continue
            data = key.data["rest"] + data
            last = 0
            for match in STAMP.finditer(data):
                delays.append((now - int(match[1])) / 1e6)
                last = match.end()
            key.data["rest"] = data[max(last, len(data) - 64):]
    results.put((delays, ended))


def post(address, rate, seconds):
    """Posts at the rate; returns how many were posted."""
    connection = http.client.HTTPConnection(*address)
    began = time.monotonic()
    sent = 0
    while time.monotonic() - began < seconds:
        lines = []
        for _ in range(BATCH):
            action = {"kind": "llm_call", "guildId": "1", "content": f"at {time.monotonic_ns()}",
                      "metadata": {"text": "x" * 200}}
            lines.append(json.dumps(action, separators=(",", ":")))
        connection.request("POST", "/api/actions", "\n".join(lines) + "\n",
                           {"Content-Type": "application/x-ndjson"})
        connection.getresponse().read()
        sent += BATCH
        # Until the next batch is due.
        time.sleep(max(0, began + sent / rate - time.monotonic()))
    return sent


def crowd(subscribers, rate, seconds):
    """One row of the report."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            ["agent-serve", "--listen", "127.0.0.1:0", "--database", f"{folder}/bench.sqlite"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            env={**os.environ, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder})
        peak = Peak(server.pid)
        try:
            url = urlsplit(json.loads(server.stdout.readline())["url"])
            address = (url.hostname, url.port)
            ready, stop = multiprocessing.Event(), multiprocessing.Event()
            results = multiprocessing.SimpleQueue()
            reader = multiprocessing.Process(
                target=subscribe, args=(address, subscribers, ready, stop, results))
            reader.start()
            ready.wait(30)
            sent = post(address, rate, seconds)
            time.sleep(1)  # what is on its way may still arrive
            stop.set()
            delays, ended = results.get()
            reader.join()
        finally:
            server.terminate()
            _, _, usage = os.wait4(server.pid, 0)
            server.returncode = 0
    wanted = sent * -(-subscribers // WATCHED)
    size = f"{subscribers:,} subscribers, {rate} actions/s"
    delivered, crowded = 100 * len(delays) / wanted, peak.of(usage)
    for name, part in (("p50", 0.5), ("p99", 0.99)):
        record.figure(f"{subscribers}: {name}", "agent-serve", "ms", percentile(delays, part),
                      size=size, runs=1)
    record.figure(f"{subscribers}: delivered", "agent-serve", "%", delivered, size=size, runs=1,
                  must=100, more=True)
    record.figure(f"{subscribers}: memory", "agent-serve", "MiB", crowded, size=size, runs=1)
    return [str(subscribers), f"{sent / seconds:.0f}", f"{percentile(delays, 0.5):.1f}",
            f"{percentile(delays, 0.99):.1f}", f"{max(delays):.1f}",
            f"{delivered:.1f} %", str(ended),
            f"{(usage.ru_utime + usage.ru_stime) / seconds:.2f}", f"{crowded:.1f}"]


def report():
    title = "agent-serve: time to delivery"
    if not shutil.which("agent-serve"):
        return table(title, ["delivery"], [], ["agent-serve is not here, skipped."])
    seconds = setting("BENCH_SECONDS", 10)
    descriptors()
    return table(title, ["subscribers", "posted/s", "p50 ms", "p99 ms", "max ms", "delivered",
                         "cut off", "server CPU s/s", "peak MiB"],
                 [crowd(subscribers, rate, seconds) for subscribers, rate in CROWDS],
                 [f"Measured on the deliveries to every {WATCHED}th subscriber, "
                  "from before the post to the reader's hands."])
