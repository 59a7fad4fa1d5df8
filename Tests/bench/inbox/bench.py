#!/usr/bin/env python3
"""make bench-inbox: share-inbox beside scp, and beside cp.

A real sshd and tmux on this machine. Each figure of ours is set beside a peer's of
the same run, in turns, and ratios are medians over pairs. What share-inbox does is
more than its peer's part: it counts what came, types the path, and removes the file.
Prints Markdown, with what must and what should be reached; a time is never a failure.

    BENCH_ROUNDS   pairs of each (5)
    BENCH_MB       megabytes of the large file (200)
    BENCH_FILES    small files of one drain (1000)
    BENCH_LOOP     files of the loop of scp, which is counted up to as many (40)
    BENCH_SECONDS  length of the idle watch (12)
    BENCH_ONLY     some of: upload small add idle
"""
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "ssh"))
from bench import heading  # noqa: E402
from ground import OURS, Ground  # noqa: E402
from report import Report, median, record, setting  # noqa: E402

SMALL = 2000


def run(ground, command):
    """Seconds that it took."""
    began = time.monotonic()
    done = subprocess.run(command, env=ground.env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(f"{command[0]}: status {done.returncode}: {done.stderr[-300:]}")
    return took


def inbox(ground, word, transport):
    return ["share-inbox", word, "-q", "--transport", transport, "-i", ground.id,
            "--pins", ground.tmp + "/pins", "-P", str(ground.port), ground.target]


def scp(ground, source):
    options = ground.ssh_options()
    options[options.index("-p")] = "-P"
    return ["scp", "-q", *options, source, f"{ground.target}:{ground.home}/scp.bin"]


def made(ground, name, size):
    path = os.path.join(ground.tmp, name)
    with open(path, "wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - start)))
    return path


def put(ground, paths):
    run(ground, ["share-inbox", "add", "-q", *paths])


def clean(ground):
    shutil.rmtree(os.path.join(ground.home, ".riff"), ignore_errors=True)


def warm(ground):
    """Pins, keys, and the files of the programs in memory."""
    path = made(ground, "warm.bin", 100)
    run(ground, scp(ground, path))
    for transport in OURS:
        put(ground, [path])
        run(ground, inbox(ground, "drain", transport))


def upload(ground, report):
    size = setting("BENCH_MB", 200) << 20
    path = made(ground, "large.bin", size)
    took = {client: [] for client in ("scp", *OURS)}
    for _ in range(setting("BENCH_ROUNDS", 5)):
        took["scp"].append(run(ground, scp(ground, path)))
        for transport in OURS:
            put(ground, [path])
            took[transport].append(run(ground, inbox(ground, "drain", transport)))
            clean(ground)
    rate = {client: [size / 1e6 / value for value in values] for client, values in took.items()}
    for transport in OURS:
        report.ratio(f"upload of {size >> 20} MB, {transport}", rate[transport], rate["scp"], "scp",
                     1, "MB/s", 0.8, 1.3, more=True)
    os.unlink(path)


def small(ground, report):
    count, loop = setting("BENCH_FILES", 1000), setting("BENCH_LOOP", 40)
    paths = [made(ground, f"small-{number}.bin", SMALL) for number in range(count)]
    peer = [sum(run(ground, scp(ground, path)) for path in paths[:loop]) / loop * count
            for _ in range(2)]
    for transport in OURS:
        put(ground, paths)
        took = run(ground, inbox(ground, "drain", transport))
        clean(ground)
        value = median(peer) / took
        report.row(f"{count} small files, {transport}", f"{took:.1f} s",
                   f"loop of scp {median(peer):.0f} s", 5, 10, value, f"{value:.1f}x", more=True,
                   against="scp")
    report.row("", "", "", "", "", note=f"the loop is counted up from {loop} files")


def add(ground, report):
    size = setting("BENCH_MB", 200) << 20
    path = made(ground, "large.bin", size)
    run(ground, ["sync"])
    folder = os.path.join(ground.tmp, "inbox")
    took, peer = [], []
    for number in range(setting("BENCH_ROUNDS", 5)):
        peer.append(run(ground, ["sh", "-c", 'cp "$1" "$2" && sync', "sh", path, path + ".copy"]))
        os.unlink(path + ".copy")
        run(ground, ["sync"])
        took.append(run(ground, ["share-inbox", "add", "-q", "--inbox", folder, path]))
        shutil.rmtree(folder)
        run(ground, ["sync"])
    report.ratio(f"add of {size >> 20} MB", took, peer, "cp && sync", 1, "s", 1.5, 1.1)
    os.unlink(path)


def busy(pid):
    """Nanoseconds on a processor so far."""
    with open(f"/proc/{pid}/schedstat") as file:
        return int(file.read().split()[0])


def idle(ground, report):
    if not os.path.exists("/proc/self/schedstat"):
        report.row("idle watch", "", "", "", "", note="no /proc here")
        return
    seconds = setting("BENCH_SECONDS", 12)
    for transport in OURS:
        process = subprocess.Popen(inbox(ground, "watch", transport), env=ground.env,
                                   stdin=subprocess.DEVNULL)
        # With a link that is up, and kept so.
        put(ground, [made(ground, "warm.bin", 100)])
        time.sleep(4)  # for the file to go
        before = busy(process.pid)
        time.sleep(seconds)  # what is measured
        used = (busy(process.pid) - before) / seconds / 1e7
        process.terminate()
        process.wait()
        report.row(f"idle watch, {transport}", f"{used:.4f} %", "", 0.05, 0.02, used,
                   f"{used:.4f} %")


PARTS = {"upload": upload, "small": small, "add": add, "idle": idle}


def main():
    wanted = os.environ.get("BENCH_ONLY", "").split() or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        sys.exit(f"bench-inbox: BENCH_ONLY: no part {' '.join(sorted(unknown))}")
    heading()
    with Ground() as ground:
        ground.tmux("new-session", "-d", "-s", "riff", "exec cat >/dev/null")
        warm(ground)
        report = Report([], "share-inbox")
        for name in wanted:
            try:
                with record.part("inbox", name):
                    PARTS[name](ground, report)
            except (OSError, RuntimeError) as error:
                report.row(name, "", "", "", "", note=f"broken off: {error}")
        report.end()
        ground.end_sessions()


if __name__ == "__main__":
    main()
