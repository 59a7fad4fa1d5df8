"""Devices that pair with a gateway (run by gateway-pairing.t)."""

import atexit
import os
import pty
import select
import subprocess

from gateway import *

ALL = [READ, WRITE, PAIRING]


class Server:
    """An agent-serve that asks at a terminal."""

    def __init__(self, *words):
        self.screen, inner = pty.openpty()
        self.process = subprocess.Popen(
            ["agent-serve", "-l", "127.0.0.1:0", "--gateway", "0", *words], stdin=inner,
            stdout=subprocess.PIPE, stderr=inner, text=True)
        os.close(inner)
        atexit.register(self.process.kill)
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.shown = ""

    def until(self, pattern, seconds=10):
        """Reads the terminal until a pattern is there. -> the match"""
        while not (found := re.search(pattern, self.shown)):
            if not select.select([self.screen], [], [], seconds)[0]:
                raise TimeoutError(f"{pattern!r} is not in {self.shown!r}")
            self.shown += os.read(self.screen, 65536).decode()
        return found

    def type(self, text):
        os.write(self.screen, text.encode())

    def end(self):
        self.process.terminate()
        return self.process.wait(10)


async def want(url, device, title=None, reason="not-paired", **wish):
    """A connect that has to wait. -> the request's id"""
    try:
        await Client.connect(url, device, **wish)
        check(title or "it has to wait", False, "it came in")
    except Refused as refusal:
        details = refusal.error.get("details", {})
        if title:
            same(title, (refusal.code, refusal.detail, details.get("reason"), refusal.close),
                 ("NOT_PAIRED", "PAIRING_REQUIRED", reason, 1008))
        return details.get("requestId")


async def terminal(database):
    server = Server("-D", database, "--pairing")
    first = Device(1)
    request = await want(server.url, first, "a new device has to wait",
                         client={"displayName": "Ada\u001b[31m's \u202ephone"})
    again = await want(server.url, first, client={"displayName": "Ada\u001b[31m's \u202ephone"})
    same("asking again is the same request", again, request)
    line = server.until(r"device (\w+) .*request (\S+): y or n\?").group(0)
    check("the terminal shows who it is", first.id[:12] in line and request in line, line)
    check("harmlessly", "Ada\\e[31m's \\u{202e}phone" in line and "\x1b" not in line, line)
    check("and what it wants", READ in line and "127.0.0.1" in line, line)
    same("once", server.shown.count("y or n?"), 1)
    more = await want(server.url, first, scopes=[READ, WRITE, ADMIN],
                      client={"displayName": "Ada\u001b[31m's \u202ephone"})
    check("another wish is another request", more != request)
    server.until(re.escape(more) + r": y or n\?")
    server.type("what\n")
    server.until(r"y or n\?(?s:.*)y or n\?(?s:.*)y or n\?")
    server.type("n\n")
    server.until(f"{more}: rejected")
    await want(server.url, first, "who was refused is not in")
    server.type("y\n")
    server.until("approved")
    client = await Client.connect(server.url, first, scopes=[READ])
    same("who was let in comes in", client.hello["auth"]["scopes"], [READ])
    own = client.hello["auth"]["deviceToken"]
    await want(server.url, first, "for more it has to wait again", reason="scope-upgrade",
               scopes=[READ, WRITE, PAIRING])
    same("a token of its own is no more than that",
         (await want(server.url, first, token=own, scopes=[ADMIN])) is not None, True)
    await client.close()
    await want(server.url, Device(2))
    helper = await Client.open(server.url)
    params = connect_params(client={"id": "gateway-client", "mode": "backend"}, scopes=[ADMIN])
    await helper.send_raw({"type": "req", "id": "1", "method": "connect", "params": params})
    answer = json.loads(await helper.socket.recv())
    same("nobody comes in without a device", (answer.get("error") or {}).get("details", {}).get("code"),
         "DEVICE_IDENTITY_REQUIRED")
    await helper.close()
    same("it ends", server.end(), 0)
    server = Server("-D", database, "--pairing")
    client = await Client.connect(server.url, first, scopes=[READ])
    same("after a new start it is still paired", client.hello["auth"]["deviceToken"], own)
    await want(server.url, Device(2), "and the other is not")
    await client.close()
    server.end()


async def by_others(url):
    """On loopback without --pairing a device comes in; it can see who is there."""
    one = await Client.connect(url, Device(1), scopes=ALL)
    listed = await one.call("device.pair.list")
    same("a device comes in silently", [d["deviceId"] for d in listed["paired"]], [Device(1).id])
    check("no list shows a token", "token" not in json.dumps(listed).lower())
    more = await Client.connect(url, Device(1), scopes=[APPROVALS])
    same("also for more", more.hello["auth"]["scopes"], [APPROVALS])
    same("its token stays", more.hello["auth"]["deviceToken"], one.hello["auth"]["deviceToken"])
    await refused("nothing waits", one.call("device.pair.approve", {"requestId": "x"}),
                  "INVALID_REQUEST")
    await one.close()
    await more.close()


async def by_device(database):
    """A paired device lets another one in."""
    server = Server("-D", database)
    keeper = await Client.connect(server.url, Device(1), scopes=ALL)
    await keeper.close()
    server.end()
    server = Server("-D", database, "--pairing")
    keeper = await Client.connect(server.url, Device(1), scopes=ALL)
    for number, verb in ((2, "approve"), (3, "reject")):
        request = await want(server.url, Device(number))
        asked = await keeper.event("device.pair.requested", requestId=request)
        same(f"the keeper is told ({verb})", (asked["deviceId"], asked["scopes"]),
             (Device(number).id, [READ, WRITE]))
        same("and can see it", [p["requestId"] for p in (await keeper.call(
            "device.pair.list"))["pending"]], [request])
        await keeper.call(f"device.pair.{verb}", {"requestId": request})
        done = await keeper.event("device.pair.resolved", requestId=request)
        same("it is decided", done["decision"], {"approve": "approved", "reject": "rejected"}[verb])
    guest = await Client.connect(server.url, Device(2))
    check("who was let in comes in", guest.hello)
    await want(server.url, Device(3), "who was not, not")
    await refused("a guest lets nobody in", guest.call("device.pair.list"), "FORBIDDEN",
                  "MISSING_SCOPE")
    await keeper.close()
    await guest.close()
    server.end()


run({f.__name__: f for f in (terminal, by_others, by_device)})
