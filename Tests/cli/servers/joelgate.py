#!/usr/bin/env python3
"""A joelclaw gateway with faults (Agent/Joelclaw/CONTRACT.md).

usage: joelgate.py [--token TOKEN] [--log FILE] [--control FIFO] [--pace MS] [--port PORT]
                   [--silent] [--recorded FILE]

Prints a `listening` record, and {"taken":TEXT} for each prompt that the agent begins. Every
frame that comes is a line of the log: {"connection":N,"frame":{...}}; the codes of close frames
are lines of LOG.closed. It does what the real one is said to: no frame confirms a prompt, deltas
go to all, a turn_end ends a message and not the answer, a status comes on request, the same
words within 30 s are dropped when they come and within 120 s when they are taken, two prompts
that wait destroy each other.

A prompt `count N` is answered with N words, `tool` with two messages and a tool in between,
`silence` with nothing, `fail` with an error, `slip` with one of a tool behind which it goes
on, `early` with a status that says too soon that nothing is active, `open` without an end,
`forever` until an abort, `hold` behind the order `go`, `odd` with what a terminal obeys,
`huge N` with N MiB, `flash` before anybody can ask, `quiet` as fast and without a word, `tries`
with four ends and no word; any other is echoed. Behind the answer to
`next MS` the agent is at somebody else's request at once, says something of it MS later, and is
at it for half a second; `swift MS` the same, of which all is over MS later. In front of `after`
it is at somebody else's, and says a part of an answer to that; in front of `late MS` nothing is active for
so long; `tooled` calls a tool before it is seen to be active, `deep`
sends a piece that nests too deeply for most, `behind` was enqueued 90 s ago. With --silent no
status is ever sent. With --recorded, prompts that stand in the file are answered with the frames
that a real gateway sent, as fast as it did, and no pause longer than a second.

Lines that come through the FIFO, and are in FIFO.done when they were obeyed:
  drop            cut all connections         restart MS     the same, and begin again, so much
                                                             later, with what was not done
  raw TEXT        a text frame as it is       bytes TEXT     a binary one
  say TEXT        something for somebody else other SOURCE TEXT   a prompt of somebody else
  go              what holds goes on          mute           nothing is answered any more
  cut             cut behind the next prompt  lose           before it was stored
  mode WORD       the mode of the status, as `redis_degraded`
  health STATUS JSON   the answer of /health  busy SOURCE    a request that never ends
"""
import argparse
import json
import os
import socket
import threading
import time
from datetime import datetime, timedelta, timezone

from frames import FrameSource, accept_of, frame

options = argparse.ArgumentParser(add_help=False)
options.add_argument("--token")
options.add_argument("--log")
options.add_argument("--control")
options.add_argument("--pace", type=float, default=5)
options.add_argument("--port", type=int, default=0)
options.add_argument("--silent", action="store_true")
options.add_argument("--recorded")
options = options.parse_args()

SWIFT = ("flash", "quiet")
lock = threading.RLock()
wake = threading.Condition(lock)
clients = []
waiting = []
stored = {}
ring = []
state = {"active": None, "pid": 1000, "number": 0, "made": 0, "mute": False, "abort": False,
         "talks": False, "born": time.monotonic(), "mode": "normal", "go": False, "cut": False, "lose": False, "life": 0, "health": (200, None)}
log = open(options.log, "a", encoding="utf-8") if options.log else None


def stamp(shift=0):
    now = datetime.now(timezone.utc) + timedelta(seconds=shift)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def status():
    active = state["active"]
    return {"sessionId": "sess-1", "isStreaming": state["talks"], "queueDepth": 0,
            "model": "small", "pid": state["pid"], "mode": state["mode"],
            "uptimeMs": int((time.monotonic() - state["born"]) * 1000), "supersession": {
                "activeRequest": active and {key: active[key]
                                             for key in ("id", "source", "enqueuedAt")}}}


