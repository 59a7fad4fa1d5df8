"""agent-serve: searches over 100,000 facts, one at a time, and its memory."""
import bisect
import http.client
import itertools
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from urllib.parse import quote, urlsplit

import record
from common import median, percentile, setting, table

WORDS = 20000
SEARCHES = 600
dice = random.Random(100)


def vocabulary():
    """Invented words, and how often each is used: as in any language, a few make
    half of every text (Zipf's law)."""
    parts = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    words = set()
    while len(words) < WORDS:
        words.add("".join(dice.choice(parts) for _ in range(dice.randint(1, 4))))
    words = sorted(words)
    dice.shuffle(words)
    return words, list(itertools.accumulate(1 / (rank + 2) for rank in range(WORDS)))


def pick(words, sums):
    return words[bisect.bisect(sums, dice.random() * sums[-1])]


def write_facts(path, count, words, sums):
    with open(path, "w") as out:
        for number in range(count):
            text = " ".join(pick(words, sums) for _ in range(dice.randint(6, 18)))
            out.write(json.dumps({"guildId": "1", "subject": f"{number % 5000}", "fact": f"{text} {number}",
                                  "factType": "other", "confidence": 0.5}) + "\n")


def queries(words, sums):
    """One to four words as they are used, rare words, beginnings, common words alone."""
    kinds = {
        "1 to 4 words": lambda: " ".join(pick(words, sums) for _ in range(dice.randint(1, 4))),
        "a rare word": lambda: words[dice.randint(WORDS // 2, WORDS - 1)],
        "three letters": lambda: words[dice.randint(200, WORDS - 1)][:3],
        "the commonest words": lambda: " ".join(words[:3]),
    }
    return [(name, make()) for _ in range(SEARCHES // len(kinds)) for name, make in kinds.items()]


def resident(pid):
    """MiB, where the system tells."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))
    except OSError:
        return None


def report():
    if not shutil.which("agent-serve"):
        return "### Searches of the memory\n\nagent-serve is not here: skipped."
    count = setting("BENCH_FACTS", 100000)
    words, sums = vocabulary()
    with tempfile.TemporaryDirectory() as folder:
        facts = os.path.join(folder, "facts")
        write_facts(facts, count, words, sums)
        began = time.monotonic()
        server = subprocess.Popen(
            ["agent-serve", "-l", "127.0.0.1:0", "-D", os.path.join(folder, "db"), "--ingest", facts],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            url = urlsplit(json.loads(server.stdout.readline())["url"])
            stored = time.monotonic() - began
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
            taken, memory = {}, []
            for turn in range(3):
                for name, text in queries(words, sums):
                    began = time.perf_counter()
                    connection.request("GET", f"/api/memory/search?guildId=1&q={quote(text)}")
                    body = connection.getresponse().read()
                    assert b'"results":[' in body
                    if turn:
                        taken.setdefault(name, []).append((time.perf_counter() - began) * 1e3)
                memory.append(resident(server.pid))
        finally:
            server.kill()
            server.wait()
    for name, values in taken.items():
        record.figure(name, "agent-serve", "ms", values, size=f"{count} facts")
    rows = [[name, f"{median(values):.1f}", f"{percentile(values, 0.99):.1f}", f"{max(values):.1f}"]
            for name, values in taken.items()]
    everything = [value for values in taken.values() for value in values]
    rows.append(["all", f"{median(everything):.1f}", f"{percentile(everything, 0.99):.1f}",
                 f"{max(everything):.1f}"])
    record.figure("p50 of all", "agent-serve", "ms", median(everything), runs=len(everything),
                  size=f"{count} facts", must=20)
    record.figure("p99 of all", "agent-serve", "ms", percentile(everything, 0.99),
                  runs=len(everything), size=f"{count} facts", must=100)
    notes = [f"{count} facts, stored in {stored:.0f} s. Aim: p50 under 20 ms, p99 under 100 ms."]
    if memory[0]:
        notes.append("Resident after 1, 2 and 3 rounds: "
                     + ", ".join(f"{value:.0f} MiB" for value in memory) + ".")
    return table(f"Searches of {count} facts", ["query", "p50 ms", "p99 ms", "max ms"], rows, notes)
