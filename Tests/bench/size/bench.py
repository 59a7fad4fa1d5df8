#!/usr/bin/env python3
"""make bench-size: what an installation takes on the disk, with agent-serve and without.

`make install` puts it into a folder of its own; files count by their bytes, one that has
several names once. Prints Markdown, with what must and what should be reached.
"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
sys.path.append(os.path.join(HERE, ".."))
import record  # noqa: E402

# What make is told, and how many MB it may be.
FORMS = {"with agent-serve": ({}, 45),
         "without agent-serve": ({"AGENTUTILS_WITHOUT_SERVE": "1"}, 31)}


def installed(more):
    """Bytes of all files, and of those among them that are run."""
    with tempfile.TemporaryDirectory(prefix="bench-size.") as folder:
        command = ["make", "-s", "-C", TOP, "install", f"DESTDIR={folder}", "PREFIX=/usr"]
        done = subprocess.run(command, env={**os.environ, **more}, capture_output=True,
                              text=True)
        if done.returncode:
            sys.exit(f"bench-size: make install: {done.stderr.strip()[-300:]}")
        sizes = {}
        for place, _, names in os.walk(folder):
            for name in names:
                status = os.lstat(os.path.join(place, name))
                sizes[status.st_ino] = (status.st_size, status.st_mode & 0o111)
    return (sum(size for size, _ in sizes.values()),
            sum(size for size, is_run in sizes.values() if is_run))


def main():
    if not set(os.environ.get("BENCH_ONLY", "").split()) <= {"install"}:
        sys.exit("bench-size: BENCH_ONLY: there is but install")
    print("| installed | all, MB | programs, MB | must |\n|---|---:|---:|---:|")
    with record.part("size", "install"):
        for name, (more, must) in FORMS.items():
            everything, programs = (size / 1e6 for size in installed(more))
            record.figure(name, "agentutils", "MB", everything, must=must)
            record.figure(f"{name}, the programs", "agentutils", "MB", programs)
            print(f"| {name} | {everything:.1f} | {programs:.1f} | <= {must} |", flush=True)


if __name__ == "__main__":
    main()
