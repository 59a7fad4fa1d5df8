#!/usr/bin/env python3
"""What a bus costs that does not fit here: 10,000 agents with 50 actions a second each.

Predicts from what scale.py measured, the coefficients below; Tests/cli/suite/scale.t holds them
against a server. What it prints is Markdown: what one server would have to carry, what breaks
first, and what a bus for all of it is.
"""

# nats-server 2.9.10, two busy cores, loopback, records of 2 KB; by scale.py. CPU: seconds of the
# server for 100,000 records.
CPU_PUT = {1: 0.6, 10: 0.7, 100: 1.45, 1000: 3.1, 10000: 6.3}  # by connections that publish
CPU_ID = 0.45  # more, with a message id: bus-put beside none
CPU_GET = 0.55  # for each reader that gets the record
COPIES = 7  # three servers together beside one: 5.6 to 8.2
PACE_STREAM = 100000  # records a second: a stream takes one core, no more; 70,000 to 137,000
PACE_COPIES = 0.35  # of that, with three copies: 0.25 to 0.48
PACE_GET = 40000  # records a second of one bus-get
PASS = 400e6  # bytes a second that are read past, to find the records of one agent
HELD = 7  # seconds that what was read past stays in memory
RESTART = 1.7e-9  # seconds a byte: a server that starts reads what its ids are still valid for
# Live memory, bytes for one.
LIVE_BASE = 1.2e6
LIVE_CONNECTION = 25200
LIVE_READER = 63400  # a bus-get: a connection, its consumer, its requests
LIVE_DURABLE = 36000  # a durable consumer that nobody asks
LIVE_SUBJECT = 90
LIVE_ID = 120
RESIDENT = 2.1  # resident memory beside live
# Bytes of a record in the store beside its subject, its header and itself, see `stored`.
FRAME = 22 + 8
HEADER = len("NATS/1.0\r\nNats-Msg-Id: \r\n\r\n") + 4
ID = 26
SUBJECT = len("agent1234.actions.1184019000000000513.llm_call")
# Commands, inboxes, lengths and the answer, on the wire.
WIRE_PUT = 190
WIRE_GET = 150

# The case.
SUBJECTS = 73  # of an agent: what it does, in each of its guilds, as in the sample day
SIZE = 2000
RATE = 50
WINDOW = 600  # seconds that ids are remembered

# A machine, not a small one.
MACHINE = {"cores": 8, "memory": 32e9, "disk": 1e12, "disk write": 500e6, "network": 125e6}


def stored(size=SIZE, subject=SUBJECT, identifier=ID):
    """Bytes of a record in the store; `identifier` is the length of its id, 0 for none."""
    return FRAME + subject + size + (HEADER + identifier if identifier else 0)


def between(table, count):
    """A value of a table of powers of ten; beyond its end, that of the end."""
    keys = sorted(table)
    for low, high in zip(keys, keys[1:]):
        if count <= high:
            part = max(count - low, 0) / (high - low)
            return table[low] + (table[high] - table[low]) * part
    return table[keys[-1]]


def live(connections=0, readers=0, durables=0, subjects=0, ids=0):
    """Live memory of one server, bytes."""
    return (LIVE_BASE + LIVE_CONNECTION * connections + LIVE_READER * readers
            + LIVE_DURABLE * durables + LIVE_SUBJECT * subjects + LIVE_ID * ids)


def cpu(connections, readers=0, ids=True):
    """Seconds of the server for 100,000 records of so many publishers, read by all readers."""
    return between(CPU_PUT, connections) + CPU_ID * ids + CPU_GET * readers


