"""The figures that were measured: read, found by their names, and put together with older ones.

The shape of a record is told in ../record.py. Those that were measured before there was such
a file have the date alone, no runs, and `busy` where the machine had other work.
"""
import fnmatch
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
FIGURES = os.path.join(HERE, "figures.ndjson")
# In the order of the tables.
GROUPS = ("bench", "filter", "archive", "ssh", "inbox", "bus", "size")
BUSY = 10  # percent of the machine that others may use


class Missing(Exception):
    """No figure has the name."""


def load(path=FIGURES):
    """The records of a file; none where there is no file."""
    if not os.path.exists(path):
        return []
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def save(records, path=FIGURES):
    """All or nothing: whoever reads meanwhile finds the old ones."""
    with open(path + ".new", "w") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    os.replace(path + ".new", path)


def key(record):
    """What makes two figures the same one, measured twice."""
    return tuple(record.get(name) for name in ("group", "part", "name", "by", "against"))


def place(record):
    """The group and the part of it that are measured together."""
    return record["group"], record["part"]


def merge(old, new, is_here):
    """The old records, with those of the parts that a new run came to the end of.

    An old figure of such a part goes, unless one of its two programs is not here to be
    measured again: then it stays, and its date tells its age. Parts that broke off keep what
    they had.
    """
    done = {place(record) for record in new if "done" in record}
    fresh = [record for record in new if "done" not in record and place(record) in done]
    known = {key(record) for record in fresh}
    kept = []
    for record in old:
        tools = [record[name] for name in ("by", "against") if name in record]
        if place(record) not in done or key(record) not in known and not all(map(is_here, tools)):
            kept.append(record)
    # Sorting keeps the order within a part.
    parts = {}
    for record in fresh + kept:
        parts.setdefault(place(record), len(parts))
    return sorted(fresh + kept, key=lambda one: (GROUPS.index(one["group"]), parts[place(one)]))


def day(record):
    """The date of a record."""
    return record["when"][:10]


def is_busy(record):
    """Whether others used the machine meanwhile, where that matters."""
    return record["group"] != "size" and (record.get("others", 0) > BUSY or "busy" in record)


class Book:
    """Finds figures, and remembers which were asked for."""

    def __init__(self, records):
        self.records, self.asked = records, []
        self.newest = max(map(day, records), default="")

    @staticmethod
    def is_ours(name):
        """Whether a program is one of the suite: it has a manual here."""
        return any(os.path.exists(os.path.join(TOP, "man", f"{name}.{section}"))
                   for section in (1, 7, 8))

    def all(self, where, name, tools):
        """The figures of a place `group/part`, by name and programs `by` or `by/against`; the
        place and the name may have a * in them."""
        by, _, against = tools.partition("/")
        found = [record for record in self.records
                 if fnmatch.fnmatchcase("/".join(place(record)), where)
                 and fnmatch.fnmatchcase(record["name"], name)
                 and record["by"] == by and record.get("against", "") == against]
        if not found:
            raise Missing(f"{where}|{name}|{tools}")
        self.asked += found
        return found
