#!/usr/bin/env python3
"""make bench-ssh: tmux-attach beside ssh -t, autossh and mosh.

A real sshd and tmux on this machine, with the stub agent of the tests. Each
figure of ours is set beside a peer's of the same run, in turns, and ratios are
medians over pairs, so that a busy machine moves them little. Prints Markdown,
with what must and what should be reached; a time is never a failure. Peers
that are not installed are left out with a word.

    BENCH_ROUNDS   pairs of each (7)
    BENCH_KEYS     keys typed at each terminal (400)
    BENCH_MB       megabytes that are poured through a terminal (100)
    BENCH_SECONDS  length of the idle watch (12)
    BENCH_ONLY     some of: attach echo pour loss idle manage watch
"""
import os
import platform
import subprocess
import sys

sys.dont_write_bytecode = True

import attach  # noqa: E402
import echo  # noqa: E402
import idle  # noqa: E402
import loss  # noqa: E402
import manage  # noqa: E402
import pour  # noqa: E402
import watch  # noqa: E402
from ground import Ground  # noqa: E402
from report import Report, record, setting  # noqa: E402

PARTS = {"attach": attach, "echo": echo, "pour": pour, "loss": loss, "idle": idle,
         "manage": manage, "watch": watch}


def heading():
    versions = []
    for command in (["ssh", "-V"], ["tmux", "-V"]):
        said = subprocess.run(command, capture_output=True, text=True)
        versions.append((said.stdout + said.stderr).split(",")[0].strip())
    print(f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
          f"load {os.getloadavg()[0]:.1f} at the start; {', '.join(versions)}\n", flush=True)


def main():
    wanted = os.environ.get("BENCH_ONLY", "").split() or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        sys.exit(f"bench-ssh: BENCH_ONLY: no part {' '.join(sorted(unknown))}")
    heading()
    with Ground() as ground:
        report = Report(ground.missing, "tmux-attach")
        for name in wanted:
            try:
                with record.part("ssh", name):
                    PARTS[name].measure(ground, report)
            except (OSError, RuntimeError) as error:
                report.row(name, "", "", "", "", note=f"broken off: {error}")
        report.end()


if __name__ == "__main__":
    setting("BENCH_ROUNDS", 7)
    main()
