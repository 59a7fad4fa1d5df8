"""A WebSocket server by the package websockets: what it makes of what we say.

usage: peer_socket.py LOG

  /echo     sends each message back
  /parts    a text in fragments, then an echo
  /large    16 MB of text, then of bytes
  /pings    ten pings, each of which must be answered, then a message
  /closes   closes with 4001 after a message

A line of LOG for each connection: subprotocol, path, how it ended.
"""
import asyncio
import json
import sys

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

log = open(sys.argv[1], "a", buffering=1)


async def handle(socket):
    path = socket.request.path
    try:
        if path == "/parts":
            await socket.send(part for part in ["frag", "", "ments of \u03c0"])
        elif path == "/large":
            await socket.send("\u03c0" * (8 << 20))
            await socket.send(b"\0\1\2\3" * (4 << 20))
        elif path == "/pings":
            for _ in range(10):
                await asyncio.wait_for(await socket.ping(), 10)
                await asyncio.sleep(0.02)
            await socket.send(json.dumps({"pongs": 10}))
        elif path == "/closes":
            await socket.recv()
            await socket.close(4001, "that is enough")
            return
        async for message in socket:
            await socket.send(message)
    except ConnectionClosed:
        pass
    finally:
        log.write(json.dumps({"path": path, "subprotocol": socket.subprotocol,
                              "code": socket.close_code, "reason": socket.close_reason}) + "\n")


def choose(_, offered):
    return next((name for name in ("v2", "v1") if name in offered), None)


async def main():
    async with serve(handle, "127.0.0.1", 0, max_size=None, ping_interval=None,
                     subprotocols=["v2", "v1"], select_subprotocol=choose) as server:
        port = server.sockets[0].getsockname()[1]
        print(json.dumps({"type": "listening", "url": f"ws://127.0.0.1:{port}"},
                         separators=(",", ":")), flush=True)
        await server.serve_forever()


asyncio.run(main())
