"""peer_duckdb make TEXT PARQUET: a Parquet file (zstd) for each NDJSON file of a folder.
peer_duckdb kind FORM KIND PATTERN: the actions of a kind, as NDJSON, from the Parquet or NDJSON
files of a pattern, with as many threads as there are cores.

The seconds of the query, without the start of Python, go to the file that BENCH_CLOCK names.
"""
import os
import sys
import time

import duckdb

TYPES = {"id": "BIGINT", "created_at": "TIMESTAMP", "guild_id": "VARCHAR",
         "channel_id": "VARCHAR", "message_id": "VARCHAR", "user_id": "VARCHAR",
         "kind": "VARCHAR", "content": "VARCHAR", "metadata": "JSON", "usd_cost": "DOUBLE"}


def quoted(text):
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def actions(pattern):
    """The actions of NDJSON files, bare or in an event."""
    members = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in TYPES.items())
    inner = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    outer = ", ".join(f"coalesce(data.{name}, outside.{name}) AS {name}" for name in TYPES)
    return (f"(SELECT {outer} FROM read_json({quoted(pattern)}, format='newline_delimited', "
            f"columns={{{members}, 'data': 'STRUCT({inner})'}}) AS outside)")


def make(database, text, parquet):
    """File by file, so that each day has its own."""
    for name in sorted(os.listdir(text)):
        source, target = os.path.join(text, name), os.path.join(parquet, name)
        database.execute(
            f"COPY {actions(source)} TO {quoted(target.removesuffix('.ndjson') + '.parquet')} "
            "(FORMAT parquet, COMPRESSION zstd)")


def of_kind(database, form, kind, pattern):
    """The actions of one kind to standard output."""
    source = f"read_parquet({quoted(pattern)})" if form == "parquet" else actions(pattern)
    database.execute(f"COPY (SELECT * FROM {source} WHERE kind = {quoted(kind)}) "
                     "TO '/dev/stdout' (FORMAT json)")


def main():
    began = time.monotonic()
    database = duckdb.connect()
    database.execute("SET enable_progress_bar = false")
    {"make": make, "kind": of_kind}[sys.argv[1]](database, *sys.argv[2:])
    if "BENCH_CLOCK" in os.environ:
        with open(os.environ["BENCH_CLOCK"], "w") as clock:
            clock.write(f"{time.monotonic() - began}")


main()
