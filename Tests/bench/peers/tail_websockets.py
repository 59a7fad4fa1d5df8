"""A record a line, with websockets. The text is taken for JSON and not looked at,
which is less than ws-tail does."""
import asyncio
import sys

from websockets.asyncio.client import connect


async def main():
    write = sys.stdout.write
    flush = sys.stdout.flush
    async with connect(sys.argv[1], max_size=None, compression=None) as socket:
        async for message in socket:
            write('{"data":' + message + "}\n")
            flush()


asyncio.run(main())
