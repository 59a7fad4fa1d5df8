#!/usr/bin/env python3
"""A Pincer server with faults, over raw sockets (Agent/Pincer/CONTRACT.md).

usage: pincer.py [--token TOKEN] [--log FILE] [--control FIFO] [--page N] [--pace SECONDS]
                 [--backlog N] [--drops N] [--seed N]

Prints a `listening` record. What it knows is in pincer_store.py, with the orders for that;
what a turn does, by the first word of its message, in pincer_turns.py. Every call that
comes is a line of the log: {"method":...,"headers":{...},"request":...}. The stored events
of a watch come in one piece, cut at --backlog. With --drops, streams are cut N times in
all, at random bytes and in different ways, and until then watches miss an event here and
there; each cut is a line of the log: {"cut":HOW,...}.

Orders for the wire:
  split N             all streams in pieces of N bytes; 0 in whole ones
  cut HOW             all streams: `short` (no last chunk), `bare` (no end envelope), `clean`
                      (with one), `half` (in an envelope), `reset`, `error CODE MESSAGE`
  skip N              leave out the next N events        swap    the next two change places
  back N              the next watch begins N events before what is asked for
  lack N              the event of this number is never sent, stored or not
  deaf                the streams that are open hear of nothing more
  hush N              the next N watches hear of nothing, not even of what is stored
  envelope FLAGS TEXT into all streams; FLAGS is a number     bytes HEX  the same, as it is
  answer METHOD STATUS TYPE TEXT   the next answer to a method, whatever was asked
  refuse METHOD CODE TEXT          the same, as Connect has it
  close METHOD        the connection is closed before the next call of a method is done
  lose METHOD         the same when it was done
  mute METHOD         the next call of it is done and never answered
  race WHICH          a failed turn's stream ends `before` or `after` its event
  limit N             the backlog                       drops N  so many cuts from now on
"""
import argparse
import json
import queue
import random
import select
import socket
import struct
import threading

import pincer_calls
import pincer_orders
from pincer_store import Refusal, Store

STATUS = {"canceled": 499, "unknown": 500, "invalid_argument": 400, "deadline_exceeded": 504,
          "not_found": 404, "already_exists": 409, "permission_denied": 403,
          "resource_exhausted": 429, "failed_precondition": 400, "aborted": 409,
          "out_of_range": 400, "unimplemented": 501, "internal": 500, "unavailable": 503,
          "data_loss": 500, "unauthenticated": 401}
STREAMS = {"TurnsService/StartTurn", "EventsService/WatchThread"}
PACKAGE = "/pincer.protocol.v1."
RESET = struct.pack("ii", 1, 0)
CLEAN = b"{}"

options = argparse.ArgumentParser(add_help=False)
options.add_argument("--token")
options.add_argument("--log")
options.add_argument("--control")
options.add_argument("--page", type=int, default=50)
options.add_argument("--pace", type=float, default=0.002)
options.add_argument("--backlog", type=int, default=2000)
options.add_argument("--drops", type=int, default=0)
options.add_argument("--seed", type=int, default=1)
options = options.parse_args()

store = Store(options.token, options.page, options.pace)
log = pincer_orders.Log(options.log)
chance = random.Random(options.seed)
lock = threading.RLock()
streams = []
faults = {"split": 0, "skip": 0, "swap": 0, "hush": 0, "back": 0,
          "drops": options.drops, "limit": options.backlog}
lacking = set()
# What becomes of the next call of a method: (kind, ...).
fates = {}


class Gone(Exception):
    pass


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def envelope(flags, data):
    return struct.pack("!BI", flags, len(data)) + data


def failure(code, message):
    return {"code": code, "message": message}


