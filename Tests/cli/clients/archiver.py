#!/usr/bin/env python3
"""archiver.py KILLS SEED CLOCK FOLDER -- COMMAND...: an archiver that is killed.

COMMAND runs until it is killed, when is chance, KILLS times; sometimes all it started
is killed with it. CLOCK, a file, holds the seconds by which its clock is ahead: now
and then a night passes, also while nobody runs. Then each number in FOLDER must stand
there once, and none between the first and the last may be missing.
"""
import glob
import json
import os
import random
import signal
import subprocess
import sys
import time

kills, seed, clock, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
command = sys.argv[sys.argv.index("--") + 1 :]
chance = random.Random(seed)
ahead = 0
nights = 0


def night():
    global ahead, nights
    ahead += 86400
    nights += 1
    with open(clock + ".new", "w") as file:
        file.write(str(ahead))
    os.rename(clock + ".new", clock)


for number in range(kills):
    if chance.random() < 0.3:
        night()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    # Real time: how far it is when the night comes and when it is killed is chance.
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.2, 0.6))
        night()
    time.sleep(chance.choice([0.02, 0.1, 0.3, 0.6, 1.2]) * chance.random() + 0.02)
    if chance.random() < 0.5:
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    if chance.random() < 0.3:
        # What a crash of the machine leaves: half a record, or zeros.
        plain = sorted(glob.glob(folder + "/*.ndjson"))
        if plain:
            with open(plain[-1], "ab") as file:
                file.write(chance.choice([b'{"event":"action_ev', b"\0" * 700, b"\0" * 100 + b"\n"]))

# One that nobody kills, in a day of its own: all that was left is finished.
night()
child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    time.sleep(0.1)  # between two looks
    plain = glob.glob(folder + "/*.ndjson")
    if len(plain) == 1 and os.path.getsize(plain[0]) > 0:
        break
child.terminate()
child.wait()

files = sorted(glob.glob(folder + "/*.ndjson*"))
seen = []
for file in files:
    if file.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", file], check=True, capture_output=True).stdout
    elif file.endswith(".gz"):
        text = subprocess.run(["gzip", "-dcq", file], check=True, capture_output=True).stdout
    else:
        with open(file, "rb") as plain:
            text = plain.read()
    day = os.path.basename(file)[:10]
    for line in text.split(b"\n")[:-1]:
        record = json.loads(line)
        seen.append(record["data"]["n"])
        if record["received_at"][:10] != day:
            sys.exit(f"seed {seed}: {record['received_at']} is in {file}")
missing = sorted(set(range(seen[0], seen[-1] + 1)) - set(seen))
twice = len(seen) - len(set(seen))
print(f"{kills} kills, {nights} nights, {len(files)} files, {len(seen)} records")
print(f"missing {len(missing)}, twice {twice}, in order {seen == sorted(seen)}")
known = (".lock", ".state", ".index")
left = [name for name in os.listdir(folder) if name.startswith(".") and name not in known]
print(f"left over {left}, not compressed {len([f for f in files if f.endswith('.ndjson')])}")
