"""agent-serve beside nginx with nchan, which keeps nothing on a disk, and beside SQLite alone.

The peers are those of Debian: apt-get install nginx-light libnginx-mod-nchan wrk. nginx runs
from a folder of its own, on a port of its own, without the system's configuration. The clients
of the gateway need Python's websockets and cryptography, as the tests of the gateway do.

Processor time is that of the server and its children, memory what is resident of the process
that serves. A round of each is taken in turns, with a new server every time.
"""
import contextlib
import json
import os
import re
import selectors
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time

import record
from common import HERE, descriptors, median, percentile, setting, table

CLIENTS, RATE = 1000, 20  # streams, and events a second
SOCKETS = 200  # WebSockets beside them
POSTS = 60  # of 1 MiB, a round
IDLE = 2000  # connections
OURS, BESIDE = "agent-serve", f"agent-serve, {SOCKETS} WebSockets beside"
MODULE = "/usr/lib/nginx/modules/ngx_nchan_module.so"
HOLDER = os.path.join(HERE, "peers", "hold_gateway.py")
TICKS = os.sysconf("SC_CLK_TCK")
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
FOLLOW = (b"GET /api/activity/events HTTP/1.1\r\nHost: localhost\r\n"
          b"Accept: text/event-stream\r\n\r\n")
LENGTH = re.compile(rb"(?i)content-length: *(\d+)")
STAMP = re.compile(rb"t0=(\d+)=")
# The user is obeyed only where root starts it; the folder is that user's alone.
CONFIGURATION = """
%(load)s
user root; worker_processes 1; daemon off; pid nginx.pid; error_log stderr crit;
events { worker_connections 20000; }
http {
  access_log off; client_max_body_size 8m; keepalive_requests 1000000000;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:%(port)d;
    location = /api/health { default_type application/json; return 200 '{"ok":true}'; }
    %(places)s
  }
}
"""
NCHAN = """
    location = /api/activity/events { nchan_subscriber eventsource; nchan_channel_id a; }
    location = /api/actions { nchan_publisher; nchan_channel_id a; }
"""
# What the same action is stored in by agent-serve, and by what it is found there.
STORE = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE actions (id INTEGER PRIMARY KEY AUTOINCREMENT, created_at TEXT NOT NULL,
  guild_id TEXT, kind TEXT NOT NULL, content TEXT);
CREATE INDEX actions_by_time ON actions (created_at DESC, id);
CREATE INDEX actions_by_kind ON actions (kind, created_at DESC, id);
CREATE INDEX actions_by_guild ON actions (guild_id, created_at DESC, id);
"""


class Server:
    """A server that runs."""

    def __init__(self, pid, port, gateway=None):
        self.pid, self.port, self.gateway = pid, port, gateway

    def pids(self):
        """The process and its children."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
            return [self.pid, *map(int, file.read().split())]

    def cpu(self):
        """Seconds so far."""
        ticks = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def spent(self, before):
        """Seconds since then; one tick at least, since others are divided by it."""
        return max(self.cpu() - before, 1 / TICKS)

    def memory(self):
        """Bytes that are resident."""
        most = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/status") as file:
                most = max(most, *(int(line.split()[1]) * 1024 for line in file
                                   if line.startswith("VmRSS:")))
        return most

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


@contextlib.contextmanager
def running(command, folder, **more):
    """The process, which is ended in the end."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "XDG_STATE_HOME": folder,
                                    "XDG_CONFIG_HOME": folder}, **more)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def until(process, found):
    """Waits until found() is something true, and returns that."""
    end = time.monotonic() + 20
    while not (value := found()):
        if process.poll() is not None or time.monotonic() > end:
            raise OSError(f"{process.args[0]} does not serve")
        time.sleep(0.01)  # between two looks
    return value


@contextlib.contextmanager
def agent_serve(*options):
    """agent-serve with a store of its own."""
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/out", "w+") as out:
        command = [OURS, "--listen", "127.0.0.1:0", "--database", f"{folder}/bench.sqlite",
                   *options]
        with running(command, folder, stdout=out) as process:
            def listening():
                with open(out.name) as file:
                    lines = [json.loads(line) for line in file if line.endswith("\n")]
                urls = {line["type"]: line["url"] for line in lines if "url" in line}
                return urls if "listening" in urls else None
            urls = until(process, listening)
            yield Server(process.pid, int(urls["listening"].rsplit(":", 1)[1]),
                         urls.get("gateway"))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def has_nchan():
    return os.path.exists(MODULE)


@contextlib.contextmanager
def nginx():
    """nginx, with nchan where that is here."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(CONFIGURATION % {
                "load": f"load_module {MODULE};" if has_nchan() else "",
                "places": NCHAN if has_nchan() else "", "port": port})
        command = [record.NGINX, "-e", "stderr", "-p", folder, "-c", "nginx.conf"]
        with running(command, folder, stdout=subprocess.DEVNULL) as process:
            server = Server(process.pid, port)

            def serves():
                try:
                    with server.connect() as connection:
                        return ask(connection, HEALTH)
                except ConnectionRefusedError:
                    return False
            until(process, serves)
            yield server


