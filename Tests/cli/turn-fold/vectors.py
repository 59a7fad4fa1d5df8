#!/usr/bin/env python3
"""vectors FILE: folds the sample turns with turn-fold and compares the last line with the
state that the file expects, in the normal form of Agent/Pincer/CONTRACT.md 6: in one piece,
each event twice where it has an id, wrapped as records, cut into two writes at many places
and into more at random. Prints the differences and how many folds there were."""

import json
import os
import random
import subprocess
import sys
from datetime import datetime

folds = 0


def fold(pieces):
    """The last line that turn-fold prints of what comes in these writes."""
    global folds
    folds += 1
    process = subprocess.Popen(
        ["turn-fold", "-o", "state"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for piece in pieces:
        os.write(process.stdin.fileno(), piece)
    out = process.communicate()[0]
    if process.returncode != 0:
        return {"status": process.returncode}
    return json.loads(out.splitlines()[-1])


def flat(value):
    if value is None or value is False:
        return ""
    try:
        return datetime.fromisoformat(value).timestamp() if "T" in value else value
    except (TypeError, ValueError):
        return value


def differences(got, wanted, path=""):
    if isinstance(wanted, dict):
        got = got if isinstance(got, dict) else {}
        for name, value in wanted.items():
            yield from differences(got.get(name), value, f"{path}.{name}")
    elif isinstance(wanted, list):
        got = got if isinstance(got, list) else []
        if len(got) != len(wanted):
            yield f"{path}: {len(got)} and not {len(wanted)}"
        for index, (mine, theirs) in enumerate(zip(got, wanted)):
            yield from differences(mine, theirs, f"{path}[{index}]")
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        # A number is not nothing, not even 0.
        if isinstance(got, bool) or got is None or float(got) != wanted:
            yield f"{path}: {got!r}, not {wanted!r}"
    elif flat(got) != flat(wanted):
        yield f"{path}: {got!r}, not {wanted!r}"


def spelled(events, wrap=False):
    lines = []
    for event in events:
        if wrap:
            name = next((key for key in event if isinstance(event[key], dict)), "")
            event = {"event": name, "id": str(event.get("sequence", "")), "data": event}
        lines.append(json.dumps(event, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def main():
    chance = random.Random(16)
    bad = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        vector = json.loads(line)
        if vector["init"]["messages"]:
            continue
        events = vector["events"]
        wanted = vector["expect"]["recommended"]["state"]
        whole = spelled(events)
        doubled = []
        for event in events:
            doubled += [event] * (2 if "eventId" in event or "event_id" in event else 1)
        ways = [[whole], [spelled(doubled)], [spelled(events, wrap=True)], [whole[:-1]]]
        # Every byte of the first line, which has all that a line may have, and some others.
        places = set(chance.sample(range(1, len(whole)), 12))
        if vector["id"].startswith("p01"):
            places |= set(range(1, whole.index(b"\n") + 2))
        ways += [[whole[:place], whole[place:]] for place in places]
        for _ in range(4):
            cuts = sorted(chance.sample(range(1, len(whole)), min(20, len(whole) - 1)))
            ways.append([whole[a:b] for a, b in zip([0] + cuts, cuts + [len(whole)])])
        for pieces in ways:
            found = list(differences(fold(pieces), wanted))
            if found:
                bad += 1
                print(f"{vector['id']} in {len(pieces)} writes: {found[:3]}")
    print(f"{folds} folds")
    sys.exit(1 if bad else 0)


main()
