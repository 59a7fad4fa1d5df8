"""One table, with what must and what should be reached beside what was."""
import os
import statistics
import sys


def setting(name, default):
    """A whole number from the environment."""
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        sys.exit(f"bench-ssh: {name}: not a whole number: {text}")
    return int(text)


def median(values):
    return statistics.median(values)


def percentile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)]


class Report:
    def __init__(self, missing):
        self.missing, self.missed = missing, 0
        self.line("what", "ours", "peer", "figure", "must", "aim", "")
        self.line("---", "---:", "---:", "---:", "---:", "---:", "---")

    def line(self, *cells):
        print("| " + " | ".join(cells) + " |", flush=True)

    def row(self, what, ours, peer, must, aim, figure=None, text="", more=False, note=""):
        """`figure` is what is held against must and aim; `more` is better, else less."""
        verdict = note
        if figure is not None and must != "":
            sign = -1 if more else 1
            verdict = "aim" if sign * figure <= sign * aim else "pass" \
                if sign * figure <= sign * must else "MISS"
            self.missed += verdict == "MISS"
        unit = text.lstrip("-0123456789.") if text else ""
        bound = ">= " if more else "<= "
        limits = [f"{bound}{value}{unit}" if value != "" else "" for value in (must, aim)]
        self.line(what, ours, peer, text, *limits, verdict)

    def ratio(self, what, ours, peer, name, scale, unit, must="", aim="", more=False):
        """Two lists of one run, taken in turns: the median of the pairs."""
        value = median([a / b for a, b in zip(ours, peer)])
        self.row(what, f"{median(ours) * scale:.2f} {unit}",
                 f"{name} {median(peer) * scale:.2f} {unit}", must, aim,
                 value, f"{value:.2f}x", more)

    def end(self):
        print(f"\n{self.missed} of the bounds missed." if self.missed else "\nAll bounds kept.")
        if self.missing:
            print(f"Not here, left out: {', '.join(self.missing)}.")
