#!/usr/bin/env python3
"""seat.py --control SOCKET [--screen FILE] [ROWSxCOLUMNS] COMMAND...: a person at
a terminal, who does what the test says.

Runs the command on a terminal of its own and reads what it shows. Orders
(control.py); TEXT may have \\r \\n \\t \\e \\\\ and \\xHH:

    send TEXT             types it
    paste FILE            types what is in the file
    expect TEXT           until TEXT has been shown, after what was expected last
    within S expect TEXT  the same in S seconds instead of 20
    seen                  all that has been shown so far is past
    unseen TEXT           TEXT has not been shown since
    quiet S               until nothing has been shown for S seconds
    resize ROWSxCOLUMNS
    stall | read          the terminal takes nothing any more, or takes again
    stop | continue | kill SIGNAL     to the command
    hangup                the terminal goes away
    end [S]               until the command has ended; how it left the terminal
    state                 that, now

`end` and `state` answer `ok` and a JSON object: `status` (128 + signal; null
while it runs), `termios` (whether it is as before), `modes` (what it left on, as
private modes `?N`, or `kitty`, `keypad`, `region`, `sgr`), `bytes` shown, `pid`.
With a library's name it is a module: see Seat.
"""
import argparse
import fcntl
import json
import os
import re
import selectors
import signal
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "servers"))
from control import Control  # noqa: E402

KEPT = 1 << 18  # bytes of the screen that `expect` looks at
ON_AT_FIRST = {"7", "25"}
SEQUENCE = re.compile(
    rb"\x1b(?:\[([<>=?]?)([0-9;:]*)([ !]?[@-~])|([=>c7]))")


class Modes:
    """What the output so far left switched on."""

    def __init__(self):
        self.private, self.kitty, self.keypad, self.region, self.sgr = {}, 0, False, False, False
        self.rest = b""

    def take(self, data):
        data = self.rest + data
        end = 0
        for found in SEQUENCE.finditer(data):
            end = found.end()
            mark, numbers, final, short = (part or b"" for part in found.groups())
            self.sequence(mark.decode(), numbers.decode(), final.decode(), short.decode())
        # A sequence may go on in the next piece.
        last = data.rfind(b"\x1b", end)
        self.rest = data[last:][:64] if last >= 0 else b""

    def sequence(self, mark, numbers, final, short):
        if mark == "?" and final in "hl":
            for number in numbers.split(";"):
                self.private[number] = final == "h"
        elif final == "u" and mark in "<>" and mark:
            self.kitty = max(0, self.kitty + (1 if mark == ">" else -int(numbers or 1)))
        elif not mark and final == "r":
            self.region = bool(numbers)
        elif not mark and final == "m":
            self.sgr = numbers.strip("0;") != ""
        elif short in ("=", ">"):
            self.keypad = short == "="
        elif short == "c":
            self.__init__()

    def left(self):
        found = [f"?{number}" for number, on in self.private.items()
                 if on != (number in ON_AT_FIRST)]
        found += [name for name in ("kitty", "keypad", "region", "sgr") if getattr(self, name)]
        return sorted(found)


class Seat:
    """The terminal: `turn(seconds)` reads what has come; the rest is for the eye
    and the hand. `screen` has the last bytes shown, `bytes` counts them all."""

    def __init__(self, command, rows=24, columns=80, keep=None, env=None, selector=None):
        self.selector = selector or selectors.DefaultSelector()
        self.master, self.slave = os.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.resize(rows, columns)
        self.screen, self.bytes, self.looked, self.shown_at = b"", 0, 0, time.monotonic()
        self.modes, self.keep = Modes(), keep
        self.status, self.is_stalled, self.typed = None, False, b""
        self.pid = os.fork()
        if self.pid == 0:
            self.become(command, env)
        os.set_blocking(self.master, False)
        self.selector.register(self.master, selectors.EVENT_READ, self.ready)

    def become(self, command, env):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(self.slave, number)
        os.closerange(3, 64)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvpe(command[0], command, env if env is not None else os.environ)
        finally:
            os._exit(127)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, data):
        self.typed += data
        self.write()

    def write(self):
        try:
            while self.typed:
                self.typed = self.typed[os.write(self.master, self.typed[:4096]):]
        except OSError:
            pass
        self.watch()

    def watch(self):
        events = (0 if self.is_stalled else selectors.EVENT_READ) | (
            selectors.EVENT_WRITE if self.typed else 0)
        known = self.selector.get_map().get(self.master)
        if known and not events:
            self.selector.unregister(self.master)
        elif known and known.events != events:
            self.selector.modify(self.master, events, self.ready)
        elif events and not known:
            self.selector.register(self.master, events, self.ready)

    def stall(self, is_stalled):
        self.is_stalled = is_stalled
        self.watch()

    def ready(self, events):
        if events & selectors.EVENT_READ:
            self.read()
        if self.typed:
            self.write()

    def read(self):
        """Takes what is there; false when there was nothing."""
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        if self.keep:
            self.keep.write(data)
        self.modes.take(data)
        self.bytes += len(data)
        self.shown_at = time.monotonic()
        self.screen += data
        surplus = len(self.screen) - KEPT
        if surplus > KEPT:
            self.screen = self.screen[surplus:]
            self.looked = max(0, self.looked - surplus)
        return bool(data)

    def turn(self, seconds):
        for key, events in self.selector.select(seconds):
            key.data(events)

    def finds(self, text):
        """Whether text has been shown since what was found last; goes on behind it."""
        place = self.screen.find(text, self.looked)
        if place >= 0:
            self.looked = place + len(text)
        return place >= 0

    def expect(self, text, seconds=20.0):
        """Waits for bytes; false when the time passes first."""
        deadline = time.monotonic() + seconds
        while not self.finds(text):
            if time.monotonic() >= deadline:
                return False
            self.turn(max(0.0, min(0.25, deadline - time.monotonic())))
        return True

    def has_ended(self):
        if self.status is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                self.status = 128 - code if code < 0 else code
                while not self.is_stalled and self.master >= 0 and self.read():
                    pass
        return self.status is not None

    def wait_end(self, seconds=20.0):
        deadline = time.monotonic() + seconds
        while not self.has_ended() and time.monotonic() < deadline:
            self.turn(0.01)
        return self.status

    def kill(self, number):
        if not self.has_ended():
            os.kill(self.pid, number)

    def hangup(self):
        if self.selector.get_map().get(self.master):
            self.selector.unregister(self.master)
        os.close(self.master)
        self.master = -1

    def state(self):
        is_ended = self.has_ended()
        return {"status": self.status if is_ended else None, "termios": self.is_as_before(),
                "modes": self.modes.left(), "bytes": self.bytes, "pid": self.pid}

    def is_as_before(self):
        try:
            return termios.tcgetattr(self.slave) == self.before
        except termios.error:  # the terminal went away
            return None

    def close(self):
        self.kill(signal.SIGKILL)
        if self.status is None:
            self.wait_end(5)
        if self.master >= 0:
            self.hangup()
        os.close(self.slave)


