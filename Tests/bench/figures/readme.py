"""README's own figures: what stands there between <!-- figures: NAME --> and <!-- figures -->."""
import re
import textwrap

from book import day, is_busy
from rows import ROWS
from words import fill, some

MARKED = re.compile(r"(<!-- figures: (\w+) -->)(.*?)(<!-- figures -->)", re.S)


def table(book):
    """The table. A row that was measured while others used the machine has a star."""
    lines = ["| measured | here | others |", "| --- | --- | --- |"]
    has_stars = False
    for row in filter(lambda row: row.is_first, ROWS):
        cells, used = cells_of(row, book)
        if not cells:
            continue
        if any(map(is_busy, used)):
            cells[0], has_stars = cells[0] + " *", True
        lines.append("| " + " | ".join(cells) + " |")
    if has_stars:
        lines += ["", "The machine had other work while the rows with a * were measured."]
    return "\n".join(lines)


def cells_of(row, book):
    """The three cells of a row and the figures in them; none without figures. What is older
    than the newest tells its date: the row, or the text that is."""
    columns = [list(some(texts, book)) for texts in ((row.what,), row.ours, row.others)]
    used = [record for texts in columns for _, records in texts for record in records]
    if not used or not columns[0] or not columns[1]:
        return None, []
    is_one = len(set(map(day, used))) == 1
    cells = [row.between.join(text + ("" if is_one else dated(records, book))
                              for text, records in texts) for texts in columns]
    return [cells[0] + (dated(used, book) if is_one else ""), *cells[1:]], used


def dated(records, book):
    """The date of what is older than the newest, in brackets."""
    dates = sorted(set(map(day, records)) - {book.newest})
    return f" ({' and '.join(dates)})" if dates else ""


def how(book):
    """When and where all this was measured, and beside which versions."""
    newest = next(record for record in reversed(book.records) if day(record) == book.newest)
    shown = [record for row in ROWS if row.is_first for record in cells_of(row, book)[1]]
    versions = {}
    for record in shown:
        for tool in ("by", "against"):
            name, version = record.get(tool, ""), record.get(f"{tool}_version")
            if version and not book.is_ours(name):
                versions.setdefault(name.split()[0].rstrip(","), version)
    peers = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    older = "" if set(map(day, shown)) <= {book.newest} else " (rows with a date: on that day)"
    said = (f"Measured on {book.newest}{older}, over loopback, on {newest['cores']} cores "
            f"({newest['cpu']}, {newest['system']}). “×” is how many times as long the other "
            "takes, or how many times as much processor time where it says so; below 1×, the other "
            f"is quicker. The others are {peers}.")
    return "\n".join(textwrap.wrap(said, 88, break_on_hyphens=False, break_long_words=False))


def jq(book):
    """The intro's word on the processor time of jq."""
    return fill("{filter/t?|CPU|action-filter/jq|inverse range .0}", book)


def sizes(book):
    """How much an installation takes."""
    return fill("{size/install|with agent-serve|agentutils} MB, without the server "
                "{size/install|without agent-serve|agentutils} MB", book)


PLACES = {"how": how, "table": table, "jq": jq, "sizes": sizes}
NEEDED = {"how", "table", "jq"}


def renew(text, book):
    """README with the present figures; raises ValueError for a mark that nobody knows, or when
    one is gone."""
    gone = NEEDED - {found[2] for found in MARKED.finditer(text)}
    if gone:
        raise ValueError(f"README.md: no place for figures: {' '.join(sorted(gone))}")
    def place(found):
        name, between = found[2], "\n" if "\n" in found[3] else ""
        if name not in PLACES:
            raise ValueError(f"README.md: figures: {name}: no such place")
        return found[1] + between + PLACES[name](book) + between + found[4]
    return MARKED.sub(place, text)
