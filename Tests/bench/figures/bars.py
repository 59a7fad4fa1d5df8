"""figures.svg: how many times as much the others take, as bars over powers of ten.

One file without scripts or fonts of its own, that follows the reader's light or dark; the same
figures make the same bytes.
"""
import math
import re
from html import escape

from book import key
from readme import cells_of
from rows import ROWS
from words import number

WIDTH, LABELS, RIGHT, LINE = 900, 420, 60, 17
LEAST, MOST = 0.2, 200  # of the scale
STYLE = """
text { font: 12px sans-serif; fill: #1f2328 }
.what { font-weight: bold } .end { fill: #59636e }
.ours { fill: #1a7f37 } .theirs { fill: #bc4c00 } .grid { stroke: #d1d9e0 } .one { stroke: #59636e }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .end { fill: #9198a1 }
.ours { fill: #3fb950 } .theirs { fill: #f0883e } .grid { stroke: #3d444d } .one { stroke: #9198a1 }
}
"""


def groups(book):
    """Row by row: what it is about, and the bars of it as (peer, factor)."""
    for row in ROWS:
        cells, used = cells_of(row, book)
        bars = {}
        for record in {key(record): record for record in used}.values():
            if record["unit"] == "x" and book.is_ours(record["by"]):
                peer = label(record)
                # A second figure beside the same peer tells what it is of.
                bars[f"{peer} ({record['name']})" if peer in bars else peer] = factor(record)
        if bars:
            transports = sorted(bars.items(), key=lambda one: one[0].endswith("transport ssh"))
            yield re.sub(r"[`\\]| \([-0-9 and]+\)$", "", cells[0]), transports


def label(record):
    """The peer of a bar, and what is measured where that is not the time."""
    what = ", processor time" if record["name"].split()[0] == "CPU" else ""
    transport = ", transport ssh" if record["name"].endswith(", ssh") else ""
    program = record["by"] if record["group"] == "bus" else ""
    return " / ".join(filter(None, (program, record["against"]))) + what + transport


def factor(record):
    """How many times as much the peer takes; below one, ours takes more."""
    return record["value"] if record["better"] == "more" else 1 / record["value"]


def at(value):
    """Where a factor is from the left."""
    value = min(max(value, LEAST), MOST)
    part = math.log(value / LEAST) / math.log(MOST / LEAST)
    return round(LABELS + part * (WIDTH - LABELS - RIGHT), 1)


def text(x, y, words, kind="", anchor="start"):
    """One line of text."""
    look = f' class="{kind}"' if kind else ""
    turned = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:g}" y="{y:g}"{look}{turned}>{escape(words)}</text>'


def bar(y, peer, value):
    """One bar with its peer before and its figure behind it."""
    left, right = sorted((at(1), at(value)))
    kind = "ours" if value >= 1 else "theirs"
    width = max(right - left, 1)
    end = (right + 5, "start") if value >= 1 else (left - 5, "end")
    return [text(LABELS - 60, y + 11, peer, "", "end"),
            f'<rect class="{kind}" x="{left:g}" y="{y + 2:g}" width="{width:g}" height="11"/>',
            text(end[0], y + 11, number(value) + "×", "end", end[1])]


def render(book):
    """The picture."""
    parts, y = [], 46
    for what, bars in groups(book):
        parts.append(text(12, y + 12, what, "what"))
        y += LINE
        for peer, value in bars:
            parts += bar(y, peer, value)
            y += LINE
        y += 6
    grid = []
    for value in (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200):
        kind = "one" if value == 1 else "grid"
        x = at(value)
        grid.append(f'<line class="{kind}" x1="{x:g}" x2="{x:g}" y1="40" y2="{y}"/>')
        grid.append(text(x, 34, f"{value:g}×", "end", "middle"))
    title = "How many times as much the other takes; left of 1×, ours takes more"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" '
        f'width="{WIDTH}" height="{y + 10}" role="img">', f"<title>{title}</title>",
        f"<style>{STYLE}</style>", text(12, 16, title, "what"), *grid, *parts, "</svg>", ""])
