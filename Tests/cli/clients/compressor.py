#!/usr/bin/env python3
"""compressor.py KILLS SEED FOLDER -- COMMAND...: killed while it compresses.

Before each run FOLDER holds three finished days; COMMAND and all it started are
killed at any moment. At that moment, and after a run that nobody kills, each day must
be whole: the plain file, or without it the compressed one.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

kills, seed, folder = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
command = sys.argv[sys.argv.index("--") + 1 :]
chance = random.Random(seed)
days = {}
cut = dict.fromkeys(["before", "between", "after"], 0)


def whole(path):
    """What the day's compressed file holds; None when it is not good to its end."""
    done = subprocess.run(["zstd", "-dcq", path], capture_output=True)
    return done.stdout if done.returncode == 0 else None


def check(when):
    for name, content in days.items():
        plain, small = folder / name, folder / (name + ".zst")
        if small.exists() and whole(small) != content:
            sys.exit(f"seed {seed}: {when}: {small} is not the whole day")
        if plain.exists() and plain.read_bytes() != content:
            sys.exit(f"seed {seed}: {when}: {plain} is another one now")
        if not plain.exists() and not small.exists():
            sys.exit(f"seed {seed}: {when}: {name} is gone")


def run(seconds):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any((folder / name).exists() for name in days):
        time.sleep(0.005)  # between two looks
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


folder.mkdir()
took = 0.5
for _ in range(kills):
    for name in days:
        (folder / (name + ".zst")).unlink(missing_ok=True)
    for day in range(1, 4):
        name = f"2026-01-0{day}.ndjson"
        line = chance.randbytes(400).hex()
        days[name] = "".join(f'{{"kind":"x","n":{n},"c":"{line[n % 700:]}"}}\n' for n in range(chance.choice([1, 500, 4000]))).encode()
        (folder / name).write_bytes(days[name])
    run(chance.uniform(0.4, 1.6) * took)
    check("killed")
    left = [(folder / name).exists() for name in days]
    cut["before" if all(left) else "between" if any(left) else "after"] += 1
    begun = time.monotonic()
    run(20)
    took = time.monotonic() - begun
    check("at the end")
    if any((folder / name).exists() for name in days):
        sys.exit(f"seed {seed}: not finished by the next start")
print(f"{kills} kills: {cut}, each day whole")
