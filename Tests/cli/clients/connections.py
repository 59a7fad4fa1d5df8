"""Clients of agent-serve that behave as networks and proxies do. Each mode prints one line.

    second GATEWAY       an upgrade as the second request of a connection
    ended GATEWAY PID    what a socket that never connected gets when the server ends
    still URL PID        the processor time of clients that have said half, in 2 seconds
    coming URL PID N     N clients that come and go at random: what is left of them
    mute URL PID         50 clients that follow the stream and read nothing: memory
"""
import os
import random
import signal
import socket
import struct
import sys
import time

SHAKE = (b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
         b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
HOST = b" HTTP/1.1\r\nHost: localhost\r\n"


def connect(url, buffer=None):
    host, _, port = url.split("//")[1].strip("/").rpartition(":")
    s = socket.socket()
    if buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    s.settimeout(20)
    s.connect((host, int(port)))
    return s


def until(s, want):
    got = b""
    while want not in got:
        data = s.recv(65536)
        if not data:
            break
        got += data
    return got


def second(gateway):
    s = connect(gateway)
    s.sendall(b"GET /health" + HOST + b"\r\n")
    first = until(s, b"}")
    s.sendall(SHAKE)
    rest = until(s, b"connect.challenge")
    print(first[9:12].decode(), rest[9:12].decode(), "greeted" if b"connect.challenge" in rest else rest)


def ended(gateway, pid):
    s = connect(gateway)
    s.sendall(SHAKE)
    until(s, b"connect.challenge")
    os.kill(int(pid), signal.SIGTERM)
    rest = b""
    while data := s.recv(65536):
        rest += data
    at = rest.rfind(b"\x88")
    print("close", struct.unpack(">H", rest[at + 2:at + 4])[0] if at >= 0 else "nothing")


def cpu(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def still(url, pid):
    held = []
    for n in range(60):
        s = connect(url)
        if n % 3 == 0:
            s.sendall(b"GET /api/hea")
        elif n % 3 == 1:
            s.sendall(b"GET /api/activity/events" + HOST + b"\r\nGET / ")
            until(s, b"\r\n\r\n")
        else:
            s.sendall(b"POST /api/actions" + HOST + b"Content-Length: 9\r\n\r\nabc")
        held.append(s)
    time.sleep(0.5)
    before = cpu(pid)
    time.sleep(2)
    print("still" if cpu(pid) - before <= 0.2 else f"busy {cpu(pid) - before}")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def coming(url, pid, count):
    before = descriptors(pid)
    random.seed(7)
    texts = [b"", b"GET", b"GET /api/health" + HOST + b"\r\n", b"GET /api/activity/events" + HOST + b"\r\n",
             b"POST /api/actions" + HOST + b"Content-Length: 12\r\n\r\n{\"kind\":", b"\x16\x03",
             b"GET /api/actions?limit=50" + HOST + b"\r\n"]
    for n in range(int(count)):
        s = connect(url)
        text = random.choice(texts)
        try:
            s.sendall(text[:random.randint(0, len(text))] if random.random() < 0.5 else text)
            if random.random() < 0.3:
                s.settimeout(0.002)
                s.recv(100)
            if random.random() < 0.3:
                s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        if random.random() < 0.3:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
    end = time.monotonic() + 15
    while descriptors(pid) > before and time.monotonic() < end:
        time.sleep(0.05)
    print("nothing" if descriptors(pid) <= before else f"{descriptors(pid) - before} descriptors")


def memory(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def mute(url, pid):
    held = []
    for _ in range(50):
        s = connect(url, 4096)
        s.sendall(b"GET /api/activity/events" + HOST + b"\r\n")
        held.append(s)
    poster = connect(url)
    body = b"{\"kind\":\"daily\",\"content\":\"" + b"x" * 100_000 + b"\"}"

    def post():
        poster.sendall(b"POST /api/actions" + HOST + b"Content-Type: application/json\r\nContent-Length: "
                       + str(len(body)).encode() + b"\r\n\r\n" + body)
        until(poster, b"\"errors\":[]}")

    for _ in range(60):
        post()
    middle = memory(pid)
    for _ in range(200):
        post()
    grown = memory(pid) - middle
    print("flat" if grown < 30_000 else f"{grown} KiB more")


{"second": second, "ended": ended, "still": still, "coming": coming, "mute": mute}[sys.argv[1]](*sys.argv[2:])
