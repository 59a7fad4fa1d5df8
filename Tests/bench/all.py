#!/usr/bin/env python3
"""make bench-all: all groups of the bench, one after the other, and one table of them.

Each prints its own report and notes its figures; what came to its end takes the place of the
older figures in figures/figures.ndjson, and from these the tables, the picture and README's
figures are written. A group that cannot run, or breaks off, keeps those that it had: their
date tells how old they are.

    BENCH_ONLY  groups, or parts of them as GROUP/PART: bench filter archive ssh inbox bus size
    BENCH_...   sizes, as each group's own page says; they hold for every group that knows them
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "figures"))

import book  # noqa: E402
import record  # noqa: E402

SCRIPTS = {group: os.path.join(HERE, *([] if group == "bench" else [group]), "bench.py")
           for group in book.GROUPS}


def chosen():
    """Group -> its parts that are asked for, none where all are."""
    wanted = {}
    for word in os.environ.get("BENCH_ONLY", "").split() or book.GROUPS:
        group, _, part = word.partition("/")
        if group not in SCRIPTS:
            sys.exit(f"bench: BENCH_ONLY: no group {group}")
        wanted.setdefault(group, []).append(part)
    return {group: "" if "" in parts else " ".join(parts) for group, parts in wanted.items()}


def run(group, parts, figures, when):
    """Runs one group; says how long it took, and how it ended when not well."""
    print(f"\n# {group}\n", flush=True)
    began = time.monotonic()
    env = {**os.environ, "BENCH_ONLY": parts, "BENCH_FIGURES": figures, "BENCH_WHEN": when}
    process = subprocess.Popen([sys.executable, SCRIPTS[group]], env=env)
    try:
        status = process.wait()
    except BaseException:
        # It has to clear away what it made.
        process.terminate()
        process.wait()
        raise
    print(f"\n{group}: {time.monotonic() - began:.0f} s", flush=True)
    if status:
        print(f"bench: {group}: status {status}: what it has not measured stays as it was",
              file=sys.stderr, flush=True)
    return status


def install(folder):
    """Puts first into PATH what users start: files that were installed load a little faster than
    what the linker left."""
    command = ["make", "-s", "-C", os.path.join(HERE, "..", ".."), "install",
               f"DESTDIR={folder}", "PREFIX=/usr", "NOTE=no"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    os.environ["PATH"] = os.path.join(folder, "usr", "bin") + os.pathsep + os.environ["PATH"]


def main():
    failed, when = 0, record.now()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        install(folder)
        figures = os.path.join(folder, "figures.ndjson")
        for group, parts in chosen().items():
            failed |= run(group, parts, figures, when) != 0
            # Whoever ends the bench early keeps what was measured so far.
            book.save(book.merge(book.load(), book.load(figures), record.version))
            subprocess.run([sys.executable, os.path.join(HERE, "figures", "write.py")], check=True)
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
