"""make fuzz: action-filter on lines at random, held against Python's json.

For each seed a file is made and read in many ways. It must not crash or hang;
--strict and -R must part good lines from bad ones as Python's json does; what is
selected must be what a reading of the values selects; --by must count and sum up
exactly; --fast must print what is printed without it. Of some seeds the lines are also made a file
that is large enough for threads, and packed: -j and a folder must print what one thread prints
of the file. The first difference is reported with its seed and ends with 1;
FUZZ_SEED=N FUZZ_SECONDS=0 repeats it.

FUZZ_SECONDS=N  how long, 600 unless set; one seed at least
FUZZ_SEED=N     the first seed, 1 unless set
FUZZ_KEEP=DIR   where the file of a difference is kept, the current folder
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from decimal import ROUND_DOWN, Decimal, localcontext

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import records

BOUND = 20  # seconds for one run of a file that takes milliseconds
FIELDS = ["kind", "id", "content", "user_id", "usd_cost", "metadata", "none"]
LIVE = {"created_at": "createdAt", "guild_id": "guildId", "channel_id": "channelId", "message_id": "messageId",
        "user_id": "userId", "usd_cost": "usdCost"}


class Difference(Exception):
    pass


def run(*words):
    try:
        done = subprocess.run(["action-filter", *words], capture_output=True, timeout=BOUND, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise Difference(f"hangs: {words}") from None
    if done.returncode not in (0, 1, 2) or len(done.stderr.splitlines()) > 12:
        raise Difference(f"status {done.returncode}: {words}: {done.stderr[-2000:]!r}")
    return done


def refuse(word):
    raise ValueError(word)


def exact(text):
    """Python bounds the digits of its integers, and the exponents of its decimals:
    what is beyond these is taken for infinite."""
    try:
        return Decimal(text)
    except ArithmeticError:
        return Decimal("Infinity")


def parse(line):
    """The value, or ValueError where RFC 8259 or UTF-8 does not hold."""
    return json.loads(line.decode(), parse_constant=refuse, parse_float=exact, parse_int=exact)


def is_empty(line):
    return not line.strip(b" \t\r")


def actions(record):
    """The actions of an object, and whether it holds a bad row."""
    data = record.get("data")
    # The suite's own records begin with their type, and say no time of creation.
    if next(iter(record), None) == "type" and isinstance(record["type"], str) and member(record, "created_at") is None:
        return [], False
    if isinstance(record.get("kind"), str):
        return [record], False
    rows = None
    if isinstance(data, dict):
        if isinstance(data.get("kind"), str):
            return [data], False
        if isinstance(data.get("actions"), list):
            rows = data["actions"]
        elif "event" in record and (
                isinstance(data.get("stats"), dict) or isinstance(data.get("sessions"), list) or "activeCount" in data):
            return [], False
    if rows is None and isinstance(record.get("actions"), list):
        rows = record["actions"]
    if rows is not None:
        good = [row for row in rows if isinstance(row, dict)]
        return good, len(good) < len(rows)
    other = (
        isinstance(record.get("type"), str) or "event" in record and "data" in record
        or "stats" in record and "runtime" in record or "activeCount" in record and "sessions" in record)
    return [] if other else [record], False


def member(action, name):
    value = action.get(name)
    if value is None and name in LIVE:
        value = action.get(LIVE[name])
    return Decimal(0) if value is None and name == "usd_cost" else value


def session(action):
    metadata = action.get("metadata")
    return metadata.get("sessionId") if isinstance(metadata, dict) else None


def same(value, word):
    if isinstance(value, bool):
        return False  # no id
    if isinstance(value, Decimal):
        return word.isdecimal() and Decimal(word) == value
    return value == word


def key(value):
    """Something that can be counted and tells 1 from true."""
    if isinstance(value, dict):
        return "{", tuple(sorted((plain(k), key(v)) for k, v in value.items()))
    if isinstance(value, list):
        return "[", tuple(map(key, value))
    return type(value).__name__, plain(value)


def plain(value):
    return value.encode("utf-16", "surrogatepass") if isinstance(value, str) else value


def check(rng, path, body, folder):
    lines = body.split(b"\n")
    rejects = os.path.join(folder, "rejects")
    good, bad = [], b""
    for number, line in enumerate(lines):
        text = line[3:] if number == 0 and line.startswith(b"\xef\xbb\xbf") else line
        if is_empty(text):
            continue
        faulty = False
        try:
            value = parse(text)
            # An array of rows is as good as one with a name.
            value = {"actions": value} if isinstance(value, list) else value
            faulty = not isinstance(value, dict)
        except ValueError:
            faulty = True
        if not faulty:
            found, faulty = actions(value)
            good += found
        if faulty:
            bad += line + (b"\n" if number < len(lines) - 1 else b"")

    run("--strict", "-R", rejects, path)
    with open(rejects, "rb") as file:
        got = file.read()
    if got != bad:
        missing = Counter(bad.split(b"\n")) - Counter(got.split(b"\n"))
        surplus = Counter(got.split(b"\n")) - Counter(bad.split(b"\n"))
        raise Difference(f"--strict -R: not rejected {list(missing)[:3]}, rejected {list(surplus)[:3]}")

    kind, word, who = rng.choice(records.KINDS), rng.choice(records.WORDS[:-1]), rng.choice(records.IDS)
    for options, test in (
        ([], lambda a: True),
        (["-k", kind], lambda a: a.get("kind") == kind),
        (["--id", who], lambda a: same(member(a, "id"), who)),
        (["--thread", who], lambda a: same(member(a, "channel_id"), who) or same(session(a), who)),
        (["-U", who], lambda a: same(member(a, "user_id"), who)),
        (["-F", word], lambda a: isinstance(a.get("content"), str) and word in text_of(a["content"])),
    ):
        if "\0" in "".join(options):
            continue
        done = run("--strict", *options, "-o", ",".join(FIELDS), path)
        got = Counter(key(json.loads(line, parse_float=exact, parse_int=exact)) for line in done.stdout.split(b"\n")[:-1])
        want = Counter(key({name: member(a, name) for name in FIELDS}) for a in good if test(a))
        if got != want:
            raise Difference(f"{options}: missing {list(want - got)[:2]}, too many {list(got - want)[:2]}")

    done = run("--strict", "--by", "kind", path)
    got = {}
    for line in done.stdout.split(b"\n")[:-1]:
        record = json.loads(line, parse_float=Decimal, parse_int=Decimal)
        got[record["kind"]] = record["count"], record["usd_cost"]
    if got != (want := sums(good)):
        raise Difference(f"--by kind: got {got}, not {want}")

    ids = ["-g", "-U", "-c", "-M", "--id", "--thread"]
    for options in (
        ["-k", kind], ["-k", "llm_*"], ["-k", "*_error,sent?reply"], ["-F", word], ["-i", "-F", word.swapcase()],
        ["-i", "-F", rng.choice(["RATE LIMIT", "kelvin", "timeout", "so"])], [rng.choice(ids), who],
        [rng.choice(ids), who, "-k", kind], ["-k", "llm_error,llm_call", "-u"], ["-k", kind, "-n", "3"],
        ["-k", "llm_error", "--by", "user"], ["-F", "rate", "-F", "limit", "-o", "canonical"], ["-v", "-k", kind],
    ):
        if "\0" in "".join(options):
            continue
        if run(*options, path).stdout != run("--fast", *options, path).stdout:
            raise Difference(f"--fast {options}")


def check_large(rng, body, folder):
    """Several threads, and frames with an index, on the lines in another order each time."""
    lines = body.rstrip(b"\n").split(b"\n")
    day, path = os.path.join(folder, "packed"), os.path.join(folder, "large")
    shutil.rmtree(day, ignore_errors=True)
    os.mkdir(day)
    with open(path, "wb") as file:
        while file.tell() < 3 << 20:
            # Of few lines now and then, so that there are frames in which nothing matches.
            some = lines if rng.random() < 0.5 else rng.sample(lines, min(3, len(lines)))
            file.write(b"\n".join(rng.choices(some, k=200)) + b"\n")
    with open(os.path.join(day, "lines.ndjson.zst"), "wb") as packed:
        subprocess.run(["action-filter", "--pack", path], stdout=packed, check=True, timeout=BOUND)
    kind, who = rng.choice(records.KINDS), rng.choice(records.IDS)
    for options in (
        [], ["-k", kind], ["-v", "-k", kind], ["-U", who], ["-u"], ["-n", "7", "-k", kind], ["-N"], ["-a"],
        ["--by", "kind"], ["--by", "day,user"], ["--strict"], ["-S", "2026-02-01"], ["-d", "voice"], ["-F", "rate"],
        ["--fast", "-k", kind], ["-o", "kind,id"], ["--usage"], ["-q", "-k", kind],
    ):
        alone = run("-j", "1", *options, path)
        several = run("-j", rng.choice("2345"), *options, path)
        if (alone.stdout, alone.stderr, alone.returncode) != (several.stdout, several.stderr, several.returncode):
            raise Difference(f"-j {options}")
        # A bad line is told by the name of its file; with --fast it may not be read at all.
        several = run("-j", rng.choice("123"), *options, day)
        same_end = alone.returncode == several.returncode or "--fast" in options
        if alone.stdout != several.stdout or not same_end:
            raise Difference(f"folder {options}")


def sums(actions):
    """Count and cost by kind; digits behind the 400th and what no double holds do not count."""
    groups = {}
    with localcontext() as context:
        context.prec, context.rounding = 2000, ROUND_DOWN
        for action in actions:
            kind, cost = action.get("kind"), member(action, "usd_cost")
            kind = text_of(kind) if isinstance(kind, str) else None
            if not isinstance(cost, Decimal) or not cost.is_finite() or cost.adjusted() > 308:
                cost = Decimal(0)
            count, sum = groups.get(kind, (0, Decimal(0)))
            groups[kind] = count + 1, sum + cost.quantize(Decimal("1e-400"))
    return groups


def text_of(text):
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def main():
    seed = first = int(os.environ.get("FUZZ_SEED", "1"))
    end = time.monotonic() + float(os.environ.get("FUZZ_SECONDS", "600"))
    folder = tempfile.mkdtemp(prefix="agentutils-fuzz.")
    size = 0
    try:
        while seed == first or time.monotonic() < end:
            rng = random.Random(seed)
            body = records.Records(rng).file()
            size += len(body)
            path = os.path.join(folder, "in")
            with open(path, "wb") as file:
                file.write(body)
            try:
                check(rng, path, body, folder)
                if seed % 10 == 0:
                    check_large(rng, body, folder)
            except Difference as difference:
                kept = os.path.join(os.environ.get("FUZZ_KEEP", "."), f"fuzz-{seed}.ndjson")
                shutil.copy(path, kept)
                print(f"fuzz: seed {seed}: {difference}\nfuzz: the file is {kept}", file=sys.stderr)
                return 1
            seed += 1
    finally:
        shutil.rmtree(folder)
    print(f"fuzz: seeds {first} to {seed - 1}, {size / 1e6:.1f} MB, no difference")
    return 0


sys.exit(main())