class Client:
    def __init__(self, sock):
        self.sock = sock
        self.writing = threading.Lock()
        state["made"] += 1
        self.number = state["made"]

    def write(self, data):
        with self.writing:
            try:
                self.sock.sendall(data)
            except OSError:
                pass

    def send(self, value):
        self.write(frame(0x81, json.dumps(value, ensure_ascii=False).encode()))

    def cut(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def tell(value):
    with lock:
        everyone = list(clients)
    for each in everyone:
        each.send(value)


def tell_bytes(data):
    with lock:
        everyone = list(clients)
    for each in everyone:
        each.write(frame(0x81, data))


def say(text):
    state["talks"] = True
    tell({"type": "text_delta", "delta": text})


def end():
    state["talks"] = False
    tell({"type": "turn_end"})


def enqueue(source, text):
    with lock:
        key = (source, " ".join(text.split()))
        now = time.time()
        if now - stored.get(key, 0) < 30:
            return
        stored[key] = now
        state["number"] += 1
        waiting.append({"id": "req-%d" % state["number"], "source": source, "text": text,
                        "enqueuedAt": stamp(-90 if text == "behind" else 0), "at": now})
        wake.notify_all()


def take():
    """The next prompt, by the rules that destroy others."""
    with lock:
        while not waiting:
            wake.wait()
        first = waiting.pop(0)
        if first["source"] == "tui":
            others = [each for each in waiting if each["source"] == "tui"]
            for each in others:
                waiting.remove(each)
            if others:
                first["text"] = "%d messages came together" % (len(others) + 1)
        now = time.time()
        folded = " ".join(first["text"].split())
        if any(text == folded and now - at < 120 for text, at in ring[-10:]):
            return None
        ring.append((folded, now))
    before(first["text"])
    with lock:
        # `flash` is over before anybody could see that the agent was at it.
        state.update(active=None if first["text"].split()[0] in SWIFT else first, abort=False)
        return first


def other():
    state["active"] = {"id": "req-o%d" % time.monotonic_ns(), "source": "telegram",
                       "enqueuedAt": stamp(), "text": ""}


def before(text):
    """What there is in front of a prompt."""
    word, _, rest = text.partition(" ")
    if word == "late":
        pause(int(rest.split()[0]) / 1000)
    elif word == "tooled":
        tell({"type": "tool_call", "id": "c0", "toolName": "exec", "input": {"a": 1}})
        pause(0.2)
    elif word == "after":
        other()
        pause(0.3)
        say("SECRET ")
        pause(0.3)


def pause(seconds=None):
    time.sleep(options.pace / 1000 if seconds is None else seconds)  # as a model does


def recorded(path):
    """The frames behind each prompt, without the statuses: (pause, frame)."""
    found, frames, last = {}, None, 0
    with open(path, encoding="utf-8") as file:
        for line in map(json.loads, file):
            kind = line["m"].get("type") if isinstance(line["m"], dict) else None
            if line["d"] == "in":
                if kind == "prompt" and isinstance(line["m"].get("text"), str):
                    frames, last = found.setdefault(line["m"]["text"], []), line["t"]
            elif kind in ("text_delta", "turn_end") and frames is not None:
                frames.append((min(max(line["t"] - last, 0), 1), line["m"]))
                last = line["t"]
            elif kind is None:
                frames = None
    return found


RECORDED = recorded(options.recorded) if options.recorded else {}


def over(life):
    return state["abort"] or state["life"] != life


def answer(text, life):
    word, _, rest = text.partition(" ")
    if RECORDED.get(text):
        for seconds, value in RECORDED[text]:
            pause(seconds)
            if over(life):
                return end()
            tell(value)
        return None
    if word == "count":
        for number in range(int(rest.split()[0])):
            say("%d " % number)
            pause()
            if state["life"] != life:
                return
    elif word == "tool":
        say("Looking.")
        end()
        pause(0.3)
        tell({"type": "tool_call", "id": "c1", "toolName": "exec", "input": {"command": "tide"}})
        pause(0.3)
        tell({"type": "tool_result", "id": "c1", "toolName": "exec",
              "content": [{"type": "text", "text": "06:12"}]})
        say("High at 06:12.")
    elif word == "fail":
        tell({"type": "error", "message": "model overloaded"})
        return
    elif word == "tries":  # that of a model that fails, without a word
        for _ in range(3):
            pause(0.1)
            end()
    elif word == "slip":
        tell({"type": "error", "message": "the tool failed"})
        say("Without the tool.")
    elif word == "early":
        say("One.")
        end()
        pause(0.1)
        held, state["active"] = state["active"], None
        pause(0.15)
        state["active"] = held
        say("Two.")
    elif word in ("forever", "hold"):
        while not over(life) and not (word == "hold" and state["go"]):
            say("on ")
            pause(0.05)
        state["go"] = False
        if state["life"] != life:
            return
    elif word in ("next", "swift"):
        say("Mine.")
        end()
        # It is at it for a moment longer.
        pause(0.1 if word == "next" else 0)
        other()
        pause(int(rest.split()[0]) / 1000)
        say("THEIRS ")
        if word == "next":
            pause(0.5)
    elif word == "tooled":
        tell({"type": "tool_result", "id": "c0", "toolName": "exec", "content": "done"})
        pause(0.5)
        say("Done.")
    elif word == "deep":
        say("Do ")
        tell_bytes(b'{"type":"text_delta","delta":"not ","x":' + b"[" * 3000 + b"]" * 3000 + b"}")
        tell_bytes(b'{"type":"text_delta","delta":"now ","x":1e999}')
        say("reboot")
    elif word == "odd":
        say("red \x1b[31m\u202e\x07 end")
    elif word == "huge":
        for _ in range(int(rest.split()[0])):
            say("x" * (1 << 20))
    elif word == "open":
        say("Half")
        return
    elif word not in ("silence", "tries"):
        for piece in ("You said: ", text):
            say(piece)
            pause()
    end()


def work():
    while True:
        taken = take()
        if taken is None:
            continue
        life = state["life"]
        print(json.dumps({"taken": taken["text"]}, separators=(",", ":")), flush=True)
        if taken["text"].split()[0] in SWIFT:
            if taken["text"].startswith("flash"):
                say("Quick")
            end()
            continue
        pause(0.3)  # as long as a client may need to see it on a busy machine
        answer(taken["text"], life)
        with lock:
            if state["life"] == life:
                state["active"] = None


def obey(client, value):
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "status" and not options.silent:
        with lock:
            client.send({"type": "status", "data": status()})
    elif kind == "abort":
        state["abort"] = True
    elif kind == "prompt":
        text = value["text"].strip()
        if not text:
            return client.send({"type": "error", "message": "empty prompt"})
        if state["lose"]:
            state["lose"] = False
            return client.cut()
        enqueue("tui", text)
        if state["cut"]:
            state["cut"] = False
            client.cut()
    elif not isinstance(kind, str):
        client.send({"type": "error", "message": "not a frame"})
    return None


def plain(sock, path):
    code, body = state["health"] if path == "/health" else (426, "Upgrade Required")
    if path == "/health" and body is None:
        body = json.dumps({"ok": True, "available": True, "healthy": True, "mode": "normal",
                           "components": {"redis": "ok", "session": "ok", "ws": "ok"},
                           "status": status()})
    data = body.encode()
    kind = "application/json" if path == "/health" else "text/plain"
    sock.sendall(b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                 % (code, kind.encode(), len(data)) + data)


def serve(sock):
    client = None
    try:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = sock.recv(65536)
            if not piece:
                return
            head += piece
        lines = head.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
        path = lines[0].split(" ")[1]
        fields = {name.lower(): value.strip()
                  for name, _, value in (line.partition(":") for line in lines[1:])}
        if options.token and fields.get("authorization") != "Bearer " + options.token:
            return sock.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        if "sec-websocket-key" not in fields:
            return plain(sock, path)
        sock.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n"
                      % accept_of(fields["sec-websocket-key"])).encode())
        source = FrameSource(sock)
        with lock:
            client = Client(sock)
            if not options.silent:
                client.send({"type": "status", "data": status()})
            clients.append(client)
        while True:
            came = source.next()
            if came is None:
                return None
            opcode = int(came["first"], 16) & 15
            if opcode == 8:
                if log:
                    with open(options.log + ".closed", "a", encoding="utf-8") as codes:
                        codes.write("%d\n" % came.get("code", 0))
                return client.write(frame(0x88, b""))
            if state["mute"]:
                continue
            if opcode == 9:
                client.write(frame(0x8a, came["text"].encode()))
            elif opcode == 1:
                value = json.loads(came["text"])
                if log:
                    with lock:
                        log.write(json.dumps({"connection": client.number, "frame": value}) + "\n")
                        log.flush()
                obey(client, value)
    except (OSError, ValueError, KeyError, EOFError):
        return None
    finally:
        with lock:
            if client in clients:
                clients.remove(client)
        sock.close()


