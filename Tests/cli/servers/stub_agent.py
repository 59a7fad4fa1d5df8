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

Started with --settings JSON, it runs the hooks that are in it, as Claude Code does:
commands for sh, with a JSON object on standard input. A line is a prompt, and then it
stops, but for these:

    work                does not stop
    ask TEXT            asks for a permission with TEXT, and does not stop
    allow               the tool has run
    done                stops
"""
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
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
        self.log = os.open(os.path.join(folder, f"{name}.{os.getpid()}"),
                           os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self.token, self.count, self.line = secrets.token_hex(4), 0, ""
        size = shutil.get_terminal_size()
        self.note("start", pid=os.getpid(), arguments=sys.argv[1:], cwd=os.getcwd(),
                  env=dict(os.environ), columns=size.columns, rows=size.lines, token=self.token)
        signal.signal(signal.SIGWINCH, self.resized)
        self.hooks = {}
        if "--settings" in sys.argv[:-1]:
            settings = json.loads(sys.argv[sys.argv.index("--settings") + 1])
            self.hooks = settings.get("hooks", {})

    def note(self, what, **more):
        # A buffered file is nothing for a handler of signals: one may come in the middle of this.
        line = json.dumps({"t": time.time(), "what": what, **more}) + "\n"
        os.write(self.log, line.encode("utf-8", "surrogateescape"))

    def fire(self, event, **more):
        told = {"session_id": self.token, "cwd": os.getcwd(), "hook_event_name": event, **more}
        for group in self.hooks.get(event, []):
            for hook in group["hooks"]:
                done = subprocess.run(["/bin/sh", "-c", hook["command"]], capture_output=True,
                                      input=json.dumps(told).encode(), check=False)
                self.note("hook", event=event, status=done.returncode,
                          said=(done.stdout + done.stderr).decode("utf-8", "replace"))

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
        self.fire("SessionStart", source="startup")
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
                if self.hooks:
                    self.tell(line)
                self.obey(line)
                self.write(PROMPT)
            elif piece:
                self.line += piece
                self.write("".join(c if c >= " " else f"^{chr(ord(c) + 64)}" for c in piece))

    def tell(self, line):
        word, _, rest = line.partition(" ")
        if word == "allow":
            self.fire("PostToolUse", tool_name="Bash", tool_response={
                "hook_event_name": "SessionEnd", "stdout": "x" * 3000000})
        elif word != "done":
            self.fire("UserPromptSubmit", prompt=line)
        if word == "ask":
            self.fire("PreToolUse", tool_name="Bash", tool_input={"command": "make"})
            self.fire("Notification", message=rest.encode().decode("unicode_escape"),
                      notification_type="permission_prompt")
        elif word not in ("work", "allow"):
            self.fire("Stop", stop_hook_active=False)

    def obey(self, line):
        word, _, rest = line.partition(" ")
        if word == "inc":
            self.count += 1
            self.write(f"count {self.count}\r\n")
        elif word == "token":
            self.write(f"token {self.token}\r\n")
        elif word == "exit":
            self.note("exit", status=int(rest or 0))
            self.fire("SessionEnd", reason="exit")
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
