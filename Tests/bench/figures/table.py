"""figures.md: every figure, one row each, group by group."""
from book import day, is_busy, place
from words import number

HEAD = ("| what | program | beside | figure | least | most | runs | must | aim | kept | when |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |")


def verdict(record):
    """Whether the bounds are kept: the aim, the must, or neither."""
    sign = -1 if record["better"] == "more" else 1
    for bound in ("aim", "must"):
        if bound in record and sign * record["value"] <= sign * record[bound]:
            return bound
    return "MISSED" if "must" in record else ""


def named(record, tool):
    """A program with its version."""
    words = [record.get(tool, ""), record.get(f"{tool}_version", "")]
    return " ".join(word for word in words if word).replace("|", "\\|")


def row(record):
    """One figure."""
    def cell(name):
        return number(record[name]) if name in record else ""

    what = record["name"] + (f" ({record['size']})" if "size" in record else "")
    unit = "×" if record["unit"] == "x" else " " + record["unit"]
    bound = "≥ " if record["better"] == "more" else "≤ "
    limits = [bound + cell(name) if name in record else "" for name in ("must", "aim")]
    when = day(record) + (" *" if is_busy(record) else "")
    cells = [what.replace("|", "\\|"), named(record, "by"), named(record, "against"),
             cell("value") + unit, cell("min"), cell("max"), str(record.get("runs", "")), *limits,
             verdict(record), when]
    return "| " + " | ".join(cells) + " |"


def render(book):
    """The whole page."""
    lines = ["# Figures", "",
             "Made from figures.ndjson by `make figures`; measured by `make bench-all`. A figure",
             "with × is what the program takes or does, divided by what the one beside it does.",
             "A * means that the machine had other work."]
    last = None
    for record in book.records:
        if place(record) != last:
            last = place(record)
            lines += ["", f"## {' / '.join(last)}", "", *HEAD]
        lines.append(row(record))
    return "\n".join(lines) + "\n"
