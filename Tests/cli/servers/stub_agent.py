"""stub_agent.py: stands in for the coding agent in a tmux pane.

A raw terminal, a prompt, an echo. Every byte that arrives is logged with its
time, so are size changes, the environment and the folder, into
$STUB_LOGS/TTY.PID (one JSON object per line). A typed line is obeyed:

    inc                 counts, and says `count N`
    token               says `token T`, drawn at its start: the same agent still
    exit N              ends with N
    flood N             writes N bytes of numbered lines, then `flooded`
    mouse|altscreen|paste|kitty on|off      sets what a terminal keeps
    say TEXT            writes TEXT (\\e is ESC, \\xHH a byte)
"""
import json
import os
import re
import secrets
import shutil
import signal
import sys
import termios
import time
import tty

MODES = {"mouse": ("\x1b[?1000h\x1b[?1006h", "\x1b[?1000l\x1b[?1006l"),
         "altscreen": ("\x1b[?1049h", "\x1b[?1049l"),
         "paste": ("\x1b[?2004h", "\x1b[?2004l"),
         "kitty": ("\x1b[>1u", "\x1b[<u")}
PROMPT = "claude> "


class Agent:
    def __init__(self):
        name = os.ttyname(0).replace("/dev/", "").replace("/", "-") if os.isatty(0) else "none"
        folder = os.environ.get("STUB_LOGS") or os.path.join(os.environ["HOME"], "agents")
        os.makedirs(folder, exist_ok=True)
        self.log = open(os.path.join(folder, f"{name}.{os.getpid()}"), "a", buffering=1)
        self.token, self.count, self.line = secrets.token_hex(4), 0, ""
        size = shutil.get_terminal_size()
        self.note("start", pid=os.getpid(), arguments=sys.argv[1:], cwd=os.getcwd(),
                  env=dict(os.environ), columns=size.columns, rows=size.lines, token=self.token)
        signal.signal(signal.SIGWINCH, self.resized)

    def note(self, what, **more):
        self.log.write(json.dumps({"t": time.time(), "what": what, **more}) + "\n")

    def resized(self, *_):
        size = os.get_terminal_size(1)
        self.note("size", columns=size.columns, rows=size.lines)

    def write(self, text):
        data = text.encode("utf-8", "surrogateescape")
        while data:
            data = data[os.write(1, data):]

    def run(self):
        if os.isatty(0):
            tty.setraw(0)
            # What was typed before the agent was there is its input, too.
            termios.tcflow(0, termios.TCOON)
        self.write(PROMPT)
        while True:
            data = os.read(0, 65536)
            if not data:
                self.note("end")
                return
            self.note("input", hex=data.hex())
            self.take(data)

    def take(self, data):
        text = data.decode("utf-8", "surrogateescape")
        text = text.replace("\x1b[200~", "").replace("\x1b[201~", "")
        for piece in re.split("(\r)", text):
            if piece == "\r":
                line, self.line = self.line.strip(), ""
                self.write("\r\n")
                self.obey(line)
                self.write(PROMPT)
            elif piece:
                self.line += piece
                self.write("".join(c if c >= " " else f"^{chr(ord(c) + 64)}" for c in piece))

    def obey(self, line):
        word, _, rest = line.partition(" ")
        if word == "inc":
            self.count += 1
            self.write(f"count {self.count}\r\n")
        elif word == "token":
            self.write(f"token {self.token}\r\n")
        elif word == "exit":
            self.note("exit", status=int(rest or 0))
            sys.exit(int(rest or 0))
        elif word == "flood":
            self.flood(int(rest))
        elif word in MODES and rest in ("on", "off"):
            self.write(MODES[word][rest == "off"])
        elif word == "say":
            self.write(re.sub(r"\\x(..)", lambda m: chr(int(m[1], 16)),
                              rest.replace("\\e", "\x1b")) + "\r\n")

    def flood(self, size):
        block = "".join(f"{n:08d} the quick brown fox jumps over the lazy dog {n:08d}\r\n"
                        for n in range(1000))
        while size > 0:
            self.write(block[:size])
            size -= len(block)
        self.write("\r\nflooded\r\n")
        self.note("flooded")


Agent().run()
