"""From the spawn to the end of a command that has next to nothing to do."""
import os
import shutil
import tempfile
import time

import record
from common import median, percentile, skipped, table

SPAWNS = 60
LINE = b'{"kind":"llm_call","created_at":"2026-03-01T12:00:00.000Z","content":"a:b"}\n'


def spawn(command, line, null):
    """Milliseconds."""
    began = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, line, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.waitpid(child, 0)
    return (time.perf_counter() - began) * 1e3


def report():
    commands = {
        "jq -c .": ["jq", "-c", "."], "curl --version": ["curl", "--version"],
        "sse-tail --version": ["sse-tail", "--version"],
        "action-filter, one line": ["action-filter"],
        "action-format, one line": ["action-format"],
        "agent-serve --version": ["agent-serve", "--version"],
    }
    missing = []
    for name, command in list(commands.items()):
        path = shutil.which(command[0])
        if path:
            command[0] = path
        else:
            missing.append(name)
            del commands[name]
    null = os.open(os.devnull, os.O_WRONLY)
    taken = {name: [] for name in commands}
    with tempfile.NamedTemporaryFile() as file:
        file.write(LINE)
        file.flush()
        for turn in range(SPAWNS + 3):
            for name, command in commands.items():
                spent = spawn(command, file.name, null)
                if turn >= 3:
                    taken[name].append(spent)
    os.close(null)

    for name, values in taken.items():
        by = name.split()[0].rstrip(",")
        record.figure("start", by, "ms", median(values), runs=len(values))
        for peer, others in taken.items():
            if peer.split()[0] in ("jq", "curl") and by not in ("jq", "curl"):
                record.figure("start", by, "x", median(values) / median(others),
                              peer.split()[0], runs=len(values))

    def ratio(name, peer):
        return f"{median(taken[name]) / median(taken[peer]):.2f}" if peer in taken else ""

    rows = [[name, f"{median(values):.1f}", f"{percentile(values, 0.9):.1f}",
             ratio(name, "jq -c ."), ratio(name, "curl --version")]
            for name, values in taken.items()]
    return table("Start-up", ["command", "median ms", "p90 ms", "/ jq", "/ curl"], rows,
                 skipped(missing))
