"""The rows of the picture, and those of them that README's table has; figures.md has every figure.
A text is left out when a figure in it was not measured, and a row when that leaves it without
figures. For the form of a field see words.py."""
from dataclasses import dataclass


@dataclass
class Row:
    """`ours` and `others` are texts that stand one behind the other."""

    what: str
    ours: tuple
    others: tuple = ()
    between: str = ", "
    is_first: bool = False  # one of those that README shows


def takes(peer, test):
    """How many times as much processor time a peer takes to select actions."""
    return f"{peer} {{filter/{test}|CPU|action-filter/{peer.split(' (')[0]}|inverse}}×"


ROWS = (
    Row("one stream of 2 KB events, {bench/stream|time|sse-tail/curl|size}",
        ("`sse-tail` (a checked record each): {bench/stream|memory|sse-tail|.1} MiB",),
        ("`curl -sN` (bytes only) {bench/stream|time|sse-tail/curl|inverse}×",
         "of processor time {bench/stream|CPU|sse-tail/curl|inverse}×")),
    Row("event to line, median", ("`sse-tail`: {bench/latency|delay|sse-tail} µs",),
        ("`curl -sN` {bench/latency|delay|curl} µs", "httpx-sse {bench/latency|delay|httpx-sse}",
         "Node fetch {bench/latency|delay|Node fetch}"),
        is_first=True),
    Row("select one kind, processor time, {filter/t1|CPU|action-filter/jq|size}",
        ("`action-filter`",),
        tuple(takes(peer, "t1") for peer in ("jq", "gojq", "Miller", "msgspec",
                                             "DuckDB (2 threads)", "simdjson")),
        is_first=True),
    Row("select one kind on all cores, {archive/plain|one kind|action-filter/cat|size}",
        ("`action-filter`",), ("`cat` {archive/plain|one kind|action-filter/cat|inverse}×",)),
    Row("a rare kind in {archive/rare|rare kind|action-filter|size}",
        ("`action-filter`: {archive/rare|rare kind|action-filter} ms",),
        ("DuckDB on Parquet {archive/rare|rare kind|action-filter/DuckDB, Parquet|inverse}×",
         "DuckDB on NDJSON {archive/rare|rare kind|action-filter/DuckDB, NDJSON|inverse}×",
         "`zstdcat \\| jq` {archive/rare|rare kind|action-filter/jq|inverse}×"),
        is_first=True),
    Row("attach to prompt",
        ("`tmux-attach`: {ssh/attach|attach to prompt, libssh2|tmux-attach} ms",),
        ("`ssh -t` {ssh/attach|attach to prompt, libssh2|tmux-attach/ssh|inverse}×"
         "[[ (with `--transport ssh` {ssh/attach|attach to prompt, ssh|tmux-attach/ssh|inverse}×)]]",
         ),
        is_first=True),
    Row("upload many small files", ("`share-inbox`",),
        ("a loop of `scp` {inbox/small|* small files, libssh2|share-inbox/scp}×",)),
    Row("records of 2 KB onto a bus",
        ("`bus-put`: {bus/put|bus-put, records a second|bus-put} a second",),
        ("a loop of the C client {bus/put|bus-put, records a second|bus-put/cnats}×",)),
    Row("records of 2 KB from a bus",
        ("`bus-get`: {bus/get|bus-get alone, records a second|bus-get} a second",),
        ("a loop of the C client {bus/get|bus-get alone, records a second|bus-get/cnats}×",)),
    Row("an event to {bench/serve|CPU of events|agent-serve|size}, processor time",
        ("`agent-serve` (stored first): {bench/serve|CPU of events|agent-serve} ms",),
        ("nginx with nchan (in memory) {bench/serve|CPU of events|agent-serve/nchan|inverse}×",)),
    Row("a GET of a few bytes, processor time",
        ("`agent-serve`: {bench/serve|CPU of a GET|agent-serve} µs",),
        ("nginx {bench/serve|CPU of a GET|agent-serve/nginx|inverse}×",)),
    Row("installed", ("{size/install|with agent-serve|agentutils|.1} MB",
                      "without `agent-serve` {size/install|without agent-serve|agentutils|.1} MB"),
        is_first=True),
)
