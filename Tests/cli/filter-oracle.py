"""Actions at random, and what action-filter must select of them.

usage: filter-oracle.py SEED FOLDER

Writes FOLDER/in (records in both spellings, bare, wrapped and in lists, with
escapes, white space, duplicate keys and bad lines among them) and, for each
case, FOLDER/N.options and FOLDER/N.want. FOLDER/events has live actions and the
rows that a dashboard's store makes of them, FOLDER/unique what -u passes of it.
The answers are computed here from the values, by Python's own types, not from
the text.
"""
import json, random, sys
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction

rng = random.Random(int(sys.argv[1]))
folder = sys.argv[2]
KINDS = ["llm_call", "llm_error", "asr_error", "voice_turn_in", "sent_reply", "reacted", "k\u00e4se"]
WORDS = ["Rate", "limit", "na\u00cfve", "\u00c4rger", "\n", "\"", "\\", "nfoo", "\U0001f600", "{", "]", "\u2028"]
COSTS = ["0", "0.01", "1e-2", "0.010", "4e-7", "1E2", "9007199254740993", "9007199254740992", '"5"', "null", "0.1", "0.2",
         "-0", "-0.0", "-1.5", "0.0012345000000000002", "123456789012345678901234567890", "1e-30", "-1e300", "1e300",
         "1e308", "-1e308", "1e309", "1e999999999", "-1e-999999999", "3.25e-400", "1E-401", "true", "[1]"]
START = datetime(2026, 3, 1, tzinfo=timezone.utc)


def space():
    return rng.choice(["", "", "", "", " ", "\t", " \r "])


def quote(text):
    out = ""
    for char in text:
        if rng.random() < 0.1 or ord(char) < 32 or char in '"\\':
            units = char.encode("utf-16-be")
            for index in range(0, len(units), 2):
                out += "\\u" + format(int.from_bytes(units[index:index + 2], "big"), rng.choice(["04x", "04X"]))
        else:
            out += char
    return '"' + out + '"'


def text():
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(6)))


def value(depth=0):
    pick = rng.randrange(8 if depth < 3 else 6)
    if pick < 2:
        return quote(text())
    if pick < 4:
        return rng.choice(["1", "1.0", "10e-1", "-5", "true", "false", "null", "12345678901234567890"])
    if pick < 6:
        return quote(rng.choice(["1", "true", "null", "a/b", "~"]))
    if pick == 6:
        return "[" + ",".join(space() + value(depth + 1) + space() for _ in range(rng.randrange(4))) + "]"
    return members([(rng.choice(["a", "b", "a/b", "~", "kind", ""]), value(depth + 1)) for _ in range(rng.randrange(4))])


def members(pairs):
    return "{" + ",".join(space() + quote(k) + space() + ":" + space() + v + space() for k, v in pairs) + "}"


