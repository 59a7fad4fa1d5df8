"""make fuzz: the frames that ws-tail reads, at random, broken at random, in pieces at random.

The same bytes give the same records and the same close code however they are cut, and
these are what a reading of the whole by RFC 6455 gives.
"""
import base64
import os
import socket
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli", "servers")]
import frames
import rounds
import wires
from rounds import Difference

TEXTS = [b"", b"a", b"{}", b'{"a":[1,2]}', b'"s"', b"1e400", b"\0", b"\x1b[2J", "\u03c0\u5186\U0001f600".encode(),
         b"\n", b"x" * 125, b"y" * 126, b"z" * 4090, "\u03c0".encode() * 3000]
BITS = [b"\x81\x00", b"\x80\x00", b"\x01\x01", b"\x89\x00", b"\x88\x00", b"\x88\x02\x03\xe8", b"\x7e\x00\x7d", b"\xff",
        b"\xc3", b"\x7f\x00\x00\x00\x00\x00\x01\x00\x00", b"\x82\x7f\xff", b"\xc1\x01a", b"\x83\x00", b"\x81\x80abcd",
        b"\xed\xa0\x80", b"\xf4\x90", "\u5186".encode()]
LARGEST = 1 << 30

pieces = []
sent = []


def serve(listener):
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(10)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(4096)
            key = next(line[19:].decode() for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key: "))
            try:
                connection.sendall(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                   b"Sec-WebSocket-Accept: " + frames.accept_of(key).encode() + b"\r\n\r\n")
                for piece in pieces:
                    if piece is None:
                        time.sleep(0.002)  # so that the pieces come one by one
                    else:
                        connection.sendall(piece)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            source = frames.FrameSource(connection)
            while found := source.next():
                sent.append(found)
            done.set()


done = threading.Event()
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
url = f"ws://127.0.0.1:{listener.getsockname()[1]}/"


def stream(rng):
    out = b""
    for _ in range(rng.choice([1, 3, 10, 40])):
        payload = rng.choice(TEXTS)
        what = rng.random()
        if what < 0.4:
            out += frames.frame(0x81, payload)
        elif what < 0.5:
            out += frames.frame(0x82, bytes(rng.choices(range(256), k=rng.choice([0, 3, 200, 70000]))))
        elif what < 0.8:
            cuts = sorted(rng.randint(0, len(payload)) for _ in range(rng.choice([1, 2, 5])))
            parts = [payload[a:b] for a, b in zip([0] + cuts, cuts + [len(payload)])]
            for number, part in enumerate(parts):
                last = 0x80 if number == len(parts) - 1 else 0
                out += frames.frame((0 if number else 1) | last, part)
                if rng.random() < 0.2:
                    out += frames.frame(0x89, rng.choice([b"", b"ping"]))
        else:
            out += frames.frame(rng.choice([0x89, 0x8a]), rng.choice([b"", b"p", b"q" * 125]))
    if rng.random() < 0.5:
        out += frames.frame(0x88, rng.choice([b"", b"\x03\xe8", b"\x0f\xa0bye", b"\x03\xed", b"\x03", b"\x03\xe8\xff"]))
    if rng.random() < 0.6:
        out = rounds.mutate(rng, out, BITS)
    return out


def expected(body):
    """What RFC 6455 says of bytes behind which the connection ends: the messages, and what
    we close with ("none" for not at all)."""
    found, message, kind, at = [], b"", None, 0
    try:
        while len(body) - at >= 2:
            first, second = body[at:at + 2]
            final, opcode, size = first & 128, first & 15, second & 127
            if opcode & 8 and (size > 125 or not final):
                raise wires.Close(1002)
            at += 2
            if size > 125:
                count = 2 if size == 126 else 8
                if len(body) - at < count:
                    break
                size = int.from_bytes(body[at:at + count], "big")
                at += count
                if size < 126 or count == 8 and size < 1 << 16 or size >> 63:
                    raise wires.Close(1002)
            if second & 128:
                at += 4
            # With a length, a frame is looked at when there is something of it.
            if at > len(body) or size and at == len(body):
                break
            if first & 0x70 or second & 128 or opcode not in (0, 1, 2, 8, 9, 10):
                raise wires.Close(1002)
            if opcode == 0 and kind is None or opcode in (1, 2) and kind is not None:
                raise wires.Close(1002)
            if opcode in (1, 2):
                kind = opcode
            if opcode < 8 and len(message) + size > LARGEST:
                raise wires.Close(1009)
            payload = body[at:at + size]
            whole = len(payload) == size
            at += len(payload)
            if opcode < 8:
                message += payload
                if kind == 1:
                    ends = wires.is_whole(message)
                if whole and final:
                    if kind == 1 and not ends:
                        raise wires.Close(1007)
                    found.append((kind, message))
                    message, kind = b"", None
            elif opcode == 8 and whole:
                if not payload:
                    raise wires.Close(None)
                code = int.from_bytes(payload[:2], "big")
                if size == 1 or not (code in (1000, 1001, 1002, 1003) or 1007 <= code <= 1014
                                     or 3000 <= code <= 4999):
                    raise wires.Close(1002)
                try:
                    payload[2:].decode()
                except UnicodeDecodeError:
                    raise wires.Close(1007) from None
                raise wires.Close(code)
    except wires.Close as close:
        return found, close.code
    return found, "none"


def value(kind, data):
    """What a message is in a record."""
    if kind == 2:
        return "binary", base64.b64encode(data).decode()
    return "data", wires.value(data.decode())


def ask(cut):
    """The output and our close code ("none" for no close frame)."""
    pieces[:] = cut
    sent.clear()
    done.clear()
    output = rounds.run(["ws-tail", "--max-retries", "0", url], statuses=(75,), lines=2).stdout
    if not done.wait(10):
        raise Difference("the connection does not end")
    if any(found["mask"] is None for found in sent):
        raise Difference("a frame without a mask")
    closes = [found for found in sent if found["first"] == "88"]
    if len(closes) > 1 or any(found["first"] not in ("88", "8a") for found in sent):
        raise Difference(f"we sent {sent}")
    return output, closes[0].get("code") if closes else "none"


def check(rng, folder, seed):
    body = stream(rng)
    output, code = wires.alike(rng, body, ask)
    messages, wanted = expected(body)
    if code != wanted:
        raise Difference(f"closed with {code}, want {wanted}", body)
    got = [next(iter(wires.parsed(line).items())) for line in output.split(b"\n")[:-1]]
    wires.compare(got, [value(*message) for message in messages], body)


sys.exit(rounds.main("websocket", check))
