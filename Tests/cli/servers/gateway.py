#!/usr/bin/env python3
"""An OpenClaw gateway with faults, over raw sockets (Agent/OpenClaw/CONTRACT.md).

usage: gateway.py [--protocol 3|4] [--token TOKEN] [--log FILE] [--tick MS] [--pace MS]
                  [--pair] [--drops N] [--seed N] [--grant SCOPE,...] [--control FIFO]
                  [--approvals early|late] [--files JSON] [--odd] [--thrice] [--queue steer|followup]
                  [--questions]

Prints a `listening` record. Every frame that comes is a line of the log:
{"connection":N,"frame":{...}}. A message `count N` is answered with N words, `tool` with a
tool call in between, `silence` with nothing, `fail WORDS` with an error, `forever` without an end,
`draft` with a text that is replaced, `blank` with one that the end leaves out, and the words of
hostile.py with what it says; `wide N` with a text of N letters, `slow N PACE` with N words, one each
PACE seconds; any other is echoed. With --drops, connections are cut N times in
all, at random moments of replies; the runs go on meanwhile. The codes of close frames that come
are lines of LOG.closed. With --thrice, challenges are repeated.

A gateway of protocol 4 gives keys, ids and runs of rows, cuts live texts at 500,000 characters and
rows of the history at as many as are asked for, 8000 unasked, and leaves out what is longer than
a megabyte. With --queue, what is said while a run of the conversation is at work goes into that one,
or waits for its end, and has no answer of its own; a message may say it itself. With --old, texts are
cut without a word, and none is given whole. With --questions, its agents ask persons: `ask_user JSON`
does, and goes on when that is answered.

--approved are the scopes that a person has allowed; for more the device is to be approved again.

--files is what the greeting says of attachments. With --odd, agents, threads, models and the
greeting itself have names that a terminal obeys.

Lines that come through the FIFO, and are in FIFO.done when they were obeyed:
  drop            cut all connections          close CODE REASON   close them
  hush            no more ticks                skip N              leave out N broadcasts
  event NAME JSON broadcast                    raw TEXT            a text frame as it is
  ask ID JSON     an approval waits            resolve ID WORD     somebody else answers
  foreign ID JSON an approval waits that only operator.admin sees
  lapse ID        nobody answered, as late gateways say it     over ID  its run was ended
  expire ID       nobody answered              forget              no run and no key is known
  age SECONDS     all that was said is so much older
  refuse JSON     the error of the next connect, for ever: `refuse` alone ends it
  door TEXT       503 with this text (403 for that of a proxy) instead of a WebSocket, for ever: `door` alone ends it
  pair            the device is let in         mute METHOD         never answer a method
  cut METHOD      cut the connection when a method is called, once, after it was done
  lose METHOD     the same before it was done      crash METHOD  and no approval is known
  reply METHOD JSON  answer the next call of a method with this, and do nothing
  answers METHOD FILE  the same with a line of a file each time, and with the last one for ever
  label KEY WORDS    somebody names a conversation
  busy METHOD MS  refuse the next call of a method: not before so many milliseconds
  question ID JSON  a question waits, of no run      answer ID JSON  somebody else answers
  withdraw ID     the run that asks is ended         overdue ID      nobody answered
  brief ID MS     an approval waits, which nobody hears the end of
  settle ID WORD  somebody else answers, which is not told
  kill [SECONDS]  the gateway ends in the middle, and goes on with what it did under other runs, soon,
                  or after so long, before which it says nothing of it
  say KEY WORDS   somebody else says this in a conversation
  rest            wait until no run is at work
  short           no row is given whole        compact  no cursor that was given holds
"""
import argparse
import base64
import hashlib
import json
import os
import random
import socket
import struct
import threading
import time

import hostile

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

KEYS = {
    "connect": {"minProtocol", "maxProtocol", "client", "role", "scopes", "caps", "auth", "device",
                "commands", "permissions", "pathEnv", "locale", "userAgent"},
    "chat.send": {"sessionKey", "message", "idempotencyKey", "thinking", "deliver", "attachments",
                  "timeoutMs", "queueMode"},
    "chat.abort": {"sessionKey", "runId"},
    "chat.history": {"sessionKey", "limit", "offset", "maxChars", "cursor"},
    "chat.message.get": {"sessionKey", "messageId"},
    "agent.wait": {"runId", "timeoutMs"},
    "agents.list": set(), "sessions.list": {"limit", "includeDerivedTitles"}, "sessions.subscribe": set(),
    "sessions.messages.subscribe": {"key", "includeApprovals"},
    "exec.approval.list": set(), "exec.approval.get": {"id"},
    "exec.approval.resolve": {"id", "decision"},
    "models.list": set(), "device.pair.list": set(), "cron.list": set(), "health": set(),
    "sessions.patch": {"key", "model", "thinkingLevel"},
    "audit.activity.list": {"limit", "cursor"}, "sessions.delete": {"key"},
    "sessions.usage": {"limit", "startDate", "endDate", "agentScope"},
}
LATE = {"approval.resolve": {"id", "kind", "decision"}, "approval.get": {"id"},
        "approval.history": set()}
# What agents ask persons: without the scope of who begins a run it can ask nothing.
QUESTIONS = {"question.list": set(), "question.get": {"id"},
             "question.resolve": {"id", "answers", "cancel", "resolvedBy"}}
MODES = ("steer", "followup", "collect", "interrupt")
LEVELS = ("off", "minimal", "low", "medium", "high")
NEEDS = {"chat.send": "operator.write", "chat.abort": "operator.write",
         "sessions.patch": "operator.write",
         "device.pair.list": "operator.pairing", "sessions.delete": "operator.admin"}

