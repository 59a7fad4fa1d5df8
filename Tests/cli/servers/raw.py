#!/usr/bin/env python3
r"""raw.py SCRIPT LOG [CERTIFICATE KEY]: an HTTP server that sends exact bytes, as a script says.

The script is read at every request, and a new file starts all counts over. It holds blocks, separated by lines
`---`; the nth request gets the nth block, and a request after the last block
gets 204, which ends a client of event streams. A block that begins with
`on PATH` is for that path alone (paths count for themselves). A block that
says `forever` is not used up. A connection carries one request.

A line of a block is one of

    stream                 head of a 200 text/event-stream, until close
    status 404 TYPE BODY   a whole answer (TYPE and BODY may be missing)
    redirect 302 LOCATION  a whole answer
    + Name: value          one more header of the stream, status, redirect above
    - Name                 one header less
    send TEXT              these bytes
    pieces N TEXT          these bytes, N at a time
    fill COUNT TEXT        the text over and over, COUNT bytes, 1 KB at a time
    repeat COUNT TEXT      the text COUNT times, in large writes
    file NAME [N]          the bytes of the file beside the script, in random
                           pieces of up to N
    chunk TEXT             these bytes as one chunk of a chunked body
    gzip TEXT              these bytes, compressed and flushed
    pause SECONDS
    await NAME             until the file NAME stands beside the script
    touch NAME             makes that file
    stall                  nothing more until the client goes away
    reset                  end by RST; else the connection is closed
    switch                 the 101 that makes a WebSocket of it
    frame HH TEXT          one frame that begins with the byte HH: 81 is a text
    bytes N TEXT           a frame of binary data, the text over and over, N bytes
    receive N              the client's next N frames, each logged as `frame`
    listen                 all its frames, up to a close frame, and its end

TEXT knows the escapes \n \r \t \0 \e \\ and \xHH (a byte), and @URL@, @OTHER@
(the origin of a second port), @DATE+N@ (an HTTP date N seconds from now).

LOG gets one JSON record per request and one when it has been served; `at` is
in seconds. On standard output: the `listening` record, with `other`. With a
certificate it speaks TLS, as localhost.
"""
import email.utils
import json
import os
import random
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import zlib

import frames

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "e": b"\x1b", "\\": b"\\"}
REASONS = {101: "Switching Protocols", 200: "OK", 204: "No Content", 301: "Moved Permanently", 302: "Found"}
LONGEST_WAIT = 60


