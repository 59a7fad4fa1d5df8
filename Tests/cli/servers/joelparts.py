#!/usr/bin/env python3
"""The HTTP parts of a joelclaw system: Inngest, the worker and Qdrant on one port
(Agent/Joelclaw/CONTRACT.md 5).

usage: joelparts.py [--log FILE] [--control FILE]

Prints a `listening` record. Each question in GraphQL is a line of the log. The words of the file
of --control change what it does: `slow` answers nothing for 30 s, `fault` answers GraphQL with
errors, `plain` with text that is no JSON, `twice` has functions that are registered twice,
`odd` has names that a terminal obeys, `page` answers GET with a page, `refuse` with 401, `empty`
with an object of nothing, `stopped` has a worker that is not at work, `bare` answers GraphQL
without what was asked for, `words` with errors that are a string, `many` has 120 runs at work, of
which one cannot be looked up, `endless` as many runs as are asked for.
"""
import argparse
import json
import re
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

options = argparse.ArgumentParser(add_help=False)
options.add_argument("--log")
options.add_argument("--control")
options = options.parse_args()

FUNCTIONS = [{"id": "f-1", "slug": "sys-tides", "name": "Tide table",
              "triggers": [{"type": "CRON", "value": "0 6 * * *"}]},
             {"id": "f-2", "slug": "sys-mail", "name": "Mail",
              "triggers": [{"type": "EVENT", "value": "mail/received"}]}]
RUNS = [("01A", "RUNNING", "f-1", None, None), ("01B", "RUNNING", "f-2", None, None),
        ("01C", "COMPLETED", "f-1", "2026-11-22T06:00:09Z", "\"done\""),
        ("01D", "FAILED", "f-2", "2026-11-22T05:00:03Z", "no such mailbox"),
        ("01E", "QUEUED", "f-9", None, None), ("01F", "CANCELLED", "f-1", None, None)]


def words():
    try:
        with open(options.control, encoding="utf-8") as file:
            return file.read().split()
    except (OSError, TypeError):
        return []


def balanced(query):
    return all(query.count(a) == query.count(b) for a, b in ("{}", "()", "[]"))


def answer(query):
    if "fault" in words():
        return 422, {"errors": [{"message": "the query is bad\x1b[2J"}], "data": None}
    if not balanced(query):
        return 400, {"errors": [{"message": "syntax"}]}
    if "bare" in words():
        return 200, {"data": {"functions": None, "runs": None}}
    if "words" in words():
        return 200, {"errors": "boom", "data": {"functions": FUNCTIONS}}
    if "many" in words() and "runID" in query:
        looked = re.findall(r"(\w+):run\(runID:\"(\w+)\"\)", query)
        data = {name: None if run == "R7" else {"status": "COMPLETED", "endedAt": None,
                                                "output": None} for name, run in looked}
        lost = any(run == "R7" for _, run in looked)
        return 200, {"data": data, "errors": [{"message": "no such run"}] if lost else None}
    data = {}
    for name, run in re.findall(r"(\w+):run\(runID:\"(\w+)\"\)\{status endedAt output\}", query):
        ended = run == "01B"
        data[name] = {"status": "COMPLETED" if ended else "RUNNING",
                      "endedAt": "2026-11-22T07:00:00Z" if ended else None, "output": None}
    if "functions{" in query:
        data["functions"] = FUNCTIONS
        if "odd" in words():
            data["functions"] = [dict(FUNCTIONS[0], name="red \x1b[31m")]
    runs = re.search(r"runs\(filter:\{from:\"([^\"]+)\"\},orderBy:\[\{field:STARTED_AT,"
                     r"direction:DESC\}\],first:(\d+)\)", query)
    if runs:
        datetime.fromisoformat(runs[1].replace("Z", "+00:00"))
        all_runs = RUNS
        if "many" in words():
            all_runs = [("R%d" % number, "RUNNING", "f-1", None, None) for number in range(120)]
        if "endless" in words():
            all_runs = [("R%d" % number, "FAILED", "f-1", None, "") for number in range(2000)]
        data["runs"] = {"edges": [{"node": {
            "id": each[0], "status": each[1], "functionID": each[2],
            "startedAt": "2026-11-22T05:00:00Z", "endedAt": each[3], "output": each[4]}}
            for each in all_runs[:int(runs[2])]]}
    events = re.search(r"eventsV2\(first:(\d+),filter:\{from:\"([^\"]+)\",includeInternalEvents:"
                       r"false\}\)", query)
    if events:
        data["eventsV2"] = {"edges": [{"node": {
            "id": "e%d" % number, "name": "mail/received",
            "occurredAt": datetime.now(timezone.utc).isoformat(),
            "raw": json.dumps({"data": {"n": number}})}} for number in range(int(events[1]))]}
    return 200, {"data": data}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, status, value, kind="application/json"):
        data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin(self):
        if "slow" in words():
            time.sleep(30)  # longer than anybody waits

    def do_GET(self):
        self.begin()
        if "page" in words():
            return self.reply(200, "<html>log in</html>", "text/html")
        if "refuse" in words():
            return self.reply(401, {"error": "no"})
        if "empty" in words():
            return self.reply(200, {})
        if self.path == "/health":
            return self.reply(200, {"status": 200, "message": "OK"})
        if self.path == "/collections":
            return self.reply(200, {"result": {"collections": [{"name": "notes"}]},
                                    "status": "ok"})
        if self.path == "/":
            twice = ["f-1"] if "twice" in words() else []
            if "stopped" in words():
                return self.reply(200, {"service": "worker", "status": "stopped", "count": 2})
            return self.reply(200, {"service": "worker", "status": "running", "count": 2,
                                    "functions": ["f-1", "f-2"], "n": 1.10, "worker": {
                                        "role": "host", "duplicateFunctionIds": twice,
                                        "startedAt": "2026-11-22T01:00:00Z"}})
        return self.reply(404, {"error": "no such path"})

    def do_POST(self):
        self.begin()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if options.log:
            with open(options.log, "a", encoding="utf-8") as log:
                log.write(json.dumps(body["query"]) + "\n")
        if "plain" in words():
            return self.reply(502, "<html>bad gateway</html>", "text/html")
        return self.reply(*answer(body["query"]))


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(json.dumps({"type": "listening", "url": "http://127.0.0.1:%d" % server.server_port},
                 separators=(",", ":")), flush=True)
server.serve_forever()
