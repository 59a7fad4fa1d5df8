#!/usr/bin/env python3
"""make bench-bus: bus-put and bus-get beside the loops of the C client, on a server of one's own.

Each figure is set beside one of the peer's of the same run, in turns, and ratios are medians over
pairs. Two cores that others use make all of it slower, and the ratios of what lasts long less
certain. Prints Markdown, with what must and what should be reached; a time is never a failure.

    BENCH_ROUNDS      pairs of each (5)
    BENCH_RECORDS     records of 2 KB that are put, and got (30000)
    BENCH_LINES       lines that go through one at a time (3000)
    BENCH_STOPPED_MB  megabytes in front of a reader that stands still (60)
    BENCH_GETTERS     getters of one stream (200)
    BENCH_EACH        records that each of them gets (500)
    BENCH_MB          megabytes that an edge has kept (1000)
    BENCH_ONLY        some of: put get start latency memory getters catch-up
"""
import os
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "ssh"))
import flow  # noqa: E402
import latency  # noqa: E402
import many  # noqa: E402
import memory  # noqa: E402
from peers import Ground  # noqa: E402
from report import Report, record  # noqa: E402

PARTS = {"put": flow.put, "get": flow.get, "start": flow.start, "latency": latency.measure,
         "memory": memory.measure, "getters": many.getters, "catch-up": many.catch_up}


def main():
    wanted = os.environ.get("BENCH_ONLY", "").split() or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        sys.exit(f"bench-bus: BENCH_ONLY: no part {' '.join(sorted(unknown))}")
    with Ground() as ground:
        said = subprocess.run(["nats-server", "-v"], capture_output=True, text=True)
        print(f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, load "
              f"{os.getloadavg()[0]:.1f} at the start; {said.stdout.strip()}\n", flush=True)
        report = Report([], "bus-get")
        for name in wanted:
            try:
                with record.part("bus", name):
                    PARTS[name](ground, report)
            except (OSError, RuntimeError) as error:
                report.row(name, "", "", "", "", note=f"broken off: {error}")
        report.end()


if __name__ == "__main__":
    main()
