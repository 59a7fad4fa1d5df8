"""How long a key takes to be seen, through tmux: from the agent, and with nobody but the
pane's own terminal to echo it, which leaves the way alone."""
import time

from ground import OURS, PROMPT, calm, leave
from report import median, percentile, record, setting

KEYS = b"wvjozyx"  # in no sequence that tmux sends
BLOCK = 49
SILENT = "sh -c 'echo ready; exec sleep 9999'"


def block(seat):
    took = []
    for number in range(BLOCK):
        key = KEYS[number % len(KEYS):][:1]
        seat.looked = len(seat.screen)
        began = time.monotonic()
        seat.send(key)
        while not seat.finds(key):
            seat.turn(2)
            if time.monotonic() - began > 5:
                raise RuntimeError("a key was not echoed")
        took.append(time.monotonic() - began)
    seat.send(b"\r")
    calm(seat, 0.03)
    return took


def echoes(ground, clients, harness, prompt):
    """Client -> seconds per key."""
    seats = {client: ground.arrive(client, f"echo-{client}", harness, prompt=prompt)
             for client in clients}
    took = {client: [] for client in clients}
    for _ in range(max(1, setting("BENCH_KEYS", 400) // BLOCK)):
        for client, seat in seats.items():
            if client != "mosh" or len(took["mosh"]) < 2 * BLOCK:
                took[client] += block(seat)
    for seat in seats.values():
        leave(seat)
    ground.end_sessions()
    return took


def milliseconds(values):
    return f"{values * 1000:.2f} ms"


def measure(ground, report):
    clients = ["peer", *OURS] + (["mosh"] if ground.has("mosh") else [])
    for what, harness, prompt in (("key echo through tmux, the agent's", "claude", PROMPT),
                                  ("key echo through tmux, bare", SILENT, b"ready")):
        took = echoes(ground, clients, harness, prompt)
        middle = {client: median(values) for client, values in took.items()}
        for client in OURS:
            value = middle[client] / middle["peer"]
            record.figure(f"{what}, median, {client}", "ssh", "ms", middle["peer"] * 1000,
                          runs=len(took["peer"]))
            report.row(f"{what}, median, {client}", milliseconds(middle[client]),
                       f"ssh {milliseconds(middle['peer'])}", 1.5, 1.1, value, f"{value:.2f}x",
                       against="ssh", runs=len(took[client]))
            slow = {name: milliseconds(percentile(took[name], 0.99)) for name in (client, "peer")}
            report.row(f"{what}, 99 of 100, {client}", slow[client], f"ssh {slow['peer']}", "", "")
        if "mosh" in took:
            report.row(f"{what}, median, libssh2", milliseconds(middle["libssh2"]),
                       f"mosh {milliseconds(middle['mosh'])}", "", "")
