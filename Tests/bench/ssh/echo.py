"""How long a key takes to be seen, through tmux. The terminal of the pane echoes it
itself, so that no agent is in the way."""
import time

from ground import OURS, calm, leave
from report import median, percentile, setting

KEYS = b"wvjozyx"  # in no sequence that tmux sends
BLOCK = 49


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
    seat.send(b"\x15")
    calm(seat, 0.03)
    return took


def measure(ground, report):
    clients = ["peer", *OURS] + (["mosh"] if ground.has("mosh") else [])
    seats = {client: ground.arrive(client, f"echo-{client}", "sh -c 'echo ready; exec sleep 9999'",
                                   prompt=b"ready") for client in clients}
    took = {client: [] for client in clients}
    for _ in range(max(1, setting("BENCH_KEYS", 400) // BLOCK)):
        for client, seat in seats.items():
            if client != "mosh" or len(took["mosh"]) < 2 * BLOCK:
                took[client] += block(seat)
    for seat in seats.values():
        leave(seat)
    for client in OURS:
        value = median(took[client]) / median(took["peer"])
        report.row(f"key echo through tmux, median, {client}", f"{median(took[client]) * 1000:.2f} ms",
                   f"ssh {median(took['peer']) * 1000:.2f} ms", 1.5, 1.1, value, f"{value:.2f}x")
        report.row(f"key echo, 99 of 100, {client}", f"{percentile(took[client], 0.99) * 1000:.2f} ms",
                   f"ssh {percentile(took['peer'], 0.99) * 1000:.2f} ms", "", "")
    if "mosh" in took:
        report.row("key echo, median, libssh2", f"{median(took['libssh2']) * 1000:.2f} ms",
                   f"mosh {median(took['mosh']) * 1000:.2f} ms", "", "")
    ground.end_sessions()
