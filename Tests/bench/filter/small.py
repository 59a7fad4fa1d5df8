"""What does not grow with the data: the start, one long line, a live pipe."""

import os
import shutil

from peers import version
from report import head, reached, record, row


def all_of(meter, ours, hello, folder, note):
    """Measures all three and prints their tables.

    - ours, hello: paths of action-filter and of the C program that does least.
    - folder: where files may be made.
    - note: told what is measured.
    """
    with record.part("filter", "start"):
        start(meter, ours, hello, folder, note)
    with record.part("filter", "long line"):
        long_line(meter, ours, folder, note)
    with record.part("filter", "live"):
        live(meter, ours, folder, note)


def start(meter, ours, hello, folder, note):
    note("start-up")
    line = os.path.join(folder, "line.ndjson")
    with open(line, "w") as out:
        out.write('{"id":1,"kind":"llm_error","content":"rate limit","usd_cost":0.01}\n')
    commands = {"C hello": ([hello], (None, 2))}
    for tool, targets in (("jq", (1, None)), ("gojq", (1, None))):
        if shutil.which(tool):
            name = tool + version(tool, "--version")
            commands[name] = ([tool, "-c", 'select(.kind == "llm_error")', line], targets)
    head("start-up, one line", "ours ms", "theirs ms", "ours / theirs", "must", "aim", "reached")
    spawns = int(os.environ.get("BENCH_SPAWNS", 200))
    for name, (command, (must, aim)) in commands.items():
        pair = meter.pair([ours, "-k", "llm_error", line], command, spawns)
        times = 1 / pair.wall
        record.ratio("start", "action-filter", name.split()[0].replace("C", "C program"),
                     [a.wall for a, _ in pair.runs], [b.wall for _, b in pair.runs], must=must,
                     aim=aim)
        word = "aim" if aim and times <= aim else "must" if must and times < must else "short"
        row(name, f"{pair.a.wall * 1e3:.2f}", f"{pair.b.wall * 1e3:.2f}", f"{times:.2f}",
            f"< {must}" if must else "", f"<= {aim}" if aim else "", word)


def long_line(meter, ours, folder, note):
    note("one long line")
    megabytes = 32
    path = os.path.join(folder, "long.ndjson")
    with open(path, "w") as out:
        out.write('{"id":1,"kind":"llm_call","content":"' + "word " * (megabytes << 20 >> 3) + '"')
        out.write(',"metadata":"' + "text\\n " * ((megabytes << 20) * 3 // 8 // 7) + '"}\n')
        out.write('{"id":2,"kind":"llm_error"}\n')
    longest = os.path.getsize(path) / (1 << 20)
    head("resident set", "MiB", "must", "aim", "reached")
    sample = meter.once([ours, "-k", "llm_error", path])
    used, must, aim = sample.rss / 1024, 16 + 2 * longest, 6 + longest
    record.figure("memory", "action-filter", "MiB", used, size=f"{longest:.0f} MiB", runs=1,
                  must=must, aim=aim)
    word = "aim" if used <= aim else "must" if used <= must else "short"
    row(f"a line of {longest:.0f} MiB", f"{used:.1f}", f"{must:.0f}", f"{aim:.0f}", word)
    os.remove(path)


def live(meter, ours, folder, note):
    """Line in to line out beside cat, in turn."""
    note("live pipe")
    lines = os.path.join(folder, "line.ndjson")
    own, other = [], []
    for _ in range(5):
        own.append(meter.trips([ours, "-k", "llm_error"], lines, 500))
        other.append(meter.trips(["cat"], lines, 500))
    head("live pipe, line in to line out", "median us", "p90", "p99", "times cat", "must", "aim",
         "reached")
    if None in own or None in other:
        print("\nA line did not come back within 500 ms.")
        return
    ratios = sorted(a[0] / b[0] for a, b in zip(own, other))
    times = ratios[len(ratios) // 2]
    record.ratio("delay", "action-filter", "cat", [a[0] for a in own], [b[0] for b in other],
                 must=2, aim=1.2)
    for name, trips in (("action-filter", own), ("cat", other)):
        middle = sorted(trips)[len(trips) // 2]
        cells = (f"{times:.2f}", *reached(times, (2, 1.2), False)) if trips is own else ("1", "", "", "")
        row(name, *(f"{seconds * 1e6:.0f}" for seconds in middle), *cells)
