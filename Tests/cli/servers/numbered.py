#!/usr/bin/env python3
"""numbered.py [--rate N]: an endless stream of numbered events, with replay.

Event n has `id: n`, and its data says when it was made and holds some text. A client
that comes with Last-Event-ID gets what follows that one at once, one without begins
with what comes next. Each is made when its time has come, --rate of them a second.

    GET /events        the stream
    GET /count         how many were made
"""
import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

options = argparse.ArgumentParser()
options.add_argument("--rate", type=float, default=200)
options = options.parse_args()
begun = time.monotonic()


def made():
    return int((time.monotonic() - begun) * options.rate)


def event(number):
    text = "x" * (number * 37 % 900)
    return f"id: {number}\nevent: action_event\ndata: " + json.dumps({"kind": "tick", "content": text, "n": number}) + "\n\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path == "/count":
            body = str(made()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        last = self.headers.get("Last-Event-ID")
        at = int(last) if last else made()
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                now = made()
                if now > at:
                    self.wfile.write("".join(event(n) for n in range(at + 1, now + 1)).encode())
                    at = now
                time.sleep(0.005)  # between two looks at the clock
        except OSError:
            pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(json.dumps({"type": "listening", "url": f"http://127.0.0.1:{server.server_port}"}, separators=(",", ":")), flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
threading.Event().wait()
