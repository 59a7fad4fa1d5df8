"""hold_gateway.py URL COUNT: so many clients sign in to a gateway and stay until standard input
ends. Prints how many are in, and at the end how many still are."""
import asyncio
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "cli", "clients"))

from gateway import Client, Device  # noqa: E402


async def main(url, count):
    device = Device(1)
    clients = [await Client.connect(url, device) for _ in range(int(count))]
    print(len(clients), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(sum(client.socket.close_code is None for client in clients), flush=True)
    os._exit(0)  # without a close of each


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
