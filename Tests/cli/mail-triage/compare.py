#!/usr/bin/env python3
"""compare.py WANT GOT: prints where the notifications of GOT are not what oracle.py said."""
import datetime, json, sys

want = [json.loads(line) for line in open(sys.argv[1])]
got = [json.loads(line) for line in open(sys.argv[2])]
ids = {one["about"]["id"]: one for one in got}
# Those without an id have a digest for one; they are told by their time.
others = {one["time"]: one for one in got if one["about"]["id"].startswith("digest-")}
bad = len(want) != len(got)
if bad:
    print(f"{len(got)} notifications of {len(want)} mails")
for one in want:
    when = datetime.datetime.fromtimestamp(one["time"], datetime.timezone.utc)
    time = when.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    found = ids.get(one["id"]) if one["id"] else others.get(time)
    if not found:
        print("missing:", one)
        bad = True
        continue
    title = (one["name"] or one["address"]) + ": " + one["subject"]
    expected = {
        "title": title[:199] + "…" if len(title) > 200 else title,
        "text": one["text"] or None,
        "thread": one["thread"] or found["about"]["id"],
        "time": time,
    }
    for name, value in expected.items():
        if found.get(name) != value:
            print(f"{one['id']} {name}:\n  want {value!r}\n  got  {found.get(name)!r}")
            bad = True
sys.exit(bad)