class Stream:
    """An answer in envelopes, chunk by chunk. As of a Go server, its head goes out with the
    first of them: of a thread in which nothing happens there is none."""

    def __init__(self, sock, is_watch):
        self.sock, self.is_watch = sock, is_watch
        self.items = queue.Queue()
        self.is_deaf = self.is_over = self.has_begun = False
        self.kept = None
        self.lock = threading.RLock()

    def begin(self):
        if not self.has_begun:
            self.has_begun = True
            self.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\n"
                              b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")

    def write(self, data):
        """In pieces; each is a chunk and a segment."""
        step = faults["split"] or len(data)
        with self.lock:
            if self.is_over:
                raise Gone()
            self.begin()
            for start in range(0, len(data), step):
                piece = data[start:start + step]
                self.sock.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")

    def end(self, how, code="", message=""):
        """Ends the stream in a way; see `cut`."""
        with self.lock:
            if self.is_over:
                return
            try:
                if how == "clean":
                    self.write(envelope(2, CLEAN))
                elif how == "error":
                    self.write(envelope(2, compact({"error": failure(code, message)})))
                elif how == "half":
                    self.write(envelope(0, b'{"eventId":"evt_half"}')[:chance.randrange(1, 20)])
                if how in ("clean", "error", "bare"):
                    self.begin()
                    self.sock.sendall(b"0\r\n\r\n")
                if how == "reset":
                    self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                self.is_over = True
                if how == "reset":
                    self.sock.close()
                else:
                    self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                self.is_over = True

    def filtered(self, event):
        """The events that are told for this one."""
        with lock:
            if int(event["sequence"]) in lacking:
                return []
            # Between what is stored and what is new, some are lost.
            if faults["drops"] and chance.random() < 0.1:
                return []
            if faults["skip"]:
                faults["skip"] -= 1
                return []
            if faults["swap"]:
                faults["swap"] = 0
                self.kept = event
                return []
            both, self.kept = [event] + ([self.kept] if self.kept else []), None
            return both

    def tell(self, events):
        """Some events in one piece; or a part of it, and then a cut."""
        data = b"".join(envelope(0, compact(each)) for each in events)
        with lock:
            is_cut = faults["drops"] > 0 and chance.random() < 0.4
            faults["drops"] -= is_cut
        if not is_cut:
            return self.write(data)
        how = chance.choice(["short", "bare", "clean", "half", "reset", "error"])
        log.write(cut=how, watch=self.is_watch)
        if how in ("short", "reset", "bare"):
            data = data[:chance.randrange(len(data) + 1)]
        if data:
            self.write(data)
        self.end(how, "unavailable", "going away")
        raise Gone()

    def follow(self):
        """Tells what comes, until the end or until the client has gone."""
        while True:
            try:
                item = self.items.get(timeout=0.1)
            except queue.Empty:
                if self.is_over or (select.select([self.sock], [], [], 0)[0]
                                    and not self.sock.recv(1, socket.MSG_PEEK)):
                    raise Gone() from None
                continue
            if self.is_deaf:
                continue
            if item[0] == "end":
                return self.end("clean")
            if item[0] == "error":
                return self.end("error", *item[1:])
            told = self.filtered(item[1]) if self.is_watch else [item[1]]
            if told:
                self.tell(told)


def watch(stream, request):
    with lock:
        stream.is_deaf = faults["hush"] > 0
        faults["hush"] -= stream.is_deaf
        back, faults["back"] = faults["back"], 0
    after = int(request.get("fromSequence", request.get("from_sequence", 0)))
    thread = request.get("threadId", request.get("thread_id", ""))
    stored, leave = store.watch(thread, max(after - back, 0), stream.items.put, faults["limit"])
    try:
        stored = [each for each in stored if int(each["sequence"]) not in lacking]
        if stored and not stream.is_deaf:
            stream.tell(stored)
        stream.follow()
    finally:
        leave()


def serve_stream(sock, method, headers, body):
    with lock:
        stream = Stream(sock, method == "EventsService/WatchThread")
        streams.append(stream)
    try:
        if len(body) < 5 or body[0] != 0 or struct.unpack("!I", body[1:5])[0] != len(body) - 5:
            raise Refusal("invalid_argument", "protocol error: incomplete envelope")
        request = json.loads(body[5:])
        store.admit(method, headers.get("authorization"))
        fate = fates.pop(method, None)
        if fate and fate[0] == "refuse":
            raise Refusal(*fate[1:])
        if stream.is_watch:
            return watch(stream, request)
        if fate and fate[0] == "close":
            raise Gone()
        store.start_turn(request.get("threadId", ""), request.get("userText", ""),
                         request.get("triggerType"), stream.items.put)
        if fate and fate[0] == "lose":
            raise Gone()
        stream.is_deaf = bool(fate)
        stream.follow()
    except Refusal as refusal:
        stream.end("error", refusal.code, refusal.message)
    except ValueError:
        stream.end("error", "invalid_argument", "not JSON")
    finally:
        with lock:
            streams.remove(stream)


