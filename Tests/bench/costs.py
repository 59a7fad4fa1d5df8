"""What transcripts of Claude Code cost: agent-cost beside a jq that only picks the tokens, a first
and a second time.

    BENCH_COSTS_MB  size of the transcripts, MB (200)
"""
import json
import os
import random
import shutil
import tempfile

import record
from common import measure, median, setting, skipped, table

ROUNDS = 3
FILE = 5_000_000
WORDS = "the tide is high at six and the boat goes out before it turns again so be there".split()
MODELS = ["claude-opus-5-5", "claude-sonnet-4-5", "claude-haiku-4-5"]


def text(chance, size):
    return " ".join(chance.choice(WORDS) for _ in range(size // 5))


def write(file, chance, session, number):
    """An answer in two blocks, and what the tool that it called said; the bytes of these."""
    shared = {"parentUuid": f"{number:032x}", "isSidechain": False, "cwd": "/home/ada/tide",
              "sessionId": session, "version": "2.1.332", "gitBranch": "main",
              "timestamp": f"2026-05-{number // 8640 % 28 + 1:02}T{number // 360 % 24:02}"
                           f":{number // 6 % 60:02}:{number % 6}0.000Z"}
    usage = {"input_tokens": 12, "output_tokens": 49, "cache_read_input_tokens": 15000 + number,
             "cache_creation_input_tokens": 2000, "speed": "standard", "inference_geo": "",
             "cache_creation": {"ephemeral_5m_input_tokens": 500,
                                "ephemeral_1h_input_tokens": 1500}}
    size = 0
    for index, block in enumerate((
            {"type": "text", "text": text(chance, 300)},
            {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash",
             "input": {"command": text(chance, 100)}})):
        message = {"id": f"msg_{number:024}", "type": "message", "role": "assistant",
                   "model": MODELS[number % 3], "content": [block], "usage": usage}
        size += file.write(json.dumps({**shared, "type": "assistant", "message": message,
                                       "uuid": f"{number:031x}{index}"},
                                      separators=(",", ":")) + "\n")
    said = text(chance, int(chance.expovariate(1 / 2200)) + 50)
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said}
    return size + file.write(json.dumps(
        {**shared, "type": "user", "uuid": f"{number:031x}2",
         "message": {"role": "user", "content": [result]},
         "toolUseResult": {"stdout": said, "stderr": ""}}, separators=(",", ":")) + "\n")


def make(folder, size):
    """Fills a folder; returns the files and their bytes."""
    chance, number, whole, files = random.Random(5), 0, 0, []
    while whole < size:
        session = f"{len(files):08x}-0000-4000-8000-000000000000"
        project = os.path.join(folder, f"-home-ada-{len(files) % 9}")
        os.makedirs(project, exist_ok=True)
        files.append(os.path.join(project, session + ".jsonl"))
        with open(files[-1], "w", encoding="ascii") as file:
            written = 0
            while written < FILE:
                number += 1
                written += write(file, chance, session, number)
        whole += written
    return files, whole


def report():
    if not shutil.which("agent-cost"):
        return table("Costs", ["command"], [], skipped(["agent-cost"]))
    with tempfile.TemporaryDirectory() as folder:
        all_files = os.path.join(folder, "projects")
        files, size = make(all_files, setting("BENCH_COSTS_MB", 200) * 1_000_000)
        words = f"{size / 1e6:.0f} MB"
        cache = os.path.join(folder, "cache")
        os.environ["XDG_CACHE_HOME"] = cache
        rows = []

        def row(name, by, command, what, forgets):
            spent = []
            for _ in range(ROUNDS):
                if forgets:
                    shutil.rmtree(cache, ignore_errors=True)
                wall, cpu, peak = measure(command)
                spent.append((cpu, wall))
            cpu, wall = median([one for one, _ in spent]), median([one for _, one in spent])
            record.figure(f"CPU{what}", by, "s", cpu, runs=ROUNDS, size=words)
            if by != "agent-cost":
                record.figure(f"memory{what}", by, "MiB", peak, runs=ROUNDS, size=words)
            rows.append([name, f"{size / 1e6:.0f}", f"{wall:.2f}", f"{cpu:.2f}",
                         f"{cpu / size * 1e9:.2f}",
                         f"{peak:.1f}" if by != "agent-cost" else ""])
            return cpu

        # What reads them; a script's own memory says nothing.
        row("action-filter --usage --by model", "action-filter",
            ["action-filter", "-u", "--usage", "--by", "model", all_files], "", True)
        ours = row("agent-cost", "agent-cost", ["agent-cost", all_files], "", True)
        row("agent-cost, again", "agent-cost", ["agent-cost", all_files], ", again", False)
        notes = []
        if shutil.which("jq"):
            theirs = row("jq, three members", "jq",
                         ["jq", "-c", "[.timestamp, .message.id?, .message.usage?]", *files], "",
                         False)
            record.figure("CPU", "agent-cost", "x", ours / theirs, "jq", runs=ROUNDS, size=words)
        else:
            notes = skipped(["jq"])
    return table("Costs", ["command", "MB", "s", "CPU s", "CPU s/GB", "MiB"], rows, notes)
