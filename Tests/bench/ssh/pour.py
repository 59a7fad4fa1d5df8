"""Bytes poured at a terminal: raw, where the box's `tmux` is a script that writes them,
and through tmux, which leaves out what its client cannot take."""
import os
import time

from ground import OURS, leave
from report import setting

RAW = r"""#!/bin/sh
case " $* " in *' new-session '* | *' attach-session '*) ;; *) exec {tmux} "$@" ;; esac
stty raw -echo
printf 'BEGIN'
cat {data}
printf 'FINISHED'
exec sleep 9999
"""


def pour(ground, client, session, harness, begin, end, go=None):
    """Seconds and bytes from one word to the other, or from a key that is typed then."""
    seat = ground.sit(client, session, harness)
    if not seat.expect(begin, 20):
        seen = seat.screen[-300:]
        seat.close()
        raise RuntimeError(f"{client}: nothing poured; it showed {seen!r}")
    began, before = time.monotonic(), seat.bytes
    if go:
        seat.send(go)
    came = seat.expect(end, 120)
    took, size = time.monotonic() - began, seat.bytes - before
    leave(seat)
    if not came:
        raise RuntimeError(f"{client}: the end never came")
    return took, size


def raw(ground, report, megabytes, rounds):
    data, wrapper = ground.tmp + "/poured", ground.home + "/bin/tmux"
    line = b"the quick brown fox jumps over the lazy dog, again and again and again\r\n"
    with open(data, "wb") as file:
        file.write(line * (megabytes * 1_000_000 // len(line)))
    real = next(folder + "/tmux" for folder in os.environ["PATH"].split(":")
                if os.access(folder + "/tmux", os.X_OK))
    with open(wrapper, "w") as file:
        file.write(RAW.format(tmux=real, data=data))
    os.chmod(wrapper, 0o755)
    try:
        rate = {client: [] for client in ("peer", *OURS)}
        for number in range(rounds):
            for client in rate:
                took, _ = pour(ground, client, "raw", "true", b"BEGIN", b"FINISHED")
                rate[client].append(megabytes / took)
        for client in OURS:
            report.ratio(f"raw terminal, {megabytes} MB, {client}", rate[client], rate["peer"],
                         "ssh", 1, "MB/s", 0.7, 1.0, more=True)
    finally:
        os.unlink(wrapper)
        os.unlink(data)


def measure(ground, report):
    megabytes = setting("BENCH_MB", 100)
    rounds = max(1, setting("BENCH_ROUNDS", 7) // 2)
    raw(ground, report, megabytes, rounds)
    half = max(1, megabytes // 2)
    # A word before the flood may be gone before tmux has drawn it.
    harness = (f"sh -c 'echo BEGIN; read go; yes \"all work and no play makes jack a dull boy\" | "
               f"head -c {half}000000; echo; echo FINISHED; exec sleep 9999'")
    took = {client: [] for client in ("peer", *OURS)}
    for number in range(rounds):
        for client in took:
            took[client].append(
                pour(ground, client, f"flood-{client}-{number}", harness, b"BEGIN",
                     b"FINISHED", b"\r")[0])
            ground.tmux("kill-session", "-t", f"=flood-{client}-{number}")
    for client in OURS:
        report.ratio(f"flood through tmux, {half} MB, {client}", took[client], took["peer"],
                     "ssh", 1, "s")
    ground.end_sessions()
