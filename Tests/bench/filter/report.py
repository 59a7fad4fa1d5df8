"""The tables of the bench, with what is to be reached beside what was."""

import os
import re

from peers import TESTS, record

# (test, first word of the peer) -> (must, aim), in times as fast.
FASTER = {
    ("t1", "jq"): (15, 30),
    ("t5", "DuckDB"): (1.5, 2),
    **{(test, "simdjson"): (1, 1.5) for test in TESTS},
}
# (test, peer) -> (must, aim), at most this many times as long.
SLOWER = {("t1", "cat"): (4, 2.5), ("t1 --fast", "wc -l"): (2.5, 1.5)}


def reached(value, targets, is_more_better):
    """The three cells of a figure with a must and an aim; empty without."""
    if targets is None:
        return "", "", ""
    must, aim = targets
    sign = 1 if is_more_better else -1
    if sign * value >= sign * aim:
        word = "aim"
    else:
        word = "must" if sign * value >= sign * must else "short"
    bound = "" if is_more_better else "<= "
    return f"{bound}{must}x", f"{bound}{aim}x", word


def row(*cells):
    print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |", flush=True)


def note(peer, pair, size, faster=None, slower=None):
    """The figures of action-filter beside those of a peer. The bounds are how many times as
    fast it has to be, or how many times as long it may take."""
    peer = "msgspec" if "msgspec" in peer else re.sub(r",.*| \d.*", "", peer)
    bounds = dict(zip(("must", "aim"), slower or [1 / times for times in faster or ()]))
    record.ratio("time", "action-filter", peer, [a.wall for a, _ in pair.runs],
                 [b.wall for _, b in pair.runs], size=size, **bounds)
    record.ratio("CPU", "action-filter", peer, [a.cpu for a, _ in pair.runs],
                 [max(b.cpu, 1e-6) for _, b in pair.runs], size=size)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


def heading():
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} x {record.model()}, load {load:.1f} at the start", flush=True)


class Ratios:
    """The table of one size, filled while the bench runs."""

    def __init__(self, megabytes, records, size, shortest, longest):
        self.megabytes, self.size, self.longest, self.rss = megabytes, size, longest, 0
        self.rows, self.notes, self.words = [], [], f"{megabytes} MB"
        self.facts = (
            f"{size / 1e6:.0f} MB, {records} records of {shortest} to {longest} bytes, "
            f"{size // records} on average")

    def skip(self, test, why):
        self.notes.append(f"{test}: {why}")

    def _add(self, test, peer, pair, figures, cells, answer):
        rate = self.size / pair.a.wall / 1e9
        self.rows.append(
            ("T" + test[1:], peer, f"{pair.a.wall:.3f}",
             f"{pair.b.wall:.3f}", f"{rate:.2f}", *figures, *cells, answer))

    def faster(self, test, peer, pair, answer, verdict):
        targets = FASTER.get((test, peer.replace(",", "").split()[0]))
        note(peer, pair, self.words, targets)
        if verdict != "right":
            answer = f"{answer}; ours {verdict}"
        figures = (f"{pair.wall:.2f}x as fast", f"{pair.cpu:.2f}x")
        self._add(test, peer, pair, figures, reached(pair.wall, targets, True), answer)

    def slower(self, test, peer, pair, answer):
        times = 1 / pair.wall
        figures = (f"{times:.2f}x the time", f"{1 / max(pair.cpu, 1e-3):.2f}x")
        targets = SLOWER.get((test, peer))
        note(peer, pair, self.words, slower=targets)
        self._add(test, peer, pair, figures, reached(times, targets, False), answer)

    def print(self):
        print(f"\n{self.facts}. " + "; ".join(f"{t.upper()} {what}" for t, what in TESTS.items()) + ".")
        head("test", "against", "ours s", "theirs s", "ours GB/s", "ours is", "by CPU", "must",
             "aim", "reached", "answer")
        for cells in self.rows:
            row(*cells)
        for text in self.notes:
            print(f"\n{text}: left out.")
        record.figure("memory", "action-filter", "MiB", self.rss / 1024, runs=1, size=self.words,
                      must=16 + 2 * self.longest / (1 << 20), aim=6 + self.longest / (1 << 20))
        print(
            f"\nOurs had at most {self.rss / 1024:.1f} MiB resident; must 16 MiB + 2 x the longest "
            "line, aim 6 MiB + the longest line.")
        print("Scripts are timed without the start of Python and its modules.", flush=True)
