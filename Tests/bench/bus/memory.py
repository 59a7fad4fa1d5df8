"""What bus-get holds while nobody reads from it."""
import subprocess
import time

from peers import run
from report import setting


def marks(pid):
    """Now and at most, kilobytes."""
    with open(f"/proc/{pid}/status") as file:
        found = dict(line.split(":") for line in file if line.startswith(("VmRSS", "VmHWM")))
    return tuple(int(found[name].split()[0]) for name in ("VmRSS", "VmHWM"))


def measure(ground, report):
    for name, size in (("2 KB", 2000), ("1 MB", 1000000)):
        count = setting("BENCH_STOPPED_MB", 60) * 1000000 // size
        ground.server.make("still")
        run(ground.ours_put("still"), ground.records(count, size))
        for way, more in (("alone", []), ("shared", ["-d", "still"])):
            getter = subprocess.Popen(ground.ours_get("still", *more), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE)
            try:
                settled(getter.pid)
                read = sum(1 for _ in range(count // 2) if getter.stdout.readline())
                # It stops again, after memory was used and given back.
                now, most = settled(getter.pid)
                read += sum(1 for _ in range(count - read) if getter.stdout.readline())
            finally:
                getter.kill()
                getter.wait()
                getter.stdout.close()
            if read != count:
                raise RuntimeError(f"{read} records of {count}")
            report.row(f"stopped reader, {name} records, {way}", f"{now / 1024:.1f} MB",
                       f"at most {most / 1024:.1f} MB", 16, 12, now / 1024,
                       f"{now / 1024:.1f} MB")
        ground.server.forget("still")


def settled(pid):
    """When it has not grown for a second."""
    seen, since = None, time.monotonic()
    while time.monotonic() < since + 1:
        now = marks(pid)
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.05)  # between two looks
    return seen
