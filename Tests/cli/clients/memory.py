#!/usr/bin/env python3
"""memory.py: what the memory tests do to a server many times.

    recall URL GUILD QUESTIONS       the share of questions whose fact is among the
                                     first five results, and those that miss it
    many COUNT                       facts of a guild, one a line
    acknowledged URL FILE            posts facts one by one; each answered one's id
                                     and text is a line of FILE; ends with the server
    hostile URL GUILD                odd searches: each is answered with 200 and JSON
"""
import json
import random
import sys
import urllib.error
import urllib.parse
import urllib.request

WORDS = ("kettle lamp radio drill zip valve spring hinge cable bulb needle thread solder belt crank "
         "motor fuse socket plug screw nut bolt washer gear lever handle wheel tyre chain brake").split()


def get(url, **query):
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
        return json.load(answer)


def recall(url, guild, questions):
    found, missed = 0, []
    pairs = [json.loads(line) for line in open(questions, encoding="utf-8")]
    for pair in pairs:
        results = get(url + "/api/memory/search", q=pair["question"], guildId=guild, limit=5)
        if any(row["fact"] == pair["fact"] for row in results["results"]):
            found += 1
        else:
            missed.append(pair["question"])
    print(f"{found / len(pairs):.3f}")
    for question in missed:
        print(f"missed: {question}")


def many(count):
    dice = random.Random(10)
    for number in range(int(count)):
        words = " ".join(dice.choice(WORDS) for _ in range(8))
        print(json.dumps({"guildId": "1", "subject": f"s{number % 700}",
                          "fact": f"{words} item{number}", "factType": "other",
                          "confidence": round(dice.random(), 2)}))


def acknowledged(url, path):
    with open(path, "a", buffering=1) as out:
        for number in range(100000):
            text = f"{path.rsplit('.', 1)[-1]} fact {number}"
            body = json.dumps({"guildId": "1", "subject": "__lore__", "fact": text}).encode()
            try:
                with urllib.request.urlopen(url + "/api/memory/facts", body, timeout=20) as answer:
                    out.write(f"{json.load(answer)['ids'][0]} {text}\n")
            except (OSError, urllib.error.URLError):
                return


def hostile(url, guild):
    texts = ['"', '""', '"a', "a\"b", "'", "*", "a*", "^a", "a AND", "AND", "OR", "NOT a", "NEAR(a b)", "NEAR",
             "a NEAR/2 b", "fact:a", "{fact about}:a", "-a", "+a", "(", ")", "a)", "(a", "\\", "%", "_", ";", "--",
             "'; DROP TABLE memory_facts; --", "\0", "a\0b", "\x1b[31m", "\u202e", "\ufeff", "\u200d", "\U0001f600",
             "👩‍🔧", "é" * 5000, "a " * 20000, "漢" * 3000, " ", "\t\n", "__all__", "__ALL__ ", "1e999", "null", "ﬁ",
             "İstanbul", "ǅ", "\u0301", "a\u0301" * 100, "\U0010ffff", "\ue000", "क्षि", "กำ"]
    for text in texts:
        for limit in ("5", "0", "-1", "1e300", "nan", "", "24.9"):
            answer = get(url + "/api/memory/search", q=text, guildId=guild, limit=limit)
            assert len(answer["results"]) <= 24 and answer["queryText"] is not None, (text, limit)
        text = text[:500]
        for path in ("facts", "fact-profile", "subjects"):
            get(f"{url}/api/memory/{path}", q=text, queryText=text, guildId=guild, userId=text,
                channelId=text, subject=text, limit=text)
    with urllib.request.urlopen(f"{url}/api/memory/search?q=%ff%fe%&guildId=%ff", timeout=20) as answer:
        json.load(answer)
    print("fine")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
