"""packed-oracle FOLDER: a packed file answers as the plain one does.

Makes records of every awkward kind, packs them with action-filter --pack, and compares what
action-filter prints, says and returns for both, for many options. Prints one line per
difference, and the number of comparisons; the status is 1 if there was a difference.
"""
import json
import os
import random
import subprocess
import sys

folder = sys.argv[1]
os.chdir(folder)
chance = random.Random(11)
PAD = "x" * 3000


def time_of(block, place):
    return "2026-03-%02dT%02d:%02d:00.%03dZ" % (1 + block, place // 60 % 24, place % 60, place % 1000)


def action(block, place, **members):
    record = {
        "id": block * 1000 + place,
        "created_at": time_of(block, place),
        "guild_id": "g%d" % (block % 3),
        "channel_id": "c%d" % (block % 4),
        "user_id": "u%d" % (block // 2),
        "kind": ["llm_call", "text_runtime", "voice_turn_in", "sent_reply"][block % 4],
        "content": PAD,
        "metadata": {"sessionId": "s%d" % block},
        "usd_cost": 0.01,
    }
    record.update(members)
    return record


def dump(record):
    return json.dumps(record, separators=(",", ":")).encode()


def block_of(block):
    """About a megabyte, which has something of its own."""
    rows = [dump(action(block, place)) for place in range(340)]
    odd = {
        1: [
            rb'{"kind":"llm_\u0065rror","created_at":"2026-03-02T05:00:00Z","content":"escaped"}',
            rb'{"kind":"rare\"quote","guildId":17,"createdAt":"2026-03-02T05:00:00.123456789+05:30"}',
            dump(action(1, 9, user_id=123, guild_id=9007199254740993)),
            dump(action(1, 9, user_id=1230e-1)),
        ],
        2: [
            b"not json",
            b'{"kind":"half',
            b'\xef\xbb\xbf{"kind":"mark"}',
            b'{"kind":"\xff\xfe","user_id":"\xe9"}',
            b"",
            b'   {"kind":"spaced"}\r',
        ],
        3: [
            dump({"event": "activity_snapshot", "data": {
                "actions": [action(30, p, kind="from_list", user_id="lister") for p in (3, 2, 1)],
                "stats": {}}, "profile": "home"}),
            b'{"actions":[{"kind":"good","id":1},17,{"kind":"good","id":2}]}',
            b'{"type":"count","n":1}',
            b'{"event":"stats_update","data":{"stats":{"a":1}}}',
        ],
        4: [
            b'{"content":"no kind at all","user_id":true}',
            b'{"kind":7,"level":"error","created_at":"2026-03-05T00:00:00Z"}',
            b'{"kind":"quiet","level":"\\u0065rror","created_at":"never"}',
            b'{"kind":"nul\x00byte","channel_id":null,"channelId":"live"}',
        ],
        5: [
            b'{"type":"name","of":"user","id":"u2","name":"Noor"}',
            b'{"type":"name","of":"guild","id":"g1","n\\u0061me":"The Guild"}',
            dump(action(5, 1, profile="work", user_id="with profile")),
        ],
        # More values than are noted.
        6: [dump(action(6, p, kind="kind%d" % p, user_id="user%d" % p)) for p in range(300)],
        7: [dump(action(7, 1, content="y" * 3_000_000, kind="long_line"))],
    }
    for line in odd.get(block, []):
        rows.insert(chance.randrange(len(rows)), line)
    return rows


lines = [line for block in range(10) for line in block_of(block)]
data = b"\xef\xbb\xbf" + b"\n".join(lines)
os.makedirs("plain", exist_ok=True)
os.makedirs("packed", exist_ok=True)
with open("plain/in", "wb") as file:
    file.write(data)
with open("plain/in", "rb") as source, open("packed/in", "wb") as packed:
    subprocess.run(["action-filter", "--pack"], stdin=source, stdout=packed, check=True)
# The same without an index, in two frames with a skippable one between them.
os.makedirs("stream", exist_ok=True)
with open("stream/in", "wb") as file:
    for part in (data[:3_000_001], data[3_000_001:]):
        file.write(subprocess.run(["zstd", "-q"], input=part, capture_output=True).stdout)
        file.write(b"\x50\x2a\x4d\x18\x03\0\0\0abc")
if subprocess.run(["zstd", "-dcq", "packed/in"], capture_output=True).stdout != data:
    print("zstd gives back other bytes")
    sys.exit(1)

select = [
    [], ["-k", "llm_error"], ["-k", "llm_*"], ["-k", "kind2?"], ["-k", 'rare"quote'],
    ["-k", "[!a-z]*"], ["-k", "long_line"], ["-k", "nothing"], ["-k", "from_list,good"],
    ["-d", "error"], ["-d", "llm"], ["-d", "other"], ["-d", "tool"], ["-k", "quiet", "-d", "error"],
    ["-g", "g1"], ["-g", "17"], ["-g", "9007199254740993"], ["-c", "c3"], ["-c", "live"],
    ["-U", "u2"], ["-U", "123"], ["-U", "123.0"], ["-U", "user299"], ["-U", "Noor"],
    ["-g", "the guild"], ["-U", "lister"], ["-U", "nobody at all"],
    ["-S", "2026-03-02T00:00:00Z", "-B", "2026-03-03T00:00:00Z"],
    ["-S", "2026-03-01T23:30:00.123456789Z", "-B", "2026-03-01T23:30:00.12345679Z"],
    ["-B", "2026-03-01T00:00:00Z"], ["-S", "2026-03-10T05:39:00Z"], ["-S", "2027-01-01T00:00:00Z"],
    ["--profile", "work"], ["--profile", "home,none"], ["--id", "2005,1"], ["--thread", "s8"],
    ["-F", "escaped"], ["-x", "0.02"], ["--where", "/sessionId=s4"], ["--usage"], ["-M", "1"],
]
more = [
    [], ["-N"], ["-v"], ["-a"], ["-u"], ["-n", "3"], ["-q"], ["--fast"], ["--strict"],
    ["-R", "rejects"], ["-o", "canonical"], ["-o", "id,kind"], ["--by", "kind"], ["-u", "-N"],
    ["-N", "-n", "500"], ["-v", "-a", "-N"], ["--fast", "-N"], ["-a", "-n", "400"],
]


def run(place, jobs, options):
    done = subprocess.run(
        ["action-filter", "-j", jobs, *options, "in"], cwd=place, capture_output=True, timeout=100)
    rejects = None
    if "-R" in options:
        with open(place + "/rejects", "rb") as file:
            rejects = file.read()
    return done.returncode, done.stdout, done.stderr, rejects


count = bad = 0
# Each with and without each of the others would take minutes.
pairs = [(one, other) for one in select for other in [[]] + chance.sample(more[1:], 2)]
for one, other in pairs:
    options = one + other
    want = run("plain", "1", options)
    place, jobs = chance.choice(["packed", "packed", "stream"]), chance.choice(["1", "3"])
    got = run(place, jobs, options)
    count += 1
    if want != got:
        bad += 1
        names = ("status", "output", "errors", "rejects")
        parts = [name for name, a, b in zip(names, want, got) if a != b]
        print("differ:", place, jobs, options, "in", *parts)
        if "errors" in parts:
            print(want[2][:500].decode(), "---", got[2][:500].decode(), sep="\n")
print(count, "comparisons")
sys.exit(1 if bad else 0)
