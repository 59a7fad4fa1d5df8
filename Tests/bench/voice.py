"""The live screen of voice-state: what a frame costs, an hour of it, and how
long `-q` takes beside curl for the same answer."""
import fcntl
import json
import os
import pty
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time

import record
from common import HERE, median, percentile, setting, skipped, table

STATE = os.path.join(HERE, "..", "fixtures", "voice", "full.json")
END = b"\x1b[?2026l"
SPAWNS = 60


def records(count):
    """A recording: states, in each something changed, and between them events."""
    with open(STATE, encoding="utf-8") as file:
        state = json.load(file)
    session = state["sessions"][0]
    session["recentTurns"] = (session["recentTurns"] * 220)[:220]
    for number in range(count):
        session["recentTurns"] = session["recentTurns"][1:] + [
            {"kind": "speech", "role": "user", "speakerName": "Kei", "text": f"frame {number}",
             "at": "2026-06-15T21:00:00.000Z"}]
        session["botTurnOpen"] = number % 2 == 0
        yield json.dumps({"event": "voice_state", "id": "", "data": state}).encode() + b"\n"
        # Calls begin and end by turns, as a bot makes them.
        end = {"runtimeMs": 812} if number % 2 else {}
        yield json.dumps({"event": "voice_event", "id": "", "data": {
            "kind": "voice_runtime", "guildId": session["guildId"],
            "content": "realtime_tool_call_" + ("completed" if end else "started"),
            "createdAt": "2026-06-15T21:00:00.000Z",
            "metadata": {"sessionId": session["sessionId"], "callId": f"c{number // 2}",
                         "toolName": "web_search", **end}}}).encode() + b"\n"


class Screen:
    """voice-state -w on a terminal of its own; frames are awaited one by one."""

    def __init__(self, rows, columns, prefix=()):
        reader, self.feed = os.pipe()
        self.child, self.master = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.close(self.feed)
            os.dup2(reader, 0)
            os.environ["TERM"] = "xterm-256color"
            command = [*prefix, "voice-state", "-w", "-"]
            os.execvp(command[0], command)
        os.close(reader)
        self.frame(b"")

    def frame(self, record, key=b""):
        """Seconds from the record to the end of its frame."""
        began = time.perf_counter()
        if record:
            os.write(self.feed, record) if len(record) < 60000 else self.large(record)
        if key:
            os.write(self.master, key)
        tail = b""
        while END not in tail:
            data = os.read(self.master, 1 << 16)
            tail = (tail + data)[-100000:]
        return time.perf_counter() - began

    def large(self, record):
        """More than a pipe may hold."""
        thread = threading.Thread(target=os.write, args=(self.feed, record))
        thread.start()
        thread.join(5)

    def resident(self):
        try:
            with open(f"/proc/{self.child}/statm") as file:
                return int(file.read().split()[1]) * 4096 / (1 << 20)
        except OSError:
            return 0.0

    def close(self):
        """CPU seconds of the whole run."""
        os.write(self.master, b"q")
        while True:
            try:
                if not os.read(self.master, 1 << 16):
                    break
            except OSError:
                break
        os.close(self.feed)
        _, _, usage = os.wait4(self.child, 0)
        os.close(self.master)
        return usage.ru_utime + usage.ru_stime


def frames(rows, columns, count):
    """Median and p99 in milliseconds, CPU milliseconds a frame."""
    screen = Screen(rows, columns)
    took = [screen.frame(one) * 1e3 for one in records(count)]
    spent = screen.close()
    return median(took[20:]), percentile(took[20:], 0.99), spent * 1e3 / len(took)


def redraws(rows, columns, count):
    """The same without a record to read: ^L, which draws every row."""
    screen = Screen(rows, columns)
    for one in records(3):
        screen.frame(one)
    took = [screen.frame(b"", b"\x0c") * 1e3 for _ in range(count)]
    spent = screen.close()
    return median(took), percentile(took, 0.99), spent * 1e3 / count


