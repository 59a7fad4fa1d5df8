#!/usr/bin/env python3
"""grammar.py make SEED FILE      writes a random event stream
grammar.py check FILE RECORDS  compares a client's records with the stream

The grammar of WHATWG HTML 9.2.6 once more, over the whole stream at once and
with no thought of speed: what it and sse-tail both do is hardly a mistake.
"""
import json
import random
import re
import sys

FIELDS = [b"data", b"event", b"id", b"retry", b"dat", b"Data", b"\xef\xbb\xbfdata", b""]
VALUES = [b"a", b" b", b"  c", b"1.10", b'{"a":', b"}", b'"', b"\\", b"\0", b"\xff", b"\xe2\x82",
          "é€🌿\u2028\u0085\u0301".encode(), b"\x1b[2J", b"\x7f", b":", b"x" * 300, b"12", b"\t"]
ENDS = [b"\n", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n"]


def make(seed):
    rng = random.Random(seed)
    out = [rng.choice([b"", b"", b"\xef\xbb\xbf", b"\xef\xbb", b"\xef\xbb\xbf\xef\xbb\xbf"])]
    for _ in range(400):
        line = rng.choice(FIELDS[:3] * 3 + FIELDS)
        if rng.random() < 0.9:
            line += b":"
            if rng.random() < 0.7:
                line += b" "
            line += b"".join(rng.choices(VALUES, k=rng.randint(0, 3)))
        out.append(line + rng.choice(ENDS))
    return b"".join(out)


def events(stream):
    """The events of a stream: (type, last event id, data)."""
    if stream.startswith(b"\xef\xbb\xbf"):
        stream = stream[3:]
    lines = re.split(rb"\r\n|\r|\n", stream)[:-1]
    data, kind, last = [], "", ""
    for line in lines:
        if not line:
            if data:
                yield kind or "message", last, "\n".join(data)
            data, kind = [], ""
            continue
        name, colon, value = line.partition(b":")
        if colon and value.startswith(b" "):
            value = value[1:]
        text = value.decode("utf-8", "replace")
        if name == b"data":
            data.append(text)
        elif name == b"event":
            kind = text
        elif name == b"id" and "\0" not in text:
            last = text


def agrees(want, record):
    kind, last, data = want
    if (record["event"], record["id"]) != (kind, last):
        return False
    if record["data"] == data:
        return True
    try:
        return json.loads(data) == record["data"]
    except ValueError:
        return False


def check(stream, records):
    wanted = list(events(stream))
    for number, (want, record) in enumerate(zip(wanted, records)):
        if not agrees(want, record):
            sys.exit(f"event {number + 1}: got {record!r}, want {want!r}")
    if len(wanted) != len(records):
        sys.exit(f"{len(records)} events, want {len(wanted)}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        with open(sys.argv[3], "wb") as file:
            file.write(make(int(sys.argv[2])))
    else:
        with open(sys.argv[2], "rb") as file:
            content = file.read()
        with open(sys.argv[3], encoding="utf-8", newline="\n") as file:
            check(content, [json.loads(line) for line in file])
