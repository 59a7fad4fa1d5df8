#!/usr/bin/env python3
"""How the cost of a bus grows with agents, readers, records, copies and edges.

Part of make bench-bus, and a command of its own with bus-put and bus-get in PATH. Prints Markdown
and draws one picture with gnuplot, or bars without it. Live memory and bytes are the same on a
busy machine; processor time is, by a fifth; resident memory is not.

    BENCH_AGENTS   the most agents (10000), as subjects and as connections
    BENCH_READERS  the most readers of one stream (200)
    BENCH_STORED   the most records in one stream (1000000), of 2 KB
    BENCH_PLOT     the picture, .svg or .png (.build/scale.svg)
"""
import os
import resource
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import picture  # noqa: E402
import simulate  # noqa: E402
from ground import Server, Wire, cluster, free_ports, setting  # noqa: E402

SIZE = 2000
BODY = b'{"content":"' + b"x" * (SIZE - 14) + b'"}'
NANOSECONDS = 10**9


class Point:
    """What was measured: the processor time of the server is for 100,000 records."""

    def __init__(self, axis, count, cpu=None, resident=None, live=None, disk=None):
        self.axis, self.count, self.cpu = axis, count, cpu
        self.resident, self.live, self.disk = resident, live, disk


def steps(most, *all_steps):
    return [step for step in all_steps if step < most] + [most]


def rows(first, count, guilds=1, size=SIZE):
    """So many actions, each another one, of so many guilds in turns."""
    for number in range(first, first + count):
        head = (f'{{"created_at":"2026-03-14T08:00:00.000Z","kind":"llm_call",'
                f'"guild_id":"{number % guilds + 100000}","content":"{number} ')
        yield head.encode() + b"x" * (size - len(head) - 3) + b'"}\n'


def put(url, lines, *options):
    """Publishes lines by bus-put; how long it took, seconds."""
    began = time.monotonic()
    process = subprocess.Popen(["bus-put", "-q", "-s", url, *options], stdin=subprocess.PIPE)
    try:
        for line in lines:
            process.stdin.write(line)
    finally:
        process.stdin.close()
    if process.wait():
        sys.exit("bench-bus: bus-put failed")
    return time.monotonic() - began


def make(wire, subjects, **more):
    """Makes the stream `agents` as bus-put does."""
    if subjects:
        more["subjects"] = subjects
    answer = wire.ask("STREAM.CREATE.agents", name="agents", storage="file",
                      duplicate_window=600 * NANOSECONDS, **more)
    if "error" in answer:
        sys.exit(f"bench-bus: {answer['error']['description']}")


