#!/usr/bin/env python3
"""A Pincer server of PyPI connectrpc and hypercorn: its wire is not ours.

usage: pincer_connect.py --wire FOLDER [--token TOKEN] [--log FILE] [--control FIFO]
                         [--page N] [--pace SECONDS]

Prints a `listening` record. FOLDER keeps what is generated from pincer.proto. What it
knows, and the orders it takes, is in pincer_store.py; what a turn does, in pincer_turns.py.
Every call is a line of the log: {"method":...,"headers":{...},"request":{...}}.
"""
import argparse
import asyncio
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import pincer_calls
import pincer_orders
from pincer_store import Refusal, Store

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pincer.proto")

options = argparse.ArgumentParser(add_help=False)
options.add_argument("--wire", required=True)
options.add_argument("--token")
options.add_argument("--log")
options.add_argument("--control")
options.add_argument("--page", type=int, default=50)
options.add_argument("--pace", type=float, default=0.002)


def generate(folder):
    """A package `pincer_wire` of the .proto, made once for all tests; its folder."""
    with open(PROTO, "rb") as file:
        place = os.path.join(folder, "pincer-" + hashlib.sha256(file.read()).hexdigest()[:16])
    if os.path.isdir(place):
        return place
    os.makedirs(folder, exist_ok=True)
    work = tempfile.mkdtemp(dir=folder)
    try:
        os.mkdir(os.path.join(work, "pincer_wire"))
        tools = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", "-I", os.path.dirname(PROTO),
             "--python_out", work + "/pincer_wire", "--connectrpc_out", work + "/pincer_wire",
             "--connectrpc_opt=protobuf=google", PROTO],
            check=True, env=dict(os.environ, PATH=tools), stdout=sys.stderr)
        os.rename(work, place)
    except OSError:
        if not os.path.isdir(place):  # else another test was faster
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return place


def service(descriptor, modules, store, log):
    """An implementation of a service: its calls go to the store."""
    from connectrpc.code import Code
    from connectrpc.errors import ConnectError
    from google.protobuf import json_format
    wire = modules[0]

    def refused(refusal):
        return ConnectError(Code[refusal.code.upper()], refusal.message)

    def asked(method, request, context):
        value = json_format.MessageToDict(request)
        log.write(method=method, request=value, headers=dict(context.request_headers))
        return value, context.request_headers.get("authorization")

    def message(kind, value):
        return json_format.ParseDict(value, getattr(wire, kind.name)())

    def unary(method, kind):
        async def answer(self, request, context):
            value, token = asked(method, request, context)
            try:
                return message(kind, await asyncio.to_thread(
                    pincer_calls.call, store, method, value, token))
            except Refusal as refusal:
                raise refused(refusal) from None
        return answer

    def stream(method, kind):
        async def answer(self, request, context):
            value, token = asked(method, request, context)
            queue, loop = asyncio.Queue(), asyncio.get_running_loop()
            thread, leave = value.get("threadId", ""), lambda: None

            def put(item):
                loop.call_soon_threadsafe(queue.put_nowait, item)
            try:
                store.admit(method, token)
                if method == "TurnsService/StartTurn":
                    store.start_turn(thread, value.get("userText", ""),
                                     value.get("triggerType"), put)
                else:
                    stored, leave = store.watch(thread, int(value.get("fromSequence", 0)), put)
                    for event in stored:
                        yield message(kind, event)
                while True:
                    item = await queue.get()
                    if item[0] == "end":
                        return
                    if item[0] == "error":
                        raise Refusal(*item[1:])
                    yield message(kind, item[1])
            except Refusal as refusal:
                raise refused(refusal) from None
            finally:
                leave()
        return answer

    members = {}
    for each in descriptor.methods:
        make = stream if each.server_streaming else unary
        name = "".join("_" * c.isupper() + c.lower() for c in each.name).lstrip("_")
        members[name] = make(descriptor.name + "/" + each.name, each.output_type)
    made = type(descriptor.name, (), members)()
    return getattr(modules[1], descriptor.name + "ASGIApplication")(made)


def application(modules, store, log):
    services = [service(each, modules, store, log)
                for each in modules[0].DESCRIPTOR.services_by_name.values()]
    by_path = {each.path: each for each in services}

    async def serve(scope, receive, send):
        if scope["type"] != "http":
            return
        headers = {k.decode().lower(): v.decode() for k, v in scope["headers"]}
        found = by_path.get(scope["path"].rpartition("/")[0])
        if not headers.get("content-type", "").startswith("application/") and \
                not store.device(headers.get("authorization")):
            # What is no call of Connect is refused in another shape.
            await send({"type": "http.response.start", "status": 401,
                        "headers": [(b"content-type", b"application/json")]})
            await send({"type": "http.response.body", "body": b'{"error":"unauthorized"}\n'})
        elif found is None:
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b"404 page not found\n"})
        else:
            await found(scope, receive, send)
    return serve


async def main(given):
    sys.path.insert(0, generate(given.wire))
    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from pincer_wire import pincer_connect, pincer_pb2
    store, log = Store(given.token, given.page, given.pace), pincer_orders.Log(given.log)
    pincer_orders.listen(given.control, store.obey)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    config = Config()
    config.bind = ["fd://%d" % listener.fileno()]
    config.loglevel = "WARNING"
    url = "http://127.0.0.1:%d" % listener.getsockname()[1]
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    # Without a trigger it would wait at its end for streams that have none.
    await serve(application((pincer_pb2, pincer_connect), store, log), config,
                shutdown_trigger=asyncio.Event().wait)


if __name__ == "__main__":
    asyncio.run(main(options.parse_args()))
