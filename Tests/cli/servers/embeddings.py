#!/usr/bin/env python3
"""embeddings.py [DIMENSIONS]: a server of OpenAI's POST /v1/embeddings.

The vectors are no model's: each text becomes the counts of its words and of the
triples of their letters, hashed into 256 dimensions, the same on every run. They
show what a server and a client of vectors must do; of meaning they know nothing.

    PUT /control MODE   ok; 500; hang (answers after a minute); html; short (a
                        vector too few); poison (400 to texts with "poison")
    GET /control        a line a request: model, number of texts

A line `{"type":"listening",...}` on standard output tells the URL.
"""
import json
import sys
import time
import unicodedata
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

dimensions = int(sys.argv[1]) if len(sys.argv) > 1 else 256
mode = "ok"
log = []


def vector(text):
    numbers = [0.0] * dimensions
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    for word in plain.split():
        marked = f"<{word}>"
        for piece in {marked[i:i + 3] for i in range(len(marked) - 2)} | {marked}:
            code = zlib.crc32(piece.encode())
            numbers[code % dimensions] += 1 if code & 1 << 20 else -1
    return numbers


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes: the second shall not wait for an answer to the
    # first.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()

    def do_GET(self):
        self.answer(200, "".join(f"{model} {count}\n" for model, count in log), "text/plain")

    def do_PUT(self):
        global mode
        mode = self.body()
        self.answer(200, "{}")

    def do_POST(self):
        asked = json.loads(self.body())
        if self.path != "/v1/embeddings":
            return self.answer(404, "{}")
        log.append((asked["model"], len(asked["input"])))
        texts = asked["input"]
        if mode == "500":
            return self.answer(500, '{"error":"out of memory"}')
        if mode == "hang":
            time.sleep(60)  # longer than anybody waits
        if mode == "html":
            return self.answer(200, "<html>sleeping</html>", "text/html")
        if mode == "poison" and any("poison" in text for text in texts):
            return self.answer(400, '{"error":"input is too long"}')
        if mode == "short":
            texts = texts[1:]
        data = [{"object": "embedding", "index": index, "embedding": vector(text)}
                for index, text in enumerate(texts)]
        # The order is the index's, not the array's.
        self.answer(200, json.dumps({"object": "list", "model": asked["model"],
                                     "data": data[::-1]}))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
print(json.dumps({"type": "listening", "url": f"http://127.0.0.1:{server.server_port}"},
                 separators=(",", ":")), flush=True)
server.serve_forever()
