#!/usr/bin/env python3
"""serve.py: clients of agent-serve that no shell can play.

usage: serve.py resume URL COUNT SEED    post while a reader drops and resumes
       serve.py slow URL BYTES           one subscriber reads, one does not
       serve.py acknowledged URL FILE    post until the server is gone
       serve.py events URL COUNT [ID]    print the data of COUNT actions
       serve.py first URL ID             print the name of the first event
       serve.py raw URL                  send standard input, print the answer
       serve.py halves URL               a request in pieces, two in one write
       serve.py gone URL COUNT           subscribers that connect and vanish
       serve.py many URL COUNT ACTIONS   COUNT subscribers at once
       serve.py crowd URL COUNT          COUNT connections, until it is ended
       serve.py ending URL               print how a stream ends

Everything is bounded; a broken promise ends it with a line and status 1.
"""

import http.client
import json
import os
import random
import re
import select
import signal
import socket
import sys
import threading
import time

BOUND = 60


def address(url):
    host, port = url.split("//", 1)[1].rstrip("/").rsplit(":", 1)
    return host.strip("[]"), int(port)


def fail(reason):
    print(reason)
    sys.exit(1)


class Stream:
    """One subscriber on a raw socket: the chunked coding and the events."""

    def __init__(self, url, last_id=None, buffer=None, name="activity"):
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect(address(url))
        self.socket.settimeout(BOUND)
        head = f"GET /api/{name}/events HTTP/1.1\r\nHost: localhost\r\n"
        if last_id is not None:
            head += f"Last-Event-ID: {last_id}\r\n"
        self.socket.sendall(head.encode() + b"\r\n")
        # What is not decoded yet, and the size of the chunk that it begins with, if that is known.
        self.raw = bytearray()
        self.size = None
        # What is no whole event yet, and how much of that was searched for its end.
        self.body = bytearray()
        self.searched = 0
        self.head = None
        self.ended = False
        self.last = b""

    def fill(self):
        """Reads once; False at the end of the connection."""
        piece = self.socket.recv(1 << 16)
        if not piece:
            return False
        self.raw += piece
        if self.head is None:
            if b"\r\n\r\n" not in self.raw:
                return True
            head, self.raw = self.raw.split(b"\r\n\r\n", 1)
            self.head = head.decode()
        while True:
            if self.size is None:
                end = self.raw.find(b"\r\n")
                if end < 0:
                    return True
                self.size = int(self.raw[:end], 16)
                del self.raw[:end + 2]
            if self.size == 0:
                self.ended = True
                return False
            if len(self.raw) < self.size + 2:
                return True
            self.body += self.raw[:self.size]
            del self.raw[:self.size + 2]
            self.size = None

    def events(self):
        """The complete events read so far: (name, id or None, data)."""
        while True:
            end = self.body.find(b"\n\n", self.searched)
            if end < 0:
                self.searched = max(0, len(self.body) - 1)
                return
            block = bytes(self.body[:end])
            del self.body[:end + 2]
            self.searched = 0
            fields = {}
            for line in block.split(b"\n"):
                name, _, value = line.partition(b": ")
                fields[name.decode()] = value
            if "data" in fields:
                yield fields.get("event", b"").decode(), fields.get("id"), fields["data"]

    def close(self):
        self.socket.close()