def drop():
    with lock:
        everyone = list(clients)
    for each in everyone:
        each.cut()


def requeue(prompt):
    with lock:
        waiting.insert(0, prompt)
        wake.notify_all()


def control(line):
    word, _, rest = line.rstrip("\n").partition(" ")
    name, _, last = rest.partition(" ")
    if word == "drop":
        drop()
    elif word == "restart":
        with lock:
            active = state["active"]
            state.update(pid=state["pid"] + 1, life=state["life"] + 1, active=None, talks=False,
                         born=time.monotonic())
            ring.clear()
            drop()
        if active:  # it is taken again as another request
            again = dict(active, id=active["id"] + "-again", enqueuedAt=stamp())
            threading.Timer(int(name) / 1000, requeue, [again]).start()
    elif word in ("raw", "bytes"):
        with lock:
            everyone = list(clients)
        for each in everyone:
            each.write(frame(0x81 if word == "raw" else 0x82, rest.encode()))
    elif word == "say":
        say(rest)
        end()
    elif word == "other":
        enqueue(name, last)
    elif word == "busy":
        state["active"] = {"id": "req-x", "source": name, "enqueuedAt": stamp(), "text": ""} \
            if name else None
    elif word == "mode":
        state["mode"] = name
    elif word == "health":
        state["health"] = (int(name), last)
    elif word in ("go", "mute", "cut", "lose"):
        state[word] = True


def main():
    listener = socket.create_server(("127.0.0.1", options.port), backlog=64)
    url = "ws://127.0.0.1:%d" % listener.getsockname()[1]
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    threading.Thread(target=work, daemon=True).start()

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
