#!/usr/bin/env python3
"""cpu.py SIZE TEMPLATE COMMAND ARG...: the processor time that odd texts cost.

The command gets the file TEMPLATE, with each @ exchanged for a text of SIZE bytes as
the inside of a JSON string: on its standard input, and from AGENT_URL. A text four times as long must
not cost much more than four times the time. Time on the processor is measured: a
busy machine changes nothing.
"""
import http.server
import json
import os
import resource
import subprocess
import sys
import threading

TEXTS = {
    "marks": "e" + "\u0301" * 40,
    "stack": "\u0301",
    "words": "ab ",
    "blanks": " ",
    "word": "x",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d",
    "shades": "\U0001f44d\U0001f3fd\U0001f3fd",
    "flags": "\U0001f1e9\U0001f1ea",
    "ideographs": "\u6f22",
    "conjuncts": "\u0915\u094d",
    "vowels": "\u093e",
    "signs": "\u0600",
    "jamo": "\u1100\u1161",
    "lines": "\n",
    "invisible": "\u200b",
    "backslashes": "\\",
}


class Answer(http.server.BaseHTTPRequestHandler):
    """The same for every question."""

    text = b""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.text)))
        self.end_headers()
        self.wfile.write(self.text)

    def log_message(self, *_):
        pass


def cost(arguments, text):
    """Seconds of user time, and whether the command was well."""
    Answer.text = text.encode()
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run(arguments, input=Answer.text, stdout=subprocess.DEVNULL, timeout=500)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, run.returncode


def main():
    size = int(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        template = file.read()
    arguments = sys.argv[3:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ["AGENT_URL"] = f"http://127.0.0.1:{server.server_port}"
    bad = 0
    for name, piece in TEXTS.items():
        text = piece * (size // len(piece.encode()) + 1)
        once, code = cost(arguments, template.replace("@", json.dumps(text)[1:-1]))
        more, second = cost(arguments, template.replace("@", json.dumps(text * 4)[1:-1]))
        if code or second or more > 6 * once + 1:
            print(f"{name}: status {code}, {second}; {once:.2f} s, four times as long {more:.2f} s")
            bad += 1
    sys.exit(1 if bad else 0)


main()
