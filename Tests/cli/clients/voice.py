#!/usr/bin/env python3
"""voice.py: clients of agent-serve's voice stream that no shell can play.

usage: voice.py crowd URL COUNT ACTIONS   COUNT voice streams beside an activity stream
       voice.py resume URL COUNT SEED     post while a reader drops and resumes
       voice.py put URL FILE              put numbered states until the server is gone
       voice.py race URL COUNT            put COUNT states at once
       voice.py odd URL FILE COUNT SEED   states out of joint, and what is made of them

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


def until(stream, wanted):
    """Reads until an event of that name came; the last id seen, or None."""
    last, came = None, False
    while not came:
        if not stream.fill():
            fail(f"ended before {wanted}")
        for name, event_id, _ in stream.events():
            last = event_id.decode() if event_id is not None else last
            came = came or name == wanted
    return last


def crowd(url, count, actions):
    connection = http.client.HTTPConnection(*address(url), timeout=BOUND)
    put(connection, state(0, 27000))
    voices = [Stream(url, name="voice") for _ in range(int(count))]
    for stream in voices:
        until(stream, "voice_state")
    reader = Stream(url)
    # What is posted before the snapshot is made comes in it, and not as an event.
    until(reader, "activity_snapshot")
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
    stream = Stream(url, name="voice")
    last = until(stream, "voice_state")
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


ODD = [None, True, False, 0, -1, 1.5, 1e300, -1e300, 2 ** 63, "", "x", "2026-13-45", "12", "\x00\u2028",
       [], [[]], [None], {}, {"a": []}, "\ud83d", "é" * 3000]


def mangle(value, dice):
    """Some members become something else, vanish, or are doubled."""
    if dice.random() < 0.04:
        return dice.choice(ODD)
    if isinstance(value, dict):
        return {name: mangle(member, dice) for name, member in value.items()
                if dice.random() > 0.03}
    if isinstance(value, list):
        return [mangle(element, dice) for element in value] * dice.choice([1, 1, 1, 2])
    return value


def odd(url, path, count, seed):
    """Whatever is in a session, every answer is JSON of the same shape."""
    with open(path, encoding="utf-8") as file:
        state = json.load(file)
    dice = random.Random(int(seed))
    connection = http.client.HTTPConnection(*address(url), timeout=BOUND)

    def get(name):
        connection.request("GET", "/api/" + name)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            fail(f"{name}: {answer.status} {body!r}")
        return json.loads(body)

    for _ in range(int(count)):
        sessions = [mangle(session, dice) for session in state["sessions"] * 2]
        sessions = [session for session in sessions if isinstance(session, dict)]
        body = json.dumps({"activeCount": len(sessions), "sessions": sessions})
        put(connection, body)
        if get("voice/state") != json.loads(body):
            fail("another state")
        shapes = [("voice/asr-sessions", "sessions", 8), ("voice/tool-events", "events", 11),
                  ("mcp/status", "servers", 4)]
        for name, member, size in shapes:
            if any(len(row) != size for row in get(name)[member]):
                fail(f"{name}: {get(name)}")
        if get("stats")["runtime"]["voice"]["activeCount"] != len(sessions):
            fail("stats")
    print("fine")


if __name__ == "__main__":
    {"crowd": crowd, "resume": resume, "put": put_until_gone, "race": race, "odd": odd}[sys.argv[1]](
        *sys.argv[2:])
