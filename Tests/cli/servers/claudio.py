#!/usr/bin/env python3
"""claudio.py [LOG]: Claudio's own HTTP server, as an agent (Agent/OpenClaw/CONTRACT.md 11),
and beside it, under /v1, the OpenResponses endpoint of a gateway (section 10).

Prints a `listening` record. Every request is a line of the log: {"method","path","headers",
"body"}. What the last message says decides the answer:

  hello              answered by "You said: hello", and so is anything else
  cut                the connection ends before the answer is whole
  slow               nothing comes for a long time
  fail               500, of a run that failed
  busy               503
  no                 401 with a JSON error
  silence            an empty answer
  odd                200 with something that is no answer

Over /v1 the answer is streamed in pieces, and these are known, too:

  replace            output_text.done differs from the deltas
  late               response.failed, then response.completed
  incomplete         response.completed with the status incomplete
  whole              the response object, without a stream
  count N            N words, a delta each
"""
import http.server
import json
import sys
import threading
import time

log = open(sys.argv[1], "a", encoding="utf-8") if len(sys.argv) > 1 else None
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, body):
        if log:
            with lock:
                log.write(json.dumps({
                    "method": self.command, "path": self.path,
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": body}) + "\n")
                log.flush()

    def answer(self, status, value, kind="application/json"):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.note(None)
        if self.path == "/api/agents":
            return self.answer(200, {"agents": [
                {"id": "heron", "name": "Grey Heron", "emoji": "🪿"}, {"id": "stoat", "name": "St\x1b[31moat"}]})
        if self.path == "/v1/models":
            return self.answer(200, {"object": "list", "data": [
                {"id": "openclaw/heron", "object": "model"}, {"id": "openclaw/stoat"}]})
        self.answer(404, {"error": "nothing here"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note(body)
        if self.path == "/api/tts":
            if "silent" in body["text"]:
                return self.answer(404, {"error": "no voice"})
            if "page" in body["text"]:
                return self.answer(200, b"<html>", "text/html")
            return self.answer(200, b"ID3" + body["text"].encode(), "audio/mpeg")
        if self.path == "/api/chat/agent":
            return self.chat(body)
        if self.path == "/v1/responses":
            return self.respond(body)
        self.answer(404, {"error": "nothing here"})

    def fault(self, word):
        """Whether a word that both know was answered."""
        if word == "cut":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices":')
            self.close_connection = True
        elif word == "slow":
            time.sleep(600)
        elif word == "busy":
            self.answer(503, {"error": "busy"})
        elif word == "no":
            self.answer(401, {"error": "unauthorized"})
        elif word == "odd":
            self.answer(200, {"hello": "there"})
        else:
            return False
        return True

    def chat(self, body):
        unknown = set(body) - {"messages", "agent"}
        if unknown:
            return self.answer(400, {"error": "unexpected property: " + sorted(unknown)[0]})
        words = body["messages"][-1]["content"]
        if words == "fail":
            return self.answer(500, {"error": "it broke"})
        if self.fault(words):
            return None
        text = "" if words == "silence" else "You said: " + words
        if words == "how many":
            text = str(len(body["messages"]))
        return self.answer(200, {"choices": [{"message": {"role": "assistant", "content": text}}]})

    def respond(self, body):
        unknown = set(body) - {"model", "input", "stream", "user", "instructions"}
        if unknown:
            return self.answer(400, {"error": {
                "message": "unexpected property: " + sorted(unknown)[0],
                "type": "invalid_request_error"}})
        words = next(part["text"] for part in body["input"][-1]["content"]
                     if part["type"] == "input_text")
        failed = {"id": "resp_1", "object": "response", "status": "failed", "output": [],
                  "error": {"code": "api_error", "message": "it broke"}}
        if words == "fail":
            return self.answer(500, failed)
        if words != "cut" and self.fault(words):
            return None
        text = "You said: " + words
        pieces = [text[i:i + 4] for i in range(0, len(text), 4)]
        if words.startswith("count "):
            pieces = ["%d " % number for number in range(int(words[6:]))]
            text = "".join(pieces)
        if words == "replace":
            text = "Something else"
        if words == "silence":
            text, pieces = "", []
        done = {"id": "resp_1", "object": "response", "status": "completed",
                "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
                "usage": {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}}
        if words == "whole":
            return self.answer(200, done)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

        def event(kind, **members):
            line = json.dumps(dict({"type": kind}, **members))
            self.wfile.write(("event: %s\ndata: %s\n\n" % (kind, line)).encode())
            self.wfile.flush()

        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        event("response.created", response=dict(done, status="in_progress", output=[]))
        event("response.in_progress", response=dict(done, status="in_progress", output=[]))
        event("response.output_item.added", output_index=0, item={"type": "message"})
        event("response.content_part.added", part={"type": "output_text"}, **place)
        for number, piece in enumerate(pieces):
            event("response.output_text.delta", delta=piece, **place)
            if words == "cut" and number == 1:
                self.close_connection = True
                return None
        if words == "late":
            event("response.failed", response=failed)
        if text:
            event("response.output_text.done", text=text, **place)
        status = {"late": "failed", "incomplete": "incomplete"}.get(words, "completed")
        event("response.completed", response=dict(done, status=status))
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True
        return None


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print('{"type":"listening","url":"http://127.0.0.1:%d"}' % server.server_port, flush=True)
server.serve_forever()
