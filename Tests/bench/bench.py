#!/usr/bin/env python3
"""The bench: ratios against the peers that are installed, in one run.

Prints a Markdown report. Nothing passes or fails on time here: figures of one
machine say little, so each is set beside a peer's of the same run. Peers and
commands that are missing are skipped with a word.

    BENCH_MB       size of the stream, MB (1000)
    BENCH_ROUNDS   rounds of each pair (3)
    BENCH_SECONDS  length of the fan-out (10)
    BENCH_EVENTS   number of events that agent-serve and nginx send, of all rounds (300)
    BENCH_VOICE_SECONDS  length of the voice stream that is replayed fast (3600)
    BENCH_FACTS    number of facts that are searched (100000)
    BENCH_FOLD_MB  size of the events that are folded, MB (100)
    BENCH_COSTS_MB size of the transcripts that are counted, MB (200)
    BENCH_ONLY     some of: stream latency socket fanout serve startup voice
                   question memory fold costs
"""
import os
import platform
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import costs  # noqa: E402
import fanout  # noqa: E402
import fold  # noqa: E402
import latency  # noqa: E402
import memory  # noqa: E402
import question  # noqa: E402
import record  # noqa: E402
import serve  # noqa: E402
import startup  # noqa: E402
import stream  # noqa: E402
import voice  # noqa: E402
import websocket  # noqa: E402

PARTS = {"stream": stream, "latency": latency, "socket": websocket, "fanout": fanout,
         "serve": serve, "startup": startup, "voice": voice, "question": question,
         "memory": memory, "fold": fold, "costs": costs}


def version(command):
    path = shutil.which(command)
    if not path:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    return " ".join(said.split()[:2]) if said else command


def main():
    wanted = os.environ.get("BENCH_ONLY", "").split() or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        sys.exit(f"bench: BENCH_ONLY: no part {' '.join(sorted(unknown))}")
    tools = [version(name) for name in ("sse-tail", "ws-tail", "curl", "jq")]
    print(f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
          f"load {os.getloadavg()[0]:.1f}; {', '.join(tool for tool in tools if tool)}\n",
          flush=True)
    for name in wanted:
        with record.part("bench", name):
            print(PARTS[name].report() + "\n", flush=True)


if __name__ == "__main__":
    main()
