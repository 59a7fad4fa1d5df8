#!/usr/bin/env python3
"""make bench-archive: questions to a year of actions, beside DuckDB, jq, zstd and cat.

A year of 365 files is made, packed by action-filter, compressed by zstd, and written to
Parquet by DuckDB. DuckDB runs inside Python with as many threads as there are cores; it is
timed without Python's start and, as "whole", with it. What jq would take for the year is
reckoned from some of its days. A wrong answer of ours ends with 1; a time is never a failure.

    ARCHIVE_GB     gigabytes of the year as text (10); half as much again is needed
    ARCHIVE_MB     megabytes of the plain file (1000)
    BENCH_ROUNDS   pairs of each (5)
    BENCH_DIR      where the data goes (a folder in it), $TMPDIR unless set
    BENCH_ONLY     some of: rare day all plain
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
import record  # noqa: E402
from common import median, setting  # noqa: E402
from corpus import ASKED, DAYS, Corpus  # noqa: E402

KINDS = {"rare": "memory_export", "frequent": "llm_error"}
CORES = str(os.cpu_count())


class Wrong(Exception):
    """Ours gave a wrong answer."""


def took(command, lines=None, clock=None):
    """Seconds of a command from start to end; and those that it says itself, if it does.
    `lines` is how many it has to print, None where nobody counts."""
    with tempfile.TemporaryFile() as out:
        env = {**os.environ, "TZ": "UTC", **({"BENCH_CLOCK": clock} if clock else {})}
        began = time.monotonic()
        status = subprocess.run(command, stdin=subprocess.DEVNULL, env=env,
                                stdout=subprocess.DEVNULL if lines is None else out).returncode
        spent = time.monotonic() - began
        if lines is not None:
            out.seek(0)
            found = sum(1 for _ in out)
            if found != lines:
                raise Wrong(f"{command[0]}: {found} lines of {lines}")
    if status > 1:
        raise Wrong(f"{command[0]}: status {status}")
    if clock and os.path.exists(clock):
        with open(clock) as file:
            return spent, float(file.read())
    return spent, spent


def warm(paths):
    """Has the files in memory, as far as it goes."""
    for path in paths:
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass


class Bench:
    """The questions, each of ours beside its peers."""

    def __init__(self, corpus):
        self.corpus, self.rounds = corpus, setting("BENCH_ROUNDS", 5)
        self.duckdb = record.python("duckdb")
        self.size = f"a year of {corpus.gigabytes:g} GB in {DAYS} files"
        self.clock = os.path.join(corpus.folder, "clock")

    def show(self, name, ours, peer="", theirs=None, unit="s", **bounds):
        """A row of the report, and its figures. Bounds of a ratio are for ours / theirs."""
        scale = 1000 if unit == "ms" else 1
        cells = [name, f"{median(ours) * scale:.3g} {unit}", "", ""]
        if theirs:
            record.ratio(name, "action-filter", peer, ours, theirs, size=self.size, **bounds)
            value = median([one / other for one, other in zip(ours, theirs)])
            cells[2:] = [f"{peer} {median(theirs) * scale:.3g} {unit}", f"{value:.2f}x"]
        else:
            record.figure(name, "action-filter", unit, [one * scale for one in ours],
                          size=self.size, **bounds)
        print("| " + " | ".join(cells) + " |", flush=True)

    def query(self, form, kind, day=None):
        """What DuckDB is asked; `day` for one alone."""
        pattern = self.corpus.path(form, day) if day is not None else \
            os.path.join(self.corpus.path(form), "*")
        return [self.duckdb, os.path.join(HERE, "peer_duckdb.py"), "kind", form, KINDS[kind],
                pattern]

    def jq(self, kind, days):
        """Seconds of zstdcat | jq over these days."""
        line = f'zstdcat "$@" | jq -c \'select((.data // .).kind == "{KINDS[kind]}")\''
        counts = getattr(self.corpus, kind)
        return took(["sh", "-c", line, "sh", *(self.corpus.path("plain", day) for day in days)],
                    sum(counts[day] for day in days))[0]

    def question(self, name, ours, kind, day, **bounds):
        """Actions of a kind, of the year or of a day, from everybody."""
        counts = getattr(self.corpus, kind)
        wanted = sum(counts) if day is None else counts[day]
        mine, parquet, text = [], [], []
        took(ours, wanted)
        for number in range(self.rounds):
            mine.append(took(ours, wanted)[0])
            if self.duckdb:
                parquet.append(took(self.query("parquet", kind, day), wanted, self.clock))
                # Of the year this takes long enough for one run to say it.
                if number == 0 or day is not None:
                    text.append(took(self.query("text", kind, day), wanted, self.clock))
        self.show(name, mine, unit="ms", **({} if day is None else bounds))
        if self.duckdb:
            must = bounds if day is None else {}
            self.show(name, mine, "DuckDB, Parquet", [inside for _, inside in parquet], **must)
            self.show(f"{name}, whole", mine, "DuckDB, Parquet", [whole for whole, _ in parquet])
            self.show(name, [median(mine)] * len(text), "DuckDB, NDJSON",
                      [inside for _, inside in text])
        if shutil.which("jq"):
            days = self.corpus.sample() if day is None else [day]
            parts = DAYS / len(days) if day is None else 1
            self.show(name, [median(mine)], "jq", [self.jq(kind, days) * parts])

    def rare(self):
        """A rare kind in the year."""
        ours = ["action-filter", "-k", KINDS["rare"], self.corpus.path("packed")]
        self.question("rare kind", ours, "rare", None, must=2, aim=1)

    def day(self):
        """One kind of one day, out of the folder of the year."""
        since, before = (os.path.basename(self.corpus.path("text", day)).removesuffix(".ndjson")
                         for day in (ASKED, ASKED + 1))
        ours = ["action-filter", "-S", since, "-B", before, "-k", KINDS["frequent"],
                self.corpus.path("packed")]
        self.question("a day", ours, "frequent", ASKED, must=50, aim=15)

    def all(self):
        """Everything: what no index answers, and all records printed, beside zstd alone on the
        same files, a process per core."""
        packed = self.corpus.paths("packed")
        bare = ["sh", "-c", f'printf "%s\\n" "$@" | xargs -n 8 -P {CORES} zstd -dcq', "sh", *packed]
        folder = self.corpus.path("packed")
        forms = {"all, counted": ["action-filter", "-N", "-x", "0.01", folder],
                 "all, printed": ["action-filter", folder]}
        mine, theirs = {name: [] for name in forms}, []
        for _ in range(min(self.rounds, 3)):
            theirs.append(took(bare)[0])
            for name, command in forms.items():
                mine[name].append(took(command)[0])
        size = self.corpus.size("text") / 1e6
        record.figure("all", "zstd", "MB/s", [size / one for one in theirs], size=self.size,
                      more=True)
        for name, ours in mine.items():
            self.show(name, ours, "zstd", theirs, must=1.25, aim=1)

    def plain(self):
        """A plain file on all cores beside cat: few lines selected, all of them, and sums."""
        megabytes = setting("ARCHIVE_MB", 1000)
        path = os.path.join(self.corpus.folder, "plain.ndjson")
        with open(path, "wb") as out:
            subprocess.run([self.corpus.year, str(megabytes * 1000), "0", "100000"], stdout=out,
                           stderr=subprocess.DEVNULL, check=True)
        self.size = f"{megabytes} MB"
        forms = {"one kind": ["-k", KINDS["frequent"]], "rare kind": ["-k", KINDS["rare"]],
                 "all printed": [], "by kind": ["--by", "kind"]}
        warm([path])
        for name, options in forms.items():
            mine, theirs = [], []
            for _ in range(self.rounds):
                theirs.append(took(["cat", path])[0])
                mine.append(took(["action-filter", *options, path])[0])
            bounds = {"must": 1.5, "aim": 1.2} if name == "one kind" else {}
            self.show(name, mine, "cat", theirs, **bounds)
        os.unlink(path)


PARTS = ("rare", "day", "all", "plain")


def gigabytes():
    """How large the year is; less than one is for trying this bench."""
    try:
        return float(os.environ.get("ARCHIVE_GB") or 10)
    except ValueError:
        sys.exit("bench-archive: ARCHIVE_GB: not a number")


def main():
    wanted = os.environ.get("BENCH_ONLY", "").split() or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        sys.exit(f"bench-archive: BENCH_ONLY: no part {' '.join(sorted(unknown))}")
    missing = [name for name in ("action-filter", "zstd", "cc") if not shutil.which(name)]
    if missing:
        sys.exit(f"bench-archive: needs {' and '.join(missing)}")
    failed = False
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Corpus(gigabytes(), os.environ.get("BENCH_DIR")) as corpus:
        if set(wanted) != {"plain"}:
            corpus.make()
            print(corpus.facts() + "\n")
        bench = Bench(corpus)
        print("| what | action-filter | peer | ours / theirs |\n|---|---:|---:|---:|")
        for name in wanted:
            try:
                with record.part("archive", name):
                    warm([] if name == "plain" else corpus.paths("packed"))
                    getattr(bench, name)()
            except (OSError, Wrong) as error:
                print(f"bench-archive: {name}: broken off: {error}", file=sys.stderr)
                failed = True
    return int(failed)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench-archive: {error.cmd[0]}: status {error.returncode}")
