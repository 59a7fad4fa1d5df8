"""The rows of README's table. A text is left out when a figure in it was not measured, and a
row when that leaves it without figures. For the form of a field see words.py."""
from dataclasses import dataclass

PEERS = ("jq", "gojq", "Miller", "msgspec", "DuckDB", "simdjson")
THREADS = {"DuckDB": " (2 threads)"}


@dataclass
class Row:
    """`ours` and `others` are texts that stand one behind the other."""

    what: str
    ours: tuple
    others: tuple = ()
    between: str = ", "


def selects(test, what):
    """A row of what action-filter selects, beside everybody."""
    field = "{{filter/{0}|CPU|action-filter/{1}|inverse}}×"
    return Row(what, ("`action-filter`",),
               tuple(f"{peer}{THREADS.get(peer, '')} {field.format(test, peer)}" for peer in PEERS))


def on_both(text):
    """Ours over libssh2, and in brackets over ssh: `§` stands for the transport."""
    field = text[text.index("{"):text.index("}") + 1]
    return (text.replace("§", "libssh2") + f"[[ (transport ssh: {field.replace('§', 'ssh')})]]",)


TIMES = "`tmux-attach`: {ssh/%s|%s, §|tmux-attach/%s} times"
STREAM = ("{{bench/stream|time|{0}/curl}} times its time, {{bench/stream|CPU|{0}/curl}} times its "
          "CPU, {{bench/stream|memory|{0}}} MiB")
BROKEN = "{ssh/loss|%s, libssh2|tmux-attach|.1}"

