#!/usr/bin/env python3
"""soak.py --to URL --post PATH --actions N --cuts N --seen FILE --wanted FILE
           [--at-most N] [--gap N] [--gap-kind KIND] [--seed N]

Posts actions to a server in batches, and meanwhile breaks the stream that a
client follows through the way it opens (the `listening` record), at random
bytes: in heads, snapshots and events. FILE --seen is what the client's pipe
wrote so far. When all is posted it waits until the last action is there, writes
the contents to --wanted, one a line, sorted, and ends.

--at-most bounds how many actions are posted beyond the newest that was seen, as
a server that replays a limited number needs it. --gap breaks that bound once,
in the middle: so many actions while nobody can connect; their contents begin
with `gap`, and all are of --gap-kind if that is given.
"""
import argparse
import json
import random
import sys
import threading
import time
import urllib.request

from cutter import Cutter, target_of

LONGEST_WAIT = 60
LONG_TEXT = "x" * 1999 + "🌿" + "y" * 500


class Soak:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.cutter = Cutter(target_of(options.to))
        self.contents = []
        self.last = None
        self.unseen = 0
        self.offset = 0
        self.extra = 0

    def run(self):
        threading.Thread(target=self.cutter.run, daemon=True).start()
        self.post(10)
        print(json.dumps({"type": "listening", "url": self.cutter.url}, separators=(",", ":")),
              flush=True)
        self.settle()
        each = self.options.actions / self.options.cuts
        gap_round = self.options.cuts // 2 if self.options.gap else None
        broken = 0
        for turn in range(self.options.cuts):
            if turn == gap_round:
                self.gap()
            posted = len(self.contents) - self.extra
            broken += self.turn(max(int(each * (turn + 1)) - posted, 1))
        self.post(1)
        self.settle()
        with open(self.options.wanted, "w", encoding="utf-8") as file:
            file.writelines(f"{content}\n" for content in sorted(self.contents))
        print(json.dumps({"type": "done", "posted": len(self.contents), "broken": broken}),
              flush=True)

    def turn(self, count):
        """Posts so many actions around one break of the stream."""
        before = self.random.randint(0, count)
        self.post(before)
        self.cutter.wait_for_stream(LONGEST_WAIT)
        # A break before the first event, which is some 60 kB, makes the client
        # wait longer each time: some of these, but never many in a row.
        low, high = self.random.choices(
            [(0, 0), (1, 2000), (2000, 60000), (90000, 250000)], [1, 1, 1, 9])[0]
        after = self.random.randint(low, high)
        done = []
        breaker = threading.Thread(target=lambda: done.append(self.cutter.break_streams(after)))
        breaker.start()
        # Some of what follows passes, some falls into the break.
        while breaker.is_alive() and count > before:
            step = min(self.random.randint(1, 40), count - before)
            self.post(step)
            before += step
        self.cutter.hurry()
        breaker.join()
        self.post(count - before)
        return bool(done and done[0])

    def gap(self):
        self.settle()
        self.cutter.close(True)
        self.cutter.break_streams(0)
        bound, self.options.at_most = self.options.at_most, None
        self.post(self.options.gap, "gap")
        self.extra += self.options.gap
        self.cutter.close(False)
        self.post(1)
        self.options.at_most = bound
        self.settle()

    def post(self, count, prefix="n"):
        while count > 0:
            size = min(count, self.random.randint(1, 100))
            if self.options.at_most and self.unseen + size > self.options.at_most:
                self.settle()
            self.send(size, prefix)
            count -= size

    def send(self, size, prefix):
        lines = []
        while len(lines) < size:
            content = f"{prefix}{len(self.contents)}"
            if self.random.random() < 0.01:
                content += LONG_TEXT
            kind = self.random.choice(["llm_call", "sent_reply", "voice_turn_in"])
            action = {"kind": self.options.gap_kind or kind if prefix == "gap" else kind,
                      "guildId": "100000000000000001", "channelId": None,
                      "userId": "300000000000000001", "content": content,
                      "metadata": {"n": len(self.contents), "text": "a\nb\u2028c"}}
            line = json.dumps(action, ensure_ascii=False)
            # Now and then the same action twice in one millisecond.
            twice = self.random.random() < 0.02 and len(lines) + 2 <= size
            for _ in range(1 + twice):
                lines.append(line)
                self.contents.append(content)
        request = urllib.request.Request(
            self.options.to + self.options.post, data=("\n".join(lines) + "\n").encode(),
            headers={"Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request, timeout=LONGEST_WAIT) as answer:
            answer.read()
        self.last = content
        self.unseen += size

    def settle(self):
        """Waits until the last action posted has come out of the client."""
        wanted = f'"content":"{self.last[:20]}'.encode()
        limit = time.monotonic() + LONGEST_WAIT
        rest = b""
        while time.monotonic() < limit:
            with open(self.options.seen, "rb") as file:
                file.seek(self.offset)
                data = file.read()
            self.offset += len(data)
            found = (rest + data).find(wanted)
            if found >= 0:
                self.unseen = 0
                return
            rest = (rest + data)[-200:]
            time.sleep(0.01)  # between two looks
        sys.exit(f"soak.py: {self.last[:20]} did not come")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("to", "post", "seen", "wanted"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("actions", "cuts"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("at-most", "gap", "seed"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--gap-kind")
    Soak(parser.parse_args()).run()


if __name__ == "__main__":
    main()
