"""Many getters of one stream, and much to catch up with behind a link that was cut."""
import os
import socket
import subprocess
import time

from peers import piped, run, wait_until
from report import setting

SIZE = 2000


def getters(ground, report):
    count, each = setting("BENCH_GETTERS", 200), setting("BENCH_EACH", 500)
    server = ground.server
    server.make("many")
    records = ground.records(each, SIZE)
    run(ground.ours_put("many"), records)
    with open(records, "rb") as file:
        right = file.read()
    took = {}
    for name in ("cnats", "bus-get"):
        paths = [os.path.join(ground.tmp, f"got{number}") for number in range(count)]
        began, processes = time.monotonic(), []
        for number, path in enumerate(paths):
            command = ground.ours_get("many", "-n", str(each)) if name == "bus-get" \
                else ground.peer_get("many", f"g{number}", each)
            with open(path, "wb") as file:
                processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file))
        failed = sum(1 for process in processes if process.wait())
        took[name] = time.monotonic() - began
        for path in paths:
            with open(path, "rb") as file:
                failed += file.read() != right
            os.unlink(path)
        if failed:
            raise RuntimeError(f"{failed} of {count} getters of {name} do not have all")
    ours, theirs = took["bus-get"], took["cnats"]
    report.row(f"{count} getters of {each} records until all have all", f"{ours:.1f} s",
               f"cnats {theirs:.1f} s", "", "", ours / theirs, f"{ours / theirs:.2f}x",
               note="none lost", against="cnats")
    server.forget("many")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as door:
        return door.getsockname()[1]


def catch_up(ground, report):
    megabytes = setting("BENCH_MB", 1000)
    count, port = megabytes * 1000000 // SIZE, free_port()
    hub = ground.serve("hub", f'server_name: hub\njetstream {{ store_dir: "{ground.tmp}/hub/store",'
                       f' domain: hub }}\nleafnodes {{ listen: "127.0.0.1:{port}" }}\n')
    edge = ground.serve("edge", f'server_name: edge\njetstream {{ store_dir: "{ground.tmp}/edge/'
                        f'store", domain: edge }}\nleafnodes {{ remotes: '
                        f'[{{ url: "nats-leaf://127.0.0.1:{port}" }}] }}\n')
    edge.make("edge")
    hub.make("hub", sources=[{"name": "edge", "external": {"api": "$JS.edge.API", "deliver": ""}}])
    few = ground.records(10, SIZE)
    run(ground.ours_put("edge", edge), few)
    # The way is known to be right before it is cut.
    wait_until(60, "the first records in the hub", lambda: hub.holds("hub") == 10)
    hub.stop()
    records = ground.records(count, SIZE)
    run(ground.ours_put("edge", edge) + ["--id", "none"], records)
    hub.start()
    began = time.monotonic()
    wait_until(120, "a record from the edge", lambda: hub.holds("hub") > 10)
    first = time.monotonic() - began
    wait_until(600, "all in the hub", lambda: hub.holds("hub") >= count + 10)
    took = time.monotonic() - began
    if hub.holds("hub") != count + 10:
        raise RuntimeError(f"{hub.holds('hub')} records of {count + 10}")
    report.row(f"{megabytes} MB from an edge that was cut off", f"{took:.1f} s",
               f"the first after {first:.1f} s", "", "",
               note=f"{megabytes / max(took - first, 0.001):.0f} MB/s then; none lost, none double")
    theirs = [piped(ground.peer_get("hub", "peer", count, server=hub))]
    ours = [piped(ground.ours_get("hub", "-n", str(count), server=hub))]
    report.ratio(f"bus-get of these {megabytes} MB", ours, theirs, "cnats", 1, "s")
    for server in (hub, edge):
        ground.servers.remove(server)
        server.stop()
