"""make fuzz: share-inbox list in a folder with names at random.

What is an item is listed once, as a record that is JSON; nothing else is; nothing is
touched, and no name does anything to the terminal.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds
from rounds import Difference

ITEM = re.compile(rb"(?:0|[1-9][0-9]{0,11})-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?:-([0-9A-Za-z._-]{1,38}))?\.([0-9A-Za-z]{1,8})")
BITS = [b"-", b".", b"0", b"9", b"a", b"F", b"g", b" ", b"\n", b"\t", b"\x1b[2J", b"\xff", b"\xc3", b"\xe2\x80\xae", b"'", b'"',
        b"\\", b"$(id)", b";", b"`", b"|", b"*", b"-rf", b"..", b"_", b"-shot.one", "\u0660".encode(), b"\x7f", b"\xc2\x9b", b"00000000", b".png", b"~"]
LONGEST = 255


def good(rng):
    digits = "".join(rng.choices("0123456789", k=rng.choice([1, 5, 10, 10, 10, 12])))
    hexes = "0123456789abcdefABCDEF"
    parts = "-".join("".join(rng.choices(hexes, k=size)) for size in (8, 4, 4, 4, 12))
    suffix = "".join(rng.choices("abcxyzABC0129", k=rng.randint(1, 8)))
    stem = "".join(rng.choices("abcXYZ019._-", k=rng.choice([0, 0, 1, 7, 37, 38, 39])))
    return f"{digits}-{parts}{'-' if stem else ''}{stem}.{suffix}".encode()


def name(rng):
    what = rng.random()
    if what < 0.4:
        return good(rng)
    if what < 0.8:
        return rounds.mutate(rng, good(rng), BITS)
    return b"".join(rng.choices(BITS, k=rng.randint(1, 12)))


def state(folder):
    return sorted((entry.name, entry.is_dir(), entry.is_symlink(), entry.stat(follow_symlinks=False).st_size)
                  for entry in os.scandir(folder))


def check(rng, folder, seed):
    inbox = os.path.join(folder, "agentutils", "inbox").encode()
    os.makedirs(inbox, mode=0o700)
    items = {}
    for _ in range(rng.choice([1, 5, 30])):
        text = name(rng).replace(b"/", b"_").replace(b"\0", b"_")[:LONGEST]
        path = os.path.join(inbox, text)
        if text in (b"", b".", b"..") or os.path.lexists(path):
            continue
        kind = rng.random()
        if kind < 0.85:
            content = rng.randbytes(rng.choice([0, 1, 1000]))
            with open(path, "wb") as file:
                file.write(content)
            if ITEM.fullmatch(text):
                items[text] = len(content)
        elif kind < 0.9:
            os.mkdir(path)
        elif kind < 0.95:
            os.symlink(rng.choice(["/etc/passwd", "nowhere", "."]), path)
        else:
            os.mkfifo(path)
    before = state(inbox)
    listing = repr(before).encode()
    try:
        done = rounds.run(["share-inbox", "list"], lines=60, env={**os.environ, "XDG_STATE_HOME": folder})
    except Difference as difference:
        difference.kept = listing
        raise
    got = {}
    for line in done.stdout.split(b"\n")[:-1]:
        record = json.loads(line)
        text = os.path.basename(record["path"]).encode()
        item = ITEM.fullmatch(text)
        own = b".".join(item.groups()).decode() if item and item[1] else None
        if text in got or text[len(record["id"]):][:1] not in b"-." or own != record.get("name"):
            raise Difference(f"listed twice or as another: {record}", listing)
        got[text] = record["size"]
    if got != items:
        raise Difference(f"listed {sorted(set(got) - set(items))}, not {sorted(set(items) - set(got))}", listing)
    if state(inbox) != before:
        raise Difference("the folder is another one now", listing)


sys.exit(rounds.main("inbox", check))