class Server:
    def __init__(self, script, log, certificate=None, key=None):
        self.script = script
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate, key)
            self.tls.set_alpn_protocols(["h2", "http/1.1"])
        self.log_file = open(log, "a", buffering=1)
        self.lock = threading.Lock()
        self.served = {}
        self.number = 0
        self.generation = None
        self.sockets = [socket.create_server(("127.0.0.1", 0), backlog=64) for _ in range(2)]
        place = "https://localhost" if certificate else "http://127.0.0.1"
        self.origins = [f"{place}:{s.getsockname()[1]}" for s in self.sockets]

    def run(self):
        print(json.dumps({"type": "listening", "url": self.origins[0], "other": self.origins[1]},
                         separators=(",", ":")), flush=True)
        while True:
            for ready in select.select(self.sockets, [], [])[0]:
                connection, _ = ready.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                port = self.sockets.index(ready)
                threading.Thread(target=self.serve, args=(connection, port), daemon=True).start()

    def stamp(self):
        """What tells one script from the next: an inode number may come again."""
        status = os.stat(self.script)
        return (status.st_ino, status.st_mtime_ns, status.st_size)

    def log(self, record, generation):
        """Writes a record, unless the script was replaced since."""
        with self.lock:
            if generation == self.stamp():
                self.log_file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def serve(self, connection, port):
        if self.tls:
            try:
                connection = self.tls.wrap_socket(connection, server_side=True)
            except OSError:
                return
        with connection:
            request = read_request(connection)
            if request is None:
                return
            with self.lock:
                generation = self.stamp()
                if generation != self.generation:
                    self.generation, self.served, self.number = generation, {}, 0
                self.number += 1
                number = self.number
            record = {"what": "request", "n": number, "at": time.monotonic(),
                      "port": ["main", "other"][port], **request}
            self.log(record, generation)
            cause = "script"
            try:
                def log_frame(frame):
                    self.log({"what": "frame", "n": number, "at": time.monotonic(), **frame},
                             generation)
                play(connection, self.block(request["path"]), self, request, log_frame)
            except (BrokenPipeError, ConnectionResetError):
                cause = "client"
            except Exception as error:  # a mistake in a script must be seen, not hang a test
                cause = f"fault: {error!r}"
                print(f"raw.py: request {number}: {error!r}", file=sys.stderr, flush=True)
            self.log({"what": "end", "n": number, "at": time.monotonic(), "by": cause},
                     generation)

    def block(self, path):
        """The lines of the block that the next request for a path gets."""
        blocks = {}
        with open(self.script, encoding="utf-8") as file:
            for text in re.split(r"^---\n", file.read(), flags=re.M):
                lines = [line for line in text.split("\n") if line and not line.startswith("#")]
                place = lines.pop(0)[3:].strip() if lines and lines[0].startswith("on ") else None
                if lines:
                    blocks.setdefault(place, []).append(lines)
        place = path if path in blocks else None
        with self.lock:
            turn = self.served.get(place, 0)
            mine = blocks.get(place, [])
            if turn >= len(mine):
                return ["status 204"]
            if "forever" not in mine[turn]:
                self.served[place] = turn + 1
            return mine[turn]

    def bytes(self, text):
        text = text.replace("@URL@", self.origins[0]).replace("@OTHER@", self.origins[1])
        text = re.sub(r"@DATE\+(\d+)@",
                      lambda m: email.utils.formatdate(time.time() + int(m[1]), usegmt=True), text)
        out = bytearray()
        at = 0
        for match in re.finditer(r"\\(x[0-9a-fA-F]{2}|.)", text):
            out += text[at:match.start()].encode()
            name = match[1]
            out += bytes([int(name[1:], 16)]) if len(name) == 3 else ESCAPES[name]
            at = match.end()
        return bytes(out + text[at:].encode())


def read_request(connection):
    """The request with its body, or None when the client leaves before its end."""
    connection.settimeout(LONGEST_WAIT)
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode("utf-8", "surrogateescape").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        pairs = [[name, value.strip()] for name, _, value in (l.partition(":") for l in lines[1:])]
        headers = {}
        for name, value in pairs:
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        if "100-continue" in headers.get("expect", ""):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        while "chunked" in headers.get("transfer-encoding", "") and not body.endswith(b"0\r\n\r\n"):
            body += connection.recv(65536)
    except OSError:
        return None
    return {"method": method, "target": target, "path": target.split("?")[0],
            "headers": headers, "names": [name for name, _ in pairs],
            "body": body.decode("utf-8", "replace")}


def head_of(line, extra, server, request):
    """The bytes of an answer's head (and body, where the line has one)."""
    word, _, rest = line.partition(" ")
    headers = {"Connection": "close"}
    body = b""
    if word == "stream":
        status = 200
        headers["Content-Type"] = "text/event-stream"
    elif word == "switch":
        status = 101
        accept = frames.accept_of(request["headers"].get("sec-websocket-key", ""))
        headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept}
    elif word == "redirect":
        code, _, location = rest.partition(" ")
        status = int(code)
        headers["Content-Length"] = "0"
        if location:
            headers["Location"] = location
    else:
        code, kind, text = (rest.split(" ", 2) + ["", ""])[:3]
        status = int(code)
        body = server.bytes(text)
        if kind:
            headers["Content-Type"] = kind
        if status != 204:
            headers["Content-Length"] = str(len(body))
    lines = []
    for more in extra:
        if more[0] == "-":
            headers.pop(more[2:], None)
        else:
            name = more[2:].split(":")[0]
            headers.pop(name, None)
            lines.append(more[2:])
    lines = [f"{name}: {value}" for name, value in headers.items()] + lines
    head = f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"
    return b"\r\n".join([head.encode()] + [server.bytes(l) for l in lines]) + b"\r\n\r\n" + body