options = argparse.ArgumentParser(add_help=False)
options.add_argument("--protocol", type=int, default=4)
options.add_argument("--token")
options.add_argument("--log")
options.add_argument("--tick", type=int, default=30000)
options.add_argument("--pace", type=float, default=5)
options.add_argument("--pair", action="store_true")
options.add_argument("--drops", type=int, default=0)
options.add_argument("--seed", type=int, default=1)
options.add_argument("--grant")
options.add_argument("--control")
options.add_argument("--odd", action="store_true")
options.add_argument("--main-key", default="main")
options.add_argument("--scope", default="per-sender")
options.add_argument("--files", type=json.loads)
options.add_argument("--thrice", action="store_true")
options.add_argument("--approved")
options.add_argument("--queue", choices=["steer", "followup"])
options.add_argument("--old", action="store_true")
options.add_argument("--questions", action="store_true")
options.add_argument("--approvals", choices=["early", "late"])
options = options.parse_args()
if options.old:
    KEYS["chat.history"] -= {"maxChars", "cursor"}
    KEYS["sessions.list"] -= {"includeDerivedTitles"}
    KEYS["sessions.usage"] -= {"agentScope"}
    del KEYS["chat.message.get"]
    del KEYS["sessions.patch"]
if options.approvals == "late":
    KEYS.update(LATE)
if options.questions:
    KEYS.update(QUESTIONS)

lock = threading.RLock()
chance = random.Random(options.seed)
log = open(options.log, "a", encoding="utf-8") if options.log else None
connections = []
runs = {}
history = {}
approvals = {}
settled = {}
fates = {}
questions = {}
labels = {}
# What the runs did, the oldest first.
audit = []
# Those that runs of other devices ask for.
foreign = set()
state = {"hush": False, "door": "", "skip": 0, "refuse": None, "paired": not options.pair,
         "mute": set(), "reply": {}, "answers": {}, "boot": 1, "generation": 1, "said": 0, "short": False, "cut": set(), "lose": set(), "crash": set(), "drops": options.drops, "seq": 0, "made": 0, "go": threading.Event()}


def now():
    return int(time.time() * 1000)


class Gone(Exception):
    pass