def plain(text):
    """The bytes that an order's TEXT stands for."""
    known = {"r": "\r", "n": "\n", "t": "\t", "e": "\x1b", "\\": "\\"}
    parts = re.split(r"\\(x[0-9a-fA-F]{2}|[rnte\\])", text)
    done = b""
    for index, part in enumerate(parts):
        if index % 2 == 0:
            done += part.encode("utf-8", "surrogateescape")
        else:
            done += bytes([int(part[1:], 16)]) if part[0] == "x" else known[part].encode()
    return done


class Orders:
    """Obeys one order after the other; those that wait are asked again."""

    def __init__(self, seat, control):
        self.seat, self.waiting = seat, []
        Control(control, seat.selector, self.obey)

    def obey(self, order, reply):
        seat, seconds = self.seat, 20.0
        timed = re.match(r"within ([0-9.]+) (.*)", order, re.S)
        if timed:
            seconds, order = float(timed[1]), timed[2]
        word, _, rest = order.partition(" ")
        if word == "expect":
            self.wait(lambda: seat.finds(plain(rest)), seconds, reply, f"never shown: {rest}")
            return
        if word == "quiet":
            self.wait(lambda: time.monotonic() - seat.shown_at >= float(rest), seconds, reply,
                      "never quiet")
            return
        if word == "end":
            self.wait(seat.has_ended, float(rest or seconds), reply, "runs on", self.report)
            return
        try:
            reply(self.at_once(word, rest))
        except (OSError, ValueError, AttributeError) as error:
            reply(f"no {error}")

    def at_once(self, word, rest):
        seat = self.seat
        if word == "send":
            seat.send(plain(rest))
        elif word == "paste":
            with open(rest, "rb") as file:
                seat.send(file.read())
        elif word == "seen":
            while not seat.is_stalled and seat.read():
                pass
            seat.looked = len(seat.screen)
        elif word == "unseen":
            return "ok" if seat.screen.find(plain(rest), seat.looked) < 0 else "no it was shown"
        elif word == "resize":
            seat.resize(*map(int, rest.split("x")))
        elif word in ("stall", "read"):
            seat.stall(word == "stall")
        elif word in ("stop", "continue", "kill"):
            name = {"stop": "STOP", "continue": "CONT"}.get(word, rest)
            seat.kill(getattr(signal, "SIG" + name))
        elif word == "hangup":
            seat.hangup()
        elif word == "state":
            return self.report()
        else:
            return f"no such order: {word}"
        return "ok"

    def report(self):
        return "ok " + json.dumps(self.seat.state())

    def wait(self, is_done, seconds, reply, otherwise, report=lambda: "ok"):
        self.waiting.append((is_done, time.monotonic() + seconds, reply, otherwise, report))

    def look(self):
        kept = []
        for one in self.waiting:
            is_done, deadline, reply, otherwise, report = one
            if is_done():
                reply(report())
            elif time.monotonic() >= deadline:
                reply(f"no {otherwise}")
            else:
                kept.append(one)
        self.waiting = kept


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--control", required=True)
    parser.add_argument("--screen")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command, rows, columns = options.command, 24, 80
    size = re.fullmatch(r"(\d+)x(\d+)", command[0])
    if size:
        rows, columns, command = int(size[1]), int(size[2]), command[1:]
    keep = open(options.screen, "ab", buffering=0) if options.screen else None
    seat = Seat(command, rows, columns, keep)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        orders = Orders(seat, options.control)
        while True:
            seat.turn(0.02 if orders.waiting else None)
            orders.look()
    finally:
        seat.close()


if __name__ == "__main__":
    main()
