"""From the server's send to the line in the reader's hands, one at a time."""
import os
import socket
import subprocess
import time

import record
from common import median, percentile, skipped, table, tails
from stream import HEAD, event

ROUNDS = 5
EVENTS = 150
WARM_UP = 20


def greet_stream(connection):
    """Reads the request and begins the answer."""
    connection.recv(65536)
    connection.sendall(HEAD)


def times(command, listener, ends, greet=greet_stream, make=event):
    """Microseconds of each event that `make` makes."""
    listener.settimeout(20)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    taken = []
    try:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(20)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            greet(connection)
            out = process.stdout.fileno()
            for number in range(EVENTS + WARM_UP):
                data = make(number)
                began = time.perf_counter()
                connection.sendall(data)
                got = b""
                while not got.endswith(ends):
                    more = os.read(out, 1 << 20)
                    if not more:
                        raise OSError("the client ended")
                    got += more
                if number >= WARM_UP:
                    taken.append((time.perf_counter() - began) * 1e6)
    finally:
        process.kill()
        process.wait()
    return taken


def tool(name):
    """A client by the program that it is."""
    return name.removeprefix("Python ").removesuffix(" -sN")


def compare(title, found, missing, base, measured):
    """A table of the delays that measured(name, command) gives, beside those of `base`."""
    taken = {}
    # Interleaved, so that a busy moment of the machine strikes all.
    for _ in range(ROUNDS):
        for name, command in list(found.items()):
            try:
                taken.setdefault(name, []).append(measured(name, command))
            except OSError as error:
                missing.append(f"{name} ({error})")
                del found[name]
    rows = []
    for name in found:
        halves = [median(values) for values in taken[name]]
        by = tool(name)
        record.figure("delay", by, "µs", halves)
        everything = [value for values in taken[name] for value in values]
        ratio = ""
        if base in found:
            others = [median(values) for values in taken[base]]
            if name != base:
                record.ratio("delay", by, tool(base), halves, others)
            ratio = f"{median([half / other for half, other in zip(halves, others)]):.2f}"
        rows.append([name, f"{median(halves):.0f}", f"{percentile(everything, 0.99):.0f}", ratio])
    return table(f"{title}, one at a time",
                 ["client", "median us", "p99 us", f"median / {base.split()[0]}"], rows, skipped(missing))


def report():
    listener = socket.create_server(("127.0.0.1", 0))
    found, missing = tails(f"http://127.0.0.1:{listener.getsockname()[1]}/")

    def measured(name, command):
        return times(command, listener, b"\n\n" if name == "curl -sN" else b"\n")

    return compare("Event to line", found, missing, "curl -sN", measured)
