#!/usr/bin/env python3
"""by-oracle.py SEED ROUNDS: what --by, --usage and --total print, counted by hand.

Random actions, with costs of every size, in zones whose clocks change at odd hours and
by odd amounts; sums with Python's decimals, buckets by walking back from an instant in
quarters of an hour until the calendar says something else.
"""
import datetime, decimal, json, os, random, subprocess, sys, tempfile, zoneinfo

decimal.getcontext().prec = 1000
decimal.getcontext().Emax = 10**6
decimal.getcontext().Emin = -(10**6)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
         "America/Santiago", "Asia/Beirut", "Africa/Cairo", "America/Havana", "Pacific/Apia",
         "America/St_Johns", "America/Sao_Paulo"]
TIMES = ["minute", "hour", "day", "week", "month"]
WIDTH = {"minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 28 * 86400}
KEYS = ["kind", "model", "provider", "guild", "channel", "thread", "user", "agent", "profile"]
MEMBER = {"kind": "kind", "guild": "guild_id", "channel": "channel_id", "user": "user_id"}
draw = random.Random(int(sys.argv[1]))


def calendar(second, zone, unit):
    """What all instants of one bucket have in common."""
    local = datetime.datetime.fromtimestamp(second, zone)
    if unit == "minute":
        return local.strftime("%Y-%m-%d %H:%M"), local.utcoffset()
    if unit == "hour":
        return local.strftime("%Y-%m-%d %H"), local.utcoffset()
    if unit == "week":
        return local.isocalendar()[:2]
    return local.strftime("%Y-%m-%d" if unit == "day" else "%Y-%m")


def begin(second, zone, unit, known={}):
    step = 60 if unit == "minute" else 900
    second -= second % step
    place = (second, zone.key, unit)
    if place not in known:
        label, first = calendar(second, zone, unit), second
        while calendar(first - step, zone, unit) == label:
            first -= step
        known[place] = first
    return known[place]


def after(start, zone, unit):
    step = 60 if unit == "minute" else 900
    label, end = calendar(start, zone, unit), start
    while calendar(end, zone, unit) == label:
        end += step
    return end


def money():
    """A cost as text."""
    form = draw.randrange(8)
    if form == 0:
        return "1e-9"
    if form == 1:
        return repr(draw.random())  # 16 or 17 digits
    if form == 2:
        return f"{draw.randrange(10**17)}e-{draw.randrange(30)}"
    if form == 3:
        return f"-{draw.randrange(1000)}.{draw.randrange(1000):03}"
    if form == 4:
        return f"{draw.randrange(10**6)}.{draw.randrange(10**30):030}"
    return draw.choice(["0", "0.0", "0.0021", "1.10", "0.1", "0.2", "null", '"5"'])


def written(total):
    """A sum as a record has it."""
    if total == 0:
        return "0"
    sign, digits, exponent = total.normalize().as_tuple()
    digits = "".join(map(str, digits))
    place = exponent + len(digits) - 1
    if abs(place) > 20:
        text = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{place}"
    else:
        text = format(total.normalize(), "f")
    return "-" + text.lstrip("-") if sign else text


def number(text):
    return decimal.Decimal(text) if text not in ("null", '"5"') else decimal.Decimal(0)


def text_of(value):
    return json.dumps(value, ensure_ascii=False)


class Sums:
    def __init__(self):
        self.count, self.cost, self.input, self.output = 0, decimal.Decimal(0), 0, 0

    def add(self, action):
        self.count += 1
        self.cost += number(action["cost"])
        self.input += action["tokens"][0]
        self.output += action["tokens"][1]

    def record(self, keys, values, usage):
        parts = ['"type":"count"'] + [f'"{k}":{text_of(v)}' for k, v in zip(keys, values)]
        parts += [f'"count":{self.count}', f'"usd_cost":{written(self.cost)}']
        if usage:
            parts += [f'"input_tokens":{self.input}', f'"output_tokens":{self.output}']
        return "{" + ",".join(parts) + "}"


def instant(second):
    time = datetime.datetime.fromtimestamp(second, datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def make(base, span):
    second = base + draw.randrange(span)
    action = {"second": second if draw.random() < 0.97 else None, "cost": money(), "tokens": (0, 0)}
    members = {"kind": draw.choice(["llm_call", "asr_call", 'a"\t\x1b[31m', "Caf\u00e9"]),
               "guild_id": draw.choice(["1", "2", None]), "channel_id": draw.choice(["9", None]),
               "user_id": draw.choice(["7", "x\ny", ""]), "profile": draw.choice(["home", "work"])}
    metadata = {"model": draw.choice(["m1", "m2", None]), "provider": draw.choice(["p", None]),
                "agent": draw.choice(["main", None]), "sessionId": draw.choice(["s-1", "s-2", None])}
    usage = draw.choice(["usage", "responseUsage", None, "llm"])
    if usage:
        told = (draw.randrange(5000), draw.randrange(500))
        value = {"inputTokens": told[0], "outputTokens": told[1], "cacheReadTokens": 7}
        metadata[usage] = {"usage": value} if usage == "llm" else value
        if usage != "llm":
            action["tokens"] = told
    if draw.random() < 0.1:
        metadata["responseModel"] = "m3"
    action["values"] = {key: members[name] for key, name in MEMBER.items()}
    action["values"] |= {"profile": members["profile"], "provider": metadata["provider"],
                         "agent": metadata["agent"],
                         "thread": members["channel_id"] or metadata["sessionId"],
                         "model": metadata["model"] or metadata.get("responseModel")}
    time = f'"{instant(second)}"' if action["second"] is not None else draw.choice(["null", '"soon"'])
    fields = ",".join(f"{text_of(k)}:{text_of(v)}" for k, v in members.items())
    action["line"] = (f'{{"created_at":{time},{fields},"metadata":{text_of(metadata)},'
                      f'"usd_cost":{action["cost"]}}}')
    return action


def want(actions, keys, zone, usage, total):
    unit = next((key for key in keys if key in TIMES), None)
    groups, everything = {}, Sums()
    for action in actions:
        if usage and number(action["cost"]) == 0 and not any(action["tokens"]):
            continue
        second = action["second"]
        start = begin(second, zone, unit) if unit and second is not None else None
        values = tuple(start if key == unit else action["values"][key] for key in keys)
        groups.setdefault(values, Sums()).add(action)
        everything.add(action)

    def order(item):
        values, sums = item
        start = values[keys.index(unit)] if unit else 0
        names = [(v is None, v.encode() if isinstance(v, str) else v or 0) for v in values]
        return (start is None, start or 0, -float(sums.cost) if usage else 0, -sums.count, names)

    lines, last = [], None
    for values, sums in sorted(groups.items(), key=order):
        start = values[keys.index(unit)] if unit else None
        if start is not None:
            while last is not None and (last := after(last, zone, unit)) < start:
                empty = [instant(last) if key == unit else None for key in keys]
                lines.append(Sums().record(keys, empty, usage))
            last = start
        shown = [instant(v) if key == unit and v is not None else v for key, v in zip(keys, values)]
        lines.append(sums.record(keys, shown, usage))
    if total:
        lines.append(everything.record([], [], usage))
    return lines


with tempfile.TemporaryDirectory() as folder:
    for turn in range(int(sys.argv[2])):
        zone = zoneinfo.ZoneInfo(ZONES[turn % len(ZONES)])
        year = 2011 if zone.key == "Pacific/Apia" else 2018 if "Paulo" in zone.key else 2024
        unit = draw.choice(TIMES + [None])
        span = {"minute": 7200, "hour": 4 * 86400, "month": 400 * 86400}.get(unit, 60 * 86400)
        base = int(datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc).timestamp())
        base += draw.randrange(366 * 86400)
        if unit == "hour":  # where clocks change
            while calendar(base, zone, "hour")[1] == calendar(base + 86400, zone, "hour")[1]:
                base += 86400
                if zone.key in ("UTC", "Asia/Kathmandu") or base > 1767225600:
                    break
        actions = [make(base, span) for _ in range(draw.randrange(1, 60))]
        keys = draw.sample(KEYS, draw.randrange(0 if unit else 1, 3)) + ([unit] if unit else [])
        draw.shuffle(keys)
        usage, total = draw.random() < 0.5, draw.random() < 0.5
        path = os.path.join(folder, "actions")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(action["line"] + "\n" for action in actions)
        command = ["action-filter", "--by", ",".join(keys)]
        command += ["--usage"] * usage + ["--total"] * total + [path]
        done = subprocess.run(command, capture_output=True, text=True,
                              env=os.environ | {"TZ": zone.key})
        lines = want(actions, keys, zone, usage, total)
        if done.stdout.split("\n")[:-1] != lines or done.stderr:
            print(f"round {turn}, TZ={zone.key} {' '.join(command)}\n{done.stderr}")
            for got, line in zip(done.stdout.split("\n"), lines + [""]):
                if got != line:
                    print(f"got  {got}\nwant {line}")
                    break
            with open("by-oracle.actions", "w", encoding="utf-8") as file:
                file.writelines(action["line"] + "\n" for action in actions)
            sys.exit(1)
