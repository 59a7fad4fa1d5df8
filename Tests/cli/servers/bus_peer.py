#!/usr/bin/env python3
"""bus_peer.py URL WORD ARG...: an independent client of a bus, NATS's own for Python.

stream NAME KEY=VALUE...  makes a stream; subjects=a,b; numbers as they are
dump NAME                 each record of a stream: its subject, a blank, its bytes
ids NAME                  each record's message id
purge NAME                forgets all records of a stream
delete NAME               and the stream itself
forget NAME CONSUMER      deletes a consumer of it
info NAME                 the stream's configuration and state, JSON
consumer STREAM NAME      a consumer's state, JSON
api SUBJECT               asks JetStream, with standard input; the answer
leader NAME               the server that leads it
put SUBJECT [ID]          standard input's lines, as they are, to a subject
take STREAM NAME COUNT    records of a durable consumer, acknowledged
"""
import asyncio
import json
import sys

import nats
from nats.js import api


async def everything(js, stream):
    info = await js.stream_info(stream)
    if not info.state.messages:
        return
    sub = await js.subscribe(">", stream=stream, ordered_consumer=True)
    while True:
        message = await sub.next_msg(timeout=10)
        yield message
        if message.metadata.num_pending == 0:
            return


async def main(url, word, *args):
    link = await nats.connect(url, allow_reconnect=False)
    js = link.jetstream()
    out = sys.stdout.buffer
    if word == "stream":
        config = dict(pair.split("=", 1) for pair in args[1:])
        subjects = config.pop("subjects", "actions.>,events.>,records.>,voice.>").split(",")
        values = {k: float(v) if v.lstrip("-").replace(".", "").isdigit() else v
                  for k, v in config.items()}
        values = {k: int(v) if isinstance(v, float) and v == int(v) else v
                  for k, v in values.items()}
        await js.add_stream(api.StreamConfig(name=args[0], subjects=subjects, **values))
    elif word == "dump":
        async for message in everything(js, args[0]):
            out.write(message.subject.encode() + b" " + message.data + b"\n")
    elif word == "ids":
        async for message in everything(js, args[0]):
            out.write((message.headers or {}).get("Nats-Msg-Id", "-").encode() + b"\n")
    elif word == "info":
        info = await js.stream_info(args[0])
        print(json.dumps({**info.config.as_dict(), **info.state.as_dict()}, default=str))
    elif word == "api":
        reply = await link.request("$JS.API." + args[0], sys.stdin.buffer.read(), timeout=10)
        out.write(reply.data + b"\n")
    elif word == "purge":
        await js.purge_stream(args[0])
    elif word == "delete":
        await js.delete_stream(args[0])
    elif word == "forget":
        await js.delete_consumer(args[0], args[1])
    elif word == "leader":
        print((await js.stream_info(args[0])).cluster.leader)
    elif word == "consumer":
        info = await js.consumer_info(*args)
        print(json.dumps({"pending": info.num_pending, "unacknowledged": info.num_ack_pending}))
    elif word == "put":
        headers = {"Nats-Msg-Id": args[1]} if len(args) > 1 else None
        for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
            await js.publish(args[0], line, headers=headers)
    elif word == "take":
        sub = await js.pull_subscribe("", durable=args[1], stream=args[0])
        left = int(args[2])
        while left:
            for message in await sub.fetch(min(left, 100), timeout=10):
                out.write(message.data + b"\n")
                await message.ack_sync()
                left -= 1
    await link.close()


asyncio.run(main(*sys.argv[1:]))