def send(sock, status, kind, data):
    sock.sendall(b"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                 % (status, b"OK" if status == 200 else b"No", kind.encode(), len(data)) + data)


def answer(sock, method, headers, body):
    """An answer at once: the whole of it, or its fate."""
    token = headers.get("authorization")
    kind = headers.get("content-type", "")
    if not kind.startswith("application/") and not store.device(token):
        return send(sock, 401, "application/json", b'{"error":"unauthorized"}\n')
    fate = fates.pop(method, None) if method not in STREAMS or fates.get(
        method, ("",))[0] == "answer" else None
    if fate and fate[0] == "answer":
        return send(sock, int(fate[1]), fate[2], fate[3].strip().encode())
    if kind != ("application/connect+json" if method in STREAMS else "application/json"):
        return send(sock, 415, "text/plain", b"")
    if method in STREAMS:
        return serve_stream(sock, method, headers, body)
    if fate and fate[0] == "close":
        raise Gone()
    try:
        if fate and fate[0] == "refuse":
            raise Refusal(*fate[1:])
        if not body:
            raise Refusal("invalid_argument", "unmarshal message: unexpected end of JSON input")
        data = compact(pincer_calls.call(store, method, json.loads(body), token))
    except ValueError:
        code, data = "invalid_argument", compact(failure("invalid_argument", "not JSON"))
    except Refusal as refusal:
        code, data = refusal.code, compact(failure(refusal.code, refusal.message))
    else:
        code = None
    if fate and fate[0] == "lose":
        raise Gone()
    if fate and fate[0] == "mute":
        while sock.recv(65536):
            pass
        raise Gone()
    send(sock, STATUS.get(code, 500) if code else 200, "application/json", data)


def serve(sock):
    buffer = b""
    try:
        while True:
            while b"\r\n\r\n" not in buffer:
                piece = sock.recv(65536)
                if not piece:
                    raise Gone()
                buffer += piece
            head, buffer = buffer.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            path = lines[0].split(" ")[1]
            headers = {k.strip().lower(): v.strip() for k, v in
                       (line.split(":", 1) for line in lines[1:])}
            if headers.get("expect"):
                sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            length = int(headers.get("content-length", 0))
            while len(buffer) < length:
                piece = sock.recv(65536)
                if not piece:
                    raise Gone()
                buffer += piece
            body, buffer = buffer[:length], buffer[length:]
            shown = body[5:] if headers.get("content-type", "").startswith(
                "application/connect") else body
            method = path[len(PACKAGE):] if path.startswith(PACKAGE) else path
            try:
                request = json.loads(shown)
            except ValueError:
                request = None
            log.write(method=method, headers=headers, request=request)
            if not path.startswith(PACKAGE):
                send(sock, 404, "text/plain", b"404 page not found\n")
                continue
            answer(sock, method, headers, body)
            if method in STREAMS and headers.get("content-type") == "application/connect+json":
                raise Gone()
    except (Gone, OSError):
        pass
    finally:
        sock.close()


def wire(word, rest):
    """An order for the wire."""
    name, _, last = rest.partition(" ")
    with lock:
        everyone = list(streams)
    if word in ("split", "skip", "hush", "limit", "drops", "back"):
        faults[word] = int(name)
    elif word == "lack":
        lacking.add(int(name))
    elif word == "swap":
        faults["swap"] = 1
    elif word == "cut":
        for each in everyone:
            each.end(name, *last.partition(" ")[::2])
    elif word == "deaf":
        for each in everyone:
            each.is_deaf = True
    elif word == "envelope":
        for each in everyone:
            each.write(envelope(int(name), last.encode()))
    elif word == "bytes":
        for each in everyone:
            each.write(bytes.fromhex(rest))
    elif word == "answer":
        fates[name] = ("answer", *(last + "  ").split(" ", 2))
    elif word == "refuse":
        fates[name] = ("refuse", *last.split(" ", 1))
    elif word in ("close", "lose", "mute"):
        fates[name] = (word,)
    elif word == "race":
        store.race = name
    else:
        raise ValueError("no such order")


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    url = "http://127.0.0.1:%d" % listener.getsockname()[1]
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    pincer_orders.listen(options.control,
                         lambda word, rest: store.obey(word, rest) or wire(word, rest))
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(sock,), daemon=True).start()


main()
