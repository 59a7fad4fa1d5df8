"""make fuzz: the stream parser of sse-tail, on bytes at random in pieces at random.

The same bytes give the same records however they are cut, and these are what a
reading of the whole by the rules of the standard gives.
"""
import http.server
import os
import socketserver
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds
import wires

FIELDS = [b"data", b"event", b"id", b"retry", b"dat", b"datax", b"Data", b"", b"data\xc3"]
ENDS = [b"\n", b"\n", b"\n", b"\r", b"\r\n", b"\n\r", b"\r\r\n"]
VALUES = [b"1", b"{}", b'{"kind":"x"}', b'{"a":', b"1}", b"[1,", b" 2]", b'"s"', b"text", b"", b" ", b"  two", b":",
          b"null", b"1e400", b"-0", b"01", b"\xff", b"\xed\xa0\x80", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\0", b"\t",
          b"\x1b[2J", b'"\\ud800"', b"{} {}", b"\xef\xbb\xbf", "\u2028".encode(), b"7", b"abc", b'"', b"\\"]
BITS = ENDS + VALUES + FIELDS + [b":", b"data:", b"\n\n", b"id\n", b"data\n", b"\xef\xbb\xbf", b"\x85", b"\x0b"]

pieces = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for piece in pieces:
                if piece is None:
                    time.sleep(0.002)  # so that the pieces come one by one
                else:
                    self.wfile.write(piece)
        except OSError:
            pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def server_bind(self):
        # No name is looked up.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address


server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/"


def stream(rng):
    out = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    for _ in range(rng.choice([1, 3, 10, 40])):
        for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
            field = rng.choice(FIELDS[:3] if rng.random() < 0.8 else FIELDS)
            value = rng.choice(VALUES) if rng.random() < 0.9 else bytes(rng.choices(range(256), k=rng.choice([3, 300, 70000])))
            out += field + rng.choice([b":", b": ", b":  ", b""]) + value + rng.choice(ENDS)
        out += rng.choice(ENDS)
    if rng.random() < 0.5:
        out = rounds.mutate(rng, out, BITS)
    # A long wait before the next connection is no fault.
    return out.replace(b"retry", b"rotry")


def expected(body):
    """What the standard says: (type, id, data) of each event, as bytes."""
    if body.startswith(b"\xef\xbb\xbf"):
        body = body[3:]
    events, kind, data, last, pending = [], b"", [], b"", b""
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    for line in lines[:-1]:
        if not line:
            last = pending
            if data:
                events.append((kind or b"message", last, b"\n".join(data)))
            kind, data = b"", []
            continue
        name, _, value = line.partition(b":")
        if value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            data.append(value)
        elif name == b"event":
            kind = value
        elif name == b"id" and b"\0" not in value:
            pending = value
    return events


def ask(cut):
    pieces[:] = cut
    return rounds.run(["sse-tail", "--max-retries", "0", url], statuses=(75,), lines=1).stdout


def check(rng, folder, seed):
    body = stream(rng)
    got = []
    for line in wires.alike(rng, body, ask).split(b"\n")[:-1]:
        record = wires.parsed(line)
        got.append((record["event"], record["id"], record["data"]))
    want = []
    for kind, last, data in expected(body):
        kind, last, data = (part.decode("utf-8", "replace") for part in (kind, last, data))
        want.append((kind, last, wires.value(data)))
    wires.compare(got, want, body)


sys.exit(rounds.main("stream", check))
