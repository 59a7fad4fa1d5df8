"""make fuzz: the envelopes of a Connect stream, on bytes at random in pieces at random.

The same bytes give the same events however they are cut; what is printed was sent, each
event once and in order; and of a stream without faults everything is printed.
"""
import http.server
import json
import os
import socketserver
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds
import wires
from rounds import Difference

NAMES = ["turnStarted", "turn_completed", "streamGap", "assistantTextDelta", "inventedLater"]
LIMIT = 4000
BITS = [b"\0\0\0\0\2{}", b"\2\0\0\0\2{}", b"\0\0\0\0\0", b"\1\0\0\0\1x", b"\0\xff\xff\xff\xff", b"\0\0\0\x20\0",
        b"\2\0\0\0\0", b"\4\0\0\0\0", b"\0\0\0\0", b"{}", b"\n", b'"sequence":"', b'"1"', b"99999999999999999999",
        b"9223372036854775807", b"\xff", b"\xed\xa0\x80", b"\x1b[2J", b'\\u0000', b"-1", b"1.5", b"null", b'"']

pieces = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_stream = self.path.endswith("WatchThread")
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json" if is_stream else "application/json")
        self.end_headers()
        try:
            for piece in pieces if is_stream else [b"{}"]:
                if piece is None:
                    self.wfile.flush()
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


def envelope(content, flags=0):
    return struct.pack(">BI", flags, len(content)) + content


def event(rng, number):
    """An event as one of the spellings that a server may choose."""
    text = rng.choice(["a", "ä\x1b[2J", "\U0001f600", "x" * rng.choice([1, 500, 3000]), '"\\'])
    value = {"sequence": rng.choice([number, str(number)]), rng.choice(NAMES): {"delta": text}, "eventId": f"e{number}"}
    keys = list(value)
    rng.shuffle(keys)
    value = {key: value[key] for key in keys}
    return json.dumps(value, indent=rng.choice([None, None, 2]), ensure_ascii=rng.random() < 0.5).encode()


def check(rng, folder, seed):
    events = [event(rng, number + 1) for number in range(rng.choice([0, 1, 3, 30]))]
    body = b"".join(envelope(content) for content in events)
    body += rng.choice([b"", envelope(b"{}", 2), envelope(b'{"error":{"code":"unavailable","message":"\x07"}}', 2)])
    is_whole = rng.random() < 0.4
    if not is_whole:
        body = rounds.mutate(rng, body, BITS)
    cuts = wires.cuttings(rng, body)
    config = os.path.join(folder, "agentutils")
    os.mkdir(config, 0o700)
    with open(os.path.join(config, "config"), "w", encoding="utf-8") as file:
        file.write(f"[profile p]\nkind = pincer\nurl = http://127.0.0.1:{server.server_port}\n")
    environment = dict(os.environ, XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder)
    first = None
    for cut in cuts:
        pieces[:] = cut
        try:
            done = rounds.run(
                ["agent-tail", "-p", "p", "--max-retries", "0", "--max-event-bytes", str(LIMIT), "thr"],
                statuses=(2, 75), lines=3000, env=environment)
        except Difference as difference:
            difference.kept = body
            raise
        if first is None:
            first = done.stdout
        elif done.stdout != first:
            raise Difference(f"in {len(cut)} pieces: {done.stdout[:500]!r}, in one: {first[:500]!r}", body)
    last = 0
    got = []
    for line in first.split(b"\n")[:-1]:
        record = json.loads(line)
        if record["id"] != "0" and int(record["data"].get("sequence", 0)) != 0:
            if int(record["id"]) <= last or int(record["id"]) != int(record["data"]["sequence"]):
                raise Difference(f"{record['id']} behind {last}", body)
            last = int(record["id"])
        got.append(record["data"])
    if is_whole and got != [json.loads(content) for content in events]:
        raise Difference(f"{len(got)} events of {len(events)}", body)


sys.exit(rounds.main("connect", check))