class Connection:
    def __init__(self, sock):
        self.sock = sock
        # A long frame takes several writes: another thread's must not come between them.
        self.writing = threading.Lock()
        self.buffer = b""
        self.isOpen = False
        self.seq = 0
        self.scopes = []
        self.heard = set()
        self.sessions, self.isSubscribed = set(), False
        state["made"] += 1
        self.number = state["made"]
        self.nonce = "nonce-%d" % self.number
        self.time = now()

    def read(self, count):
        while len(self.buffer) < count:
            piece = self.sock.recv(65536)
            if not piece:
                raise Gone()
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def greet(self):
        while b"\r\n\r\n" not in self.buffer:
            piece = self.sock.recv(65536)
            if not piece:
                raise Gone()
            self.buffer += piece
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        key = next((line.split(b":", 1)[1].strip() for line in head.split(b"\r\n")
                    if line.lower().startswith(b"sec-websocket-key:")), None)
        if head.startswith(b"GET /health "):
            self.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                              b"Content-Length: 27\r\n\r\n" b'{"ok":true,"status":"live"}')
            raise Gone()
        if key is None:
            self.sock.sendall(b"HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n")
            raise Gone()
        if state["door"]:
            body = state["door"].encode()
            status = b"403 Forbidden" if b"proxy_attribution" in body else b"503 Busy"
            self.sock.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\n"
                              b"Content-Length: %d\r\n\r\n" % len(body) + body)
            raise Gone()
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        self.sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                          b"Connection: Upgrade\r\nSec-WebSocket-Accept: "
                          + base64.b64encode(digest) + b"\r\n\r\n")

    def frame(self, opcode, data):
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([len(data)])
        elif len(data) < 65536:
            head += b"\x7e" + struct.pack("!H", len(data))
        else:
            head += b"\x7f" + struct.pack("!Q", len(data))
        self.write(head + data)

    def write(self, data):
        with self.writing:
            try:
                self.sock.sendall(data)
            except OSError:
                pass

    def send(self, value):
        self.frame(1, json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())

    def close(self, code, reason=""):
        self.frame(8, struct.pack("!H", code) + reason.encode())
        self.cut()

    def cut(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def message(self):
        """The next text frame; pings are answered."""
        whole = b""
        while True:
            first, second = self.read(2)
            length = second & 127
            if length == 126:
                length, = struct.unpack("!H", self.read(2))
            elif length == 127:
                length, = struct.unpack("!Q", self.read(8))
            if not second & 128:
                raise Gone()
            mask = self.read(4)
            data = self.read(length)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
            opcode = first & 15
            if opcode == 8:
                if options.log:
                    with open(options.log + ".closed", "a", encoding="utf-8") as codes:
                        codes.write("%d\n" % int.from_bytes(data[:2], "big"))
                self.frame(8, data)
                raise Gone()
            if opcode == 9:
                self.frame(10, data)
            elif opcode in (0, 1):
                whole += data
                if first & 128:
                    return whole


def error(code, message, /, **details):
    value = {"code": code, "message": message}
    extra = {k: details.pop(k) for k in ("retryable", "retryAfterMs") if k in details}
    if details:
        value["details"] = details
    value.update(extra)
    return value


def note(run, status):
    started = status == "started"
    audit.append({
        "schemaVersion": 1, "sequence": len(audit) + 1, "eventId": "event-%d" % len(audit),
        "sourceSequence": run.seq + 1, "occurredAt": now(), "redaction": "metadata_only",
        "agentId": run.key.split(":")[1] if ":" in run.key else "heron", "sessionKey": run.key,
        "runId": run.id, "kind": "agent_run", "status": status, "eventType": "agent_run",
        "action": "agent.run.started" if started else "agent.run.finished",
        "actor": {"type": "agent", "id": "heron"}})


def tell_audit(params):
    """The newest first; a cursor is the number of the last one that was given."""
    limit = params.get("limit", 100)
    if limit > 500:
        return [error("INVALID_REQUEST", "invalid audit.activity.list params: at /limit: must be <= 500")]
    with lock:
        rows = [each for each in reversed(audit)
                if each["sequence"] < int(params.get("cursor", len(audit) + 1))]
    answer = {"events": rows[:limit]}
    if len(rows) > limit:
        answer["nextCursor"] = str(rows[limit - 1]["sequence"])
    return answer


def tell_sessions(params):
    with lock:
        busy = {each.key for each in runs.values() if not each.isOver}
        rows = []
        for key in sorted(history):
            row = {"key": key, "updatedAt": history[key][-1]["timestamp"],
                   "status": "running" if key in busy else "done", "hasActiveRun": key in busy}
            if key in labels:
                row.update(label=labels[key], displayName=labels[key])
            if options.odd:
                row["displayName"] = hostile.ODD
            if params.get("includeDerivedTitles") and "displayName" in row:
                row["derivedTitle"] = row["displayName"]
            rows.append(row)
        return {"sessions": rows}


NO_COST = {name: 0 for name in (
    "input", "output", "cacheRead", "cacheWrite", "totalTokens", "totalCost", "inputCost",
    "outputCost", "cacheReadCost", "cacheWriteCost", "missingCostEntries")}


def broadcast(name, payload, scope="operator.read", key=None):
    """key: a conversation, of which only those are told who asked for that."""
    with lock:
        if state["skip"]:
            state["skip"] -= 1
            state["seq"] += 1
            for each in connections:
                each.seq += 1
            return
        state["seq"] += 1
        for each in list(connections):
            if not each.isOpen or scope not in each.scopes:
                continue
            if key and key not in each.sessions and not each.isSubscribed:
                continue
            each.seq += 1
            number = each.seq if options.protocol >= 4 else state["seq"]
            body = payload(each) if callable(payload) else payload
            each.send({"type": "event", "event": name, "payload": body, "seq": number})


LIVE, ROW, LEAST = 500000, 1000000, 8000


def text_message(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "timestamp": now()}


def live(text):
    return text if options.protocol == 3 else text[:LIVE]


def add_row(key, row, **more):
    """A row of a conversation, as this version of the gateway keeps them."""
    rows = history.setdefault(key, [])
    if options.protocol >= 4 and not options.old:
        row["__openclaw"] = dict(more, id="row-%s-%d" % (key, len(rows)), seq=len(rows) + 1,
                                 recordTimestampMs=now())
    rows.append(row)
    if "__openclaw" in row:
        broadcast("session.message", row_event(key, row), key=key)


def row_event(key, row):
    """What is told of a row; the members of its conversation make it look like an action."""
    return {"sessionKey": key, "agentId": "heron", "message": cut(row, LEAST),
            "messageId": row["__openclaw"]["id"], "messageSeq": row["__openclaw"]["seq"],
            "kind": "direct", "createdAt": row["timestamp"], "sessionId": "sess-1"}


def cursor_of(key):
    last = {"generation": state["generation"], "key": key, "lastSeq": len(history.get(key, []))}
    return base64.urlsafe_b64encode(json.dumps(last).encode()).decode().rstrip("=")


def behind(cursor, key):
    """The rows behind a cursor; None where it does not hold, or they are too many."""
    try:
        last = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if last["generation"] != state["generation"] or last["key"] != key:
            return None
        rows = [row_event(key, row) for row in history[key][last["lastSeq"]:]]
    except (ValueError, KeyError, TypeError):
        return None
    return rows if len(rows) <= 200 and len(json.dumps(rows)) <= 1000000 else None


def words_of(row):
    content = row["content"]
    return content if isinstance(content, str) else content[0]["text"]


def cut(row, most):
    """A row as it is given: the beginning of its text, or nothing of one that is far too long."""
    text = words_of(row)
    if len(text) <= most and len(text) <= ROW and not state["short"]:
        return row
    isHuge = len(text) > ROW
    text = "[chat.history omitted: message too large]" if isHuge else \
        text[:min(most, LEAST if state["short"] else most)] + "\n...(truncated)..."
    row = dict(row, content=[{"type": "text", "text": text}])
    if "__openclaw" in row:
        row["__openclaw"] = dict(row["__openclaw"], truncated=True,
                                 reason="oversized" if isHuge else "display-cap")
        if isHuge:
            row["__openclaw"].pop("runId", None)
    return row


class Killed(Exception):
    pass


class Run:
    def __init__(self, key, run):
        self.key, self.id = key, run
        self.text = ""
        self.seq = 0
        self.isOver = False
        self.hasFailed = False
        self.wantsEnd = False
        self.isDead = False
        self.words = ""
        self.mode = options.queue
        # What others said meanwhile, which is answered here.
        self.others = []

    def tell(self, chat_state, connection=None, **members):
        self.seq += 1
        payload = {"runId": self.id, "sessionKey": self.key, "seq": self.seq, "state": chat_state}
        payload.update(members)
        return payload

    def delta(self, piece, replace=False):
        with lock:
            if self.isDead:
                raise Killed()
            told = len(live(self.text))
            self.text = piece if replace else self.text + piece
            self.seq += 1
            if not replace:
                piece = live(self.text)[told:]

            def payload(connection):
                body = {"runId": self.id, "sessionKey": self.key, "seq": self.seq,
                        "state": "delta"}
                if options.protocol == 3:
                    body["message"] = text_message(live(self.text))
                    return body
                body["deltaText"] = piece
                if replace:
                    body["replace"] = True
                elif self.id not in connection.heard:
                    body["message"] = text_message(live(self.text))
                connection.heard.add(self.id)
                return body
            broadcast("chat", payload)
            # One that nobody would notice is none.
            there = [each for each in connections if each.isOpen]
            if state["drops"] and there and chance.random() < 0.2:
                state["drops"] -= 1
                for each in there:
                    each.cut()
        time.sleep(options.pace / 1000)  # between two pieces of a reply

    def agent(self, stream, data):
        self.seq += 1
        broadcast("agent", {"runId": self.id, "sessionKey": self.key, "seq": self.seq,
                            "stream": stream, "ts": now(), "data": data})

    def end(self, chat_state, **members):
        with lock:
            self.isOver = True
            self.hasFailed = chat_state == "error"
            if self.isDead:
                raise Killed()
            note(self, {"final": "succeeded", "error": "failed"}.get(chat_state, "cancelled"))
            if chat_state == "final" and self.text:
                add_row(self.key, text_message(self.text), runId=self.id)
            for other in self.others:
                other.finish(self)
            steered = [other for other in self.others if other.mode == "steer"]
            if steered:
                said = ["Also: " + other.words for other in steered]
                self.isOver = False
                threading.Timer(0.3, self.answer, [said, members]).start()  # the agent thinks
                return
            broadcast("chat", self.tell(chat_state, **members))

    def ask(self, asked):
        call = {"name": "ask_user", "toolCallId": "call_ask"}
        self.agent("tool", dict(call, phase="start", args={"questions": asked}))
        said = "Session-scoped access requires a verified user profile."
        if "operator.questions" in self.scopes:
            question = ask("ask_" + self.id, asked, self)
            while question["status"] == "pending":
                time.sleep(0.02)  # a person who thinks
            said = "%s: %s" % (question["status"],
                               json.dumps(question.get("answers", {}).get("answers", {})))
        self.agent("tool", dict(call, phase="result", isError=False,
                                result={"content": [{"type": "text", "text": said}]}))
        self.delta(said)
        self.end("final", message=text_message(self.text), stopReason="stop")

    def answer(self, said, members):
        """What was said into this run is answered in it, behind its own words."""
        with lock:
            for text in said:
                add_row(self.key, text_message(text), runId=self.id)
            self.text = "\n\n".join([self.text] + said)
            self.isOver = True
            broadcast("chat", self.tell("final", **dict(members, message=text_message(self.text))))

    def finish(self, target):
        """The end of one whose words went elsewhere: into another run, or one behind it."""
        self.isOver = True
        row = {"role": "user", "content": self.words, "timestamp": now(),
               "idempotencyKey": self.id + ":user"}
        if self.mode == "steer":
            add_row(self.key, row, steerTargetRunId=target.id)
        else:
            run = Run(self.key, "behind-" + self.id)
            runs[run.id] = run
            if self.mode == "collect":
                row.update(idempotencyKey="followup-collect:c1:" + run.id,
                           content="[Queued messages while agent was busy]\n\n---\n"
                                   "Queued #1 (from cli)\n" + self.words)
            add_row(self.key, row)
            threading.Timer(0.3, run.answer, [["Also: " + self.words], {}]).start()
        broadcast("chat", self.tell("final"))

    def go(self, words):
        try:
            self.work(words)
        except Killed:
            pass

    def work(self, words):
        self.words = words
        note(self, "started")
        broadcast("chat", self.tell("status", phase="starting_model"))
        self.agent("lifecycle", {"phase": "start", "startedAt": now()})
        first = words.split(" ")[0]
        if first == "ask_user":
            return self.ask(json.loads(words.split(" ", 1)[1]))
        if first in hostile.WORDS:
            return hostile.go(self, words, connections, lock)
        if first == "fail":
            self.delta("half")
            return self.end("error", errorMessage=words[5:] or "too many requests", errorKind="rate_limit")
        if first == "hold":
            # What is said behind the first piece is lost; the end comes when it is told to.
            kind = words.split(" ")[1]
            if kind != "silent":
                self.delta("half ")
                self.text += "more"
            state["go"].wait(60)
            if kind == "error":
                return self.end("error", errorMessage="too many requests", errorKind="rate_limit")
            with lock:
                self.isOver = True
                return broadcast("chat", self.tell("final", stopReason="stop"))
        if first == "silence":
            return self.end("final", stopReason="stop")
        if first == "blank":
            self.delta("Said ")
            self.delta("before")
            return self.end("final", message=text_message(""))
        if first == "draft":
            self.delta("Draft one")
            self.delta("", replace=True)
            self.delta("Better")
            self.delta("Best", replace=True)
        elif first == "tool":
            self.delta("Looking. ")
            call = {"name": "exec", "toolCallId": "call_1"}
            self.agent("tool", dict(call, phase="start", args={"command": "tide --port KIL"}))
            self.agent("tool", dict(call, phase="result", isError=False, meta="tide --port KIL"))
            self.delta("High at 06:12.")
        elif first == "permit":
            # A command that waits, as the real one tells it; somebody else has allowed it then.
            call = {"name": "exec", "toolCallId": "call_1"}
            approval = {"approvalId": "ap-1", "toolCallId": "call_1"}
            self.agent("tool", dict(call, phase="start", args={"command": "uname -s"}))
            if words == "permit alone":
                # Where no approver is connected.
                error = "exec denied: Headless runs cannot wait for interactive exec approval."
                self.agent("tool", dict(
                    call, phase="result", isError=True, meta="uname -s",
                    result={"content": [{"type": "text", "text": error}]}))
            else:
                self.agent("lifecycle", dict(approval, phase="waiting-approval"))
                self.agent("lifecycle", dict(approval, phase="approval-resolved"))
                self.agent("tool", dict(call, phase="result", isError=False, meta="uname -s"))
            self.delta("Done.")
        elif first == "count":
            for number in range(int(words.split(" ")[1])):
                self.delta("%d " % number)
                if self.wantsEnd:
                    break
        elif first == "wide":
            self.delta("x" * int(words.split(" ")[1]))
        elif first == "slow":
            count, pace = words.split(" ")[1:]
            for number in range(int(count)):
                self.delta("%d " % number)
                time.sleep(float(pace))  # an agent that is slow
        elif first == "forever":
            while not self.wantsEnd:
                self.delta("and on ")
        else:
            self.delta("You said: ")
            self.delta(words)
        if self.wantsEnd:
            return self.end("aborted", stopReason="rpc")
        self.end("final", message=text_message(live(self.text)), stopReason="stop",
                 usage={"input": 3, "output": 5})


def ask(id, asked, run=None):
    """A question of an agent; it lives on for a while when it is over."""
    with lock:
        questions[id] = dict({"id": id, "questions": asked, "agentId": "heron"},
                             **({"sessionKey": run.key, "runId": run.id} if run else {}),
                             createdAtMs=now(), expiresAtMs=now() + 900000, status="pending")
        broadcast("question.requested", questions[id], "operator.questions")
    return questions[id]


def end_question(question, status, **more):
    with lock:
        question.update(more, status=status)
        told = {name: question[name] for name in ("id", "status", "answers") if name in question}
        broadcast("question.resolved", told, "operator.questions")
    return {name: value for name, value in told.items() if name != "id"}


def resolve_question(params):
    question = questions.get(params["id"])

    def refuse(reason, words):
        return [error("INVALID_REQUEST", words, reason=reason)]
    if question is None:
        return refuse("QUESTION_NOT_FOUND", "question '%s' was not found" % params["id"])
    if question["status"] != "pending":
        return refuse("QUESTION_ALREADY_TERMINAL",
                      "question '%s' is already %s" % (params["id"], question["status"]))
    by = {"resolvedBy": params["resolvedBy"]} if "resolvedBy" in params else {}
    if params.get("cancel"):
        return end_question(question, "cancelled", **by)
    given = params["answers"]["answers"]
    for each in question["questions"]:
        values = given.get(each["questionId"], [])
        labels = [option["label"] for option in each["options"]]
        bad = not values or len(values) > 1 and not each.get("multiSelect")
        if labels and not each.get("isOther"):
            bad = bad or any(value not in labels for value in values)
        if bad:
            return refuse("QUESTION_INVALID_ANSWER",
                          "question '%s' requires another answer" % each["questionId"])
    return end_question(question, "answered", answers={"answers": given}, **by)


def patch(params):
    if params.get("thinkingLevel", "low") not in LEVELS:
        return [error("INVALID_REQUEST", "invalid thinkingLevel (use %s)" % "|".join(LEVELS))]
    if params.get("model", "").startswith("nope/"):
        return [error("INVALID_REQUEST",
                      'Unknown provider "nope". Use /models to list providers.')]
    return {"ok": True, "key": params["key"], "entry": {}}


def send_chat(connection, params):
    key, run = params["sessionKey"], params["idempotencyKey"]
    with lock:
        if run in runs:
            if runs[run].hasFailed:
                return {"runId": run, "status": "error", "summary": "rate_limit: it had failed"}
            return {"runId": run, "status": "ok" if runs[run].isOver else "in_flight"}
        made = runs[run] = Run(key, run)
        words = params["message"]
        made.words = words
        made.mode = params.get("queueMode", options.queue)
        made.scopes = connection.scopes if connection else []
        if any(row.get("idempotencyKey") == run + ":user" for row in history.get(key, [])):
            # It is known that it was said, and no more.
            made.isOver = True
            made.hasFailed = state["boot"] > 1
            broadcast("chat", made.tell("error", errorMessage="Agent run failed")
                      if made.hasFailed else made.tell("final"))
            return {"runId": run, "status": "started"}
        busy = [each for each in runs.values()
                if each.key == key and not each.isOver and each is not made]
        if made.mode == "interrupt":
            for each in busy:
                each.wantsEnd = True
        elif made.mode and busy:
            busy[0].others.append(made)
            return {"runId": run, "status": "started"}
        row = {"role": "user", "content": words, "timestamp": now()}
        if options.protocol >= 4 and not options.old:
            row["idempotencyKey"] = run + ":user"
        add_row(key, row)
    threading.Thread(target=made.go, args=(words,), daemon=True).start()
    return {"runId": run, "status": "started"}


def kill(late=None):
    """The end of the gateway and its next start, which goes on with what was at work; one that has
    much to do says nothing of it for so many seconds."""
    with lock:
        dead = [each for each in runs.values() if not each.isOver]
        for each in dead:
            each.isDead = True
        runs.clear()
        state["boot"] += 1
        for each in list(connections):
            each.cut()

    def again():
        time.sleep(late or 1)  # as long as the real one takes
        for each in dead:
            with lock:
                run = Run(each.key, "again-" + each.id)
                runs[run.id] = run
                add_row(each.key, {
                    "role": "user", "content": "Go on with what the restart cut.",
                    "timestamp": now(), "idempotencyKey": run.id + ":user",
                    "provenance": {"kind": "internal_system",
                                   "sourceTool": "main_session_restart_recovery"}})
            run.go(each.words)
    state["dead"] = set() if late else {each.key for each in dead}
    threading.Thread(target=again, daemon=True).start()


def tell_history(params):
    key = params["sessionKey"]
    active = [each for each in runs.values() if each.key == key and not each.isOver]
    most = params.get("maxChars", LEAST)
    if most > LIVE:
        return [error("INVALID_REQUEST",
                      "invalid chat.history params: at /maxChars: must be <= 500000")]
    limit = params.get("limit", 200)
    rows = [cut(row, most) for row in history.get(key, [])[-limit:]]
    answer = {"sessionKey": key, "sessionId": "sess-1", "messages": rows,
              "hasMore": len(history.get(key, [])) > limit, "pendingInputs": {"items": [], "total": sum(len(each.others) for each in active)},
              "sessionInfo": {"hasActiveRun": bool(active) or key in state.get("dead", ()),
                              "activeRunIds": [each.id for each in active]}}
    if "cursor" in params:
        rows = behind(params["cursor"], key)
        if rows is None:
            return {"kind": "reset"}
        for name in ("sessionKey", "sessionId", "hasMore"):
            del answer[name]
        answer.update(kind="delta", messages=rows)
    if history.get(key) and options.protocol >= 4 and not options.old:
        answer["deltaCursor"] = cursor_of(key)
    if active:
        state.get("dead", set()).discard(key)
        answer["inFlightRun"] = {"runId": active[0].id, "text": live(active[0].text)}
    return answer


def tell_row(params):
    for row in history.get(params["sessionKey"], []):
        if row.get("__openclaw", {}).get("id") == params["messageId"] and not state["short"]:
            return {"ok": True, "message": row}
    return [error("INVALID_REQUEST", "message not found")]


def resolve(params, by="someone", status=None):
    with lock:
        entry = approvals.pop(params["id"], None)
        if entry is None:
            return None
        settled[params["id"]] = params["decision"]
        fates[params["id"]] = status
        broadcast("exec.approval.resolved",
                  {"id": params["id"], "decision": params["decision"], "resolvedBy": by,
                   "ts": now()}, "operator.approvals")
        return {"ok": True}


def canonical(key):
    """A session key as all that is sent has it."""
    key = key.strip().lower()
    parts = key.split(":", 2)
    agent, name = parts[1:] if parts[0] == "agent" and len(parts) == 3 else ("heron", key)
    if name in ("main", options.main_key):
        return "global" if options.scope == "global" else "agent:%s:%s" % (agent, options.main_key)
    return name if name == "global" else "agent:%s:%s" % (agent, name)


def next_line(method):
    """The next of the answers that are kept for a method; nil without any."""
    with lock:
        left = state["answers"].get(method)
        return left and (left.pop(0) if len(left) > 1 else left[0])


def answer(connection, method, params):
    """The payload; or an error in a list."""
    params = {name: canonical(value) if name in ("sessionKey", "key") else value
              for name, value in params.items()}
    if method not in KEYS:
        return [error("INVALID_REQUEST", "unknown method: " + method)]
    unknown = sorted(set(params) - KEYS[method])
    if unknown:
        return [error("INVALID_REQUEST", "unexpected property: " + unknown[0])]
    need = NEEDS.get(method, "operator.approvals" if "approval" in method else
                     "operator.questions" if method in QUESTIONS else "operator.read")
    if need not in connection.scopes:
        return [error("FORBIDDEN", "missing scope: " + need, code="MISSING_SCOPE",
                      missingScope=need, requiredScopes=[need])]
    if method == "chat.send":
        if params.get("queueMode", "steer") not in MODES:
            return [error("INVALID_REQUEST", "invalid chat.send params: at /queueMode: must be equal"
                          " to one of the allowed values")]
        return send_chat(connection, params)
    if method == "sessions.patch":
        return patch(params)
    if method == "question.list":
        return {"questions": [each for each in questions.values() if each["status"] == "pending"]}
    if method == "question.get":
        found = questions.get(params["id"])
        return {"question": found} if found else [
            error("INVALID_REQUEST", "question was not found", reason="QUESTION_NOT_FOUND")]
    if method == "question.resolve":
        return resolve_question(params)
    if method == "chat.history":
        with lock:
            return tell_history(params)
    if method == "chat.message.get":
        return tell_row(params)
    if method == "agent.wait":
        found = runs.get(params["runId"])
        if found is None or not found.isOver:
            return {"runId": params["runId"], "status": "timeout"}
        if found.hasFailed:
            return {"runId": found.id, "status": "error", "error": "rate_limit: it had failed"}
        silent = {"disposition": "empty"}
        heard = {"disposition": "visible", "text": found.text[:20]}
        return {"runId": found.id, "status": "ok", "endedAt": now(),
                "terminalReply": heard if found.text else silent}
    if method == "chat.abort":
        found = [each for each in runs.values() if each.key == params["sessionKey"]
                 and not each.isOver and params.get("runId", each.id) == each.id]
        for each in found:
            each.wantsEnd = True
        return {"ok": True, "aborted": bool(found), "runIds": [each.id for each in found]}
    if method == "agents.list":
        return {"defaultId": "heron", "mainKey": "main", "scope": "per-sender", "agents": [
            {"id": "heron", "name": "Heron", "identity": {"name": "Grey Heron", "emoji": "🪿"}},
            {"id": "stoat"}] + ([{"id": hostile.ODD, "name": hostile.ODD}] if options.odd else [])}
    if method == "sessions.list":
        return tell_sessions(params)
    if method == "sessions.subscribe":
        connection.isSubscribed = True
        return {"subscribed": True}
    if method == "sessions.messages.subscribe":
        connection.sessions.add(params["key"])
        return {"ok": True}
    if method == "exec.approval.list":
        with lock:
            return {"approvals": [each for each in approvals.values() if each["id"] not in foreign
                                  or "operator.admin" in connection.scopes]}
    if method == "exec.approval.get":
        found = approvals.get(params["id"])
        return found or [error("APPROVAL_NOT_FOUND", "unknown or expired approval id")]
    if method == "exec.approval.resolve":
        if options.approvals == "early":
            return resolve(params, "this") or [
                error("INVALID_REQUEST", "unknown or expired approval id")]
        return resolve(params, "this") or [
            error("APPROVAL_NOT_FOUND", "unknown or expired approval id")]
    if method in LATE:
        applied = method == "approval.resolve" and resolve(params, "this") is not None
        decision = settled.get(params["id"])
        if decision is None and params["id"] not in approvals:
            return [error("APPROVAL_NOT_FOUND", "unknown or expired approval id")]
        status = "pending" if decision is None else "denied" if decision == "deny" else "allowed"
        approval = {"id": params["id"], "status": fates.get(params["id"]) or status,
                    "decision": decision, "resolver": {"kind": "device", "id": "d" * 64}}
        return {"approval": approval} if method == "approval.get" else {
            "applied": applied, "approval": approval}
    if method == "device.pair.list":
        return {"pending": [], "paired": [{"deviceId": "d1", "displayName": "box"}]}
    if method == "audit.activity.list":
        return tell_audit(params)
    if method == "sessions.usage":
        return {"sessions": [], "totals": NO_COST, "aggregates": {"byModel": []},
                "cacheStatus": {"status": "fresh"}}
    if method == "sessions.delete":
        with lock:
            return {"ok": True, "key": params["key"],
                    "deleted": history.pop(params["key"], None) is not None}
    if method == "models.list":
        return {"models": [{"id": hostile.ODD if options.odd else "small", "provider": "here"}]}
    if method == "cron.list":
        return {"jobs": [{"id": "c1", "name": "tides", "enabled": True}]}
    return {"ok": True}


def refusal(connection, params):
    """Why a connect is refused, and the close code; None when it is not."""
    if state["refuse"]:
        return state["refuse"], 1008
    unknown = sorted(set(params) - KEYS["connect"])
    if unknown:
        return error("INVALID_REQUEST", "unexpected property: " + unknown[0]), 1008
    if not params["minProtocol"] <= options.protocol <= params["maxProtocol"]:
        return error("INVALID_REQUEST", "protocol mismatch", code="PROTOCOL_MISMATCH",
                     expectedProtocol=options.protocol), 1002
    device, auth, client = params["device"], params.get("auth", {}), params["client"]
    token = auth.get("token") or auth.get("deviceToken") or ""
    raw = base64.urlsafe_b64decode(device["publicKey"] + "=")
    if hashlib.sha256(raw).hexdigest() != device["id"]:
        return error("INVALID_REQUEST", "device id", code="DEVICE_AUTH_DEVICE_ID_MISMATCH"), 1008
    if device["nonce"] != connection.nonce or device["signedAt"] != connection.time:
        return error("INVALID_REQUEST", "nonce", code="DEVICE_AUTH_NONCE_MISMATCH"), 1008
    if Ed25519PublicKey:
        text = "|".join(["v3", device["id"], client["id"], client["mode"], params["role"],
                         ",".join(params["scopes"]), str(device["signedAt"]), token,
                         device["nonce"], client["platform"].lower(),
                         client.get("deviceFamily", "").lower()])
        try:
            Ed25519PublicKey.from_public_bytes(raw).verify(
                base64.urlsafe_b64decode(device["signature"] + "=="), text.encode())
        except Exception:
            return error("INVALID_REQUEST", "signature", code="DEVICE_AUTH_SIGNATURE_INVALID"), 1008
    good = ["dt-" + device["id"][:8]] + ([options.token] if options.token else [])
    if options.token and token not in good:
        code = "AUTH_TOKEN_MISMATCH" if token else "AUTH_TOKEN_MISSING"
        step = "retry_with_device_token" if auth.get("deviceToken") in good else \
            "update_auth_credentials"
        return error("INVALID_REQUEST", "unauthorized", code=code, recommendedNextStep=step), 1008
    if options.token and token == good[0] and "operator.approvals" in params["scopes"]:
        return error("INVALID_REQUEST", "unauthorized", code="AUTH_SCOPE_MISMATCH"), 1008
    if options.approved and not set(params["scopes"]) <= set(options.approved.split(",")):
        return error("NOT_PAIRED", "pairing required", code="PAIRING_REQUIRED",
                     reason="scope-upgrade", requestId="pr-11"), 1008
    if not state["paired"]:
        return error("NOT_PAIRED", "pairing required", code="PAIRING_REQUIRED",
                     reason="not-paired", requestId="pr-9"), 1008
    return None


def connect(connection, frame):
    params = frame["params"]
    refused = refusal(connection, params)
    if refused:
        connection.send({"type": "res", "id": frame["id"], "ok": False, "error": refused[0]})
        connection.close(refused[1], refused[0]["message"])
        raise Gone()
    files = {"attachments": options.files} if options.files else {}
    granted = options.grant.split(",") if options.grant else params["scopes"]
    with lock:
        connection.scopes = [each for each in params["scopes"] if each in granted]
        connection.send({"type": "res", "id": frame["id"], "ok": True, "payload": {
            "type": "hello-ok", "protocol": options.protocol,
            "server": {"version": hostile.ODD if options.odd else "2026.9.6", "connId": "c-%d" % connection.number,
                       "bootId": "boot-%d" % state["boot"]},
            "features": {"methods": sorted(set(KEYS) - {"connect"}), "events": ["chat"]},
            "snapshot": {"presence": [], "health": {}, "uptimeMs": 1, "sessionDefaults": {
                "defaultAgentId": "heron", "mainKey": options.main_key, "scope": options.scope,
                "mainSessionKey": canonical("main")}},
            "auth": {"role": "operator", "scopes": connection.scopes,
                     "deviceToken": "dt-" + params["device"]["id"][:8], "issuedAtMs": now()},
            "policy": dict(files, maxPayload=26214400, maxBufferedBytes=52428800,
                           tickIntervalMs=options.tick)}})
        connection.isOpen = True


def serve(sock):
    connection = Connection(sock)
    try:
        connection.greet()
        with lock:
            connections.append(connection)
        for nonce in [connection.nonce] + ["again", "and again"] * options.thrice:
            connection.send({"type": "event", "event": "connect.challenge",
                             "payload": {"nonce": nonce, "ts": connection.time}})
        while True:
            frame = json.loads(connection.message())
            if log:
                with lock:
                    log.write(json.dumps({"connection": connection.number, "frame": frame}) + "\n")
                    log.flush()
            if not connection.isOpen:
                connect(connection, frame)
                continue
            method = frame["method"]
            if method in state["lose"] or method in state["crash"]:
                if method in state["crash"]:
                    approvals.clear()
                    settled.clear()
                state["lose"].discard(method)
                state["crash"].discard(method)
                connection.cut()
                raise Gone()
            result = state["reply"].pop(method, None) or next_line(method)
            if result is None:
                result = answer(connection, method, frame.get("params", {}))
            if method in state["cut"]:
                state["cut"].discard(method)
                connection.cut()
            if method in state["mute"]:
                continue
            if isinstance(result, list):
                connection.send({"type": "res", "id": frame["id"], "ok": False,
                                 "error": result[0]})
            else:
                connection.send({"type": "res", "id": frame["id"], "ok": True, "payload": result})
    except (Gone, OSError, ValueError, KeyError):
        pass
    finally:
        with lock:
            if connection in connections:
                connections.remove(connection)
        sock.close()


def tick():
    while True:
        time.sleep(options.tick / 1000)  # between two ticks
        if not state["hush"]:
            broadcast("tick", {"ts": now()})


def control(line):
    word, _, rest = line.rstrip("\n").partition(" ")
    name, _, last = rest.partition(" ")
    with lock:
        everyone = list(connections)
    if word == "drop":
        for each in everyone:
            each.cut()
    elif word == "close":
        for each in everyone:
            each.close(int(name), last)
    elif word == "go":
        state["go"].set()
    elif word == "hush":
        state["hush"] = True
    elif word == "skip":
        state["skip"] = int(name)
    elif word == "event":
        broadcast(name, json.loads(last))
    elif word == "raw":
        for each in everyone:
            each.frame(1, rest.encode())
    elif word == "ask":
        approvals[name] = {"id": name, "request": json.loads(last), "createdAtMs": now(),
                           "expiresAtMs": now() + 1800000}
        broadcast("exec.approval.requested", approvals[name], "operator.approvals")
    elif word == "resolve":
        resolve({"id": name, "decision": last})
    elif word == "question":
        ask(name, json.loads(last))
    elif word == "answer":
        end_question(questions[name], "answered", answers={"answers": json.loads(last)})
    elif word == "withdraw":
        end_question(questions[name], "cancelled")
    elif word == "overdue":
        end_question(questions[name], "expired")
    elif word == "foreign":
        foreign.add(name)
        approvals[name] = {"id": name, "request": json.loads(last), "createdAtMs": now(),
                           "expiresAtMs": now() + 1800000}
        broadcast("exec.approval.requested", approvals[name], "operator.admin")
    elif word == "lapse":
        resolve({"id": name, "decision": "deny"}, None, "expired")
    elif word == "over":
        resolve({"id": name, "decision": "deny"}, "approval-scope-closed", "cancelled")
    elif word == "expire":
        resolve({"id": name, "decision": None})
    elif word == "age":
        with lock:
            for row in (row for rows in history.values() for row in rows):
                row["timestamp"] -= int(name) * 1000
    elif word == "forget":
        with lock:
            runs.clear()
    elif word == "door":
        state["door"] = rest
    elif word == "refuse":
        state["refuse"] = json.loads(rest) if rest else None
    elif word == "kill":
        kill(float(name) if name else None)
    elif word == "say":
        state["said"] += 1
        send_chat(None, {"sessionKey": canonical(name), "message": last,
                         "idempotencyKey": "said-%d" % state["said"]})
    elif word == "rest":
        while any(not each.isOver for each in list(runs.values())):
            time.sleep(0.02)  # the time that a run takes
    elif word == "compact":
        state["generation"] += 1
    elif word == "short":
        state["short"] = True
    elif word == "pair":
        state["paired"] = True
    elif word == "mute":
        state["mute"].add(name)
    elif word in ("cut", "lose", "crash"):
        state[word].add(name)
    elif word == "reply":
        state["reply"][name] = json.loads(last)
    elif word == "answers":
        with open(last, encoding="utf-8") as lines:
            state["answers"][name] = [json.loads(each) for each in lines]
    elif word == "label":
        labels[canonical(name)] = last
    elif word == "busy":
        state["reply"][name] = [{"code": "UNAVAILABLE", "message": "gateway starting",
                                 "retryable": True, "retryAfterMs": int(last)}]
    elif word == "settle":
        approvals.pop(name, None)
        settled[name] = last
    elif word == "brief":
        approvals[name] = {"id": name, "request": {"command": "make"}, "createdAtMs": now(),
                           "expiresAtMs": now() + int(last)}
        threading.Timer(int(last) / 1000, lambda: approvals.pop(name, None)).start()
        broadcast("exec.approval.requested", approvals[name], "operator.approvals")


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    url = "ws://127.0.0.1:%d" % listener.getsockname()[1]
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    threading.Thread(target=tick, daemon=True).start()

    def read():
        # For writing too: then it does not end with its first writer.
        with open(os.open(options.control, os.O_RDWR), encoding="utf-8") as orders, \
                open(options.control + ".done", "a", encoding="utf-8") as done:
            for line in orders:
                if line.strip():
                    control(line)
                    done.write(line)
                    done.flush()
    if options.control:
        threading.Thread(target=read, daemon=True).start()
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


main()
