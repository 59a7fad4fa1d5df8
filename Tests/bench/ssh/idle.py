"""What a client costs that does nothing: processor, memory; with its helpers."""
import glob
import os
import time

from ground import OURS, calm, leave
from report import setting

TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid):
    """A process and those below it."""
    found = [pid]
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as file:
                for child in file.read().split():
                    found += tree(int(child))
        except OSError:
            pass
    return found


def busy(pid):
    """Nanoseconds on a processor so far, of a process and all that it started: those
    that have ended, too, in steps of 10 ms."""
    total = 0
    for pid in tree(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
            total += (int(fields[13]) + int(fields[14])) * (1_000_000_000 // TICKS)
        except OSError:
            pass
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            try:
                with open(path) as file:
                    total += int(file.read().split()[0])
            except OSError:
                pass
    return total


def memory(pids, mark):
    """MiB by a line of /proc/PID/status."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith(mark))
        except OSError:
            pass
    return total / 1024


def watch(seats, seconds):
    """Client -> percent of one processor, while nobody touches anything. A stalled
    terminal is not read; the others are."""
    before = {client: busy(seat.pid) for client, seat in seats.items()}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for seat in seats.values():
            seat.turn(0.05)
    return {client: max(0.0, (busy(seats[client].pid) - used) / seconds / 1e7)
            for client, used in before.items()}


def percents(report, what, used):
    for client in OURS:
        peer = f"ssh {used['peer']:.4f} %" if "peer" in used else ""
        report.row(f"idle CPU, {what}, {client}", f"{used[client]:.4f} %", peer, 0.1, 0.01,
                   used[client], f"{used[client]:.4f} %")


def measure(ground, report):
    if not os.path.exists("/proc/self/schedstat"):
        report.row("idle CPU and memory", "", "", "", "", note="no /proc here")
        return
    seconds = setting("BENCH_SECONDS", 12)
    clients = ["peer", *OURS]
    seats = {client: ground.arrive(client, f"idle-{client}", through=True) for client in clients}
    percents(report, "attached", watch(seats, seconds))
    resident = {client: memory(tree(seat.pid), "VmRSS:") for client, seat in seats.items()}
    for client in OURS:
        report.row(f"RSS, {client}", f"{resident[client]:.1f} MB", f"ssh {resident['peer']:.1f} MB",
                   40, 16, resident[client], f"{resident[client]:.1f} MB")
    stalled(ground, report, seats, seconds)
    for seat in seats.values():
        seat.stall(False)
    for seat in seats.values():
        calm(seat, 1)
    # Behind a link that swallows everything, and then with nobody listening.
    seats.pop("peer").close()
    ground.order("blackhole")
    percents(report, "link silent", watch(seats, min(seconds, 9)))
    ground.order("listen off")
    ground.order("rst")
    # Tries come after 1, 2 and 4 s more; the next wait is 8 s long.
    watch(seats, 7.5)
    percents(report, "between tries", watch(seats, 6))
    ground.order("listen on")
    for seat in seats.values():
        leave(seat)
    ground.end_sessions()


def stalled(ground, report, seats, seconds):
    before = {client: memory(tree(seat.pid), "VmHWM:") for client, seat in seats.items()}
    for seat in seats.values():
        seat.stall(True)
        seat.send(b"flood 30000000\r")
    time.sleep(3)  # for what there is of ours to fill up
    used = watch(seats, seconds)
    for client in OURS:
        grown = {name: memory(tree(seats[name].pid), "VmHWM:") - before[name]
                 for name in (client, "peer")}
        report.row(f"growth under a stalled terminal, {client}", f"{grown[client]:.1f} MB",
                   f"ssh {grown['peer']:.1f} MB", 16, 4, grown[client], f"{grown[client]:.1f} MB")
    percents(report, "terminal stalled", used)
