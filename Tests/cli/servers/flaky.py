#!/usr/bin/env python3
"""flaky.py --to PORT --control SOCKET --log FILE: a link that goes wrong on order.

Passes TCP connections of a loopback port on to another. Orders (control.py):

    pass                all well: connections to come, and those held, flow
    drop | rst          ends all connections, in order or by a reset
    refuse              resets connections to come
    hangup              accepts connections to come, and closes them at once
    listen off|on       nobody listens any more: connections to come are refused
    blackhole [all]     what is sent is swallowed, both ways, on the connections
                        there are (and, with `all`, on those to come)
    silence up|down     the same in one direction
    hold                nothing moves and nothing is lost, until `pass`
    delay MS            in each direction, on everything
    rate BYTES          per second and direction, on everything; 0 is no bound
    cut N [up] [fin]    connections to come are reset (or closed) once N bytes of
                        the server (of the client) have passed
    cuts N STEP         the next is cut after N bytes of the server, each one after it
                        after STEP more
    flip N [up]         byte N of those to come is passed with one bit changed
    to PORT             the server of connections to come
    open                how many connections there are
    passed              how many bytes their clients have sent

The log has `accept` and `close` records with the number, the time and the bytes
of each direction; `up` is towards the server.
"""
import argparse
import collections
import json
import selectors
import socket
import struct
import time

from control import Control

BLOCK = 65536
HELD = 1 << 20  # bytes a direction may hold back


