"""A record a line, with websockets. With a second argument the text is taken for JSON and
not looked at, which is less than ws-tail does."""
import asyncio
import json
import sys

from websockets.asyncio.client import connect


def record(message):
    return json.dumps({"data": json.loads(message)}, separators=(",", ":")) + "\n"


def unseen(message):
    return '{"data":' + message + "}\n"


async def main():
    line = unseen if sys.argv[2:] else record
    write = sys.stdout.write
    flush = sys.stdout.flush
    async with connect(sys.argv[1], max_size=None, compression=None) as socket:
        async for message in socket:
            write(line(message))
            flush()


asyncio.run(main())
