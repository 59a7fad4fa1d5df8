"""Holds an answer against what the generator knows to be true."""

import json
from collections import Counter
from itertools import zip_longest


class Truth:
    """What is true of the data in a folder."""

    def __init__(self, folder, test):
        self.path = f"{folder}/{test}.want"
        self.test = test

    def faults(self, answer, keeps_bytes):
        """How many lines of an answer (a path) are missing or too many, and how
        many there should be.

        `keeps_bytes`: lines are the input's and members in the order asked for;
        else records are compared.
        """
        if self.test == "t5":
            return self._groups(answer)
        if self.test == "t3":
            key = ordered if keeps_bytes else projected
            return difference(self.path, answer, key)
        if keeps_bytes:
            return difference(self.path, answer, bytes)
        return difference(self.path, answer, identity)

    def _groups(self, answer):
        wanted = {}
        with open(self.path) as lines:
            for kind, count, cost in map(str.split, lines):
                wanted[kind] = (int(count), float(cost))
        found = read(answer, group)
        right = sum(1 for kind, *figures in found if is_close(wanted.get(kind), figures))
        return max(len(wanted), len(found)) - right, len(wanted)


def group(line):
    """Kind, count and cost of a line of T5."""
    try:
        record = json.loads(line)
        return record["kind"], record["count"], record["usd_cost"]
    except (ValueError, KeyError, TypeError):
        return None, 0, 0


def is_close(wanted, found):
    """Whether a count is right, and a sum but for the last digits of doubles."""
    return (
        wanted is not None and wanted[0] == found[0]
        and abs(wanted[1] - found[1]) <= 1e-9 * max(1.0, wanted[1]))


def read(path, key):
    with open(path, "rb") as lines:
        return [key(line) for line in lines]


def identity(line):
    """The number of an action, however its record is written."""
    try:
        record = json.loads(line)
        return (record.get("data") or record)["id"]
    except (ValueError, KeyError, TypeError, AttributeError):
        return line


def projected(line):
    """Four members by value: that 1e-2 is written 0.01 makes it no less right."""
    try:
        return tuple(sorted(json.loads(line).items()))
    except (ValueError, AttributeError):
        return line


def ordered(line):
    """Four members in the order asked for, by value, without a space: none of
    these strings has one."""
    try:
        return line if b" " in line else tuple(json.loads(line).items())
    except (ValueError, AttributeError):
        return line


def difference(wanted, found, key):
    """Lines of two files that are not in both, and those of the first."""
    with open(wanted, "rb") as these, open(found, "rb") as those:
        count = 0
        for count, (one, other) in enumerate(zip_longest(these, those), 1):
            if other is None or one != other and (one is None or key(one) != key(other)):
                break
        else:
            return 0, count
    wanted, found = Counter(read(wanted, key)), Counter(read(found, key))
    count = wanted.total()
    # With nothing missing and nothing too many, the order is wrong.
    return (wanted - found).total() + (found - wanted).total() or count, count