ROWS = (
    Row("one stream of 2 KB events, {bench/stream|time|sse-tail/curl|size}",
        ("`sse-tail` (a checked record each): {bench/stream|time|sse-tail/curl} times the time of "
         "curl, {bench/stream|CPU|sse-tail/curl} times its CPU, "
         "{bench/stream|memory|sse-tail|.1} MiB",),
        ("`curl -sN` (bytes only): {bench/stream|time|curl} s, {bench/stream|memory|curl|.1} MiB",
         "beside curl, over {bench/stream|time|Node fetch/curl|size}: Node fetch "
         + STREAM.format("Node fetch"),
         "Python httpx-sse " + STREAM.format("httpx-sse")), "; "),
    Row("one event of {bench/stream|memory, one large event|sse-tail|size}",
        ("`sse-tail`: {bench/stream|memory, one large event|sse-tail} MiB",)),
    Row("event to line, median", ("`sse-tail`: {bench/latency|delay|sse-tail} µs",),
        ("`curl -sN` {bench/latency|delay|curl}", "httpx-sse {bench/latency|delay|httpx-sse}",
         "Node fetch {bench/latency|delay|Node fetch}")),
    Row("one WebSocket, messages of 2 KB, {bench/socket|time|ws-tail|size}",
        ("`ws-tail` (a checked record each): {bench/socket|time|ws-tail|.1} s, "
         "{bench/socket|memory|ws-tail} MiB",),
        ("Python websockets {bench/socket|time|ws-tail/websockets|inverse}× the time "
         "({bench/socket|time|ws-tail/websockets, JSON unseen|inverse}× if it does not look at "
         "the JSON), {bench/socket|memory|websockets} MiB",
         "Node WebSocket {bench/socket|time|ws-tail/Node WebSocket|inverse}×, "
         "{bench/socket|memory|Node WebSocket} MiB"), "; "),
    Row("message to line, median",
        ("`ws-tail`: {bench/socket|delay|ws-tail/sse-tail} times `sse-tail`",),
        ("websockets {bench/socket|delay|websockets/sse-tail}",
         "Node WebSocket {bench/socket|delay|Node WebSocket/sse-tail}")),
    *(Row("{bench/fanout|%s: p50|agent-serve|size}" % crowd,
          ("`agent-serve`: p50 {bench/fanout|%s: p50|agent-serve|range .0}, p99 "
           "{bench/fanout|%s: p99|agent-serve|range .0} ms; "
           "{bench/fanout|%s: delivered|agent-serve|.0} %% delivered, "
           "{bench/fanout|%s: memory|agent-serve} MiB" % ((crowd,) * 4),))
      for crowd in ("200", "1000")),
    Row("start-up, median",
        ("`action-format` {bench/startup|start|action-format|.1} ms",
         "`action-filter` {bench/startup|start|action-filter|.1}",
         "`agent-serve` {bench/startup|start|agent-serve|.1}",
         "`sse-tail` {bench/startup|start|sse-tail|.1}"),
        ("`curl` {bench/startup|start|curl|.1}", "`jq` {bench/startup|start|jq|.1}")),
    selects("t1", "select one kind, CPU, {filter/t1|CPU|action-filter/jq|size}"),
    selects("t2", "three kinds and a cost"),
    selects("t3", "four members"),
    selects("t4", "a text, case ignored"),
    selects("t5", "count and cost by kind"),
    Row("the same file, memory and time",
        ("`action-filter`: {filter/size|memory|action-filter|.1} MiB, "
         "{filter/t1|time|action-filter/cat} times the time of `cat`",
         "with `--fast` {filter/t1|time|action-filter/wc -l} times that of `wc -l`")),
    Row("a plain file on all cores, {archive/plain|one kind|action-filter/cat|size}",
        ("`action-filter`: {archive/plain|one kind|action-filter/cat} times the time of `cat`",)),
    Row("a rare kind in {archive/rare|rare kind|action-filter|size}",
        ("`action-filter`: {archive/rare|rare kind|action-filter} ms",),
        ("DuckDB on Parquet {archive/rare|rare kind|action-filter/DuckDB, Parquet|inverse}× "
         "(as a program {archive/rare|rare kind, whole|action-filter/DuckDB, Parquet|inverse}×)",
         "DuckDB on NDJSON {archive/rare|rare kind|action-filter/DuckDB, NDJSON|inverse}×",
         "`zstdcat \\| jq` {archive/rare|rare kind|action-filter/jq|inverse}×")),
    Row("a day of it", ("`action-filter -S -B`: {archive/day|a day|action-filter} ms",),
        ("DuckDB on Parquet {archive/day|a day|action-filter/DuckDB, Parquet|inverse}×",
         "DuckDB on NDJSON {archive/day|a day|action-filter/DuckDB, NDJSON|inverse}×",
         "`zstdcat \\| jq` {archive/day|a day|action-filter/jq|inverse}×")),
    Row("everything in it",
        ("`action-filter`: counted at {archive/all|all, counted|action-filter/zstd|inverse} times "
         "the speed of bare decompression", "printed at "
         "{archive/all|all, printed|action-filter/zstd|inverse}"),
        ("`zstd -d` on all cores, {archive/all|all|zstd} MB/s",)),
    Row("fold the events of a Pincer server, CPU, {bench/fold|CPU|turn-fold|size}",
        ("`turn-fold -f`: {bench/fold|CPU|turn-fold} s",
         "{bench/fold|memory, the large one|turn-fold} MiB whatever the size"),
        ("the same records made by jq {bench/fold|CPU|turn-fold/jq|inverse}×",)),
    Row("attach to prompt", on_both(TIMES % ("attach", "attach to prompt", "ssh")),
        ("`ssh -t`: {ssh/attach|attach to prompt, libssh2|ssh} ms",)),
    Row("key echo through tmux",
        on_both(TIMES % ("echo", "key echo through tmux, the agent's, median", "ssh")),
        ("`ssh -t`: {ssh/echo|key echo through tmux, the agent's, median, libssh2|ssh} ms",)),
    Row("raw terminal, MB/s", on_both(TIMES % ("pour", "raw terminal, * MB", "ssh")),
        ("`ssh -t`: {ssh/pour|raw terminal, * MB, libssh2|ssh}",)),
    Row("an agent's change of state to a line of `tmux-attach -w`, over SSH",
        ("{ssh/watch|change of state to line, libssh2|tmux-attach|range .0} ms in the median, "
         "{ssh/watch|change of state to line, at most, libssh2|tmux-attach} at most"
         "[[ (transport ssh: {ssh/watch|change of state to line, ssh|tmux-attach|range .0}, "
         "{ssh/watch|change of state to line, at most, ssh|tmux-attach})]]",)),
    Row("list sessions beside an attached terminal",
        on_both(TIMES % ("manage", "list beside an attached terminal", "ssh, ControlMaster")),
        ("`ssh`, ControlMaster: "
         "{ssh/manage|list beside an attached terminal, libssh2|ssh, ControlMaster} ms",)),
    Row("type into one",
        on_both(TIMES % ("manage", "inject beside an attached terminal", "ssh, ControlMaster")),
        ("`ssh`, ControlMaster: "
         "{ssh/manage|inject beside an attached terminal, libssh2|ssh, ControlMaster} ms",)),
    Row("upload of a large file, MB/s",
        on_both("`share-inbox`: {inbox/upload|upload of * MB, §|share-inbox/scp} times"),
        ("`scp`: {inbox/upload|upload of * MB, libssh2|scp}",)),
    Row("many small files",
        on_both("`share-inbox`: {inbox/small|* small files, §|share-inbox/scp} times as fast"),
        ("a loop of `scp`",)),
    Row("a broken link",
        ("back at the prompt " + BROKEN % "back at the prompt after a reset" + " s after a reset",
         "a dead link noticed after " + BROKEN % "half-open noticed" + " s",
         "{ssh/idle|RSS, libssh2|tmux-attach|.1} MB, "
         "{ssh/idle|idle CPU, between tries, libssh2|tmux-attach|.2} % of a core while it waits"),
        ("`ssh`: never",), "; "),
    Row("records of 2 KB on a bus, a second",
        ("`bus-put`: {bus/put|bus-put, records a second|bus-put/cnats|range} times",
         "`bus-get`: {bus/get|bus-get alone, records a second|bus-get/cnats|range}",
         "acknowledging {bus/get|bus-get acknowledging, records a second|bus-get/cnats|range}"),
        ("loops of the C client, {bus/[pg][ue]t|bus-*|cnats|range}",)),
    Row("a line into `bus-put` and out of `bus-get`",
        ("{bus/latency|line in to line out, p50|bus-get} ms in the median",
         "behind a stopped reader {bus/memory|stopped reader, 2 KB records, alone|bus-get|.1} MB, "
         "with records of 1 MB {bus/memory|stopped reader, 1 MB records, *|bus-get|range .1}"),
        ("a pair of C clients, {bus/latency|line in to line out, p50|cnats} ms",), "; "),
    Row("installed, MB", ("{size/install|with agent-serve|agentutils|.1}",
                          "without `agent-serve` {size/install|without agent-serve|agentutils|.1}")),
)
