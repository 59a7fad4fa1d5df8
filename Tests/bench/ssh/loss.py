"""The link goes: how soon a terminal is back at the prompt after a reset, and how soon a
link that is only silent is noticed."""
import time

from ground import OURS, PROMPT, calm, leave
from report import median, setting


def until(seats, is_done, seconds):
    """Client -> seconds until its condition held; None when it never did."""
    began, took = time.monotonic(), dict.fromkeys(seats)
    while None in took.values() and time.monotonic() - began < seconds:
        for client, seat in seats.items():
            seat.turn(0.002)
            if took[client] is None and is_done(seat):
                took[client] = time.monotonic() - began
    return took


def resets(ground, report, clients):
    took = {client: [] for client in clients}
    for number in range(max(1, setting("BENCH_ROUNDS", 7) // 2)):
        for client in clients:
            seat = ground.arrive(client, "loss", through=True)
            ground.order("rst")
            took[client].append(until({client: seat}, lambda one: one.finds(PROMPT), 20)[client]
                                or 20.0)
            leave(seat)
            ground.order("drop")
    for client in OURS:
        value = median(took[client])
        peer = f"autossh {median(took['autossh']):.2f} s" if "autossh" in took else ""
        report.row(f"back at the prompt after a reset, {client}", f"{value:.2f} s", peer,
                   2, 1.2, value, f"{value:.2f} s")


def silences(ground, report, clients):
    seats = {client: ground.arrive(client, "loss", through=True) for client in clients}
    ground.order("blackhole")
    # Ours says so; autossh says nothing before it is back, on a screen of its own.
    took = until(seats, lambda seat: seat.finds(b"reconnecting") or seat.finds(b"\x1b[?1049h"), 40)
    for seat in seats.values():
        leave(seat)
    ground.order("drop")
    for client in OURS:
        value = took[client] if took[client] is not None else float("inf")
        late = took.get("autossh")
        peer = ("ssh never" if "autossh" not in took else
                f"ssh never, autossh (5 s x 3) back at {late:.1f} s" if late else
                "ssh never, autossh not in 40 s")
        report.row(f"half-open noticed, {client}", f"{value:.1f} s", peer, 20, 12.5, value,
                   f"{value:.1f} s")


def measure(ground, report):
    clients = [*OURS] + (["autossh"] if ground.has("autossh") else [])
    resets(ground, report, clients)
    silences(ground, report, clients)
    ground.end_sessions()