def publish(wires, subjects, count):
    """Publishes 2 KB records over all connections in turns, some 256 at a time under way."""
    each = max(256 // len(wires), 1)
    left = count // len(wires)
    while left > 0:
        now = min(each, left)
        left -= now
        for first in range(0, len(wires), 256):
            some = range(first, min(first + 256, len(wires)))
            for one in some:
                wires[one].send(subjects[one], BODY, now)
            for one in some:
                wires[one].acknowledged(now)


def agents(most):
    """Subjects by one bus-put, then connections."""
    points = []
    count = 20000
    for number in steps(most, 1, 10, 100, 1000):
        with Server() as server:
            before = server.cpu()
            put(server.url, rows(0, count, number), "--create")
            cpu = server.cpu() - before
            points.append(Point("subjects", number, cpu * 1e5 / count, server.resident(),
                                server.live(), server.disk() / count))
    # A file for each connection, at either end.
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files[1], files[1]))
    for number in steps(min(most, files[1] - 500), 1, 10, 100, 1000):
        with Server() as server:
            wires = [Wire(server.url) for _ in range(number)]
            make(wires[0], ["*.actions.>"])
            subjects = [b"agent%d.actions.1.llm_call" % one for one in range(number)]
            before = server.cpu()
            publish(wires, subjects, count)
            cpu = server.cpu() - before
            points.append(Point("connections", number, cpu * 1e5 / (count // number * number),
                                server.resident(), server.live()))
            for wire in wires:
                wire.close()
    return points


def start_readers(server, number, count):
    """So many bus-get that read so many records, once they all wait for them."""
    command = ["bus-get", "-q", "-s", server.url, "-n", str(count), ">"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(number)]
    deadline = time.monotonic() + 60
    while server.stream("agents")["consumer_count"] < number:
        if time.monotonic() > deadline:
            sys.exit("bench-bus: the readers do not come up")
        time.sleep(0.05)
    return running


def end_readers(running):
    for process in running:
        if process.wait(120):
            sys.exit("bench-bus: bus-get failed")


def readers(most):
    """bus-get, all reading all, of one stream: processor time for 100,000 deliveries, with what
    the write of the records themselves takes. Then durable readers of other subjects, which get
    nothing, as agents' own: for 100,000 records written."""
    points = []
    for number in steps(most, 1, 10, 50):
        with Server() as server:
            wire = Wire(server.url)
            make(wire, ["actions.>"])
            count = max(40000 // number, 100)
            running = start_readers(server, number, count)
            live, before = server.live(), server.cpu()
            publish([wire], [b"actions.1.llm_call"], count)
            end_readers(running)
            points.append(Point("readers", number, (server.cpu() - before) * 1e5 / count / number,
                                server.resident(), live))
    for number in steps(most * 5, 1, 10, 100):
        with Server() as server:
            wire = Wire(server.url)
            make(wire, ["*.actions.>"])
            for one in range(number):
                wire.ask(f"CONSUMER.DURABLE.CREATE.agents.d{one}", stream_name="agents",
                         config={"durable_name": f"d{one}", "ack_policy": "explicit",
                                 "deliver_policy": "new",
                                 "filter_subject": f"other{one}.actions.>"})
            before = server.cpu()
            publish([wire], [b"agent.actions.1.llm_call"], 20000)
            points.append(Point("durables", number, (server.cpu() - before) * 5,
                                server.resident(), server.live()))
            wire.close()
    return points


def back(server, count):
    """Kills it; how long until it takes another record, having found the others and the ids of
    them again, seconds."""
    began = time.monotonic()
    server.restart()
    put(server.url, rows(count, 1, size=150), "--create", "--max-wait", "120")
    seconds = time.monotonic() - began
    if server.stream("agents")["messages"] != count + 1:
        sys.exit("bench-bus: records are lost")
    return seconds


def settle(server):
    """Waits until the server has let go of the blocks that it read, which takes it some seconds."""
    deadline = time.monotonic() + 60
    while server.live() > 10e6 and time.monotonic() < deadline:
        time.sleep(0.5)


def stored(most):
    """One stream that grows, of a thousand guilds, without ids, and all of one guild read from
    it: for 100,000 records that are passed over. Then small records with ids."""
    points, restarts = [], []
    with Server() as server:
        made = 0
        for number in steps(most, 10000, 100000):
            before = server.cpu()
            put(server.url, rows(made, number - made, 1000), "--create", "--id", "none")
            cpu = server.cpu() - before
            points.append(Point("stored", number, cpu * 1e5 / (number - made),
                                server.resident(), server.live(), server.disk() / number))
            made = number
            before = server.cpu()
            subprocess.run(["bus-get", "-q", "-s", server.url, "--all", "-e",
                            "actions.100007.llm_call"], stdout=subprocess.DEVNULL, check=True)
            points.append(Point("one of 1000", number, (server.cpu() - before) * 1e5 / number,
                                server.resident(), server.live()))
            settle(server)
        restarts.append((f"{made} records of 2 KB", back(server, made)))
    most_ids = min(most, 200000)
    for number in steps(most_ids, 20000):
        with Server() as server:
            before = server.cpu()
            put(server.url, rows(0, number, size=150), "--create")
            points.append(Point("ids", number, (server.cpu() - before) * 1e5 / number,
                                server.resident(), server.live(), server.disk() / number))
            if number == most_ids:
                restarts.append((f"{number} records of 150 B with ids", back(server, number)))
    return points, restarts


def copies():
    """The same by one server and by three, whose costs are added; and how quick it was."""
    points, seconds = [], {}
    count = 20000
    for number in (1, 3):
        servers = cluster() if number == 3 else [Server()]
        try:
            urls = ",".join(server.url for server in servers)
            put(urls, (), "--create", "--replicas", str(number), "--max-wait", "60")
            before = sum(server.cpu() for server in servers)
            seconds[number] = put(urls, rows(0, count))
            # Acknowledged by two, and on its way to the third.
            deadline = time.monotonic() + 60
            while any((server.stream("agents") or {}).get("messages") != count
                      for server in servers):
                if time.monotonic() > deadline:
                    sys.exit("bench-bus: a copy stays behind")
                time.sleep(0.05)
            cpu = sum(server.cpu() for server in servers) - before
            points.append(Point("copies", number, cpu * 1e5 / count,
                                sum(server.resident() for server in servers),
                                sum(server.live() for server in servers),
                                sum(server.disk() for server in servers) / count))
        finally:
            for server in servers:
                server.close()
    return points, seconds[1] / seconds[3]


def edges():
    """A hub that fetches from the streams of servers on other sites, and what those take together:
    for 100,000 records. Each site is a group: a stream takes its subjects from all that are
    linked, so of the same subjects each would store the records of all."""
    points = []
    count = 20000
    for number in (1, 5):
        port, = free_ports(1)
        hub = Server(config=f"jetstream {{ domain: hub }}\n"
                            f"leafnodes {{ host: 127.0.0.1, port: {port} }}\n")
        leaves = []
        try:
            for one in range(number):
                leaves.append(Server(config=f"jetstream {{ domain: edge{one} }}\nleafnodes {{ "
                                            f"remotes: [{{ url: \"nats-leaf://127.0.0.1:{port}\" "
                                            "}] }\n"))
                make(Wire(leaves[one].url), [f"edge{one}.*.actions.>"])
            make(Wire(hub.url), None, sources=[
                {"name": "agents", "external": {"api": f"$JS.edge{one}.API"}}
                for one in range(number)])
            before = hub.cpu(), sum(leaf.cpu() for leaf in leaves)
            for one, leaf in enumerate(leaves):
                put(leaf.url, rows(0, count // number), "--prefix", f"edge{one}.agent")
            deadline = time.monotonic() + 60
            while hub.stream("agents")["messages"] < count:
                if time.monotonic() > deadline:
                    sys.exit("bench-bus: the hub does not get all")
                time.sleep(0.05)
            points.append(Point("hub", number, (hub.cpu() - before[0]) * 1e5 / count,
                                hub.resident(), hub.live(), hub.disk() / count))
            points.append(Point(
                "edges", number, (sum(leaf.cpu() for leaf in leaves) - before[1]) * 1e5 / count,
                sum(leaf.resident() for leaf in leaves), sum(leaf.live() for leaf in leaves),
                sum(leaf.disk() for leaf in leaves) / count))
        finally:
            for server in [hub, *leaves]:
                server.close()
    return points


def mixed():
    """What no coefficient was taken from: agents with ids, each by a connection of its own, and
    bus-get; [(what, predicted, measured)]."""
    found = []
    for agents_here, readers_here, count in ((30, 3, 15000), (300, 10, 6000)):
        with Server() as server:
            wires = [Wire(server.url) for _ in range(agents_here)]
            make(wires[0], ["*.actions.>"])
            running = start_readers(server, readers_here, count)
            live, before = server.live(), server.cpu()
            for turn in range(count // agents_here):
                for number, wire in enumerate(wires):
                    wire.send_once(b"agent%d.actions.1.llm_call" % number, BODY,
                                   b"%024x.1" % (turn * agents_here + number))
                for wire in wires:
                    wire.acknowledged(1)
            end_readers(running)
            what = f"{agents_here} agents, {readers_here} readers"
            found.append((f"{what}: s per 100,000", simulate.cpu(agents_here, readers_here),
                          (server.cpu() - before) * 1e5 / count))
            found.append((f"{what}: live, MB",
                          simulate.live(agents_here, readers_here) / 1e6, live / 1e6))
            found.append((f"{what}: B per record", simulate.stored(
                len(BODY), len(f"agent{agents_here // 2}.actions.1.llm_call")),
                server.disk() / count))
            for wire in wires:
                wire.close()
    return found


def main():
    points = agents(setting("BENCH_AGENTS", 10000))
    points += readers(setting("BENCH_READERS", 200))
    more, restarts = stored(setting("BENCH_STORED", 1000000))
    both, rate = copies()
    checked = mixed()
    points += more + both + edges()
    picture.table(points, rate, restarts)
    picture.slopes(points)
    print("| a check of simulate.py | predicted | measured |\n|---|---:|---:|")
    for what, predicted, measured in checked:
        print(f"| {what} | {predicted:.2f} | {measured:.2f} |")
    print(flush=True)
    if shutil.which("gnuplot"):
        os.makedirs(".build", exist_ok=True)
        picture.draw(points, os.environ.get("BENCH_PLOT") or ".build/scale.svg")
    else:
        picture.bars(points)


if __name__ == "__main__":
    main()
