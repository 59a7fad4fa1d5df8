"""What each tool is told to answer the five tests; who is there to be asked."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))
import record
TESTS = {
    "t1": "one kind",
    "t2": "three kinds and a minimum cost",
    "t3": "four members as compact JSON",
    "t4": "text in the content, case ignored",
    "t5": "count and cost by kind",
}

OURS = {
    "t1": ["-k", "llm_error"],
    "t2": ["-k", "llm_call,llm_error,llm_tool_call", "-x", "0.01"],
    "t3": ["-o", "id,created_at,kind,usd_cost"],
    "t4": ["-i", "-F", "rate limit"],
    "t5": ["--by", "kind"],
}

ACTION = "(.data // .)"
JQ = {
    "t1": [f'select({ACTION}.kind == "llm_error")'],
    "t2": [
        f'select({ACTION} | (.kind == "llm_call" or .kind == "llm_error" or '
        '.kind == "llm_tool_call") and (.usd_cost | type) == "number" and .usd_cost >= 0.01)'],
    "t3": [f"{ACTION} | {{id, created_at, kind, usd_cost}}"],
    "t4": [f'select({ACTION}.content // "" | test("rate limit"; "i"))'],
    "t5": [
        "-n",
        f"reduce (inputs | {ACTION}) as $a ({{}}; .[$a.kind].count += 1 | "
        ".[$a.kind].usd_cost += ($a.usd_cost // 0)) | "
        "to_entries[] | {kind: .key} + .value"],
}

MAP = "map a = is_map($data) ? $data : $*;"
MILLER = {
    "t1": ["filter", MAP + 'a["kind"] == "llm_error"'],
    "t2": [
        "filter",
        MAP + '(a["kind"] == "llm_call" || a["kind"] == "llm_error" || '
        'a["kind"] == "llm_tool_call") && is_numeric(a["usd_cost"]) && a["usd_cost"] >= 0.01'],
    "t3": ["put", "-q", MAP + 'map b = mapselect(a, "id", "created_at", "kind", "usd_cost"); emit b'],
    "t4": ["filter", MAP + 'a["content"] =~ "rate limit"i'],
    "t5": [
        "put", "-q",
        MAP + 'num usd = is_numeric(a["usd_cost"]) ? a["usd_cost"] : 0; @count[a["kind"]] += 1; '
        '@usd_cost[a["kind"]] += usd; end { emit (@count, @usd_cost), "kind" }'],
}


@dataclass
class Peer:
    """A tool that answers some of the tests."""

    name: str
    command: callable  # (test, file) -> argv
    tests: tuple = tuple(TESTS)
    keeps_bytes: bool = False
    is_slow: bool = False  # not asked about more than 200 MB


def version(*argv):
    """The first number that a tool says it is."""
    try:
        said = subprocess.run(argv, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\d+(\.\d+)+", said.stdout + said.stderr)
    return " " + found.group() if found else ""


def find(exact, note):
    """The peers of this machine, the exact one first.

    - exact: the compiled simdjson program, or None.
    - note: told of each that is missing.
    """
    peers = []
    if exact:
        peers.append(Peer("simdjson, exact", lambda test, file: [exact, test, file], keeps_bytes=True))
    if shutil.which("jq"):
        name = "jq" + version("jq", "--version")
        peers.append(Peer(name, lambda test, file: ["jq", "-c", *JQ[test], file], is_slow=True))
    if shutil.which("gojq"):
        name = "gojq" + version("gojq", "--version")
        peers.append(Peer(name, lambda test, file: ["gojq", "-c", *JQ[test], file], is_slow=True))
    if shutil.which("mlr"):
        name = "Miller" + version("mlr", "--version")
        peers.append(
            Peer(
                name, lambda test, file: ["mlr", "--ijsonl", "--ojsonl", *MILLER[test], file],
                is_slow=True))
    if shutil.which("rg") and shutil.which("jq"):
        peers.append(Peer("rg | jq", piped, tests=("t1", "t4")))
    for module, keeps_bytes in (("msgspec", True), ("duckdb", True)):
        python = record.python(module)
        if python:
            name = {"msgspec": "Python, msgspec", "duckdb": "DuckDB, 2 threads"}[module]
            script = os.path.join(HERE, f"peer_{module}.py")
            peers.append(
                Peer(
                    name,
                    lambda test, file, python=python, script=script: [python, script, test, file],
                    keeps_bytes=keeps_bytes))
        else:
            note(f"no Python module {module}")
    for tool in ("jq", "gojq", "mlr", "rg"):
        if not shutil.which(tool):
            note(f"no {tool}")
    return peers


def piped(test, file):
    """Candidates by text first; what the escapes of JSON hide is lost."""
    search = {"t1": "-F llm_error", "t4": "-i 'rate limit'"}[test]
    return ["sh", "-c", f'rg {search} "$1" | jq -c "$2"', "sh", file, *JQ[test]]
