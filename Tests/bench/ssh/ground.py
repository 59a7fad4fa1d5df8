"""The box that is measured on, and how each client reaches it."""
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLI = os.path.join(HERE, "..", "..", "cli")
sys.path[:0] = [os.path.join(CLI, "clients"), os.path.join(CLI, "servers")]
from seat import Seat  # noqa: E402

OURS = ("libssh2", "ssh")
PROMPT = b"claude> "


class Ground:
    """`clients` are the names of those that are here; `missing` the others."""

    def __init__(self):
        self.shell = subprocess.Popen(["sh", os.path.join(CLI, "servers", "ground.sh")],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said = self.shell.stdout.readline()
        if not said.startswith("{"):
            sys.exit(f"bench-ssh: no box: {said.strip()}")
        vars(self).update(json.loads(said))
        self.env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8",
                        HOME=self.tmp + "/home", XDG_STATE_HOME=self.tmp + "/home/.local/state",
                        XDG_CONFIG_HOME=self.tmp + "/home/.config",
                        XDG_RUNTIME_DIR=self.tmp + "/runtime")
        for name in ("TMUX", "TMUX_PANE", "SSH_AUTH_SOCK"):
            self.env.pop(name, None)
        self.missing = [name for name in ("autossh", "mosh") if not shutil.which(name)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shell.stdin.close()
        self.shell.wait()

    def has(self, name):
        return name not in self.missing

    def order(self, text):
        """To the link between."""
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self.link)
            control.sendall(text.encode() + b"\n")
            answer = control.recv(4096).decode().strip()
        if not answer.startswith("ok"):
            raise RuntimeError(f"{text}: {answer}")

    def ssh_options(self, through=False):
        return ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=accept-new",
                "-o", f"UserKnownHostsFile={self.tmp}/bench-hosts", "-o", "LogLevel=ERROR",
                "-o", "IdentitiesOnly=yes", "-i", self.id,
                "-p", str(self.proxy if through else self.port)]

    @property
    def target(self):
        return f"{self.user}@127.0.0.1"

    def line(self, session, harness):
        """What the peers run on the box: the same as ours, by the contract."""
        inner = (f"exec tmux -u -L riff new-session -A -s {session} "
                 f"env -u TMUX -u TMUX_PANE {harness}")
        return f'exec "$SHELL" -lc {shlex.quote(inner)}'

    def base(self, transport, through=False):
        """tmux-attach and how it reaches the box."""
        return ["tmux-attach", "--transport", transport, "-i", self.id,
                "--pins", self.tmp + "/pins",
                "-P", str(self.proxy if through else self.port), self.target]

    def command(self, client, session, harness="claude", through=False):
        if client in OURS:
            return [*self.base(client, through), "-s", session, "-H", harness]
        if client == "mosh":
            over = " ".join(map(shlex.quote, ["ssh", *self.ssh_options(through)]))
            return ["mosh", f"--ssh={over}", "--bind-server=127.0.0.1", self.target, "--",
                    "sh", "-c", self.line(session, harness)]
        prefix = {"peer": ["ssh"],
                  "autossh": ["autossh", "-M", "0", "-o", "ServerAliveInterval=5",
                              "-o", "ServerAliveCountMax=3"]}[client]
        return [*prefix, *self.ssh_options(through), "-tt", self.target,
                self.line(session, harness)]

    def sit(self, client, session, harness="claude", through=False):
        env = dict(self.env, AUTOSSH_GATETIME="0")
        return Seat(self.command(client, session, harness, through), 30, 100, env=env)

    def arrive(self, client, session, harness="claude", through=False, prompt=PROMPT):
        """A terminal that has reached the prompt."""
        seat = self.sit(client, session, harness, through)
        if not seat.expect(prompt, 20):
            seen = seat.screen[-300:]
            seat.close()
            raise RuntimeError(f"{client}: no prompt; it showed {seen!r}")
        calm(seat)
        return seat

    def tmux(self, *arguments):
        env = dict(self.env, HOME=self.home, TMUX_TMPDIR=self.tm)
        return subprocess.run(["tmux", "-L", "riff", *arguments], env=env,
                              capture_output=True, text=True).stdout

    def end_sessions(self):
        """Ends tmux, and waits until it is gone: a dying server would take the next session
        with it."""
        server = self.tmux("display-message", "-p", "#{pid}").strip()
        self.tmux("kill-server")
        while server and is_alive(int(server)):
            time.sleep(0.01)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def calm(seat, seconds=0.15):
    """Until nothing is shown any more."""
    while True:
        before = seat.bytes
        seat.turn(seconds)
        if seat.bytes == before:
            seat.looked = len(seat.screen)
            return


def leave(seat):
    """Ends a client as its user's window manager would, and waits."""
    seat.kill(15)
    seat.wait_end(3)
    seat.close()