class Direction:
    """One way of a connection: what came from `source` and is due at `sink`."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.queue = collections.deque()  # (due, bytes)
        self.size = self.passed = self.seen = 0
        self.ended = self.swallows = self.said_end = False
        self.cut = self.flip = None
        self.free = 0.0  # when the rate allows more

    def take(self, data, due):
        if self.swallows:
            return
        if self.flip is not None and self.seen <= self.flip < self.seen + len(data):
            data = bytearray(data)
            data[self.flip - self.seen] ^= 0x04
            data = bytes(data)
        self.seen += len(data)
        self.queue.append((due, data))
        self.size += len(data)


class Connection:
    def __init__(self, number, client, server):
        self.number, self.client, self.server = number, client, server
        self.up, self.down = Direction(client, server), Direction(server, client)
        self.held = False

    def directions(self):
        return self.up, self.down


class Flaky:
    def __init__(self, options):
        self.selector = selectors.DefaultSelector()
        self.log = open(options.log, "a", buffering=1)
        self.target = options.to
        self.connections, self.count = {}, 0
        self.plan = {}
        self.pause, self.rate = 0.0, 0
        self.now = time.monotonic()
        self.listener, self.port = None, 0
        self.listen()
        Control(options.control, self.selector, self.obey)

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)

    def note(self, what, number, **more):
        self.log.write(json.dumps({"what": what, "n": number, "t": time.time(), **more}) + "\n")

    # Connections

    def accept(self, _events):
        client, _ = self.listener.accept()
        self.count += 1
        self.note("accept", self.count)
        way = self.plan.get("way")
        if way in ("refuse", "hangup"):
            end(client, way == "refuse")
            self.note("close", self.count, up=0, down=0)
            return
        try:
            server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            end(client, True)
            self.note("close", self.count, up=0, down=0)
            return
        connection = Connection(self.count, client, server)
        if "cuts" in self.plan:
            place, step = self.plan["cuts"]
            self.plan["cut down"], self.plan["cuts"] = (place, place % 2 == 0), (place + step, step)
        for direction, name in ((connection.up, "up"), (connection.down, "down")):
            direction.cut = self.plan.get("cut " + name)
            direction.flip = self.plan.get("flip " + name)
            direction.swallows = way == "blackhole"
        self.connections[connection.number] = connection
        for side in (client, server):
            side.setblocking(False)
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def watch(self, connection):
        """Waits for what this connection can do now."""
        wanted = {connection.client: 0, connection.server: 0}
        if not connection.held:
            for direction in connection.directions():
                if not direction.ended and direction.size < HELD:
                    wanted[direction.source] |= selectors.EVENT_READ
                if direction.queue and max(direction.queue[0][0], direction.free) <= self.now:
                    wanted[direction.sink] |= selectors.EVENT_WRITE
        for side, events in wanted.items():
            known = self.selector.get_map().get(side.fileno())
            if events and known:
                if known.events != events:
                    self.selector.modify(side, events, known.data)
            elif events:
                self.selector.register(
                    side, events, lambda ready, side=side: self.move(connection, side, ready))
            elif known:
                self.selector.unregister(side)

    def move(self, connection, side, ready):
        try:
            if ready & selectors.EVENT_READ:
                self.read(connection.up if side is connection.client else connection.down)
            for direction in connection.directions():
                self.write(connection, direction)
        except OSError:
            self.close(connection, True)

    def read(self, direction):
        data = direction.source.recv(BLOCK)
        if data:
            direction.take(data, time.monotonic() + self.pause)
        else:
            direction.ended = True

    def write(self, connection, direction):
        now = time.monotonic()
        while direction.queue and direction.queue[0][0] <= now and direction.free <= now:
            due, data = direction.queue.popleft()
            allowed = len(data)
            if self.rate:
                # In portions of 20 ms.
                allowed = min(allowed, max(1, self.rate // 50))
            if direction.cut is not None:
                allowed = min(allowed, direction.cut[0] - direction.passed)
            try:
                sent = direction.sink.send(data[:allowed]) if allowed else 0
            except BlockingIOError:
                sent = 0
                allowed = max(allowed, 1)
            direction.passed += sent
            direction.size -= sent
            if sent < len(data):
                direction.queue.appendleft((due, data[sent:]))
            if self.rate:
                direction.free = now + sent / self.rate
            if direction.cut is not None and direction.passed >= direction.cut[0]:
                self.close(connection, direction.cut[1])
                return
            if sent < allowed:
                return
        if direction.ended and not direction.queue and not direction.said_end:
            direction.said_end = True
            if not direction.swallows:
                direction.sink.shutdown(socket.SHUT_WR)
            if all(other.said_end for other in connection.directions()):
                self.close(connection, False)

    def close(self, connection, resets):
        if self.connections.pop(connection.number, None) is None:
            return
        for side in (connection.client, connection.server):
            if side.fileno() in self.selector.get_map():
                self.selector.unregister(side)
            end(side, resets)
        self.note("close", connection.number, up=connection.up.passed, down=connection.down.passed)

    # Orders

    def obey(self, order, reply):
        word, *rest = order.split()
        every = list(self.connections.values())
        directions = [direction for one in every for direction in one.directions()]
        if word == "pass":
            self.plan, self.pause, self.rate = {}, 0.0, 0
            for one in every:
                one.held = False
        elif word in ("drop", "rst"):
            for one in every:
                self.close(one, word == "rst")
        elif word in ("refuse", "hangup"):
            self.plan["way"] = word
        elif word == "listen":
            if self.listener:
                self.selector.unregister(self.listener)
                self.listener.close()
                self.listener = None
            if rest == ["on"]:
                self.listen()
        elif word == "blackhole":
            for direction in directions:
                direction.swallows = True
            if rest == ["all"]:
                self.plan["way"] = word
        elif word == "silence":
            for one in every:
                (one.up if rest == ["up"] else one.down).swallows = True
        elif word == "hold":
            for one in every:
                one.held = True
        elif word == "delay":
            self.pause = float(rest[0]) / 1000
        elif word == "rate":
            self.rate = int(rest[0])
        elif word == "cut":
            self.plan["cut up" if "up" in rest else "cut down"] = (int(rest[0]), "fin" not in rest)
        elif word == "cuts":
            self.plan["cuts"] = (int(rest[0]), int(rest[1]))
        elif word == "flip":
            self.plan["flip up" if "up" in rest else "flip down"] = int(rest[0])
        elif word == "to":
            self.target = int(rest[0])
        elif word not in ("open", "passed"):
            reply(f"no such order: {order}")
            return
        answer = {"open": len(every), "passed": sum(one.up.passed for one in every)}
        reply(f"ok {answer[word]}" if word in answer else "ok")

    def run(self):
        print(json.dumps({"type": "listening", "url": f"http://127.0.0.1:{self.port}"},
                         separators=(",", ":")), flush=True)
        while True:
            self.now = time.monotonic()
            for connection in list(self.connections.values()):
                self.watch(connection)
            for key, ready in self.selector.select(self.seconds_to_next()):
                # An event before may have ended this one.
                if key.fileobj.fileno() >= 0 and key.fd in self.selector.get_map():
                    key.data(ready)

    def seconds_to_next(self):
        """Until bytes that are held back are due."""
        times = [max(direction.queue[0][0], direction.free)
                 for one in self.connections.values() if not one.held
                 for direction in one.directions() if direction.queue]
        times = [when for when in times if when > self.now]
        return max(0.0, min(times) - time.monotonic()) if times else None


def end(side, resets):
    if resets:
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    side.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--control", required=True)
    parser.add_argument("--log", required=True)
    Flaky(parser.parse_args()).run()
