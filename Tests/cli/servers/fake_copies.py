#!/usr/bin/env python3
"""fake_copies.py BEHIND [closed | TIME]: a NATS server of a cluster with a stream of three records. The
first connection is given two of them and is lost; from then on, so many consumers are made at a copy
that has none of these two yet. `closed`: nobody may look at the stream. TIME: when the stream
was made, as the server of the second connection says it; the records were stored at eight.

With the real one, only chance has a copy behind in that moment."""
import json
import socket
import sys

behind = int(sys.argv[1])
closed = "closed" in sys.argv[2:]
times = ["2026-03-14T07:59:58Z", *(word for word in sys.argv[2:] if word != "closed")]
cluster = {"name": "c", "leader": "a"}
stream = {"type": "io.nats.jetstream.api.v1.stream_info_response", "config": {"name": "agents"},
          "created": times[0], "state": {"last_seq": 2},
          "cluster": cluster | {"replicas": [{"name": "b", "current": False, "lag": 2}]}}


def serve(file, most, made):
    boxes = {}

    def send(subject, text, reply=""):
        number = next(boxes[box] for box in boxes if subject.startswith(box.rstrip("*")))
        file.write(f"MSG {subject} {number} {reply} {len(text)}\r\n{text}\r\n".encode())

    while line := file.readline():
        words = line.decode().split()
        if not words:
            continue
        if words[0] == "PING":
            file.write(b"PONG\r\n")
        elif words[0] == "SUB":
            boxes[words[1]] = words[-1]
        elif words[0] == "PUB":
            body = file.read(int(words[-1]) + 2)
            subject, reply = words[1], words[2]
            if ".STREAM.INFO." in subject:
                if closed:
                    file.write(b"-ERR 'Permissions Violation for Publish to \"%s\"'\r\n"
                               % subject.encode())
                else:
                    send(reply, json.dumps(stream))
            elif ".CONSUMER.CREATE." in subject:
                made[0] += 1
                start = json.loads(body)["config"].get("opt_start_seq", 1)
                if 1 < made[0] <= behind + 1:
                    start = 1
                send(reply, json.dumps({
                    "name": f"n{made[0]}", "cluster": cluster, "num_pending": 4 - start,
                    "delivered": {"consumer_seq": 0, "stream_seq": start - 1}}))
            elif ".MSG.NEXT." in subject:
                for order, number in enumerate(range(start, most + 1), 1):
                    send(reply, f'{{"n":{number}}}',
                         f"$JS.ACK.agents.n.1.{number}.{order}.1773475200000000000.{3 - number}")
                if most < 3:
                    file.flush()
                    return
        file.flush()


listener = socket.create_server(("127.0.0.1", 0))
url = f"nats://127.0.0.1:{listener.getsockname()[1]}"
print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
made = [0]
most = 2
while True:
    link = listener.accept()[0]
    file = link.makefile("rwb")
    file.write(b'INFO {"server_id":"F","version":"2.9.10","proto":1,"headers":true,'
               b'"max_payload":1048576}\r\n')
    file.flush()
    try:
        serve(file, most, made)
    except OSError:
        pass
    most = 3
    stream["created"] = times[-1]
    try:
        file.close()
    except OSError:
        pass
    link.close()
