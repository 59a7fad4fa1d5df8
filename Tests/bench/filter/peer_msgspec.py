"""peer_msgspec TEST FILE: the tests as a careful script with msgspec does them.

Bytes in, bytes out; only the members that a test needs are made. The time
without Python's own start goes to the file that BENCH_CLOCK names.
"""

import os
import sys
import time
from typing import Optional, Union

import msgspec

began, used = time.monotonic(), time.process_time()
Text, Number = Optional[str], Union[int, float, None]


def decoder(**members):
    fields = [(name, kind, None) for name, kind in members.items()]
    action = msgspec.defstruct("Action", fields)
    line = msgspec.defstruct("Line", fields + [("data", Optional[action], None)])
    return msgspec.json.Decoder(line).decode


def select(lines, out, decode, test):
    for line in lines:
        action = decode(line)
        if test(action.data or action):
            out(line)


def by_kind(lines, out):
    decode, groups = decoder(kind=Text, usd_cost=Number), {}
    for line in lines:
        action = decode(line)
        action = action.data or action
        group = groups.setdefault(action.kind, [0, 0.0])
        group[0] += 1
        group[1] += action.usd_cost or 0
    for kind, (count, cost) in groups.items():
        out(msgspec.json.encode({"kind": kind, "count": count, "usd_cost": cost}) + b"\n")


def project(lines, out):
    names = ("id", "created_at", "kind", "usd_cost")
    action = msgspec.defstruct("Action", [(name, msgspec.Raw, msgspec.Raw(b"null")) for name in names])
    line_type = msgspec.defstruct("Line", [("data", Optional[action], None)], bases=(action,))
    decode, encode = msgspec.json.Decoder(line_type).decode, msgspec.json.Encoder().encode
    for line in lines:
        row = decode(line)
        row = row.data or row
        out(encode({name: getattr(row, name) for name in names}) + b"\n")


def main():
    test, path = sys.argv[1:]
    out = sys.stdout.buffer.write
    with open(path, "rb") as lines:
        if test == "t1":
            select(lines, out, decoder(kind=Text), lambda a: a.kind == "llm_error")
        elif test == "t2":
            kinds = {"llm_call", "llm_error", "llm_tool_call"}
            select(
                lines, out, decoder(kind=Text, usd_cost=Number),
                lambda a: a.kind in kinds and a.usd_cost is not None and a.usd_cost >= 0.01)
        elif test == "t3":
            project(lines, out)
        elif test == "t4":
            select(
                lines, out, decoder(content=Text),
                lambda a: a.content is not None and "rate limit" in a.content.lower())
        else:
            by_kind(lines, out)
    sys.stdout.flush()
    if "BENCH_CLOCK" in os.environ:
        with open(os.environ["BENCH_CLOCK"], "w") as clock:
            clock.write(f"{time.monotonic() - began} {time.process_time() - used}")


main()
