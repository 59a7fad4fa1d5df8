"""From the command to the agent's prompt: to a session that is there, and to a new one."""
import time

from ground import OURS, PROMPT, leave
from report import setting


def once(ground, client, session):
    began = time.monotonic()
    seat = ground.sit(client, session)
    came = seat.expect(PROMPT, 20)
    took = time.monotonic() - began
    seen = seat.screen[-300:]
    leave(seat)
    if not came:
        raise RuntimeError(f"{client}: no prompt; it showed {seen!r}")
    return took


def measure(ground, report):
    rounds = setting("BENCH_ROUNDS", 7)
    clients = ["peer", *OURS] + (["mosh"] if ground.has("mosh") else [])
    for client in clients:  # the files are in memory, the pins are made
        once(ground, client, "kept")
    for name, is_new in (("attach to prompt", False), ("attach, a new session", True)):
        took = {client: [] for client in clients}
        for number in range(rounds):
            for client in clients:
                if client == "mosh" and number >= 2:
                    continue
                session = f"new-{client}-{number}" if is_new else "kept"
                took[client].append(once(ground, client, session))
                if is_new:
                    ground.tmux("kill-session", "-t", f"={session}")
        for client in OURS:
            bounds = (1.2, 0.6) if client == "libssh2" else (1.2, 1.2)
            report.ratio(f"{name}, {client}", took[client], took["peer"], "ssh", 1000, "ms", *bounds)
        if "mosh" in took:
            report.ratio(f"{name}, libssh2", took["libssh2"], took["mosh"], "mosh", 1000, "ms")
    ground.end_sessions()
