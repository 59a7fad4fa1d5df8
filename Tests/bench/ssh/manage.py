"""Calls beside a terminal that is attached: the list, and a word typed into the session;
against ssh over its ControlMaster."""
import shlex
import subprocess
import time

from ground import OURS, leave
from report import setting


def timed(command, env, words=b""):
    began = time.monotonic()
    done = subprocess.run(command, env=env, input=words, capture_output=True)
    took = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[-300:]!r}")
    return took


def measure(ground, report):
    rounds = 2 * setting("BENCH_ROUNDS", 7)
    seats = {client: ground.arrive(client, f"seat-{client}") for client in OURS}
    socket = ground.tmp + "/master"
    master = subprocess.Popen(
        ["ssh", *ground.ssh_options(), "-o", "ControlMaster=yes", "-S", socket, "-N",
         ground.target], env=ground.env, stdin=subprocess.DEVNULL)
    try:
        over = ["ssh", *ground.ssh_options(), "-S", socket, ground.target]
        while subprocess.run([*over[:-1], "-O", "check", ground.target], env=ground.env,
                             capture_output=True).returncode:
            time.sleep(0.05)  # between two looks
        listed = "tmux -L riff list-sessions -F '#{session_name} #{session_windows}'"
        typed = "tmux -L riff send-keys -t =seat-ssh: -l -- 'a word '"
        calls = {"list": (listed, ["-l"], (2, 1)),
                 "inject": (typed, ["-t", "-s", "seat-ssh"], (1.1, 1))}
        for name, (line, options, bounds) in calls.items():
            # A new connection keeps the box busy when it is over: these come last.
            took = {client: [] for client in ("peer", *OURS, "fresh")}
            turns = [client for _ in range(rounds + 1) for client in ("peer", *OURS)]
            for number, client in enumerate(turns + ["fresh"] * (rounds + 1)):
                remote = f'exec "$SHELL" -lc {shlex.quote(line)}'
                command = ([*over, remote] if client == "peer" else
                           ["ssh", *ground.ssh_options(), ground.target, remote]
                           if client == "fresh" else [*ground.base(client), *options])
                one = timed(command, ground.env, b"a word")
                # The first may have to make what the others use.
                if number >= len(OURS) + 1:
                    took[client].append(one)
            for client in OURS:
                report.ratio(f"{name} beside an attached terminal, {client}", took[client],
                             took["peer"], "ssh, ControlMaster", 1000, "ms", *bounds)
            report.ratio(f"{name}, libssh2", took["libssh2"], took["fresh"],
                         "ssh, a new connection", 1000, "ms")
    finally:
        master.terminate()
        master.wait()
        for seat in seats.values():
            leave(seat)
    ground.end_sessions()
