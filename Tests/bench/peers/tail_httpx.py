"""A record a line, with httpx-sse."""
import json
import sys

import httpx
from httpx_sse import connect_sse

with httpx.Client(timeout=None) as client:
    with connect_sse(client, "GET", sys.argv[1]) as source:
        for event in source.iter_sse():
            record = {"event": event.event, "id": event.id, "data": event.json()}
            sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
            sys.stdout.flush()
