#!/usr/bin/env python3
"""frame-check.py FILE WIDTH: 1 when a line of FILE is wider than WIDTH cells or
holds anything that a terminal obeys, other than colours and weights.

Counts cells by Unicode's own tables, as another reader than the command's."""
import re
import sys
import unicodedata

SGR = re.compile(r"\x1b\[[0-9;]*m")
FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def cells(text):
    """Cells of a text in which joined pictures stand together."""
    # A modifier or a joined picture takes no cells of its own; a flag takes two.
    text = re.sub("[\U0001f3fb-\U0001f3ff]", "", text)
    text = re.sub("\u200d[^\u200d ]\ufe0f?", "", text)
    text = re.sub("[\U0001f1e6-\U0001f1ff]{2}", "\u6f22", text)
    text = re.sub(".\ufe0f", "\u6f22", text)
    wide = 0
    for letter in text:
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            wide += 1 if letter == "\xad" else 0
        else:
            wide += 2 if unicodedata.east_asian_width(letter) in "WF" else 1
    return wide


def main():
    width = int(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    bad = 0
    for number, line in enumerate(lines, 1):
        text = SGR.sub("", line)
        found = FORBIDDEN.search(text)
        if found:
            print(f"line {number}: {found.group()!a} in {text!a}")
            bad += 1
        elif cells(text) > width:
            print(f"line {number}: {cells(text)} cells: {text!a}")
            bad += 1
        if bad > 5:
            break
    sys.exit(1 if bad or not any(lines) else 0)


main()
