"""One table, with what must and what should be reached beside what was."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402
from common import median, percentile, setting  # noqa: E402,F401


class Report:
    def __init__(self, missing, ours):
        """`ours` is the program that is measured, unless a row names another."""
        self.missing, self.ours, self.missed = missing, ours, 0
        self.line("what", "ours", "peer", "figure", "must", "aim", "")
        self.line("---", "---:", "---:", "---:", "---:", "---:", "---")

    def line(self, *cells):
        print("| " + " | ".join(cells) + " |", flush=True)

    def by(self, what):
        """The program that a row is about: the first word of it, where that is one of ours."""
        word = what.split()[0].rstrip(",") if what else ""
        return word if word.startswith("bus-") else self.ours

    def row(self, what, ours, peer, must, aim, figure=None, text="", more=False, note="",
            against=None, runs=None):
        """`figure` is what is held against must and aim; `more` is better, else less. One
        that is a ratio names the peer that it is set `against`."""
        if figure is not None and figure != float("inf"):
            unit = "x" if against else text.lstrip("-0123456789. ")
            record.figure(what, self.by(what), unit, figure, against, runs=runs or 1, must=must,
                          aim=aim, more=more)
        *limits, verdict = self.verdict(must, aim, figure, text.lstrip("-0123456789."), more)
        self.line(what, ours, peer, text, *limits, verdict or note)

    def verdict(self, must, aim, figure, unit, more):
        """The cells of the two bounds, and of how a figure keeps them."""
        verdict = ""
        if figure is not None and must != "":
            sign = -1 if more else 1
            verdict = "aim" if sign * figure <= sign * aim else "pass" \
                if sign * figure <= sign * must else "MISS"
            self.missed += verdict == "MISS"
        bound = ">= " if more else "<= "
        return [f"{bound}{value}{unit}" if value != "" else "" for value in (must, aim)] + [verdict]

    def ratio(self, what, ours, peer, name, scale, unit, must="", aim="", more=False):
        """Two lists of one run, taken in turns: the median of the pairs."""
        value = median([a / b for a, b in zip(ours, peer)])
        by, bounds = self.by(what), {"must": must, "aim": aim, "more": more}
        record.ratio(what, by, name, ours, peer, **bounds)
        for tool, values in ((by, ours), (name, peer)):
            record.figure(what, tool, unit, [value * scale for value in values], more=more)
        self.line(what, f"{median(ours) * scale:.2f} {unit}",
                  f"{name} {median(peer) * scale:.2f} {unit}", f"{value:.2f}x",
                  *self.verdict(must, aim, value, "x", more))

    def end(self):
        print(f"\n{self.missed} of the bounds missed." if self.missed else "\nAll bounds kept.")
        if self.missing:
            print(f"Not here, left out: {', '.join(self.missing)}.")
