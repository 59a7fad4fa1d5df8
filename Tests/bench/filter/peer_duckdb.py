"""peer_duckdb TEST FILE: the tests as queries of DuckDB on two threads.

The time without Python's own start goes to the file that BENCH_CLOCK names.
"""

import os
import sys
import time

import duckdb

began, used = time.monotonic(), time.process_time()
# Without ignore_errors a member that is there twice ends the query.
TABLE = """(SELECT {outer} FROM read_json('{path}', format='newline_delimited',
  ignore_errors=true, columns={{{columns}, 'data': 'STRUCT({struct})'}}))"""
TYPES = {"id": "BIGINT", "created_at": "VARCHAR", "kind": "VARCHAR", "usd_cost": "DOUBLE"}


def table(path, *names):
    """The actions of a file, bare or wrapped, with these members."""
    return TABLE.format(
        path=path.replace("'", "''"),
        outer=", ".join(f"coalesce(data.{name}, {name}) AS {name}" for name in names),
        columns=", ".join(f"'{name}': '{TYPES[name]}'" for name in names),
        struct=", ".join(f"{name} {TYPES[name]}" for name in names))


def lines(path, condition, *names):
    """The lines of the actions for which a condition on members holds."""
    member = "coalesce(json->>'$.data.{0}', json->>'$.{0}') AS {0}"
    return (
        f"SELECT json FROM (SELECT json, {', '.join(member.format(name) for name in names)} "
        f"FROM read_ndjson_objects('{path}')) WHERE {condition}")


def main():
    test, path = sys.argv[1:]
    database = duckdb.connect()
    database.execute("SET threads = 2")
    if test == "t3":
        fields = ("id", "created_at", "kind", "usd_cost")
        database.execute(
            f"COPY (SELECT {', '.join(fields)} FROM {table(path, *fields)}) "
            "TO '/dev/stdout' (FORMAT json)")
    elif test == "t5":
        rows = database.execute(
            f"SELECT kind, count(*), sum(usd_cost) FROM {table(path, 'kind', 'usd_cost')} "
            "GROUP BY kind").fetchall()
        for kind, count, cost in rows:
            print(f'{{"kind":"{kind}","count":{count},"usd_cost":{cost!r}}}')
    else:
        query = {
            "t1": (("kind",), "kind = 'llm_error'"),
            "t2": (
                ("kind", "usd_cost"),
                "kind IN ('llm_call', 'llm_error', 'llm_tool_call') AND "
                "CAST(usd_cost AS DOUBLE) >= 0.01"),
            "t4": (("content",), "contains(lower(content), 'rate limit')"),
        }[test]
        rows = database.execute(lines(path, query[1], *query[0])).fetchall()
        sys.stdout.writelines(f"{line}\n" for (line,) in rows)
    sys.stdout.flush()
    if "BENCH_CLOCK" in os.environ:
        with open(os.environ["BENCH_CLOCK"], "w") as clock:
            clock.write(f"{time.monotonic() - began} {time.process_time() - used}")


main()
