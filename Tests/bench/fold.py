"""Folding the events of a Pincer server: turn-fold beside the same fold in jq, whose records
have to be the same byte for byte, and the memory that it takes for more.

    BENCH_FOLD_MB  size of the events, MB (100); jq gets a fifth of them
"""
import base64
import filecmp
import json
import os
import random
import shutil
import tempfile

import record
from common import HERE, measure, median, setting, skipped, table

ROUNDS = 3
WORDS = ('the tide is high at six twelve and the boat goes out before it turns again so be '
         'there\n with "two" lines').split(" ")


class Feed:
    """Turns of twenty conversations, one after the other, with tools, thoughts and answers."""

    def __init__(self, file):
        self.file, self.size, self.count = file, 0, 0
        self.chance = random.Random(16)
        self.sequences = {}

    def event(self, thread, turn, payload, body):
        self.count += 1
        self.sequences[thread] = self.sequences.get(thread, 0) + 1
        ms = self.count * 37
        clock = (f"{ms // 3600000 % 24:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}"
                 f".{ms % 1000:03}")
        line = json.dumps({
            "eventId": f"evt_{self.count:016x}", "threadId": f"thr_{thread:016x}",
            "turnId": f"turn_{turn:016x}", "sequence": str(self.sequences[thread]),
            "occurredAt": f"2026-02-20T{clock}Z", "source": "MODEL_UNTRUSTED",
            "contentTrust": "UNTRUSTED_MODEL", payload: body}, separators=(",", ":"))
        self.size += self.file.write(line.encode() + b"\n")

    def turn(self, number):
        chance = self.chance
        thread = chance.randrange(20)

        def tell(payload, **body):
            self.event(thread, number, payload, body)

        tell("turnStarted", userMessageId=f"msg_u{number}", triggerType="CHAT_MESSAGE")
        for index in range(chance.randrange(3)):
            call, run = f"tc_{number:016x}_{index}", f"exec_{number:016x}_{index}"
            tell("toolCallPlanned", toolCallId=call, toolName="run_bash",
                 args={"command": "make test", "timeout_ms": 5000}, riskClass="HIGH")
            tell("toolExecutionStarted", executionId=run, toolCallId=call, toolName="run_bash",
                 displayCommand="make test")
            for _ in range(chance.randrange(20)):
                text = " ".join(chance.choice(WORDS) for _ in range(12)) + "\n"
                tell("toolExecutionOutputDelta", executionId=run, stream="STDOUT",
                     chunk=base64.b64encode(text.encode()).decode(), utf8=True)
            tell("toolExecutionFinished", executionId=run, durationMs="90")
        for _ in range(chance.randrange(10)):
            tell("assistantThinkingDelta", segmentId="thinking",
                 delta=chance.choice(WORDS) + " ", visibility="REASONING_SUMMARY")
        whole = [chance.choice(WORDS) + " " for _ in range(chance.randrange(150))]
        for piece in whole:
            tell("assistantTextDelta", segmentId="assistant", delta=piece)
        message = f"msg_{number:016x}"
        tell("assistantMessageCommitted", messageId=message, fullText="".join(whole))
        tell("turnCompleted", assistantMessageId=message)


def make(path, size):
    with open(path, "wb") as file:
        feed = Feed(file)
        number = 0
        while feed.size < size:
            number += 1
            feed.turn(number)
    return os.path.getsize(path)


def best(command, folder, name):
    """The median of the processor time, seconds, and the memory of the last run, MiB."""
    spent = []
    for _ in range(ROUNDS):
        with open(os.path.join(folder, name), "wb") as out:
            _, cpu, peak = measure(command, out)
        spent.append(cpu)
    return median(spent), peak


def report():
    if not shutil.which("turn-fold"):
        return table("Fold", ["command"], [], skipped(["turn-fold"]))
    megabytes = setting("BENCH_FOLD_MB", 100)
    script = os.path.join(HERE, "turn-fold.jq")
    notes = []
    with tempfile.TemporaryDirectory() as folder:
        small, large = os.path.join(folder, "small"), os.path.join(folder, "large")
        bytes_small = make(small, megabytes * 200000)
        bytes_large = make(large, megabytes * 1000000)
        rows = []

        def row(name, command, size, out):
            cpu, peak = best(command, folder, out)
            words, by = f"{size / 1e6:.0f} MB", name.split()[0].rstrip(",")
            what = ", each change" if "change" in name else ", the large one" * (size > bytes_small)
            record.figure(f"CPU{what}", by, "s", cpu, runs=ROUNDS, size=words)
            record.figure(f"memory{what}", by, "MiB", peak, runs=ROUNDS, size=words)
            rows.append([name, f"{size / 1e6:.0f}", f"{cpu:.2f}", f"{size / cpu / 1e6:.0f}",
                         f"{peak:.1f}"])
            return size / cpu

        ours = row("turn-fold -f", ["turn-fold", "-f", small], bytes_small, "ours")
        if shutil.which("jq"):
            theirs = row("jq, the same fold", ["jq", "-nc", "-f", script, small], bytes_small,
                         "theirs")
            same = filecmp.cmp(os.path.join(folder, "ours"), os.path.join(folder, "theirs"),
                               shallow=False)
            rows[1].append(f"{ours / theirs:.1f}")
            record.figure("CPU", "turn-fold", "x", theirs / ours, "jq", runs=ROUNDS,
                          size=f"{bytes_small / 1e6:.0f} MB")
            notes.append("The records are " + ("the same." if same else "NOT THE SAME."))
        else:
            notes += skipped(["jq"])
        row("turn-fold -f", ["turn-fold", "-f", large], bytes_large, "ours")
        row("turn-fold, each change", ["turn-fold", large], bytes_large, "ours")
        for cells in rows:
            cells += [""] * (6 - len(cells))
    return table("Fold", ["command", "MB", "CPU s", "MB/s", "MiB", "× its CPU"], rows,
                 notes)