class Load:
    """What so many agents ask of one server with one stream and `readers` that read everything;
    the stream keeps a day, and one reader looks back for one agent."""

    def __init__(self, agents, rate=RATE, size=SIZE, readers=1, window=WINDOW):
        self.agents, self.rate, self.size = agents, agents * rate, size
        self.subjects = agents * SUBJECTS
        self.ids = self.rate * window
        self.stored = self.rate * stored(size)
        self.day = self.stored * 86400
        self.into = self.rate * (stored(size) + WIRE_PUT - FRAME)
        self.out = self.rate * readers * (stored(size) + WIRE_GET - FRAME)
        self.cores = self.rate / 1e5 * cpu(agents, readers)
        self.memory = RESIDENT * live(agents, readers, 0, self.subjects)
        self.memory_ids = RESIDENT * LIVE_ID * self.ids
        self.back = min(self.day, PASS * HELD)
        self.restart = self.stored * window * RESTART
        self.readers = readers

    def shares(self):
        """Of each thing that can run out, by its name in agentutils-scale(7), how much of it is
        used: 1 is all."""
        return {
            "the network": max(self.into, self.out) / MACHINE["network"],
            "one reader of everything": self.rate / PACE_GET,
            "the stream": self.rate / PACE_STREAM,
            "the processor": self.cores / MACHINE["cores"],
            "memory, for ids": self.memory_ids / MACHINE["memory"],
            "memory, for the rest": (self.memory + self.back) / MACHINE["memory"],
            "the disk, with one day": self.day / MACHINE["disk"],
            "the speed of the disk": self.stored / MACHINE["disk write"],
        }

    def needed(self, copies=1):
        """Streams and servers that carry it with half to spare, and disks for a day."""
        if copies == 1:
            pace, work, bytes_in, bytes_out = PACE_STREAM, 1, self.into, self.out
        else:
            # Each record goes to the leader and from there to two others.
            pace, work = PACE_STREAM * PACE_COPIES, COPIES
            bytes_in, bytes_out = self.into * 3, self.out + self.into * 2
        cores = self.rate / 1e5 * (cpu(self.agents) * work + CPU_GET * self.readers)
        servers = max(cores / MACHINE["cores"], max(bytes_in, bytes_out) / MACHINE["network"],
                      self.memory_ids * copies / MACHINE["memory"],
                      self.stored * copies / MACHINE["disk write"])
        return up(self.rate / pace * 2), max(up(servers * 2), copies), \
            up(self.day * copies / MACHINE["disk"])


def up(value):
    return int(-(-value // 1))


def breaks(**case):
    """What runs out first, second and so on: [(agents, what)]."""
    found = []
    for what in Load(1, **case).shares():
        low, high = 0, 1
        while Load(high, **case).shares()[what] < 1:
            high *= 2
            # Never, whoever comes.
            if high > 1 << 40:
                break
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if Load(middle, **case).shares()[what] >= 1 \
                else (middle, high)
        found.append((high, what))
    return sorted(found)


def amount(value, unit="B"):
    for sign in ("", "k", "M", "G", "T", "P"):
        if value < 1000 or sign == "P":
            return f"{value:.3g} {sign}{unit}"
        value /= 1000
    return None


def main():
    print(f"Records of {SIZE} bytes, {RATE} a second of each agent, one reader of all, "
          f"ids for {WINDOW} s.\n")
    rows = [("agents", lambda load: str(load.agents)),
            ("records a second", lambda load: str(load.rate)),
            ("subjects", lambda load: str(load.subjects)),
            ("written a second", lambda load: amount(load.stored)),
            ("written a day", lambda load: amount(load.day)),
            ("network in, a second", lambda load: amount(load.into)),
            ("network out, a second", lambda load: amount(load.out)),
            ("cores of servers", lambda load: f"{load.cores:.2g}"),
            ("memory for ids", lambda load: amount(load.memory_ids)),
            ("memory for connections and subjects", lambda load: amount(load.memory)),
            ("memory while one agent is looked for in a day", lambda load: amount(load.back)),
            ("until a server that starts takes records",
             lambda load: amount(load.restart, "s")),
            ("streams, servers, disks for a day, one copy",
             lambda load: "{}, {}, {}".format(*load.needed())),
            ("the same, three copies", lambda load: "{}, {}, {}".format(*load.needed(3)))]
    loads = [Load(agents) for agents in (10, 100, 1000, 10000)]
    for number, (title, value) in enumerate(rows):
        print("| " + " | ".join([title, *(value(load) for load in loads)]) + " |")
        if number == 0:
            print("|---" + "|---:" * len(loads) + "|")
    for rate, size in ((RATE, SIZE), (1, 600)):
        print(f"\nOne server, {rate} records a second of {size} bytes of each agent; "
              "what is used up at how many agents:\n")
        print("| agents | what |\n|---:|---|")
        for agents, what in breaks(rate=rate, size=size):
            print(f"| {agents} | {what} |")


if __name__ == "__main__":
    main()
