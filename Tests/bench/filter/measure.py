"""Runs commands under the meter: one at a time, or two in turn."""

import os
import signal
import statistics
import subprocess
from dataclasses import dataclass

LIMIT = 900  # seconds that any one run may take


@dataclass
class Sample:
    """One run: seconds, KiB, exit status."""

    wall: float
    cpu: float
    rss: int
    status: int


@dataclass
class Pair:
    """Two commands in turn: the medians, and the median of the ratios b/a."""

    a: Sample
    b: Sample
    wall: float
    cpu: float
    runs: list  # of both samples


def run(argv, **options):
    """Runs to the end or the limit; nothing that it started is left behind."""
    process = subprocess.Popen(argv, start_new_session=True, **options)
    try:
        out, err = process.communicate(timeout=LIMIT)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return process.returncode, out, err


class Meter:
    """The compiled meter, and a folder for what it leaves."""

    def __init__(self, program, folder):
        self.program, self.clock = program, os.path.join(folder, "clock")

    def once(self, argv, output="/dev/null", stdin="/dev/null", errors=subprocess.DEVNULL):
        """Runs a command; `errors` is where its standard error goes."""
        if os.path.exists(self.clock):
            os.remove(self.clock)
        status, out, _ = run(
            [self.program, stdin, output, *argv], stdout=subprocess.PIPE, stderr=errors,
            env={**os.environ, "BENCH_CLOCK": self.clock})
        if status != 0:
            return Sample(0, 0, 0, 127)
        wall, user, system, rss, code = map(int, out.split())
        sample = Sample(wall / 1e9, (user + system) / 1e6, rss, code)
        # A script's own clock leaves out the start of Python.
        if os.path.exists(self.clock):
            with open(self.clock) as clock:
                sample.wall, sample.cpu = map(float, clock.read().split())
        return sample

    def pair(self, a, b, rounds, **options):
        """A B A B: what disturbs one disturbs the other."""
        runs = []
        for _ in range(rounds):
            runs.append((self.once(a, **options), self.once(b, **options)))
        return Pair(
            typical(one for one, _ in runs), typical(other for _, other in runs),
            statistics.median(other.wall / one.wall for one, other in runs),
            statistics.median(other.cpu / max(one.cpu, 1e-6) for one, other in runs), runs)

    def trips(self, argv, lines, count):
        """Seconds from line in to line out (median, 90 %, 99 %); None when a
        line does not come back."""
        status, out, _ = run(
            [self.program, "-l", str(count), lines, *argv], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        return [int(word) / 1e9 for word in out.split()] if status == 0 else None


def typical(samples):
    """The median of each figure."""
    samples = list(samples)
    return Sample(
        statistics.median(sample.wall for sample in samples),
        statistics.median(sample.cpu for sample in samples),
        max(sample.rss for sample in samples),
        samples[0].status)


def rounds(seconds, budget=6.0, least=3, most=11):
    """How many pairs fit when one takes so long: an odd number."""
    fit = int(budget / max(seconds, 1e-3))
    return min(max(fit, least), most) | 1