def ask(connection, request):
    """Sends a request, and reads its answer to the end."""
    connection.sendall(request)
    got = b""
    while True:
        data = connection.recv(65536)
        if not data:
            raise OSError("the server hung up")
        got += data
        head, gap, rest = got.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if gap and (not length or len(rest) >= int(length[1])):
            break
    if head.split()[1][:1] != b"2":
        raise OSError(f"the server answers {head.splitlines()[0].decode()}")
    return head


def post(content):
    """The request that posts an action."""
    body = json.dumps({"kind": "daily", "content": content}).encode()
    return (b"POST /api/actions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)) + body


class Crowd:
    """Clients that follow the events of a server, and one that posts them: who waited for the
    answer to a post would not read what comes before it."""

    def __init__(self, server):
        self.selector = selectors.DefaultSelector()
        self.delays, self.answers = [], bytearray()
        for _ in range(CLIENTS):
            connection = server.connect()
            connection.sendall(FOLLOW)
            connection.setblocking(False)
            self.selector.register(connection, selectors.EVENT_READ, bytearray())
        self.poster = server.connect()
        self.selector.register(self.poster, selectors.EVENT_READ, self.answers)

    def read(self, end):
        """Reads what comes until then."""
        while (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                data = key.fileobj.recv(1 << 18)
                now = time.monotonic_ns()
                if not data:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                rest = key.data
                rest += data
                if rest is self.answers:
                    continue
                last = rest.rfind(b"\n\n") + 1
                self.delays += [(now - int(stamp)) / 1e6 for stamp in STAMP.findall(rest[:last])]
                del rest[:last]

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def follow(start, events, beside=contextlib.nullcontext):
    """One round of events: seconds of CPU, ms of p50 and p99, how many came, and memory."""
    with start() as server, beside(server):
        crowd = Crowd(server)
        with contextlib.closing(crowd):
            # The answers begin.
            crowd.read(time.monotonic() + 1.5)
            before, began = server.cpu(), time.monotonic()
            for number in range(events):
                crowd.poster.sendall(post(f"t0={time.monotonic_ns()}= " + "x" * 300))
                crowd.read(began + (number + 1) / RATE)
            # What is on its way may still arrive.
            crowd.read(time.monotonic() + 1)
            spent = server.spent(before)
            delays = crowd.delays
            if not delays or crowd.answers.count(b"HTTP/1.1 2") != events:
                raise OSError("not every post is answered well")
            return {"CPU of events": spent * 1e3 / events, "p50": percentile(delays, 0.5),
                    "p99": percentile(delays, 0.99), "memory": server.memory() / 1e6,
                    "delivered": 100 * len(delays) / (events * CLIENTS)}


@contextlib.contextmanager
def sockets(server):
    """Clients of the gateway that have signed in and stay."""
    command = [record.python("websockets, cryptography"), HOLDER, server.gateway, str(SOCKETS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != f"{SOCKETS}\n":
            raise OSError("the gateway does not let all in")
        yield
        if process.communicate()[0] != f"{SOCKETS}\n":
            raise OSError("the gateway did not keep all")
    finally:
        process.terminate()
        process.wait()


def gets(start):
    """µs of CPU for a GET, of as many as 16 connections make in five seconds."""
    with start() as server:
        before = server.cpu()
        said = subprocess.run(
            ["wrk", "-t1", "-c16", "-d5s", f"http://127.0.0.1:{server.port}/api/health"],
            capture_output=True, text=True, check=True).stdout
        spent = server.spent(before)
    if "Non-2xx" in said:
        raise OSError("a GET is not answered well")
    return {"CPU of a GET": spent * 1e6 / int(re.search(r"(\d+) requests in", said)[1])}


LARGE = "x" * (1 << 20)
POST = "CPU of a POST of 1 MiB"


def posts(start):
    """ms of CPU for a POST, one after the other."""
    with start() as server, server.connect() as connection:
        request = post(LARGE)
        before = server.cpu()
        for _ in range(POSTS):
            ask(connection, request)
        return {POST: server.spent(before) * 1e3 / POSTS}


def inserts():
    """ms of CPU to store the same without a server."""
    with tempfile.TemporaryDirectory() as folder:
        store = sqlite3.connect(f"{folder}/bench.sqlite", isolation_level=None)
        with contextlib.closing(store):
            store.executescript(STORE)
            before = time.process_time()
            for _ in range(POSTS):
                store.execute("INSERT INTO actions (created_at, kind, content) VALUES (?, ?, ?)",
                              ("2026-03-01T12:00:00.000Z", "daily", LARGE))
            return {POST: (time.process_time() - before) * 1e3 / POSTS}


def idle(start):
    """KB of memory for a connection that asked once and stays."""
    with start() as server, contextlib.ExitStack() as held:
        ask(held.enter_context(server.connect()), HEALTH)
        before = server.memory()
        for _ in range(IDLE):
            ask(held.enter_context(server.connect()), HEALTH)
        return {"memory of an idle connection": (server.memory() - before) / IDLE / 1e3}


def works(missing):
    """What is measured: lists of (program, function), each list in turns."""
    has_nginx = shutil.which(record.NGINX) is not None
    nchan = [("nchan", nginx)] if has_nginx and has_nchan() else []
    peer = [("nginx", nginx)] if has_nginx else []
    if not nchan:
        missing.append("nginx with nchan" if not has_nginx else "nchan")
    events = max(setting("BENCH_EVENTS", 300) // setting("BENCH_ROUNDS", 3), 1)
    ours = [(OURS, agent_serve)]
    yield [(name, lambda start=start: follow(start, events)) for name, start in ours + nchan] + (
        [(BESIDE, lambda: follow(lambda: agent_serve("--gateway", "0"), events, sockets))]
        if record.python("websockets, cryptography") else [])
    if not record.python("websockets, cryptography"):
        missing.append("Python websockets with cryptography")
    if shutil.which("wrk"):
        yield [(name, lambda start=start: gets(start)) for name, start in ours + peer]
    else:
        missing.append("wrk")
    yield [(name, lambda start=start: posts(start)) for name, start in ours + nchan] + [
        ("SQLite", inserts)]
    yield [(name, lambda start=start: idle(start)) for name, start in ours + peer]


def measured(missing):
    """(what, program) -> its figures, one of each round."""
    taken = {}
    for work in works(missing):
        for _ in range(setting("BENCH_ROUNDS", 3)):
            for program, run in work:
                for what, value in run().items():
                    taken.setdefault((what, program), []).append(value)
    return taken


# What, its unit, on what, and the bounds of the figure and of the ratio.
CROWDED = f"{CLIENTS:,} streams, {RATE} events/s"
ROWS = (
    ("CPU of events", "ms", CROWDED, None, 1.3), ("p50", "ms", CROWDED, None, None),
    ("p99", "ms", CROWDED, None, None), ("delivered", "%", CROWDED, 100, None),
    ("memory", "MB", CROWDED, 16, None),
    ("CPU of a GET", "µs", "16 connections", None, 2), (POST, "ms", None, None, None),
    ("memory of an idle connection", "KB", f"{IDLE:,} connections", 4, None),
)


def number(value):
    """Three digits at most."""
    return f"{value:,.{0 if value >= 99.95 else 1 if value >= 9.95 else 2}f}"


def rows_of(taken, what, unit, size, bound, most):
    """The rows of the report for one thing that was measured; notes their figures."""
    ours = taken.get((what, OURS))
    if not ours:
        return []
    more = unit == "%"
    record.figure(what, OURS, unit, ours, size=size, must=bound, more=more)
    title = f"{what}, {unit}" + (f" ({size})" if size else "")
    held = f"{'at least' if more else 'at most'} {bound}" if bound else ""
    rows = []
    for program in (name for named, name in taken if named == what and name != OURS):
        values, name = taken[what, program], program
        if program == BESIDE:
            # It is ours: there is no ratio, and of its figures only the delay tells something.
            if what == "p99":
                beside = f"{what}, {SOCKETS} WebSockets beside"
                record.figure(beside, OURS, unit, values, size=size)
                rows.append([f"{beside}, {unit} ({size})", number(median(values)), "", "", "", ""])
            continue
        record.figure(what, name, unit, values, size=size, more=more)
        ratio = ""
        if min(values) > 0 and not more:
            record.ratio(what, OURS, name, ours, values, size=size, must=most)
            ratio = f"{median([one / other for one, other in zip(ours, values)]):.2f}"
        bounds = [held] if held else []
        bounds += [f"ratio at most {most}"] if most and ratio else []
        rows.append([title, number(median(ours)), name, number(median(values)), ratio,
                     ", ".join(bounds)])
    if all(row[2] == "" for row in rows):
        rows.insert(0, [title, number(median(ours)), "", "", "", held])
    return rows


def report():
    title, columns = "agent-serve beside nginx with nchan", [
        "what", OURS, "peer", "the peer", "ratio", "aim"]
    if not shutil.which(OURS):
        return table(title, columns, [], ["agent-serve is not here, skipped."])
    if not os.path.exists("/proc/self/stat"):
        return table(title, columns, [], ["This system has no /proc to measure by: skipped."])
    descriptors()
    missing = []
    taken = measured(missing)
    rows = [row for what in ROWS for row in rows_of(taken, *what)]
    notes = ["CPU of events is that of the server for an event to all streams; p50 and p99 are "
             "from before the post to the reader's hands, the reader's own time included. nchan "
             "keeps events in memory; SQLite is Python's, with the same pragmas, without a "
             "server."]
    if missing:
        notes.append(f"Not here, skipped: {', '.join(missing)}.")
    return table(title, columns, rows, notes)
