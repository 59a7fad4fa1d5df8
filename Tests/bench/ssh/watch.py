"""From an agent's word about its state, agent-state, to a line of tmux-attach -w over SSH."""
import subprocess
import time

from ground import OURS
from report import median, setting

STATES = ("waiting", "working", "idle")


def line(out, word):
    """Reads up to a line with a state."""
    while True:
        said = out.readline()
        if not said:
            raise RuntimeError("tmux-attach -w ended")
        if f'"state":"{word}"'.encode() in said:
            return


def changes(ground, client, count):
    """Seconds of so many changes."""
    session = f"watch-{client}"
    ground.tmux("new-session", "-d", "-s", session, "cat")
    pane = ground.tmux("list-panes", "-t", f"={session}:", "-F", "#{pane_id}").strip()
    socket = ground.tmux("display-message", "-p", "#{socket_path}").strip()
    env = dict(ground.env, HOME=ground.home, TMUX_TMPDIR=ground.tm, AGENT_PANE=f"{pane}@{socket}")
    watcher = subprocess.Popen([*ground.base(client), "-w"], env=ground.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    took = []
    try:
        line(watcher.stdout, "unknown")
        for number in range(count + 3):
            state = STATES[number % 3]
            began = time.monotonic()
            subprocess.run(["agent-state", state], env=env, stdin=subprocess.DEVNULL, check=True,
                           stdout=subprocess.DEVNULL)
            line(watcher.stdout, state)
            # The first ones may find tmux-attach still at its first look.
            if number >= 3:
                took.append(time.monotonic() - began)
            time.sleep(0.1)  # an agent says no more at a time
    finally:
        watcher.kill()
        watcher.wait()
        watcher.stdout.close()
    return took


def measure(ground, report):
    count = 6 * setting("BENCH_ROUNDS", 7)
    for client in OURS:
        took = [one * 1000 for one in changes(ground, client, count)]
        report.row(f"change of state to line, {client}", f"{median(took):.0f} ms", "", "", "",
                   median(took), f"{median(took):.0f} ms", runs=len(took))
        report.row(f"change of state to line, at most, {client}", f"{max(took):.0f} ms", "", "",
                   "", max(took), f"{max(took):.0f} ms", runs=len(took))
    ground.end_sessions()
