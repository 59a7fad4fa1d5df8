"""From the spawn to the end of a command that asks the backend once."""
import json
import os
import shutil
import socket
import threading

import record
from common import HERE, median, percentile, skipped, table
from startup import spawn

ROUNDS = 60
MEMORY = b"/api/memory/search?q=boat&guildId=1&limit=10"
STATE = os.path.join(HERE, "..", "cli", "servers", "recorded", "voice-state.http")


def answers():
    """The bytes of an answer by path."""
    with open(STATE, "rb") as file:
        state = file.read().partition(b"\r\n\r\n")[2]
    facts = [{"id": number, "created_at": "2026-03-01T12:00:00.000Z", "scope": "user",
              "updated_at": "2026-03-01T12:00:00.000Z", "subject": "400118822734659584",
              "fact": "crews on a small sailing boat at weekends " * 3, "confidence": 0.84,
              "fact_type": "profile", "evidence_text": "we are out on the boat again saturday",
              "score": 0.9} for number in range(10)]
    hits = json.dumps({"queryText": "boat", "guildId": "1", "limit": 10, "results": facts}).encode()
    return {path: b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (len(body), body)
            for path, body in ((b"/api/health", b'{"ok":true}'), (b"/api/voice/state", state),
                               (MEMORY, hits))}


def serve(listener, known):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            request = connection.recv(65536)
            connection.sendall(known.get(request.split(b" ", 2)[1], b"HTTP/1.1 404 No\r\n\r\n"))


def report():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    threading.Thread(target=serve, args=(listener, answers()), daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    os.environ["AGENT_URL"] = url
    commands = {
        "curl -s .../api/health": ["curl", "-s", f"{url}/api/health"],
        "agent-call health": ["agent-call", "health"],
        "curl -s .../api/voice/state": ["curl", "-s", f"{url}/api/voice/state"],
        "agent-call get /api/voice/state": ["agent-call", "get", "/api/voice/state"],
        "curl -s .../api/memory/search": ["curl", "-s", url + MEMORY.decode()],
        "mem-search boat, 10 facts": ["mem-search", "-g", "1", "boat"],
    }
    peers = {name: name if name.startswith("curl") else None for name in commands}
    peer = None
    missing = []
    for name, command in list(commands.items()):
        peer = peers[name] = peers[name] or peer
        path = shutil.which(command[0])
        if path:
            command[0] = path
        else:
            missing.append(name)
            del commands[name]
    null = os.open(os.devnull, os.O_WRONLY)
    taken = {name: [] for name in commands}
    # Interleaved, so that a busy moment of the machine strikes all.
    for turn in range(ROUNDS + 3):
        for name, command in commands.items():
            spent = spawn(command, os.devnull, null)
            if turn >= 3:
                taken[name].append(spent)
    os.close(null)
    listener.close()
    for name, values in taken.items():
        if peers[name] in taken and peers[name] != name:
            record.figure(name, name.split()[0], "x",
                          median(values) / median(taken[peers[name]]), "curl", runs=len(values))
    rows = [[name, f"{median(values):.1f}", f"{percentile(values, 0.9):.1f}",
             f"{median(values) / median(taken[peers[name]]):.2f}" if peers[name] in taken else ""]
            for name, values in taken.items()]
    return table("One question", ["command", "median ms", "p90 ms", "/ curl"], rows,
                 skipped(missing))