def play(connection, lines, server, request, log_frame):
    """Does what the lines of a block say."""
    packer = zlib.compressobj(wbits=31)
    folder = os.path.dirname(os.path.abspath(server.script))
    lines = list(lines)
    source = frames.FrameSource(connection)
    while lines:
        line = lines.pop(0)
        word, _, rest = line.partition(" ")
        if word in ("stream", "status", "redirect", "switch"):
            extra = []
            while lines and lines[0][:2] in ("+ ", "- "):
                extra.append(lines.pop(0))
            connection.sendall(head_of(line, extra, server, request))
        elif word == "send":
            connection.sendall(server.bytes(rest))
        elif word == "pieces":
            size, _, text = rest.partition(" ")
            data = server.bytes(text)
            for start in range(0, len(data), int(size)):
                connection.sendall(data[start:start + int(size)])
                time.sleep(0.001)  # without it the pieces arrive as one
        elif word == "fill":
            count, _, text = rest.partition(" ")
            unit = server.bytes(text)
            left = int(count)
            block = (unit * (1024 // len(unit) + 1))[:1024]
            while left > 0:
                connection.sendall(block[:left])
                left -= 1024
        elif word == "repeat":
            count, _, text = rest.partition(" ")
            unit = server.bytes(text)
            each = max(1, 65536 // len(unit))
            for start in range(0, int(count), each):
                connection.sendall(unit * min(each, int(count) - start))
        elif word == "file":
            name, _, most = rest.partition(" ")
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            while data:
                size = random.randint(1, int(most)) if most else len(data)
                connection.sendall(data[:size])
                data = data[size:]
                time.sleep(0.0002)  # as above
        elif word == "chunk":
            data = server.bytes(rest)
            connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))
        elif word == "gzip":
            data = packer.compress(server.bytes(rest)) + packer.flush(zlib.Z_SYNC_FLUSH)
            connection.sendall(data)
        elif word == "frame":
            first, _, text = rest.partition(" ")
            connection.sendall(frames.frame(int(first, 16), server.bytes(text)))
        elif word == "bytes":
            count, _, text = rest.partition(" ")
            unit = server.bytes(text)
            data = (unit * (int(count) // len(unit) + 1))[:int(count)]
            connection.sendall(frames.frame(0x82, data))
        elif word in ("receive", "listen"):
            left = int(rest) if word == "receive" else -1
            while left:
                found = source.next()
                if found is None:
                    break
                log_frame(found)
                left -= 1
                if word == "listen" and found["first"] == "88":
                    break
        elif word == "pause":
            time.sleep(float(rest))
        elif word == "touch":
            open(os.path.join(folder, rest), "w").close()
        elif word == "await":
            limit = time.monotonic() + LONGEST_WAIT
            while not os.path.exists(os.path.join(folder, rest)) and time.monotonic() < limit:
                if left_by_client(connection, 0.005):
                    return
        elif word == "stall":
            left_by_client(connection, LONGEST_WAIT)
            return
        elif word == "reset":
            # A moment for the client to read what was sent: some systems throw that away
            # with RST, and nothing here shows when it has been read.
            time.sleep(0.05)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        elif word != "forever":
            raise ValueError(f"unknown line: {line}")


def left_by_client(connection, seconds):
    """Waits so long at most; true when the client closed the connection."""
    if not select.select([connection], [], [], seconds)[0]:
        return False
    try:
        return connection.recv(4096) == b""
    except OSError:
        return True


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    Server(*sys.argv[1:]).run()
