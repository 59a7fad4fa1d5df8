"""make fuzz: what agent-serve reads, at random, broken at random, in pieces at random.

Requests on the port of the API, and frames on that of the gateway. The same bytes give the
same answers however they are cut, and these are what a strict reading of the whole gives, by
RFC 9112 and RFC 6455. Behind what is refused nothing is answered, and no answer is lost to
a reset. Behind each round the server answers at once, holds no more descriptors than behind its
first one and has not grown by 100 MB.
"""
import atexit
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli", "servers")]
import frames
import rounds
import wires
from rounds import Difference

BOUND = 10
HEAD_LIMIT = 64 * 1024
BODY_LIMIT = 7 << 20
BODY_PATIENCE = 64 << 20
STATUSES = {100, 200, 400, 403, 404, 413, 421, 431, 501, 505}
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}


# --- the server

class Server:
    """One agent-serve; a round may end it and start another."""

    def __init__(self):
        self.notes = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["agent-serve", "-l", "127.0.0.1:0", "-D", ":memory:", "--gateway", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.notes)
        self.ports = {}
        while len(self.ports) < 2:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("fuzz: agent-serve does not start")
            record = json.loads(line)
            self.ports[record["type"]] = int(record["url"].rsplit(":", 1)[1])
        self.rounds = 0
        self.before = None

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.notes.close()

    def connect(self, kind):
        plain = socket.create_connection(("127.0.0.1", self.ports[kind]), timeout=BOUND)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain

    def held(self):
        """How many descriptors it has, and how many bytes of memory; None where nobody tells."""
        try:
            count = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return count, int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except FileNotFoundError:
            return None

    def check(self):
        """It is well."""
        if self.process.poll() is not None:
            self.notes.seek(0)
            raise Difference(f"the server ended with {self.process.returncode}: {self.notes.read()[-3000:]!r}")
        begin = time.monotonic()
        got, end = exchange([b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"])
        took = time.monotonic() - begin
        if not got.startswith(b"HTTP/1.1 200 ") or end != "end" or took > 2:
            raise Difference(f"health behind a round: {got!r}, {end}, {took:.1f} s")
        if self.before is None:
            # Not earlier: libraries open what they need when they first need it.
            self.before = self.held()
        until = time.monotonic() + 5
        while self.before and self.held()[0] > self.before[0]:
            if time.monotonic() > until:
                raise Difference(f"{self.held()[0]} descriptors, before {self.before[0]}")
            time.sleep(0.01)
        if self.before and self.held()[1] > self.before[1] + 100_000_000:
            raise Difference(f"{self.held()[1]} bytes of memory, before {self.before[1]}")


# --- what is sent, in pieces

def cuttings(rng, body):
    """The whole, and the same cut at 1, 3 and 20 places; a number is a pause."""
    yield [body]
    for count in (1, 3, 20):
        places = sorted(rng.randint(0, len(body)) for _ in range(count))
        cut = []
        for start, end in zip([0] + places, places + [len(body)]):
            if start < end:
                cut += [body[start:end], rng.choice([0, 0, 0.0003, 0.001])]
        yield cut[:-1]


def send(plain, cut):
    for piece in cut:
        if isinstance(piece, bytes):
            plain.sendall(piece)
        elif piece:
            time.sleep(piece)


def exchange(cut, halves=True, kind="listening"):
    """What is answered to requests, and how the connection ended."""
    with server.connect(kind) as plain:
        got, end = b"", "end"
        try:
            send(plain, cut)
            if halves:
                plain.shutdown(socket.SHUT_WR)
            while piece := plain.recv(1 << 16):
                got += piece
        except socket.timeout:
            end = "open"
        except OSError as error:
            end = f"{type(error).__name__}"
        return got, end


# --- requests

BITS = [b"\r\n", b"\r", b"\n", b"\0", b"\t", b" ", b"\r\n\r\n", b":", b"\x0b", b"\x7f", b"\xff", b"\xc3\xa9", b"\xe2\x84\xaa",
        b"0", b"1", b"00000", b"ffffffffffffffff", b"7fffffffffffffff", b"99999999999999999999", b"9223372036854775807",
        b"4294967296", b"-1", b"+1", b"0x", b",", b";", b";a=b", b";a=\"\\\"\"", b"0\r\n\r\n", b"\r\n ", b"#", b"%", b"%2f", b"?", b"*",
        b"Content-Length: 3\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: localhost\r\n",
        b"Host: evil.example\r\n", b"Expect: 100-continue\r\n", b"Connection: close\r\n", b"Transfer-Encoding: gzip, chunked\r\n",
        b"HTTP/1.0", b"HTTP/1.1", b"HTTP/2.0", b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n", b"Origin: null\r\n"]
NUMBERS = [b"0", b"1", b"2", b"3", b"00", b"7340032", b"7340033", b"67108864", b"67108865", b"4000001", b"2147483648",
           b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1" * 40, b"0" * 17, b"0" * 16 + b"5"]
OURS = [b"localhost", b"LOCALHOST", b"127.0.0.1", b"localhost.", b"a.localhost", b"localhost:80", b"localhost:", b"[::1]",
        b"[0:0:0:0:0:0:0:1]:65535", b"127.1.2.3:0", b"127.0.0.1."]
FOREIGN = [b"evil.example", b"localhost.evil.example", b"127.0.0.256", b"[2001:db8::1]:1", b"0.0.0.0", b"127.0.0.1.1", b"x"]


def field(rng, name, value):
    """A field, in one of its spellings."""
    name = rng.choice([name, name.lower(), name.upper(), name.swapcase()]).encode()
    return name + b":" + rng.choice([b" ", b"", b"\t", b" \t "]) + value + rng.choice([b"", b"", b" ", b"\t "]) + b"\r\n"


def chunks(rng, body):
    """A body in chunks, with what may stand in them."""
    out, at = b"", 0
    while at < len(body):
        size = rng.choice([1, 3, 10, 1000, 40000])
        piece = body[at:at + size]
        digits = rng.choice([b"%x", b"%X", b"%04x", b"%016x"]) % len(piece)
        extension = rng.choice([b""] * 6 + [b";", b";a", b";a=b", b";a=\"b;\\\"\"", b";\t\xff", b"; " + b"x" * 500])
        out += digits + extension + b"\r\n" + piece + b"\r\n"
        at += size
    trailer = rng.choice([b""] * 4 + [b"X: y\r\n", b"A:\r\nB: \xff\r\n", b"Connection: close\r\n", b"Expect: 100-continue\r\n"])
    return out + rng.choice([b"0", b"0", b"0000", b"0;last"]) + b"\r\n" + trailer + b"\r\n"


def request(rng):
    """A request that is right, and the status and whether the connection ends."""
    method, path, status = rng.choice([
        ("GET", b"/api/health", 200), ("GET", b"/api/health", 200), ("HEAD", b"/api/health", 200), ("GET", b"/api/nothing", 404),
        ("GET", b"/api/health?a=%00&b", 200), ("GET", b"/api/h%65alth", 200), ("HEAD", b"/api/nothing", 404), ("GET", b"/", 404),
        ("POST", b"/api/nothing", 404), ("POST", b"/api/nothing", 404), ("PUT", b"/api/nothing", 404), ("OPTIONS", b"*", 404),
        ("POST", b"/api/actions", 0), ("POST", b"/api/actions", 0), ("DELETE", b"/api/nothing", 404), ("BREW", b"/pot", 501),
        ("GET", b"/api/stats", 200), ("TRACE", b"/api/health", 404), ("get", b"/api/health", 501)])
    body = b""
    if rng.random() < (0.1 if method in ("GET", "HEAD") else 0.7):
        body = rng.choice([b"a", b"{}", b"x" * 1024, b"y" * 1025, b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
                           b"0\r\n\r\n", b"\0" * 30, b"\r\n" * 9, b"z" * rng.choice([5000, 20000, 70000])])
    if status == 0:
        status = 400
        if rng.random() < 0.2:
            body, status = b'{"kind":"a"}', 200
    if rng.random() < 0.003 and method != "HEAD":
        body = b"b" * (BODY_LIMIT + rng.choice([0, 1, 70000]))
        status = 400 if path == b"/api/actions" else status
    head, end = [], False
    host = rng.choice(OURS)
    is_foreign = rng.random() < 0.06
    if is_foreign:
        host = rng.choice(FOREIGN)
    version = rng.choice([b"1.1"] * 20 + [b"1.2", b"1.9", b"1.0"])
    if path != b"*" and rng.random() < 0.08:
        path = rng.choice([b"http://", b"HTTPS://"]) + host + path
        host = rng.choice(OURS + FOREIGN)
    if version != b"1.0" or is_foreign or rng.random() < 0.5:
        head.append(field(rng, "Host", host))
    if is_foreign:
        status = 421
    old = version == b"1.0"
    is_long = False
    if body and not old and rng.random() < 0.5:
        head.append(field(rng, "Transfer-Encoding", rng.choice([b"chunked", b"Chunked"])))
        content = chunks(rng, body)
    else:
        content = body
        is_long = len(body) > 1024
        if body or rng.random() < 0.3:
            head.append(field(rng, "Content-Length", rng.choice([b"%d", b"%d", b"%010d"]) % len(body)))
    if len(body) > BODY_LIMIT and status != 421:
        status = 413
    if rng.random() < 0.12:
        head.append(field(rng, "Expect", rng.choice([b"100-continue", b"100-Continue"])))
        if content and not old:
            if content is body and len(body) > BODY_LIMIT:
                end = True
            elif method not in ("GET", "HEAD") and path.split(b"/")[-1] != b"actions" or status == 421:
                refusal = 421 if status == 421 else 501 if method not in KNOWN_METHODS else 404
                if refusal != 404 or is_long:
                    status, end = refusal, True
    if rng.random() < 0.05:
        head.append(field(rng, "Connection", rng.choice([b"close", b"x, Close", b"close,"])))
        end = True
    elif rng.random() < 0.1:
        head.append(field(rng, "Connection", rng.choice([b"keep-alive", b"closed", b"x;close", b""])))
    for _ in range(rng.choice([0, 0, 0, 1, 3, 40])):
        head.append(field(rng, rng.choice(["Accept", "X-!#$%&'*+-.^_`|~9", "User-Agent"]),
                          rng.choice([b"", b"a", b"a\tb", b"\xe9\xff", b"a: b", b"v" * rng.choice([80, 1000])])))
    line = rng.choice([b""] * 12 + [b"\r\n", b"\r\n\r\n"]) + method.encode() + b" " + path + b" HTTP/" + version + b"\r\n"
    if rng.random() < 0.02:
        left = HEAD_LIMIT - len(line + b"".join(head)) - len(b"X-Long:\r\n\r\n")
        left += rng.choice([0, 0, -1, -2, -1000, 1, 2, 1000])
        head.append(b"X-Long:" + b"l" * left + b"\r\n")
    rng.shuffle(head)
    if len(line + b"".join(head)) + 2 > HEAD_LIMIT:
        status, end = 431, True
    return line + b"".join(head) + b"\r\n" + content, status, end or old


def mutated(rng, body, other):
    """A stream of requests with something done to it."""
    what = rng.random()
    if what < 0.5:
        return rounds.mutate(rng, body, BITS)
    if what < 0.65:
        numbers = list(re.finditer(rb"\b[0-9a-fA-F]*[0-9][0-9a-fA-F]*\b", body[:200_000]))
        if not numbers:
            return body
        found = rng.choice(numbers)
        return body[:found.start()] + rng.choice(NUMBERS) + body[found.end():]
    if what < 0.75:
        return body[:rng.randint(0, len(body))] + other[rng.randint(0, len(other)):]
    if what < 0.85:
        lines = body.split(b"\r\n")
        first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
        return b"\r\n".join(lines)
    if what < 0.93:
        at = rng.randint(0, len(body))
        return body[:at] + rng.choice(BITS) + body[at:]
    if what < 0.95:
        # Much is on its way when the server refuses.
        return body + rng.choice(BITS) + b"junk" * rng.choice([100, 20000, 500_000])
    return body[:rng.randint(0, len(body))]


class Refused(Exception):
    """A request is refused, and nothing behind it is read."""

    def __init__(self, *statuses):
        self.statuses = set(statuses)


class Over(Exception):
    """The bytes are over."""


TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
CONTROL = re.compile(rb"[\0-\x08\x0a-\x1f\x7f]")


class Reading:
    """A strict reading of a stream: what must be answered (the statuses that may be, whether the
    connection ends behind it, whether it has no content as that to a HEAD), and whether the server ends it."""

    def __init__(self, body):
        self.body, self.at, self.room = body, 0, HEAD_LIMIT
        self.found = []
        self.method, self.expects = None, []
        self.ends = self.read()

    def read(self):
        try:
            while True:
                self.room = HEAD_LIMIT
                self.method = None
                self.answer_one()
                if self.found[-1][1]:
                    return True
        except Refused as refused:
            self.found.append((refused.statuses, True, self.is_head()))
            return True
        except Over:
            if self.method is not None or self.body[self.at:] not in (b"", b"\r"):
                self.found.append(({400}, True, self.is_head()))
            return False

    def is_head(self):
        """Whether the answer has no content; None for a head that is not understood."""
        return self.method == b"HEAD" if self.method else None

    def line(self):
        end = min(len(self.body), self.at + self.room)
        found = CONTROL.search(self.body, self.at, end)
        if found and (self.body[found.start()] != 13 or found.start() + 1 < end):
            if self.body[found.start():found.start() + 2] != b"\r\n":
                raise Refused(400)
            line = self.body[self.at:found.start()]
            self.room -= len(line) + 2
            self.at += len(line) + 2
            return line
        if end < len(self.body):
            raise Refused(431)
        raise Over

    def take(self, count):
        left = len(self.body) - self.at
        self.at += min(left, count)
        if left < count:
            raise Over

    def field(self, line):
        name, colon, value = line.partition(b":")
        if not colon or not TOKEN.fullmatch(name):
            raise Refused(400)
        return name.lower(), value.strip(b" \t")

    def answer_one(self):
        while not (line := self.line()):
            pass
        # From here on the end of the bytes is within a request.
        self.method = b""
        method, first, rest = line.partition(b" ")
        target, last, version = rest.rpartition(b" ")
        if not first or not last or not target or not TOKEN.fullmatch(method) or not re.fullmatch(rb"HTTP/\d\.\d", version):
            raise Refused(400)
        if version[5:6] != b"1":
            raise Refused(505)
        if re.search(rb"[^!-~]|#", target):
            raise Refused(400)
        old = version == b"HTTP/1.0"
        fields = {}
        while line := self.line():
            name, value = self.field(line)
            fields.setdefault(name, []).append(value)
        path, host = self.target(method, target)
        chunked, length = self.framing(fields, old)
        hosts = fields.get(b"host", [])
        if len(hosts) > 1 or not hosts and not old:
            raise Refused(400)
        named = authority(hosts[0]) if hosts else None
        foreign = not is_ours(host if host is not None else named)
        # From here on it is known what may be answered.
        self.method = method
        end = old or b"close" in [word.strip(b" \t") for word in b",".join(fields.get(b"connection", [])).lower().split(b",")]
        self.body_of(method, path, fields, old, foreign, chunked, length, end)

    def target(self, method, target):
        host = None
        if target[:1] != b"/" and not (method == b"OPTIONS" and target == b"*"):
            found = re.match(rb"(?i)https?://([^/?]*)", target)
            if not found:
                raise Refused(400)
            host = authority(found[1])
            target = target[found.end():]
        path = target.partition(b"?")[0] or b"/"
        return path, host

    def framing(self, fields, old):
        codings, lengths = fields.get(b"transfer-encoding", []), fields.get(b"content-length", [])
        if codings:
            if len(codings) > 1 or codings[0].lower() != b"chunked" or lengths or old:
                raise Refused(400)
            return True, 0
        if not lengths:
            return False, 0
        if len(lengths) > 1 or not re.fullmatch(rb"\d+", lengths[0]) or int(lengths[0]) >= 1 << 63:
            raise Refused(400)
        return False, int(lengths[0])

    def body_of(self, method, path, fields, old, foreign, chunked, length, end):
        """Reads the body, and says what is answered."""
        is_write = (method, path) == (b"POST", b"/api/actions")
        refusal = None
        if foreign:
            refusal = {421}
        elif method not in (b"GET", b"HEAD"):
            if not is_write:
                refusal = {404 if method.decode("latin-1") in KNOWN_METHODS else 501}
            elif b"origin" in fields:
                refusal = {403}
            # An escape may be of a letter.
            if b"%" in path and method in (b"POST", b"PUT", b"DELETE", b"PATCH"):
                refusal = {200, 400, 403, 404}
        head = method == b"HEAD"
        long = BODY_PATIENCE if b"expect" not in fields else BODY_LIMIT
        if length > long:
            self.found.append(({421} if foreign else {413}, True, head))
            return
        waits = not old and b", ".join(fields.get(b"expect", [])).lower() == b"100-continue"
        if waits and (chunked or length) and refusal and (404 not in refusal or length > 1024):
            self.found.append((refusal, True, head))
            return
        self.expects.append(waits and (chunked or length > 0))
        count = self.chunks(foreign) if chunked else length
        if not chunked:
            self.take(length)
        if refusal and (foreign or count <= BODY_LIMIT):
            statuses = refusal
        elif count > BODY_LIMIT:
            statuses = {413}
        elif is_write:
            statuses = {200, 400}
        elif path in (b"/api/health", b"/api/actions", b"/api/stats", b"/api/h%65alth"):
            statuses = {200}
        else:
            statuses = {200, 404} if b"%" in path else {404}
        self.found.append((statuses, end, head))

    def chunks(self, foreign):
        count = 0
        self.room = HEAD_LIMIT
        while True:
            found = re.fullmatch(rb"([0-9A-Fa-f]{1,16})(;.*)?", self.line(), re.DOTALL)
            if not found:
                raise Refused(400)
            size = int(found[1], 16)
            if size > BODY_PATIENCE:
                raise Refused(413)
            self.room += len(found[1]) + 2
            if size == 0:
                break
            self.take(size)
            count += size
            if self.line():
                raise Refused(400)
            self.room += 2
        while line := self.line():
            if self.field(line)[0] in (b"content-length", b"transfer-encoding", b"host"):
                raise Refused(400)
        return count


def authority(text):
    """The host of a field Host, of RFC 3986 (3.2.2)."""
    found = re.fullmatch(rb"(\[[^\]]*\]|[-.\w~%!$&'()*+,;=]+)(?::(\d*))?", text, re.ASCII)
    if not found or int(found[2] or 0) > 65535:
        raise Refused(400)
    host = found[1].lower()
    if host[:1] == b"[":
        try:
            return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, host[1:-1].decode()))
        except (OSError, ValueError):
            raise Refused(400) from None
    host = host[:-1] if host.endswith(b".") else host
    if not host:
        raise Refused(400)
    return host


def is_ours(host):
    if host is None or host == "::1":
        return True
    if isinstance(host, str):
        return False
    if host == b"localhost" or host.endswith(b".localhost"):
        return True
    numbers = host.split(b".")
    return len(numbers) == 4 and numbers[0] == b"127" and all(re.fullmatch(rb"\d+", n) and int(n) < 256 for n in numbers)


def answers(got):
    """Status, whether it says that the connection ends, whether all of its content is there, and
    of a refusal what it says."""
    found = []
    while got:
        head, end, rest = got.partition(b"\r\n\r\n")
        first = re.match(rb"HTTP/1\.1 (\d{3}) [A-Za-z -]+\r?(\n|$)", head)
        if not first or not end or int(first[1]) not in STATUSES:
            raise Difference(f"no answer: {got[:300]!r}")
        status = int(first[1])
        if status == 100:
            if head.count(b"\r\n"):
                raise Difference(f"fields of a 100: {head!r}")
            found.append((100, False, False, b""))
            got = rest
            continue
        size = int(re.search(rb"\r\nContent-Length: (\d+)", head)[1])
        content = b""
        if not rest.startswith(b"HTTP/1.1 "):
            content, rest = rest[:size], rest[size:]
        if content and len(content) < size:
            raise Difference(f"half an answer: {got[:300]!r}")
        found.append((status, b"\r\nConnection: close" in head, bool(content), content if status >= 400 else b""))
        got = rest
    return found


def check_requests(rng):
    made = [request(rng) for _ in range(rng.choice([1, 1, 2, 3, 8] * 20 + [150]))]
    body = b"".join(each[0] for each in made)
    is_whole = rng.random() < 0.35
    if not is_whole:
        body = mutated(rng, body, request(rng)[0])
    reading = Reading(body)
    if is_whole:
        wanted = []
        for _, status, end in made:
            wanted.append((status, end))
            if end:
                break
        read = [(status, end) for statuses, end, _ in reading.found for status in statuses if status in [w[0] for w in wanted]]
        if len(reading.found) != len(wanted) or any(pair not in read for pair in wanted):
            raise Difference(f"the grammar says {wanted}, the reading {reading.found}: {body[:3000]!r}", body)
    first = None
    for number, cut in enumerate(cuttings(rng, body)):
        streams[0] += 1
        # Who is told of the end need not wait for ours.
        halves = not (reading.ends and number == 3)
        got, end = exchange(cut, halves)

        def differ(reason):
            raise Difference(f"{reason}; in {len(cut)} pieces: {got[:3000]!r}, {end}; want {reading.found}; "
                             f"in one: {first}; sent {body[:4000]!r}", body)
        try:
            all_of_it = answers(got)
        except Difference as difference:
            differ(difference)
        final = [each for each in all_of_it if each[0] != 100]
        if len(all_of_it) - len(final) > sum(reading.expects):
            differ("more than one 100 for a request that expects it")
        if end != "end":
            differ("not ended as it should")
        if len(final) != len(reading.found):
            differ(f"{len(final)} answers")
        for answer, (statuses, closes, is_head) in zip(final, reading.found):
            if answer[0] not in statuses or answer[1] != closes:
                differ(f"{answer}")
            if is_head is not None and answer[2] == is_head:
                differ("content where there should be none, or none where there should be some")
        if is_whole and [each[0] for each in final] != [status for status, _ in wanted]:
            differ("not what the grammar says")
        if first is None:
            first = final
        elif final != first:
            differ("differs from the whole")


# --- handshakes

def check_handshake(rng):
    """A handshake, mostly broken: the statuses are the same however it is cut, and nothing is
    answered as a request behind 101."""
    body = HANDSHAKE + rng.choice([b"", b"", request(rng)[0], frames.frame(0x81, b"")])
    is_whole = rng.random() < 0.1
    if not is_whole:
        body = mutated(rng, body, HANDSHAKE)
    first = None
    for cut in cuttings(rng, body):
        streams[1] += 1
        got, end = exchange(cut, kind="gateway")
        found = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) [A-Z]", got)]
        if (end != "end" or 101 in found[:-1] or set(found) - STATUSES - {101, 405, 426} or is_whole and found != [101]
                or first is not None and found != first):
            raise Difference(f"handshake: {got[:2000]!r}, {end}; in {len(cut)} pieces, in one: {first}; sent {body[:3000]!r}", body)
        first = found


# --- frames

TEXTS = [b"", b"a", b"{}", b'{"type":"req","id":"h","method":"health"}', b'{"type":"req","id":"n","method":"nothing"}',
         '{"type":"req","id":"\u00e4\U0001f41a","method":"status"}'.encode(), b"\0", "\u03c0\u5186\U0001f600".encode(),
         b"x" * 125, b"y" * 126, b" " * 4090 + b"{}", "\u03c0".encode() * 3000, b"z" * 65535, b"z" * 65536, b"z" * 65537]
FRAME_BITS = [b"\x81\x80abcd", b"\x80\x80abcd", b"\x01\x81abcd\x00", b"\x89\x80abcd", b"\x88\x80abcd", b"\x88\x82\0\0\0\0\x03\xe8",
              b"\x81\xfe\x00\x7d\0\0\0\0", b"\xff", b"\x81\xff\0\0\0\0\0\1\0\0\0\0\0\0", b"\x82\xff\xff", b"\xc1\x81abcd\x00",
              b"\x83\x80abcd", b"\x81\x00", b"\xed\xa0\x80", b"\xf4\x90", b"\x81\xff\0\0\0\0\x40\0\0\1\0\0\0\0", b"\x81\xff\x80\0\0\0\0\0\0\0\0\0\0\0"]
HANDSHAKE = (b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
CONNECT = json.dumps({"type": "req", "id": "c", "method": "connect", "params": {
    "minProtocol": 3, "maxProtocol": 4, "client": {"id": "gateway-client", "version": "1", "platform": "Linux", "mode": "backend"},
    "role": "operator", "scopes": ["operator.read"], "caps": [], "locale": "en-US", "userAgent": "fuzz"}}).encode()
CLOSED_LIMIT, OPEN_LIMIT, LARGEST = 64 * 1024, 8 << 20, 1 << 30


def frame(rng, first, payload):
    """A masked frame, sometimes wrong."""
    out = bytearray(frames.frame(first, payload))
    what = rng.random()
    if what < 0.01:
        return bytes(out)
    head = len(out) - len(payload)
    out[1] |= 128
    if what < 0.02:
        out[0] ^= 1 << rng.randrange(8)
    size = len(payload)
    if what < 0.03:
        out[:head] = bytes([out[0], 254]) + (size & 0xffff).to_bytes(2, "big")
    elif what < 0.04:
        out[:head] = bytes([out[0], 255]) + rng.choice([size, size, size | 1 << 63, 1 << 30, (1 << 30) + 1, 70000]).to_bytes(8, "big")
    mask = rng.choice([b"\0\0\0\0", rng.randbytes(4)])
    pad = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big")
    return bytes(out[:len(out) - size]) + mask + masked


def sequence(rng):
    """Frames of a client, connected or not, mostly right."""
    # It is not mutated: what it must hold is another matter.
    start = frame(rng, 0x81, CONNECT) if rng.random() < 0.6 else b""
    out = b""
    for _ in range(rng.choice([1, 2, 5, 12])):
        payload = rng.choice(TEXTS[:-3] if rng.random() < 0.9 else TEXTS)
        if rng.random() < 0.05:
            payload = rounds.mutate(rng, payload, [b"\xc3", b"\xed\xa0\x80", b"\xff", b"\xf4\x90"])
        what = rng.random()
        if what < 0.35:
            out += frame(rng, 0x81, payload)
        elif what < 0.38:
            out += frame(rng, 0x82, rng.randbytes(rng.choice([0, 3, 200])))
        elif what < 0.65:
            places = sorted(rng.randint(0, len(payload)) for _ in range(rng.choice([1, 2, 5])))
            parts = [payload[a:b] for a, b in zip([0] + places, places + [len(payload)])]
            for number, part in enumerate(parts):
                last = 0x80 if number == len(parts) - 1 else 0
                out += frame(rng, (0 if number else 1) | last, part)
                if rng.random() < 0.2:
                    out += frame(rng, 0x89, rng.randbytes(rng.choice([0, 4])))
        else:
            out += frame(rng, rng.choice([0x89, 0x89, 0x8a]), rng.randbytes(rng.choice([0, 1, 8, 125, 125, 126 if rng.random() < 0.1 else 8])))
    if rng.random() < 0.5:
        out += frame(rng, 0x88, rng.choice([b"", b"\x03\xe8", b"\x0f\xa0bye", b"\x03\xed", b"\x03", b"\x03\xe8\xff", b"\x03\xf6",
                                            b"\x0b\xb7", b"\x13\x88", b"\x03\xe8" + b"r" * 123, rng.randbytes(2)]))
    if rng.random() < 0.4:
        out = rounds.mutate(rng, out, FRAME_BITS)
    elif rng.random() < 0.1:
        # The beginning of what is too long, also in other ways wrong.
        first = rng.choice([0x81, 0x82, 0x01, 0x80, 0xc1, 0x91, 0x83, 0x89])
        out = out[:rng.choice([0, 0, len(out)])] + bytes([first, rng.choice([255, 255, 127])])
        out += rng.choice([65537, 8 << 20, (8 << 20) + 1, 1 << 30, 1 << 31]).to_bytes(8, "big") + rng.randbytes(rng.choice([0, 4, 5, 8]))
    return start + out


def identity(message):
    """The id under which a message is answered."""
    try:
        value = json.loads(message, parse_constant=lambda word: int("no"))
        found = value.get("id") if isinstance(value, dict) else None
        return found if isinstance(found, str) and 0 < len(found.encode("utf-16-le", "surrogatepass")) <= 512 else "invalid"
    except (ValueError, RecursionError):
        return "invalid"


def expected(body):
    """What RFC 6455 says of a client's frames: the payloads of pings before the end, the ids of the
    answers, and what the server closes with ("none" for not at all; "any" for a frame that is
    wrong, of which there is only the header: it may be refused, or waited for)."""
    pings, ids, message, kind, at, is_open = [], [], b"", None, 0, False
    try:
        while len(body) - at >= 2:
            first, second = body[at:at + 2]
            final, opcode, size = first & 128, first & 15, second & 127
            if opcode & 8 and (size > 125 or not final):
                raise wires.Close(1002)
            is_wrong = (first & 0x70 or not second & 128 or opcode not in (0, 1, 2, 8, 9, 10)
                        or opcode == 0 and kind is None or opcode in (1, 2) and kind is not None)
            at += 2
            if size > 125:
                count = 2 if size == 126 else 8
                if len(body) - at < count:
                    raise wires.Close("any" if is_wrong else "none")
                size = int.from_bytes(body[at:at + count], "big")
                at += count
                if size < 126 or count == 8 and size < 1 << 16 or size >> 63:
                    raise wires.Close(1002)
            limit = OPEN_LIMIT if is_open else CLOSED_LIMIT
            mask, at = body[at:at + 4] if second & 128 else b"", at + (4 if second & 128 else 0)
            # With a length, a frame may be looked at when there is something of it; but a
            # message that is too long is so before.
            if at > len(body) or size and at == len(body):
                if is_wrong:
                    raise wires.Close("any")
                raise wires.Close(1009 if not opcode & 8 and len(message) + size > limit else "none")
            if is_wrong:
                raise wires.Close(1002)
            if opcode in (1, 2):
                kind = opcode
            if opcode < 8 and len(message) + size > limit:
                raise wires.Close(1009)
            payload = body[at:at + size]
            whole = len(payload) == size
            at += len(payload)
            pad = (mask * (len(payload) // 4 + 1))[:len(payload)]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(payload), "big")
            if opcode < 8:
                message += payload
                ends = wires.is_whole(message) if kind == 1 else True
                if whole and final:
                    if not ends:
                        raise wires.Close(1007)
                    if kind == 2:
                        raise wires.Close(1003)
                    ids.append(identity(message))
                    if not is_open and message != CONNECT:
                        raise wires.Close(1008)
                    is_open, message, kind = True, b"", None
            elif opcode == 9 and whole:
                pings.append(payload)
            elif opcode == 8 and whole:
                if not payload:
                    raise wires.Close(None)
                code = int.from_bytes(payload[:2], "big")
                if size == 1 or not (1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999):
                    raise wires.Close(1002)
                try:
                    payload[2:].decode()
                except UnicodeDecodeError:
                    raise wires.Close(1002) from None
                raise wires.Close(code)
    except wires.Close as close:
        return pings, ids, close.code
    return pings, ids, "none"


def frames_of(data):
    """Frames of a server, and what is left."""
    found, at = [], 0
    while len(data) - at >= 2:
        first, size = data[at:at + 2]
        if first not in (0x81, 0x88, 0x8a) or size & 128 or first & 8 and size > 125:
            raise Difference(f"no frame of a server: {data[at:at + 40]!r}")
        start = at + 2
        if size > 125:
            start += 2 if size == 126 else 8
            size = int.from_bytes(data[at + 2:start], "big")
            if len(data) >= start and (size < 126 or start - at == 10 and size < 1 << 16):
                raise Difference(f"a length that is not the shortest: {data[at:at + 40]!r}")
        if len(data) < start + size:
            break
        found.append((first & 15, data[start:start + size]))
        at = start + size
    return found, data[at:]


def talk(cut, wanted):
    """What comes back: its frames, and how the connection ended. Our half is closed when all that
    is wanted has come."""
    pings, ids, code = wanted
    with server.connect("gateway") as plain:
        got, end, is_over = b"", "end", False
        try:
            if cut[0] is None:
                # The frames wait for the handshake.
                plain.sendall(HANDSHAKE)
                while b"\r\n\r\n" not in got:
                    got += plain.recv(1 << 16)
                cut = cut[1:]
            send(plain, cut)
            while True:
                head, _, rest = got.partition(b"\r\n\r\n")
                found = frames_of(rest)[0]
                is_closed = any(kind == 8 for kind, _ in found)
                is_told = code in ("none", "any") and sum(kind == 1 for kind, _ in found) > len(ids) and (
                    not pings or (10, pings[-1]) in found)
                if not is_over and (is_closed or is_told):
                    plain.shutdown(socket.SHUT_WR)
                    is_over = True
                piece = plain.recv(1 << 16)
                if not piece:
                    break
                got += piece
        except socket.timeout:
            end = "open"
        except OSError as error:
            end = f"{type(error).__name__}"
        head, _, rest = got.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 ") or b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" not in head:
            raise Difference(f"no handshake: {got[:300]!r}, {end}")
        found, left = frames_of(rest)
        if left:
            raise Difference(f"half a frame: {left[:100]!r}, {end}")
        return found, end


def check_frames(rng):
    body = sequence(rng)
    wanted = expected(body)
    pings, ids, code = wanted
    # Half of them do not wait for the answer to the handshake.
    waits = rng.random() < 0.5
    first = None
    for cut in cuttings(rng, body if waits else HANDSHAKE + body):
        streams[1] += 1
        found, end = [], "?"

        def differ(reason):
            raise Difference(f"frames: {reason}; in {len(cut)} pieces: {found!r:.3000}, {end}; want {wanted!r:.1500}; "
                             f"in one: {first!r:.1500}; sent {body[:4000]!r}", body)
        try:
            found, end = talk([None] + cut if waits else cut, wanted)
        except Difference as difference:
            differ(difference)
        if end != "end" and code not in ("none", "any"):
            differ("the connection was not ended as it should")
        texts = [json.loads(payload) for kind, payload in found if kind == 1]
        closes = [payload for kind, payload in found if kind == 8]
        if len(closes) > 1 or closes and found[-1][0] != 8:
            differ("something behind a close")
        got = (int.from_bytes(closes[0][:2], "big") if closes[0] else None) if closes else "none"
        if code == "any":
            if got not in (1002, 1009, "none"):
                differ(f"closed with {got}")
            got, closes = code, []
        if got != code:
            differ(f"closed with {got}")
        if texts and texts[0].get("event") != "connect.challenge":
            differ("no challenge")
        told = [text["id"] for text in texts if text["type"] == "res"]
        if told != ids:
            differ(f"answers to {told}")
        # Newer pings make older ones need no answer (RFC 6455, section 5.5.3); those behind a
        # message that ends the connection may be answered, or not.
        rest = iter(every_ping(body))
        pongs = [payload for kind, payload in found if kind == 10]
        if any(pong not in rest for pong in pongs):
            differ("pongs to no ping")
        if pings and pings[-1] not in pongs:
            differ("the last ping is not answered")
        result = [(text["type"], text.get("id"), text.get("ok"), (text.get("error") or {}).get("message")) for text in texts
                  if text.get("event") not in ("tick", "presence", "health")], got, closes
        if first is None:
            first = result
        elif result != first:
            differ("differs from the whole")


def every_ping(body):
    """The payloads of all that may be a ping, also behind the end."""
    found, at = [], 0
    while len(body) - at >= 2:
        first, second = body[at:at + 2]
        size, start = second & 127, at + 2
        if size > 125:
            start += 2 if size == 126 else 8
            size = int.from_bytes(body[at + 2:start], "big")
        mask = b""
        if second & 128:
            mask, start = body[start:start + 4], start + 4
        if len(body) < start + size:
            break
        if first == 0x89:
            found.append(bytes(byte ^ mask[n % 4] for n, byte in enumerate(body[start:start + size])) if mask else b"")
        at = start + size
    return found


def check(rng, folder, seed):
    global server
    if server.rounds == 100:
        server.stop()
        server = Server()
    server.rounds += 1
    for _ in range(12):
        check_requests(rng)
    for _ in range(3):
        check_handshake(rng)
    for _ in range(8):
        check_frames(rng)
    server.check()


streams = [0, 0]
server = Server()
atexit.register(lambda: server.stop())
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
status = rounds.main("serve", check)
print(f"fuzz: serve: {streams[0]} streams of requests, {streams[1]} of frames")
sys.exit(status)