def writes(count):
    """write(2) calls to the terminal for so many frames, nil without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r") as log:
        screen = Screen(50, 200, ("strace", "-o", log.name, "-e", "trace=write"))
        for one in records(count):
            screen.frame(one)
        screen.close()
        drawn = [line for line in log if line.startswith("write(1,") and "?2026h" in line]
        others = [line for line in open(log.name) if line.startswith("write(1,")]
    # One to enter, one to leave.
    return len(drawn), len(others) - 2


def hour(seconds):
    """An hour: a state every three seconds, as many events, a tick every
    second, each drawn. CPU as part of the hour, memory at its beginning and end."""
    screen = Screen(50, 200)
    first = 0.0
    for number, one in enumerate(records(seconds // 3)):
        screen.frame(one)
        screen.frame(b"", b"\x0c")
        if number % 2 == 0:
            screen.frame(b"", b"\x0c")
        if number == 200:
            first = screen.resident()
    last = screen.resident()
    return screen.close() / seconds * 100, first, last


class Server(threading.Thread):
    """Answers every request with the state."""

    def __init__(self):
        super().__init__(daemon=True)
        with open(STATE, "rb") as file:
            body = file.read()
        self.answer = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body)) + body
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            connection, _ = self.socket.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(self.answer)


def quick():
    """Milliseconds of `voice-state -q` and of curl -s."""
    server = Server()
    server.start()
    url = f"http://127.0.0.1:{server.port}"
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, AGENT_URL=url, HOME=home, XDG_CONFIG_HOME=home)
        environment.pop("AGENT_TOKEN_FILE", None)
        commands = {"curl -s": ["curl", "-s", url + "/api/voice/state"],
                    "voice-state -q": ["voice-state", "-q"]}
        taken = {name: [] for name in commands}
        for turn in range(SPAWNS + 3):
            for name, command in commands.items():
                began = time.perf_counter()
                subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if turn >= 3:
                    taken[name].append((time.perf_counter() - began) * 1e3)
    return taken


def report():
    missing = [name for name in ("voice-state", "curl") if not shutil.which(name)]
    if missing:
        return table("voice-state", ["what", "figure"], [], skipped(missing))
    rows = []
    for height, width in ((24, 80), (50, 200)):
        for words, measured in (("from a key", redraws), ("from a record of 80 KB", frames)):
            middle, late, spent = measured(height, width, 300)
            record.figure(f"a frame of {width} by {height}, {words}", "voice-state", "ms", middle,
                          runs=300)
            rows.append([f"a frame of {width} by {height}, {words} to its last byte",
                         f"{middle:.2f} ms, p99 {late:.2f} ms, CPU {spent:.2f} ms"])
    counted = writes(60)
    if counted:
        rows.append([f"write(2) calls for {counted[0]} frames", f"{counted[1]}"])
    seconds = setting("BENCH_VOICE_SECONDS", 3600)
    share, first, last = hour(seconds)
    record.figure("CPU of a stream, all frames drawn", "voice-state", "%", share, runs=1,
                  size=f"{seconds} s")
    record.figure("memory at its end", "voice-state", "MiB", last, runs=1, size=f"{seconds} s")
    rows.append([f"CPU of {seconds} s of a stream, all frames drawn", f"{share:.2f} %"])
    rows.append(["memory after 100 states, at the end", f"{first:.1f} MiB, {last:.1f} MiB"])
    taken = quick()
    curl = median(taken["curl -s"])
    record.figure("voice-state -q", "voice-state", "x", median(taken["voice-state -q"]) / curl,
                  "curl", runs=SPAWNS)
    rows.append(["`voice-state -q` beside `curl -s`",
                 f"{median(taken['voice-state -q']):.1f} ms, {curl:.1f} ms: "
                 f"{median(taken['voice-state -q']) / curl:.2f}"])
    return table("voice-state", ["what", "figure"], rows)
