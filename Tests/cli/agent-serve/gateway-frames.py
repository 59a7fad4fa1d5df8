"""Frames that a gateway must not take (run by gateway-frames.t): made by hand, so that
they can be wrong."""

import os
import socket
import struct
import time

from gateway import *

MASK = b"\x11\x22\x33\x44"


class Raw:
    """A WebSocket without any manners."""

    def __init__(self, url, buffer=None):
        host, port = url[5:].split(":")
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(10)
        self.socket.connect((host, int(port)))
        self.socket.sendall((
            "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\n"
            "Upgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        self.data = b""
        head = self.upto(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        self.challenge = json.loads(self.frame()[1])["payload"]

    def upto(self, end):
        while end not in self.data:
            self.more()
        found, self.data = self.data.split(end, 1)
        return found

    def more(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise EOFError
        self.data += piece

    def take(self, count):
        while len(self.data) < count:
            self.more()
        found, self.data = self.data[:count], self.data[count:]
        return found

    def frame(self):
        """-> opcode and payload of the next frame"""
        first, length = self.take(2)
        assert not length & 0x80, "a server does not mask"
        if length == 126:
            length, = struct.unpack(">H", self.take(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.take(8))
        return first & 15, self.take(length)

    @staticmethod
    def make(payload, opcode=1, fin=True, rsv=0, mask=True, length=None):
        size = len(payload) if length is None else length
        head = bytes([(0x80 if fin else 0) | rsv | opcode])
        bit = 0x80 if mask else 0
        if size < 126:
            head += bytes([bit | size])
        elif size < 65536:
            head += bytes([bit | 126]) + struct.pack(">H", size)
        else:
            head += bytes([bit | 127]) + struct.pack(">Q", size)
        if mask:
            key = MASK * (len(payload) // 4 + 1)
            number = int.from_bytes(payload, "big") ^ int.from_bytes(key[:len(payload)], "big")
            payload = MASK + number.to_bytes(len(payload), "big")
        return head + payload

    def send(self, *words, **more):
        self.socket.sendall(self.make(*words, **more))

    def connect(self, **wish):
        params = connect_params(**wish)
        params["device"] = Device(1).prove(params, self.challenge)
        frame = {"type": "req", "id": "c", "method": "connect", "params": params}
        return json.dumps(frame).encode()

    def code(self):
        """Reads to the end. -> the code of the close frame, None for an empty one"""
        found = "nothing"
        try:
            while True:
                opcode, payload = self.frame()
                if opcode == 8:
                    found = struct.unpack(">H", payload[:2])[0] if payload else None
                    self.socket.shutdown(socket.SHUT_WR)
        except (EOFError, OSError):
            return found


async def violations(url):
    make = Raw.make
    bad = b"\xff\xfe"
    for title, code, data in (
            ("a frame without a mask", 1002, make(b"{}", mask=False)),
            ("a reserved bit", 1002, make(b"{}", rsv=0x40)),
            ("another", 1002, make(b"", opcode=9, rsv=0x20)),
            ("a reserved opcode", 1002, make(b"{}", opcode=3)),
            ("a reserved control", 1002, make(b"", opcode=11)),
            ("binary", 1003, make(b"{}", opcode=2)),
            ("what is not UTF-8", 1007, make(bad)),
            ("nor in two pieces", 1007, make(b"\xc3", fin=False) + make(b"\x28", opcode=0)),
            ("half a letter", 1007, make(b"\xe2\x82")),
            ("a long control frame", 1002, make(b"x" * 126, opcode=9)),
            ("one in pieces", 1002, make(b"x", opcode=9, fin=False)),
            ("the middle of nothing", 1002, make(b"x", opcode=0)),
            ("the end of nothing", 1002, make(b"x", opcode=0, fin=False)),
            ("a new one in the middle", 1002, make(b"x", fin=False) + make(b"y")),
            ("a frame of a gigabyte", 1009, make(b"x", length=1 << 30)),
            ("one of more than there is", 1009, make(b"x", length=(1 << 63) - 1)),
            ("too long before connect", 1009, make(b"x" * 70000)),
            ("nor in pieces", 1009, make(b"x" * 40000, fin=False) + make(b"x" * 30000, opcode=0)),
            ("half of something long", 1009, make(b"x" * 200000, length=1 << 20)),
            ("an illegal code", 1002, make(struct.pack(">H", 1005), opcode=8)),
            ("half a code", 1002, make(b"\x03", opcode=8)),
            ("a reason that is not UTF-8", 1002, make(b"\x03\xe8" + bad, opcode=8))):
        raw = Raw(url)
        raw.socket.sendall(data)
        same(title, raw.code(), code)
    raw = Raw(url)
    for _ in range(17000):
        data = make(b"", fin=False, opcode=0 if _ else 1)
        try:
            raw.socket.sendall(data)
        except OSError:
            break
    same("too many pieces", raw.code(), 1002)


async def cuts(url):
    """A message cut at any byte is the same message."""
    raw = Raw(url)
    data = Raw.make(raw.connect())
    for byte in data:
        raw.socket.sendall(bytes([byte]))
    opcode, payload = raw.frame()
    check("byte by byte", opcode == 1 and json.loads(payload)["ok"])
    message = '{"type":"req","id":"\u00e4\U0001f41a","method":"health"}'.encode()
    for cut in range(len(message) + 1):
        raw.socket.sendall(
            Raw.make(message[:cut], fin=False) + Raw.make(b"between", opcode=9)
            + Raw.make(message[cut:], opcode=0))
    pongs = answers = 0
    while answers <= len(message):
        opcode, payload = raw.frame()
        if opcode == 10 and payload == b"between":
            pongs += 1
        elif opcode == 1 and json.loads(payload)["id"] == "\u00e4\U0001f41a":
            answers += 1
    same("in two pieces, with a ping between", (pongs, answers),
         (len(message) + 1, len(message) + 1))
    raw.socket.close()


async def closing(url):
    for title, payload, want in (
            ("a close is answered", struct.pack(">H", 1000) + b"bye", 1000),
            ("one with a code of one's own", struct.pack(">H", 4000), 4000),
            ("an empty one", b"", None)):
        raw = Raw(url)
        raw.send(payload, opcode=8)
        same(title, raw.code(), want)
    raw = Raw(url)
    raw.socket.shutdown(socket.SHUT_WR)
    same("who hangs up needs no word", raw.code(), "nothing")
    raw = Raw(url)
    raw.send(b"x" * 125, opcode=9)
    same("a ping is answered before connect", raw.frame(), (10, b"x" * 125))
    raw.send(b"unasked", opcode=10)
    raw.send(b"again", opcode=9)
    same("a pong is not", raw.frame(), (10, b"again"))
    raw.send(raw.connect())
    raw.frame()
    raw.send(b"{}", opcode=2)
    same("binary after connect", raw.code(), 1003)


async def sizes(url):
    raw = Raw(url)
    raw.send(raw.connect())
    policy = json.loads(raw.frame()[1])["payload"]["policy"]
    limit = policy["maxPayload"]
    same("the policy says what waits for a client", policy["maxBufferedBytes"], 400000)
    start = b'{"type":"req","id":"1","method":"health","params":{"x":"'
    raw.send(start + b"x" * (limit - len(start) - 3) + b'"}}')
    opcode, payload = raw.frame()
    same("as long as the policy allows", json.loads(payload)["error"]["code"], "INVALID_REQUEST")
    raw.send(b" " * (limit + 1))
    same("and a byte more", raw.code(), 1009)


async def slow(url):
    """Who does not read is cut off, and holds nobody up."""
    idle = Raw(url, buffer=4096)
    idle.send(idle.connect())
    idle.frame()
    client = await Client.connect(url, Device(2))
    for number in range(40):
        await client.chat("x", f"s{number}", session=f"s{number}")
        last, text = await client.reply(f"s{number}", 40)
        if (last["state"], len(text)) != ("final", 90000):
            check("others get all", False, (last["state"], len(text)))
            return
        if len(await client.call("system-presence")) == 1:
            break
    check("others get all", True)
    same("who does not read is cut off", idle.code(), 1008)
    await client.close()


async def flood(url):
    """Requests without end, whose answers nobody reads."""
    raw = Raw(url)
    raw.send(raw.connect())
    request = Raw.make(b'{"type":"req","id":"1","method":"status"}') * 200
    raw.socket.settimeout(3)
    # Who is cut off has a few seconds to close, in which a quick machine sends much.
    end, cut = time.monotonic() + 30, False
    try:
        while time.monotonic() < end:
            raw.socket.send(request)
    except OSError:
        cut = True
    check("a flood does not go on for ever", cut)
    client = await Client.connect(url, Device(3))
    same("others are served", (await client.call("health"))["ok"], True)
    raw.socket.close()
    await client.close()


async def pings(url):
    """Pings without end, whose answers are read only then: those that could not leave are not
    kept, but for the last one."""
    raw = Raw(url, buffer=4096)
    raw.send(raw.connect())
    raw.frame()
    count = 100000
    for first in range(0, count, 100):
        raw.socket.sendall(b"".join(
            Raw.make(b"%0125d" % number, opcode=9) for number in range(first, first + 100)))
    answered, last = 0, -1
    while last != count - 1:
        opcode, payload = raw.frame()
        if opcode != 10:
            continue
        answered += 1
        if int(payload) <= last:
            check("pongs come in their order", False, (last, payload))
            return
        last = int(payload)
    check("of many pings some are answered, the last one at any rate", answered < count / 2, answered)
    raw.socket.close()


async def patience(url):
    raw = Raw(url)
    raw.socket.settimeout(40)
    same("who says nothing is shown out", raw.code(), 1008)


async def shutdown(url):
    client = await Client.connect(url)
    print("connected", flush=True)
    await client.reader
    names = [e["event"] for e in client.events if e["event"] != "tick"]
    same("the end is told, and a new start promised", (names, client.socket.close_code),
         (["shutdown"], 1012))


run({f.__name__: f for f in (
    violations, cuts, closing, sizes, slow, flood, pings, patience, shutdown)})
