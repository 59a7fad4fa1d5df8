"""Lines for action-filter: records of every shape, spelled in every way, and
damaged ones. All from one random.Random, so that a seed names a file."""
import os

KINDS = ["llm_call", "llm_error", "asr_error", "voice_turn_in", "sent_reply", "k\u00e4se", "a/b", 'q"k', "x"]
IDS = ["123456789012345678", "900719925474099300", "7", "user-77", "true", "\u00efd-17"]
WORDS = ["Rate", "limit", "rate limit", "na\u00efve", "\n", '"', "\\", "nfoo", "\U0001f600", "{", "]", "\u2028",
         "a/b", "timeout", "K\u212aelvin", "\u017fo", "\ufffd", "\0", "llm_error", '"kind":"llm_error"']
COSTS = ["0", "0.01", "1e-2", "4e-7", "1E2", "9007199254740993", '"5"', "null", "-0.0", "1e400", "0.1", "-0.2",
         "1e-30", "0.0012345000000000002", "1e300", "-1e300", "123456789012345678901.5", "1e999999999", "[]"]
NUMBERS = ["1", "1.0", "-5", "0", "1e5", "1E-2", "0.10", "12345678901234567890123", "true", "false", "null"]
BITS = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\\u0022", b"\\ud800", b"null", b"\0", b"\xff",
        b"\t", b"\r", "\u2028".encode(), b"1e5", b"-", b"01", b"\xc3", b"\xed\xa0\x80", b"\\u005f", b"\\",
        b'"kind":"llm_error",', b'"data":{"kind":"llm_error"},', b'"kind":1,', b'"kind":null,', b'"data":null,',
        b'"actions":[{}],', b'"actions":5,', b'"\\u006bin\\u0064":"llm_error",', b'"type":"x",', b'"event":"e",']


class Records:
    def __init__(self, rng):
        self.rng = rng
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "lines"), "rb") as lines:
            self.kept = lines.read().split(b"\n")[:-1]

    def space(self):
        return self.rng.choice(["", "", "", "", " ", "\t", " \r "])

    def quote(self, text, often=0.1):
        out = ""
        for char in text:
            if char == "/" and self.rng.random() < 0.3:
                out += "\\/"
            elif char in '"\\' and self.rng.random() < 0.5:
                out += "\\" + char
            elif self.rng.random() < often or ord(char) < 32 or char in '"\\':
                units = char.encode("utf-16-be")
                for index in range(0, len(units), 2):
                    unit = int.from_bytes(units[index:index + 2], "big")
                    out += "\\u" + format(unit, self.rng.choice(["04x", "04X"]))
            else:
                out += char
        return '"' + out + '"'

    def text(self):
        words = [self.rng.choice(WORDS) for _ in range(self.rng.randrange(6))]
        text = self.rng.choice(["", " "]).join(words)
        return "".join(c.swapcase() if self.rng.random() < 0.05 and c.isascii() else c for c in text)

    def number(self, digits):
        """An id as one of the numbers that are equal to it."""
        if not digits.isdecimal():
            return self.quote(digits)
        point = self.rng.randrange(1, len(digits) + 1)
        moved = digits[:point] + "." + digits[point:] + "0e" + str(len(digits) - point)
        bare = digits.rstrip("0")
        cut = bare + "e" + str(len(digits) - len(bare))
        return self.rng.choice([digits, digits + ".0", moved, cut])

    def id(self):
        digits = self.rng.choice(IDS)
        pick = self.rng.randrange(4)
        return "null" if pick == 0 else self.number(digits) if pick == 1 else self.quote(digits, 0.05)

    def value(self, depth=0):
        pick = self.rng.randrange(8 if depth < 3 else 6)
        if pick < 3:
            return self.quote(self.text())
        if pick < 6:
            return self.rng.choice(NUMBERS)
        if pick == 6:
            return "[" + ",".join(self.space() + self.value(depth + 1) for _ in range(self.rng.randrange(4))) + "]"
        return self.members([(self.text()[:3], self.value(depth + 1)) for _ in range(self.rng.randrange(4))])

    def members(self, pairs):
        return "{" + ",".join(
            self.space() + self.quote(k, 0.02) + self.space() + ":" + self.space() + v + self.space()
            for k, v in pairs) + "}"

    def action(self):
        rng = self.rng
        row = rng.random() < 0.5
        names = ["created_at", "guild_id", "channel_id", "user_id", "message_id", "usd_cost"] if row else [
            "createdAt", "guildId", "channelId", "userId", "messageId", "usdCost"]
        pairs = [("kind", self.quote(rng.choice(KINDS), 0.02))]
        pairs += [(names[0], self.quote("2026-03-01T12:%02d:00.000Z" % rng.randrange(60)))]
        pairs += [(name, self.id()) for name in names[1:5] if rng.random() < 0.7]
        pairs += [(names[5], rng.choice(COSTS)), ("content", self.quote(self.text()))]
        if rng.random() < 0.5:
            session = [("sessionId", self.id())] * rng.randrange(1, 3)
            pairs.append(("metadata", self.members(session) if rng.random() < 0.4 else self.value()))
        if rng.random() < 0.1:
            pairs.append((rng.choice([p[0] for p in pairs]), self.value()))
        if row:
            pairs.append(("id", rng.choice([str(rng.randrange(10**6)), self.id()])))
        rng.shuffle(pairs)
        return self.members(pairs)

    def line(self):
        rng = self.rng
        pick = rng.random()
        if pick < 0.45:
            line = self.space() + self.action() + self.space()
        elif pick < 0.75:
            event = rng.choice(["action_event", "voice_event", "stats_update"])
            line = '{"event":"%s","id":"",%s"data":%s}' % (event, self.space(), self.action())
        elif pick < 0.85:
            rows = [self.action() if rng.random() < 0.95 else self.value() for _ in range(rng.randrange(4))]
            line = '{"event":"activity_snapshot","data":{"actions":[%s],"stats":{}}}' % ",".join(rows)
        else:
            line = self.value()
        line = line.encode()
        if rng.random() < 0.05:
            line = rng.choice(self.kept)
        if rng.random() < 0.25:
            line = self.damaged(line)
        if rng.random() < 0.02:
            # So that lines come to lie at every place of the reader's buffer.
            line = line.replace(b'"content":"', b'"content":"' + b"z\\u0020" * rng.randrange(9000), 1)
        return line.replace(b"\n", b" ") + rng.choice([b"\n", b"\n", b"\n", b"\r\n", b"\n\n"])

    def damaged(self, line):
        line, rng = bytearray(line), self.rng
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(line) + 1)
            pick = rng.random()
            if pick < 0.4:
                line[at:at] = rng.choice(BITS)
            elif pick < 0.6:
                comma = line.find(b',"', at)
                line[comma + 1:comma + 1] = rng.choice([b for b in BITS if b.endswith(b",")]) if comma >= 0 else b""
            elif pick < 0.8:
                del line[at:at + rng.randrange(1, 6)]
            elif line:
                line[at % len(line)] = rng.randrange(256)
        return bytes(line)

    def file(self):
        body = b"".join(self.line() for _ in range(self.rng.choice([5, 50, 400, 1500])))
        if self.rng.random() < 0.1:
            body = b"\xef\xbb\xbf" + body
        return body[:-1] if self.rng.random() < 0.3 else body
