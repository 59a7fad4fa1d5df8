"""Many records, one after the other: bus-put and bus-get beside the loops of the C client."""
from peers import piped, run
from report import setting

SIZE = 2000


def put(ground, report):
    count = setting("BENCH_RECORDS", 30000)
    records = ground.records(count, SIZE)
    theirs, ours = [], []
    for turn in range(setting("BENCH_ROUNDS", 5)):
        # A stream of its own each time: nothing is there twice.
        for stream, took in ((f"peer{turn}", theirs), (f"ours{turn}", ours)):
            ground.server.make(stream)
            command = ground.ours_put(stream) if took is ours \
                else [ground.put, ground.server.url, stream]
            took.append(count / run(command, records))
            has = ground.server.holds(stream)
            if has != count:
                raise RuntimeError(f"{stream}: {has} records of {count}")
            ground.server.forget(stream)
    report.ratio("bus-put, records a second", ours, theirs, "cnats", 1, "/s", 0.6, 0.9, more=True)


def get(ground, report):
    count = setting("BENCH_RECORDS", 30000)
    ground.server.make("flow")
    run([ground.put, ground.server.url, "flow"], ground.records(count, SIZE))
    for acks, what in (("none", "alone"), ("each", "acknowledging")):
        theirs, ours = [], []
        for turn in range(setting("BENCH_ROUNDS", 5)):
            name = f"{acks}{turn}"
            shared = ["-d", f"ours{turn}"] if acks == "each" else []
            theirs.append(count / piped(ground.peer_get("flow", name, count, acks)))
            ours.append(count / piped(ground.ours_get("flow", "-n", str(count), *shared)))
        report.ratio(f"bus-get {what}, records a second", ours, theirs, "cnats", 1, "/s", 0.6, 0.9,
                     more=True)
    ground.server.forget("flow")


def start(ground, report):
    ground.server.make("start")
    run([ground.put, ground.server.url, "start"], ground.records(10, SIZE))
    theirs, ours = [], []
    for turn in range(4 * setting("BENCH_ROUNDS", 5)):
        theirs.append(run(ground.peer_get("start", f"start{turn}", 1)))
        ours.append(run(ground.ours_get("start", "-n", "1")))
    report.ratio("bus-get -n 1, start to end", ours, theirs, "cnats", 1e3, "ms")
    ground.server.forget("start")
