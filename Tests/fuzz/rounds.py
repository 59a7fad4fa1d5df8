"""What the targets of make fuzz have in common: rounds by seed, until the time is over.

FUZZ_SECONDS=N  how long each target takes, 120 unless set; one seed at least
FUZZ_SEED=N     the first seed, 1 unless set
FUZZ_KEEP=DIR   where the input of a difference is kept, the current folder
"""
import os
import random
import subprocess
import sys
import tempfile
import time


class Difference(Exception):
    """What should not be, and what led to it."""

    def __init__(self, reason, kept=b""):
        super().__init__(reason)
        self.kept = kept


def run(words, bound=20, statuses=(0, 1, 2, 75, 77), lines=12, **more):
    """Runs a command that must end by itself, and say little and nothing harmful."""
    try:
        done = subprocess.run(words, capture_output=True, timeout=bound, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        raise Difference(f"hangs: {words}") from None
    if done.returncode not in statuses:
        raise Difference(f"status {done.returncode}: {words}: {done.stderr[-2000:]!r}")
    said = done.stderr
    if len(said.splitlines()) > lines:
        raise Difference(f"{len(said.splitlines())} lines on standard error: {words}: {said[:2000]!r}")
    if any(byte < 32 and byte != 10 or byte == 127 for byte in said):
        raise Difference(f"a control character on standard error: {words}: {said[:2000]!r}")
    return done


def mutate(rng, body, bits):
    """The bytes with a few things done to them; what is put in comes from `bits`."""
    body = bytearray(body)
    for _ in range(rng.choice([1, 1, 2, 3, 8, 30])):
        at = rng.randrange(len(body) + 1)
        what = rng.random()
        if what < 0.35:
            body[at:at] = rng.choice(bits)
        elif what < 0.5 and at < len(body):
            body[at] = rng.randrange(256)
        elif what < 0.65:
            del body[at:at + rng.choice([1, 1, 2, 5, 40])]
        elif what < 0.75:
            body[at:at] = bytes(body[at:at + rng.randrange(1, 200)])
        elif what < 0.85 and at < len(body):
            body[at] ^= 1 << rng.randrange(8)
        elif what < 0.9:
            body[at:at] = bytes([rng.randrange(256)]) * rng.choice([1, 10, 5000])
        elif what < 0.95:
            lines = bytes(body).split(b"\n")
            rng.shuffle(lines)
            body = bytearray(b"\n".join(lines))
        else:
            del body[at:]
    return bytes(body)


def main(name, check):
    """Calls check(rng, folder, seed) with an empty folder until the time is over."""
    seed = first = int(os.environ.get("FUZZ_SEED", "1"))
    end = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "120"))
    while seed == first or time.monotonic() < end:
        with tempfile.TemporaryDirectory(prefix="agentutils-fuzz.") as folder:
            try:
                check(random.Random(seed), folder, seed)
            except Difference as difference:
                kept = os.path.join(os.environ.get("FUZZ_KEEP", "."), f"fuzz-{name}-{seed}")
                with open(kept, "wb") as file:
                    file.write(difference.kept)
                print(f"fuzz: {name}: seed {seed}: {difference}\nfuzz: the input is {kept}", file=sys.stderr)
                return 1
        seed += 1
    print(f"fuzz: {name}: seeds {first} to {seed - 1}, no difference")
    return 0
