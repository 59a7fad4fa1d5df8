"""A year of actions, a file a day, in every form that is compared: as text, packed by
action-filter, and in Parquet; and some of its days compressed by zstd."""
import concurrent.futures
import os
import shutil
import subprocess
import tempfile
import time

import record

HERE = os.path.dirname(os.path.abspath(__file__))
DAYS = 365
RARE = 100_000  # records, one of which is of the rare kind
ASKED = 150  # the day that is asked for: neither the first nor the last
SAMPLE = 20  # one of so many days is compressed by zstd, and the one above
FORMS = ("text", "packed", "plain", "parquet")


class Corpus:
    """The folders `text`, `packed`, `plain` (by zstd) and `parquet`; `rare` and `frequent` are
    how many actions of two kinds each day has."""

    def __init__(self, gigabytes, place=None):
        self.gigabytes = gigabytes
        self.folder = tempfile.mkdtemp(prefix="bench-archive.", dir=place)
        self.rare, self.frequent, self.spent = [0] * DAYS, [0] * DAYS, {}
        self.year = os.path.join(self.folder, "year")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", self.year, "year.c"], cwd=HERE,
                       check=True)
        for form in FORMS:
            os.mkdir(os.path.join(self.folder, form))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, form, day=None):
        """The folder of a form, or the file of a day in it."""
        folder = os.path.join(self.folder, form)
        if day is None:
            return folder
        name = time.strftime("%Y-%m-%d", time.gmtime(1735689600 + day * 86400))
        end = {"text": ".ndjson", "parquet": ".parquet"}.get(form, ".ndjson.zst")
        return os.path.join(folder, name + end)

    def paths(self, form):
        """The files of all days."""
        return [self.path(form, day) for day in range(DAYS)]

    @staticmethod
    def sample():
        """The days of which there are plain zstd files."""
        return sorted({*range(0, DAYS, SAMPLE), ASKED})

    def size(self, form):
        """Bytes of what there is in a form."""
        return sum(map(os.path.getsize, filter(os.path.exists, self.paths(form))))

    def day(self, day):
        """Makes the text of a day and what is compressed of it."""
        text = self.path("text", day)
        with open(text, "wb") as out:
            kilobytes = max(int(self.gigabytes * 1_000_000 / DAYS), 1)
            made = subprocess.run([self.year, str(kilobytes), str(day), str(RARE)], stdout=out,
                                  stderr=subprocess.PIPE, check=True)
        self.rare[day], self.frequent[day] = map(int, made.stderr.split())
        commands = {"packed": ["action-filter", "--pack", text]}
        if day in self.sample():
            commands["plain"] = ["zstd", "-q", "-c", text]
        for form, command in commands.items():
            began = time.monotonic()
            with open(self.path(form, day), "wb") as out:
                subprocess.run(command, stdout=out, check=True)
            self.spent[form] = self.spent.get(form, 0) + time.monotonic() - began

    def make(self):
        """Makes all of it, a day per core at a time."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.day, range(DAYS)))
        # As agent-archive keeps it: it says which files need not be opened.
        with open(os.path.join(self.path("packed"), ".index"), "wb") as out:
            subprocess.run(["action-filter", "--contents", self.path("packed")], stdout=out,
                           check=True)
        python = record.python("duckdb")
        if python:
            subprocess.run([python, os.path.join(HERE, "peer_duckdb.py"), "make",
                            self.path("text"), self.path("parquet")], check=True)

    def facts(self):
        """What the forms take, in one line."""
        return (", ".join(f"{form} {self.size(form) / 1e6:.0f} MB" for form in FORMS)
                + "; seconds of one core: "
                + ", ".join(f"{form} {spent:.0f}" for form, spent in self.spent.items()))
