"""make bench-filter: action-filter beside what people use instead.

Makes the data, holds the answer of every tool against the generator's truth,
then times the tools in turn with action-filter and prints Markdown. Ratios are
medians over pairs of one run, so that a slow or busy machine moves them little.
A time is never a failure; a wrong answer of action-filter, or of the simdjson
loop that it is set against, ends with 1. Missing tools are left out.

BENCH_MB=N        megabytes of the data, 100 unless set
BENCH_FULL=1      the same again with 1 GB
BENCH_DIR=FOLDER  where the data goes (a folder in it), $TMPDIR unless set
BENCH_KEEP=1      keep the data
BENCH_ROUNDS=N    pairs of each, instead of as many as fit in some seconds
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

import measure
import peers
import report
import small
from report import record
from answers import Truth

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = 200  # megabytes beyond which slow peers are not asked


def note(text):
    print(f"bench-filter: {text}", file=sys.stderr, flush=True)


def fail(reason):
    note(reason)
    sys.exit(2)


def number(name, otherwise):
    """A whole number from the environment."""
    said = os.environ.get(name, str(otherwise))
    return int(said) if said.isdecimal() else fail(f"{name}: {said}: not a whole number")


def first():
    """Megabytes of the data."""
    return max(number("BENCH_MB", 100), 1)


def simdjson():
    """What the compiler is told to find simdjson."""
    try:
        asked = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "simdjson"], capture_output=True, text=True)
    except OSError:
        return ["-lsimdjson"]
    return asked.stdout.split() if asked.returncode == 0 else ["-lsimdjson"]


def compile_all(folder):
    """The programs of the bench by name; without simdjson, no `exact`."""
    cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    programs = {}

    def build(name, *command):
        built = subprocess.run(
            [*command, "-o", os.path.join(folder, name)], cwd=HERE, capture_output=True, text=True)
        if built.returncode == 0:
            programs[name] = os.path.join(folder, name)
        return built

    for name in ("generate", "meter"):
        built = build(name, cc, "-O2", f"{name}.c")
        if name not in programs:
            fail(f"{name}.c: {built.stderr.strip()}")
    if build("hello", cc, "-O2", "-static", "hello.c").returncode != 0:
        build("hello", cc, "-O2", "hello.c")
    if not shutil.which(cxx):
        note(f"no {cxx}: without the simdjson loop")
    else:
        flags = ["-O3", "-march=native", "-DNDEBUG", "-std=c++20"]
        if build("exact", cxx, *flags, "exact.cpp", *simdjson()).returncode != 0:
            note("no libsimdjson: without the simdjson loop")
    return programs


class Bench:
    """One run of the bench over data of some sizes."""

    def __init__(self, folder):
        self.folder = folder
        self.programs = compile_all(folder)
        self.meter = measure.Meter(self.programs["meter"], folder)
        self.ours = shutil.which("action-filter") or fail("no action-filter in PATH")
        self.peers = peers.find(self.programs.get("exact"), note)
        self.is_wrong = False
        self.answer = os.path.join(folder, "answer")

    def rounds(self, seconds):
        return number("BENCH_ROUNDS", 0) or measure.rounds(seconds)

    def check(self, name, argv, truth, keeps_bytes, must_be_right):
        """Runs a tool once: the sample and how many lines are wrong, or None
        for a tool that does not know the task."""
        open(self.answer, "wb").close()
        sample = self.meter.once(argv, output=self.answer)
        if sample.status == 2 and must_be_right and os.path.getsize(self.answer) == 0:
            return sample, None
        wrong, of = truth.faults(self.answer, keeps_bytes)
        if wrong or sample.status != 0:
            note(f"{name}: {truth.test}: {wrong} of {of} lines wrong, status {sample.status}")
            self.is_wrong |= must_be_right
        return sample, f"{wrong} of {of} wrong" if wrong else "right"

    def size(self, megabytes):
        """Everything about data of one size."""
        note(f"making {megabytes} MB")
        made = subprocess.run(
            [self.programs["generate"], str(megabytes), self.folder], stdout=subprocess.PIPE,
            text=True)
        if made.returncode != 0:
            fail(f"no data in {self.folder}")
        data = os.path.join(self.folder, "data.ndjson")
        table = report.Ratios(megabytes, *map(int, made.stdout.split()))
        more = "" if megabytes == first() else f", {megabytes} MB"
        for test in peers.TESTS:
            with record.part("filter", test + more):
                self.test(test, data, megabytes, table)
        with record.part("filter", "size" + more):
            table.print()

    def test(self, test, data, megabytes, table):
        truth = Truth(self.folder, test)
        argv = [self.ours, *peers.OURS[test], data]
        mine, verdict = self.check("action-filter", argv, truth, True, True)
        if verdict is None:
            table.skip(test, "action-filter has no such form")
            return
        table.rss = max(table.rss, mine.rss)
        for peer in self.peers:
            if test not in peer.tests or peer.is_slow and megabytes > LARGE:
                continue
            note(f"{test}: {peer.name}")
            command = peer.command(test, data)
            is_exact = command[0] == self.programs.get("exact")
            sample, said = self.check(peer.name, command, truth, peer.keeps_bytes, is_exact)
            if said is None or sample.status != 0:
                table.skip(test, f"{peer.name} failed")
                continue
            pair = self.meter.pair(argv, command, self.rounds(mine.wall + sample.wall))
            table.faster(test, peer.name, pair, said, verdict)
        if test == "t1":
            self.floors(argv, data, table, verdict)

    def floors(self, argv, data, table, verdict):
        """T1 against reading alone, and --fast against counting lines."""
        reading = ["cat", data]
        rounds = self.rounds(measure.typical([self.meter.once(argv)]).wall * 2)
        table.slower("t1", "cat", self.meter.pair(argv, reading, rounds), verdict)
        fast = [self.ours, "--fast", *argv[1:]]
        _, said = self.check("action-filter --fast", fast, Truth(self.folder, "t1"), True, True)
        if said is None:
            table.skip("t1 --fast", "action-filter has no --fast")
            return
        counting = ["wc", "-l", data]
        table.slower("t1 --fast", "wc -l", self.meter.pair(fast, counting, rounds), said)


def main():
    sizes = [first()]
    if os.environ.get("BENCH_FULL") == "1":
        sizes.append(1024)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="bench-filter.", dir=os.environ.get("BENCH_DIR"))
    try:
        bench = Bench(folder)
        report.heading()
        for size in sizes:
            bench.size(size)
        small.all_of(bench.meter, bench.ours, bench.programs["hello"], folder, note)
        return 1 if bench.is_wrong else 0
    finally:
        if os.environ.get("BENCH_KEEP") == "1":
            note(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
