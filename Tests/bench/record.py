"""The figures of the bench as NDJSON, a record each, in the file that BENCH_FIGURES names.

    group, part, name   where it was measured, and what
    by, by_version      the program that was measured
    against, against_version
                        the peer of a ratio: `value` is the figure of `by` divided by that
                        of the peer; an absolute figure has neither
    value, unit         the median; the unit is `x` for a ratio
    min, max, runs      of so many runs
    size                what it was measured on, as words
    better              `less` or `more`
    must, aim           the bounds that it is held to
    when                the time of the run, RFC 3339 in UTC
    cores, cpu, system  the machine
    others              percent of its processor time that others used when the group began

What is not known is left out. A part that came to its end adds {"group": ..., "part": ...,
"done": true}. Without BENCH_FIGURES nothing is written.
"""
import contextlib
import datetime
import functools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, "..", "..", ".build")
# Debian has it where not everybody looks.
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
# Where a name does not begin with the program that tells the version.
ASKED = {"ssh": ["ssh", "-V"], "scp": ["ssh", "-V"], "tmux": ["tmux", "-V"],
         "Node": ["node", "--version"], "Miller": ["mlr", "--version"],
         "simdjson": ["pkg-config", "--modversion", "simdjson"],
         "SQLite": [sys.executable, "-c", "import sqlite3; print(sqlite3.sqlite_version)"],
         "nginx": [NGINX, "-v"], "nchan": ["dpkg-query", "-W", "libnginx-mod-nchan"],
         "cnats": ["pkg-config", "--modversion", "libnats"], "nats-server": ["nats-server", "-v"]}
MODULES = {"httpx-sse": "httpx-sse", "websockets": "websockets", "msgspec": "msgspec",
           "DuckDB": "duckdb"}
place = {"group": None, "part": None}


@functools.lru_cache
def python(module):
    """The Python that has a module: what .ci/peers made, or the one that runs this; or None."""
    made = [os.path.join(BUILT, name, "bin", "python") for name in ("peers-bench", "peers")]
    for path in [*filter(os.path.exists, made), sys.executable]:
        if not subprocess.run([path, "-c", f"import {module}"], capture_output=True).returncode:
            return path
    return None


@functools.lru_cache
def version(name):
    """The first number that a program says it is, or None where it is not here."""
    word = name.split()[0].rstrip(",")
    asked = ASKED.get(word, [word, "--version"])
    if word in MODULES:
        code = f"import importlib.metadata as m; print(m.version('{MODULES[word]}'))"
        asked = [python(MODULES[word].replace("-", "_")), "-c", code]
    if not asked[0] or not shutil.which(asked[0]):
        return None
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\d+(\.\d+)+([a-z]\d*)?", said.stdout + said.stderr)
    return found.group() if found and said.returncode == 0 else None


def model():
    """The processor by its own name, where the system tells."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def used():
    """Processor time of the whole machine so far, and how much of it was used."""
    with open("/proc/stat") as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    return sum(fields), sum(fields) - fields[3] - fields[4]


@functools.lru_cache
def others():
    """Percent of the machine's processor time that others use, while this waits."""
    if not os.path.exists("/proc/stat"):
        return round(100 * min(os.getloadavg()[0] / os.cpu_count(), 1))
    before = used()
    time.sleep(1)  # what is measured
    after = used()
    return round(100 * (after[1] - before[1]) / max(after[0] - before[0], 1))


def now():
    """This time, as records have it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(record):
    """Adds a line to the file, if there is one."""
    path = os.environ.get("BENCH_FIGURES")
    if path:
        known = {key: value for key, value in record.items() if value is not None}
        with open(path, "a") as file:
            file.write(json.dumps(known, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def part(group, name):
    """What is measured inside belongs to this part; it is done when nothing is raised."""
    place.update(group=group, part=name)
    if os.environ.get("BENCH_FIGURES"):
        others()
    yield
    write({**place, "done": True})


def figure(name, by, unit, values, against=None, size=None, runs=None, must=None, aim=None,
           more=False):
    """Notes one figure. `values` is that of each run, or one number that stands for `runs`
    of them: the median counts."""
    if not os.environ.get("BENCH_FIGURES"):
        return
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    spread = runs is None
    write({
        **place, "name": name, "by": by, "by_version": version(by), "against": against,
        "against_version": version(against) if against else None,
        "value": rounded(statistics.median(values)), "unit": unit,
        "min": rounded(min(values)) if spread else None,
        "max": rounded(max(values)) if spread else None,
        "runs": len(values) if spread else runs, "size": size,
        "better": "more" if more else "less",
        "must": must if must != "" else None, "aim": aim if aim != "" else None,
        "when": os.environ.get("BENCH_WHEN") or now(), "cores": os.cpu_count(), "cpu": model(),
        "system": f"{platform.system()} {platform.machine()}", "others": others()})


def ratio(name, by, against, values, peers, **more):
    """The figure of ours divided by the peer's, over runs that were taken in turns."""
    figure(name, by, "x", [ours / other for ours, other in zip(values, peers)], against, **more)


def rounded(value):
    """Four digits that count: more is noise, and would make the file differ for nothing."""
    return float(f"{value:.4g}")
