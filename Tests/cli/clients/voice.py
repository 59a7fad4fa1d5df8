#!/usr/bin/env python3
"""voice.py: clients of agent-serve's voice stream that no shell can play.

usage: voice.py crowd URL COUNT ACTIONS   COUNT voice streams beside an activity stream
       voice.py resume URL COUNT SEED     post while a reader drops and resumes
       voice.py put URL FILE              put numbered states until the server is gone
       voice.py race URL COUNT            put COUNT states at once

Everything is bounded; a broken promise ends it with a line and status 1.
"""

import http.client
import json
import random
import select
import sys
import threading
import time

from serve import BOUND, Stream, address, fail, post, poster


def state(number, size=0):
    """A voice state that says its number, as large as a real one."""
    return json.dumps({"activeCount": 1, "sessions": [
        {"sessionId": "s", "guildId": str(number), "note": "x" * size}]})


def put(connection, body):
    connection.request("PUT", "/api/voice/state", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200 or answer.read() != b'{"ok":true}':
        fail(f"PUT: {answer.status}")


def crowd(url, count, actions):
    connection = http.client.HTTPConnection(*address(url), timeout=BOUND)
    put(connection, state(0, 27000))
    voices = [Stream(url, name="voice") for _ in range(int(count))]
    for stream in voices:
        while not any(name == "voice_state" for name, _, _ in stream.events()):
            stream.fill()
    reader = Stream(url)
    while reader.head is None:
        reader.fill()
    got = {stream: [] for stream in voices}
    waits, newest = [], 0
    for number in range(int(actions)):
        put(connection, state(number, 27000))
        start = time.time()
        newest = post(connection, json.dumps({"kind": "voice_runtime", "content": str(number)}))[0]
        seen = False
        while not seen:
            if not reader.fill():
                fail("the activity stream ended")
            for name, event_id, _ in reader.events():
                seen = seen or name == "action_event" and int(event_id) == newest
        waits.append(time.time() - start)
    limit = time.time() + BOUND
    while min(map(len, got.values())) < int(actions) and time.time() < limit:
        ready = select.select([stream.socket for stream in voices], [], [], 1)[0]
        for stream in voices:
            if stream.socket in ready and not stream.fill():
                fail("a voice stream ended")
            got[stream] += [int(event_id) for name, event_id, _ in stream.events()
                            if name == "voice_event"]
    first = newest - int(actions) + 1
    if any(ids != list(range(first, newest + 1)) for ids in got.values()):
        fail("lost, doubled or out of order")
    waits.sort()
    print(f"each {actions}, activity median {waits[len(waits) // 2] * 1000:.1f} ms, "
          f"worst {waits[-1] * 1000:.1f} ms")
    if waits[len(waits) // 2] > 1:
        fail("the activity stream waits for the voice streams")


def resume(url, count, seed):
    dice = random.Random(int(seed))
    posted, got, drops = [], [], 0
    stream, last = Stream(url, name="voice"), None
    while stream.head is None:
        stream.fill()
    threads = poster(url, int(count), posted, 0.002, "voice_runtime")
    limit, budget = time.time() + BOUND, dice.randint(1, 60000)
    while time.time() < limit:
        alive = stream.fill()
        for name, event_id, _ in stream.events():
            if event_id is not None:
                last = event_id.decode()
            if name == "voice_event":
                got.append(int(event_id))
        if len(got) >= int(count) and not any(thread.is_alive() for thread in threads):
            break
        budget -= 1 << 12
        if not alive or budget < 0:
            stream.close()
            drops += 1
            budget = dice.randint(1, 60000)
            stream = Stream(url, last, name="voice")
    if got != sorted(posted):
        fail(f"posted {len(posted)}, got {len(got)}, twice {len(got) - len(set(got))}")
    print(f"drops {drops}")


def put_until_gone(url, path):
    connection = http.client.HTTPConnection(*address(url), timeout=10)
    with open(path, "w", buffering=1) as out:
        try:
            for number in range(1, 1000000):
                put(connection, state(number, 2000))
                out.write(f"{number}\n")
        except (OSError, http.client.HTTPException):
            pass


def race(url, count):
    def work(number):
        put(http.client.HTTPConnection(*address(url), timeout=BOUND), state(number))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")


if __name__ == "__main__":
    {"crowd": crowd, "resume": resume, "put": put_until_gone, "race": race}[sys.argv[1]](
        *sys.argv[2:])