def post(connection, text):
    connection.request("POST", "/api/actions", text, {"Content-Type": "application/x-ndjson"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        fail(f"POST: {answer.status} {body!r}")
    return json.loads(body)["ids"]


def poster(url, count, ids, pause=0.0, kind="llm_call"):
    """Posts COUNT actions in requests of 1 to 20 from four connections, each of which
    rests for PAUSE seconds after an answer, so that a reader may keep up."""
    lock = threading.Lock()
    left = [count]

    def work(seed):
        dice = random.Random(seed)
        connection = http.client.HTTPConnection(*address(url), timeout=BOUND)
        while True:
            with lock:
                number = min(dice.randint(1, 20), left[0])
                left[0] -= number
            if number == 0:
                return
            lines = [json.dumps({"kind": kind, "content": f"{seed} {dice.random()}"})
                     for _ in range(number)]
            stored = post(connection, "\n".join(lines))
            if len(stored) != number:
                fail(f"{number} posted, {len(stored)} stored")
            with lock:
                ids.extend(stored)
            if pause:
                time.sleep(pause)

    threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(4)]
    for thread in threads:
        thread.start()
    return threads


def resume(url, count, seed):
    dice = random.Random(int(seed))
    posted, got, drops = [], [], 0
    stream = Stream(url)
    while stream.head is None:
        stream.fill()
    threads = poster(url, int(count), posted, 0.002)
    last, snapshots = None, 0
    limit = time.time() + BOUND
    budget = dice.randint(1, 60000)
    while time.time() < limit:
        alive = stream.fill()
        for name, event_id, data in stream.events():
            if event_id is not None:
                last = event_id.decode()
            if name == "activity_snapshot":
                snapshots += 1
            if name == "action_event":
                if json.loads(data)["id"] != int(event_id):
                    fail(f"id line {event_id!r}, data {data!r}")
                got.append(int(event_id))
        if len(got) >= int(count) and not any(t.is_alive() for t in threads):
            break
        budget -= 1 << 12
        if not alive or budget < 0:
            # Also with half an event in hand, which is then thrown away.
            stream.close()
            drops += 1
            budget = dice.randint(1, 60000)
            stream = Stream(url, last)
    if got != sorted(posted):
        missing = sorted(set(posted) - set(got))
        fail(f"posted {len(posted)}, got {len(got)}, missing {missing[:10]}, "
             f"twice {len(got) - len(set(got))}, ordered {got == sorted(got)}")
    if snapshots != 1:
        fail(f"{snapshots} snapshots")
    print(f"drops {drops}")
    if drops < 5:
        fail("not dropped often enough")


def slow(url, total):
    sleeper = Stream(url, buffer=4096)
    reader = Stream(url)
    # What is posted before the snapshot is made comes in it, and not as an event.
    while not any(name == "activity_snapshot" for name, _, _ in reader.events()):
        if not reader.fill():
            fail("the reader was cut off")
    connection = http.client.HTTPConnection(*address(url), timeout=BOUND)
    sent, worst, newest = 0, 0.0, 0
    line = json.dumps({"kind": "llm_call", "content": "x" * 60000})
    while sent < int(total):
        before = time.time()
        newest = post(connection, line)[0]
        sent += len(line)
        seen = False
        while not seen:
            if not reader.fill():
                fail("the reader was cut off")
            for name, event_id, _ in reader.events():
                seen = seen or name == "action_event" and int(event_id) == newest
        worst = max(worst, time.time() - before)
    # What the kernel still holds for the sleeper may be read, then the end.
    last = 0
    sleeper.socket.settimeout(20)
    try:
        while sleeper.fill():
            for name, event_id, _ in sleeper.events():
                if name == "action_event":
                    last = int(event_id)
    except ConnectionResetError:
        pass
    except socket.timeout:
        fail("the sleeper was not cut off")
    if last >= newest or sleeper.ended:
        fail(f"the sleeper got all: {last} of {newest}")
    print(f"worst {worst:.3f}")
    if worst > 5:
        fail(f"the reader waited {worst:.3f} s")


def acknowledged(url, path):
    """Every id that was answered with success, until the server is gone."""
    with open(path, "w", buffering=1) as out:
        connection = http.client.HTTPConnection(*address(url), timeout=10)
        number = 0
        try:
            while True:
                number += 1
                for stored in post(connection, json.dumps({"kind": "k", "content": str(number)})):
                    out.write(f"{stored} {number}\n")
        except (OSError, http.client.HTTPException):
            pass


def events(url, count, last_id=None):
    stream = Stream(url, last_id)
    count, limit = int(count), time.time() + BOUND
    while count > 0 and time.time() < limit:
        alive = stream.fill()
        for name, _, data in stream.events():
            if name == "action_event" and count > 0:
                count -= 1
                print(data.decode(), flush=True)
        if not alive:
            fail("the stream ended")


def first(url, last_id):
    stream = Stream(url, last_id)
    while stream.fill():
        for name, _, _ in stream.events():
            print(name)
            return
    fail("the stream ended")


def raw(url):
    with socket.create_connection(address(url), timeout=10) as plain:
        plain.sendall(sys.stdin.buffer.read())
        while piece := plain.recv(65536):
            sys.stdout.buffer.write(piece)


def halves(url):
    plain = socket.create_connection(address(url), timeout=BOUND)
    body = b'{"kind":"llm_call","content":"in pieces"}'
    head = b"POST /api/actions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    for byte in head + body:
        plain.sendall(bytes([byte]))
    # Two more requests in one write: both are answered, in their order.
    plain.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  b"GET /api/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    got = b""
    while True:
        piece = plain.recv(65536)
        if not piece:
            break
        got += piece
    print(" ".join(re.findall(r"HTTP/1\.1 (\d+)", got.decode())))


def gone(url, count):
    for _ in range(int(count)):
        stream = Stream(url)
        while stream.head is None:
            stream.fill()
        stream.close()
    print("gone")


def many(url, count, actions):
    streams = [Stream(url) for _ in range(int(count))]
    for stream in streams:
        while not any(name == "activity_snapshot" for name, _, _ in stream.events()):
            stream.fill()
    posted = []
    threads = poster(url, int(actions), posted)
    got = {stream: [] for stream in streams}
    limit = time.time() + BOUND
    while min(map(len, got.values())) < int(actions) and time.time() < limit:
        ready = select.select([stream.socket for stream in streams], [], [], 1)[0]
        for stream in streams:
            if stream.socket in ready and not stream.fill():
                fail("a stream ended")
            for name, event_id, _ in stream.events():
                if name == "action_event":
                    got[stream].append(int(event_id))
    for thread in threads:
        thread.join()
    if any(ids != sorted(posted) for ids in got.values()):
        fail("lost, doubled or out of order")
    print(f"each {actions}")


def crowd(url, count):
    sockets = []
    for _ in range(int(count)):
        try:
            one = socket.create_connection(address(url), timeout=5)
            one.sendall(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        except OSError:
            break
        sockets.append(one)
    print("crowded", flush=True)
    signal.pause()


def unread(url, count, pid):
    """Clients that ask for the stream and do not read; then how much memory the server has."""
    held = []
    for _ in range(int(count)):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(address(url))
        one.sendall(b"GET /api/activity/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        one.recv(15)
        held.append(one)
    # What it sends another who comes behind them is whole.
    stream = Stream(url)
    found = []
    while not found:
        stream.fill()
        found = [data for name, _, data in stream.events() if name == "activity_snapshot"]
    actions = json.loads(found[0])["actions"]
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        print(len(actions), int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000)


def ending(url):
    stream = Stream(url)
    while stream.head is None:
        stream.fill()
    print("open", flush=True)
    try:
        while stream.fill():
            pass
    except OSError as error:
        fail(f"broken off: {error}")
    print("last chunk" if stream.ended else "cut")


if __name__ == "__main__":
    {"resume": resume, "slow": slow, "acknowledged": acknowledged, "events": events, "first": first, "raw": raw,
     "halves": halves, "gone": gone, "many": many, "crowd": crowd, "unread": unread, "ending": ending}[sys.argv[1]](*sys.argv[2:])
