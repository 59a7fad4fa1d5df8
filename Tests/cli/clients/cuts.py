#!/usr/bin/env python3
"""cuts.py WANT COUNT COMMAND...: a command over a link that is cut each time at
another place.

Runs COMMAND COUNT times, some at once, each in a state folder of its own that
begins as a copy of $XDG_STATE_HOME. A run is right when its output is the file
WANT and its status 0; wrong answers with status 0 are what must never be. One
line for each way to end, `STATUS COUNT`, `right COUNT`, `wrong COUNT`, and
`untold COUNT` for failures without one line of reason.
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

with open(sys.argv[1], "rb") as file:
    WANT = file.read()
COUNT, COMMAND = int(sys.argv[2]), sys.argv[3:]


def run(_number):
    with tempfile.TemporaryDirectory(dir=os.environ["XDG_RUNTIME_DIR"]) as folder:
        state = shutil.copytree(os.environ["XDG_STATE_HOME"], folder + "/s")
        env = dict(os.environ, XDG_STATE_HOME=state, XDG_RUNTIME_DIR=folder)
        try:
            done = subprocess.run(COMMAND, env=env, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=40)
        except subprocess.TimeoutExpired:
            return ["hangs"]
    ways = [str(done.returncode)]
    if done.returncode == 0:
        ways.append("right" if done.stdout == WANT else "wrong")
    elif not done.stderr.startswith(b"tmux-attach: ") or done.stderr.count(b"\n") != 1:
        ways.append("untold")
        print(done.stderr.decode(errors="replace"), file=sys.stderr)
    elif done.returncode != 75:
        print(done.returncode, done.stderr.decode(errors="replace"), file=sys.stderr)
    return ways


found = collections.Counter()
with ThreadPoolExecutor(6) as pool:
    for ways in pool.map(run, range(COUNT)):
        found.update(ways)
for way, count in sorted(found.items()):
    print(way, count)
