"""What the parts of the bench share."""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time

import record

HERE = os.path.dirname(os.path.abspath(__file__))
NULL = open(os.devnull, "wb")


def setting(name, default):
    """A whole number from the environment."""
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        return max(int(text), 1)
    except ValueError:
        sys.exit(f"bench: {name}: not a whole number: {text}")


def descriptors():
    """As many descriptors as the system allows, here and in what is started: a connection is
    one at each of its ends."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def tails(url):
    """The clients that are here: name -> command, and a word on the missing."""
    found, missing = {}, []
    for name, command in (("curl -sN", ["curl", "-sN", url]),
                          ("sse-tail", ["sse-tail", "--max-retries", "0", url])):
        if shutil.which(command[0]):
            found[name] = command
        else:
            missing.append(name)
    python = record.python("httpx_sse")
    if python:
        found["Python httpx-sse"] = [python, os.path.join(HERE, "peers", "tail_httpx.py"), url]
    else:
        missing.append("Python httpx-sse")
    if shutil.which("node"):
        found["Node fetch"] = ["node", os.path.join(HERE, "peers", "tail_node.mjs"), url]
    else:
        missing.append("Node")
    return found, missing


def measure(command, stdout=NULL):
    """Runs to the end: (wall s, cpu s, peak RSS MiB)."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                               stderr=subprocess.DEVNULL)
    peak = Peak(process.pid)
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = 0
    return wall, usage.ru_utime + usage.ru_stime, peak.of(usage)


class Peak:
    """The peak memory of a process. What wait4 says on Linux begins with the
    memory of the parent that it was forked from: there the kernel's own mark is
    read while the process runs."""

    def __init__(self, pid):
        self.kilobytes = 0
        self.path = f"/proc/{pid}/status"
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        try:
            while True:
                with open(self.path) as file:
                    marks = [line for line in file if line.startswith("VmHWM:")]
                if not marks:
                    return
                self.kilobytes = int(marks[0].split()[1])
                time.sleep(0.005)  # between two looks
        except OSError:
            pass

    def of(self, usage):
        self.thread.join()
        if self.kilobytes:
            return self.kilobytes / 1024
        return usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def median(values):
    return statistics.median(values)


def percentile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)]


def table(title, columns, rows, notes=()):
    """A Markdown table under a heading."""
    lines = [f"### {title}", "", "| " + " | ".join(columns) + " |",
             "| " + " | ".join(["---"] + ["---:"] * (len(columns) - 1)) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    for note in notes:
        lines += ["", note]
    return "\n".join(lines)


def skipped(missing):
    return [f"Not here, skipped: {', '.join(missing)}."] if missing else []