def when():
    time = START + timedelta(milliseconds=rng.randrange(4 * 3600 * 1000))
    if rng.random() < 0.5:
        return time.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (time.microsecond // 1000)
    zone = timezone(timedelta(minutes=rng.choice([60, -330, 0])))
    return time.astimezone(zone).isoformat(timespec=rng.choice(["microseconds", "milliseconds"]))


def action(row):
    names = ("created_at", "guild_id", "user_id", "usd_cost", "channel_id") if row else (
        "createdAt", "guildId", "userId", "usdCost", "channelId")
    pairs = [("kind", quote(rng.choice(KINDS))), (names[0], quote(when()))]
    if row or rng.random() < 0.8:
        pairs.append((names[1], rng.choice(["null", "7", '"7"', '"8"', "70e-1"])))
        pairs.append((names[2], rng.choice(["null", '"\\u0037"', "9007199254740993", "9007199254740992"])))
        pairs.append((names[3], rng.choice(COSTS)))
        pairs.append(("content", rng.choice(["null", quote(text()), quote(text())])))
        pairs.append(("metadata", rng.choice(["null", value(), members([("a", value()), ("b", value())])])))
        if rng.random() < 0.5:
            pairs.append((names[4], rng.choice(["null", "7", '"s1"', '"10"'])))
        if rng.random() < 0.2:
            pairs.append(("metadata", members([("sessionId", rng.choice(['"s1"', "7", "null", '"10"'])) for _ in "ab"])))
    if row:
        pairs.append(("id", rng.choice(["%d", '"%d"', "%d.0"]) % rng.randrange(10**6)))
    if rng.random() < 0.2:
        pairs.append(("kind", quote(rng.choice(KINDS))))
    if rng.random() < 0.1:
        pairs.append(("level", quote("error")))
    rng.shuffle(pairs)
    return members(pairs)


def load(text):
    return json.loads(text, parse_float=Decimal, parse_int=Decimal, strict=False)


lines, actions = [], []  # what is read; (the line that is written, the action)
for _ in range(400):
    pick = rng.random()
    if pick < 0.4:
        line = action(True)
        actions.append((line, load(line)))
    elif pick < 0.8:
        data = action(False)
        line = '{"event":"action_event","id":"",%s"data":%s}%s' % (space(), data, space())
        actions.append((line, load(data)))
    elif pick < 0.85:
        row = action(True)
        line = '{"event":"activity_snapshot","data":{"actions":[%s],"stats":{}}}' % row
        actions.append((row, load(row)))
    elif pick < 0.9:
        line = '{"event":"stats_update","id":"","data":{"kind":null}}'
    else:
        line = action(True)[:-rng.randrange(1, 9)] + rng.choice(["", "]", '"'])
        try:
            load(line)
            continue
        except ValueError:
            pass
    lines.append(line)


def amount(cost):
    """The digits of 10^308 to 10^-400, exactly; what is 10^309 or more is no amount of money."""
    if not number(cost) or cost.is_zero() or not -400 <= cost.adjusted() <= 308:
        return Fraction(0)
    sign, digits, exponent = cost.as_tuple()
    whole = int("".join(map(str, digits))) * 10 ** (exponent + 400) if exponent >= -400 else int(
        "".join(map(str, digits))) // 10 ** (-400 - exponent)
    return Fraction(-whole if sign else whole, 10 ** 400)


def spelled(sum):
    """A sum of amounts as a JSON number."""
    units = abs(sum.numerator * (10 ** 400 // sum.denominator))
    digits = str(units)
    exponent = len(digits) - 401
    digits = digits.rstrip("0") or "0"
    sign = "-" if sum < 0 else ""
    if digits == "0":
        return "0"
    if abs(exponent) > 20:
        return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + "e%d" % exponent
    if exponent < 0:
        return sign + "0." + "0" * (-exponent - 1) + digits
    whole = digits.ljust(exponent + 1, "0")
    return sign + whole[:exponent + 1] + ("." + whole[exponent + 1:] if len(whole) > exponent + 1 else "")


def counts(items):
    """What --by kind prints."""
    groups = {}
    for item in items:
        count, sum = groups.get(item["kind"], (0, Fraction(0)))
        groups[item["kind"]] = count + 1, sum + amount(get(item, "usd_cost", "usdCost"))
    for kind, (count, sum) in sorted(groups.items(), key=lambda group: (-group[1][0], group[0].encode())):
        yield '{"type":"count","kind":%s,"count":%d,"usd_cost":%s}' % (
            json.dumps(kind, ensure_ascii=False), count, spelled(sum))


def number(value):
    return isinstance(value, Decimal)


def get(item, row, live):
    return item.get(row) if item.get(row) is not None else item.get(live)


def same(value, word):
    if isinstance(value, str):
        return value == word
    if isinstance(value, bool):
        return word == str(value).lower()
    if number(value):
        try:
            return Decimal(word) == value
        except ArithmeticError:
            return False
    return False


def pointer(value, path):
    for token in path.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(token)
        elif isinstance(value, list) and token.isdigit() and (token == "0" or token[0] != "0") and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    return value


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def cost(item):
    value = get(item, "usd_cost", "usdCost")
    return Decimal(0) if value is None else value if number(value) else None


def fold(text):
    return "".join(c.lower() for c in text)


for case in range(60):
    options, tests = [], []

    def maybe(chance, words, test):
        if rng.random() < chance:
            options.extend(words)
            tests.append(test)

    glob = rng.choice(["llm_*", "*_error", "?s*", "k\u00e4se", "[lv]*", "reacted,sent_reply"])
    maybe(0.4, ["-k", glob], lambda i: any(fnmatchcase(i["kind"], g) for g in glob.split(",")))
    maybe(0.2, ["-d", "error"], lambda i: i["kind"].endswith("_error") or i.get("level") == "error")
    guild = rng.choice(["7", "8", "7.0"])
    maybe(0.2, ["-g", guild], lambda i: same(get(i, "guild_id", "guildId"), guild))
    user = rng.choice(["7", "9007199254740993"])
    maybe(0.2, ["-U", user], lambda i: same(get(i, "user_id", "userId"), user))
    some = [str(i["id"]) for _, i in rng.sample(actions, 40) if i.get("id")] + ["0.5"]
    maybe(0.1, ["--id", ",".join(some)], lambda i: any(same(i.get("id"), word) for word in some))
    thread = rng.choice(["7", "s1", "10", "none"])
    maybe(0.2, ["--thread", thread], lambda i: same(get(i, "channel_id", "channelId"), thread) or same(
        pointer(i.get("metadata"), "/sessionId"), thread))
    low = rng.choice(["0", "0.01", "1e-3", "9007199254740993", "100"])
    maybe(0.2, ["-x", low], lambda i: cost(i) is not None and cost(i) >= Decimal(low))
    high = rng.choice(["0", "0.01", "4e-7", "9007199254740992"])
    maybe(0.2, ["--max-cost", high], lambda i: cost(i) is not None and cost(i) <= Decimal(high))
    word = rng.choice(["limit", "nfoo", "\n", "\\", "\u00cf", "\U0001f600", " rate", '" \\'])
    maybe(0.2, ["-F", word], lambda i: isinstance(i.get("content"), str) and word in i["content"])
    if "-F" not in options:
        loud = rng.choice(["RATE", "\u00e4RG", "NA\u00efVE"])
        maybe(0.2, ["-iF", loud], lambda i: isinstance(i.get("content"), str) and fold(loud) in fold(i["content"]))
    since = START + timedelta(minutes=rng.randrange(200))
    maybe(0.2, ["-S", since.isoformat()], lambda i: instant(get(i, "created_at", "createdAt")) >= since)
    maybe(0.2, ["-B", since.isoformat()], lambda i: instant(get(i, "created_at", "createdAt")) < since)
    path = rng.choice(["/a", "/b", "/a/0", "/a/a~1b", "/b/~0", "/a/1", "", "/b/a/0"])
    want = rng.choice(["1", "1.0", "true", "null", "a/b", "12345678901234567890"])

    def where(i):
        value = pointer(i.get("metadata"), path)
        return want == "null" if value is None else same(value, want)

    maybe(0.3, ["--where", path + "=" + want], where)
    invert = rng.random() < 0.2
    if invert:
        options.append("-v")
    selected = [(line, item) for line, item in actions if all(test(item) for test in tests) != invert]
    wanted = [line for line, _ in selected]
    if rng.random() < 0.2:
        options += ["--by", "kind"]
        wanted = counts(item for _, item in selected)
    with open("%s/%d.options" % (folder, case), "w") as file:
        file.write("\0".join(options + [""]))
    with open("%s/%d.want" % (folder, case), "w", newline="") as file:
        for line in wanted:
            file.write(line + "\n")
with open(folder + "/in", "w", newline="") as file:
    file.write("\n".join(lines) + "\n")


def js_number(value):
    """ECMA-262, Number::toString."""
    value = float(value)
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digits))
    count, point = len(digits), len(digits) + exponent
    if digits == "0":
        return "0"
    if count <= point <= 21:
        out = digits + "0" * (point - count)
    elif 0 < point <= 21:
        out = digits[:point] + "." + digits[point:]
    elif -6 < point <= 0:
        out = "0." + "0" * -point + digits
    else:
        out = digits[0] + ("." + digits[1:] if count > 1 else "") + "e%+d" % (point - 1)
    return ("-" if sign else "") + out


def js_string(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join("" if item is None else js_string(item) for item in value)
    if isinstance(value, dict):
        return "[object Object]"
    return js_number(value) if number(value) else value


def stored(value, units=None):
    """What the dashboard's store keeps: value ? String(value) : null, of a content 2000 units."""
    if value is None or value is False or value == "" or number(value) and float(value) == 0:
        return None
    return js_string(value).encode("utf-16-le", "surrogatepass")[:units and 2 * units].decode("utf-16-le", "replace")


def odd():
    """A value that no id or content should be, but may be."""
    pick = rng.randrange(12)
    if pick < 6:
        return rng.choice(['""', "0", "-0.0", "false", "true", "null", "[]", "{}", "[[],[null]]", "1e-400", '"0"'])
    if pick < 8:
        digits = str(rng.randrange(10 ** rng.randrange(1, 22)))
        return rng.choice(["", "-"]) + digits + rng.choice(["", ".0", ".5", ".%d" % rng.randrange(10 ** 9)]) + rng.choice(
            ["", "", "e%d" % rng.randrange(-30, 30)])
    if pick == 8:
        return quote("\u00e4\U0001f600\\\"[" * rng.choice([1, 332, 333, 334, 500]))
    if pick == 9:
        return "[" + ",".join(quote("x" * rng.randrange(999) + "\U0001f600") for _ in range(4)) + "]"
    return value()


with open(folder + "/events", "w", newline="") as events, open(folder + "/unique", "w", newline="") as unique:
    for n in range(500):
        time = "2026-03-01T12:00:00.%03dZ" % (n // 3)
        live = {name: odd() for name in ["guildId", "channelId", "messageId", "userId"] if rng.random() < 0.5}
        live["content"] = odd()
        row = {name: stored(load(text), 2000 if name == "content" else None) for name, text in live.items()}
        live = members(list(live.items()) + [("kind", '"k%d"' % n), ("createdAt", quote(time))])
        row = {"id": n, "created_at": time, "guild_id": row.get("guildId"), "channel_id": row.get("channelId"),
               "message_id": row.get("messageId"), "user_id": row.get("userId"), "kind": "k%d" % n,
               "content": row["content"], "metadata": None, "usd_cost": 0}
        pair = ['{"event":"action_event","id":"","data":%s}' % live, json.dumps(row, ensure_ascii=rng.random() < 0.5)]
        rng.shuffle(pair)
        events.write("\n".join(pair) + "\n")
        unique.write(pair[0] + "\n")
