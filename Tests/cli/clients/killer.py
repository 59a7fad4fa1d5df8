#!/usr/bin/env python3
"""killer.py KILLS SEED FOLDER ADD... -- DRAIN...: drains that are killed at any moment.

Before each drain a few files of random bytes and sizes are put in by ADD (with the
file's path behind it), then DRAIN runs until it is killed. When it is, is chance, up to a
little more than a whole one takes, which is measured first (the second one: what can
be kept between two is then there). Ends with a drain that
nobody kills, and prints the paths of all files, and a line of what was killed when.
"""
import pathlib
import random
import signal
import subprocess
import sys
import time

kills, seed, folder = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
split = sys.argv.index("--")
add, drain = sys.argv[4:split], sys.argv[split + 1 :]
chance = random.Random(seed)
files = []


def put(count):
    more = []
    for _ in range(count):
        path = folder / f"{len(files) + len(more)}.bin"
        size = chance.choice([0, 1, 100, 30_000, 300_000, 2_000_000])
        path.write_bytes(chance.randbytes(size))
        more.append(str(path))
    subprocess.run(add + more, check=True, stdout=subprocess.DEVNULL)
    files.extend(more)


for _ in range(2):
    put(2)
    begun = time.monotonic()
    subprocess.run(drain, check=True, stdout=subprocess.DEVNULL)
    whole = time.monotonic() - begun
killed = 0
tries = 0
while killed < kills and tries < 3 * kills:
    put(chance.randrange(1, 3))
    process = subprocess.Popen(
        drain, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(chance.random() * whole * 1.2)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed += 1
    tries += 1
put(1)
last = subprocess.run(drain, stdout=subprocess.DEVNULL)
print("\n".join(files))
print(f"{killed} of {tries} killed within {whole:.2f} s, the last ended with {last.returncode}",
      file=sys.stderr)
sys.exit(last.returncode)
