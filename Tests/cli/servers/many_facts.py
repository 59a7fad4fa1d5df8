#!/usr/bin/env python3
"""many_facts.py COUNT SUBJECTS: invented facts for memory.py, of so many subjects;
the first subject has a third of them all."""
import random
import sys

import json

count, subjects = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(5)
syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
words = ["".join(chance.choices(syllables, k=chance.randint(2, 3))) for _ in range(900)]
weights = [1 / (rank + 10) for rank in range(len(words))]
names = [str(4001000000000000 + 7 * n) for n in range(subjects)]

print(json.dumps({"guild": {"id": "771204458812997633", "name": "Harbour"}}))
for number in range(1, count + 1):
    name = names[0] if number % 3 == 0 else names[number % subjects]
    text = " ".join(chance.choices(words, weights, k=8))
    print(json.dumps({
        "id": number, "scope": "user", "user_id": name, "subject": name,
        "fact": f"{text} {number}", "fact_type": chance.choice(["profile", "preference"]),
        "confidence": round(chance.random(), 2)}))
