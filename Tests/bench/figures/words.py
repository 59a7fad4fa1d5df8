"""Texts with figures in them: {group/part|name|by/against|form}.

Forms: nothing, three digits at most; `.N`, so many decimals; `inverse`, how many times as much
the peer takes; `range`, from the least to the most of several figures, or of the runs of one;
`size`, what it was measured on. What stands between [[ and ]] goes without its figures.
"""
import re

from book import Missing

OPTIONAL = re.compile(r"\[\[(.*?)\]\]")
FIELD = re.compile(r"\{([^{}|]+)\|([^{}|]+)\|([^{}|]+)(?:\|([^{}]+))?\}")


def number(value):
    """As many digits as mean something."""
    value = abs(value)
    if value >= 1000:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 1.995 else f"{value:.2f}"


def sized(record):
    """The size of what was measured, in whole GB where that is what it is."""
    if "size" not in record:
        raise Missing("size")
    return re.sub(r"\b(\d+)000 MB", r"\1 GB", record["size"])


def formed(form, records):
    """One text for the figures that were found."""
    forms = form.split()
    if "size" in forms:
        return sized(records[0])
    values = [record["value"] for record in records]
    if "range" in forms and len(records) == 1:
        values = [records[0].get("min", values[0]), records[0].get("max", values[0])]
    if "inverse" in forms:
        values = [1 / value for value in values]
    decimals = [word for word in forms if word.startswith(".")]
    write = (lambda value: f"{value:{decimals[0]}f}") if decimals else number
    least, most = write(min(values)), write(max(values))
    if "range" in forms and least != most:
        return f"{least} to {most}"
    return write(values[0])


def fill(text, book):
    """The text with its figures; raises Missing when one is not there."""
    text = OPTIONAL.sub(lambda part: "".join(said for said, _ in some([part[1]], book)), text)
    return FIELD.sub(lambda field: formed(
        field[4] or "", book.all(field[1], field[2], field[3])), text)


def some(texts, book):
    """Those of the texts whose figures are all there, each with the figures in it."""
    for text in texts:
        before = len(book.asked)
        try:
            filled = fill(text, book)
        except Missing:
            del book.asked[before:]
            continue
        yield filled, book.asked[before:]
