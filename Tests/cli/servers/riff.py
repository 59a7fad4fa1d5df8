"""riff.py: a voice server as Sources/Agent/Riff/CONTRACT.md has it, which hears nothing itself.

    riff.py --secret FILE --log FILE --answers FILE [--narrations FILE]

Each clip is answered by the next line of the answers, the last one for good: a JSON object
with `status` and `body` (bytes of the answer, as text), or one of these:

    {"close": "head"}     the connection is cut before the body was read
    {"close": "body"}     and when the whole body is there
    {"wait": SECONDS}     no answer for so long
    {"size": BYTES}       a body of so many spaces

What is asked for to be read aloud is answered by the lines of the narrations in the same way.

Prints a record with its URL. The log has a line for each clip: `signed`, `bytes`, `sha256`, `headers`.
"""
import argparse
import hashlib
import hmac
import json
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer_with(self.server.narrations.next())

    def do_POST(self):
        self.answer_with(self.server.answers.next())

    def answer_with(self, answer):
        if answer.get("close") == "head":
            self.server.note({"close": "head"})
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wanted = hmac.new(self.server.key, body, hashlib.sha256).hexdigest()
        signed = hmac.compare_digest(wanted, self.headers.get("X-Riff-Secret") or "")
        self.server.note({"path": self.path, "signed": signed, "bytes": len(body),
                          "sha256": hashlib.sha256(body).hexdigest(),
                          "headers": {k.lower(): v for k, v in self.headers.items()}})
        if answer.get("close") == "body":
            self.close_connection = True
            return
        time.sleep(answer.get("wait", 0))
        status = answer.get("status", 200) if signed else 401
        text = (answer.get("body", "{}") if signed else '{"error":"unauthorized"}').encode()
        if signed and "size" in answer:
            text = b" " * answer["size"]
        self.send_response(status)
        for name, value in answer.get("headers", {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if status != 204:
            self.wfile.write(text)

    def log_message(self, *_):
        pass


class Answers:
    """The lines of a file, one after the other; a file of its own begins anew."""

    def __init__(self, path):
        self.path, self.lock, self.count, self.before = path, threading.Lock(), 0, None

    def next(self):
        with self.lock, open(self.path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.strip()]
            if lines != self.before:
                self.before, self.count = lines, 0
            answer = lines[min(self.count, len(lines) - 1)]
            self.count += 1
            return answer


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, options):
        super().__init__(("127.0.0.1", 0), Handler)
        with open(options.secret, encoding="ascii") as file:
            self.key = bytes.fromhex(file.read().strip())
        self.options, self.lock = options, threading.Lock()
        self.answers, self.narrations = Answers(options.answers), Answers(options.narrations)

    def note(self, record):
        with self.lock, open(self.options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def main():
    parser = argparse.ArgumentParser()
    for name in ("secret", "log", "answers"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--narrations")
    server = Server(parser.parse_args())
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    server.serve_forever()


main()
