"""A client of an OpenClaw gateway for the tests: raw frames over PyPI websockets,
signed with PyPI cryptography. It knows nothing of the suite."""

import asyncio
import base64
import hashlib
import json
import re
import sys
import traceback

import websockets
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

READ, WRITE = "operator.read", "operator.write"
APPROVALS, PAIRING, ADMIN = "operator.approvals", "operator.pairing", "operator.admin"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Device:
    """A key pair; the same seed is the same device."""

    def __init__(self, seed=0):
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.raw = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = hashlib.sha256(self.raw).hexdigest()

    def prove(self, params, challenge, version="v3"):
        """The member `device` of a connect."""
        client, auth = params["client"], params.get("auth", {})
        token = auth.get("token") or auth.get("deviceToken") or auth.get("bootstrapToken") or ""
        parts = [version, self.id, client["id"], client["mode"], params["role"],
                 ",".join(params["scopes"]), str(challenge["ts"]), token, challenge["nonce"]]
        if version == "v3":
            parts += [client["platform"].strip().lower(), client.get("deviceFamily", "").lower()]
        return {"id": self.id, "publicKey": base64url(self.raw),
                "signature": base64url(self.key.sign("|".join(parts).encode())),
                "signedAt": challenge["ts"], "nonce": challenge["nonce"]}


class Refused(Exception):
    """A response that is not ok."""

    def __init__(self, error, payload=None):
        super().__init__(json.dumps(error))
        self.error, self.payload = error, payload
        self.code = error["code"]
        details = error.get("details") or {}
        self.detail = details.get("code")


class Client:
    """One connection. Events go into `events` in their order."""

    def __init__(self, socket, challenge):
        self.socket, self.challenge = socket, challenge
        self.events, self.answers, self.hello = [], {}, None
        self.last, self.news = 0, asyncio.Condition()
        self.reader = None

    @classmethod
    async def open(cls, url, **more):
        socket = await websockets.connect(url, max_size=1 << 26, ping_interval=None, **more)
        greeting = json.loads(await socket.recv())
        assert greeting["event"] == "connect.challenge", greeting
        return cls(socket, greeting["payload"])

    @classmethod
    async def connect(cls, url, device=None, *, edit=None, prove=None, **wish):
        """Connects; raises Refused with the close code when it may not."""
        client = await cls.open(url)
        params = connect_params(**wish)
        version = prove or "v3"
        params["device"] = (device or Device()).prove(params, client.challenge, version)
        if edit:
            edit(params)
        await client.send_raw({"type": "req", "id": "c", "method": "connect", "params": params})
        answer = json.loads(await client.socket.recv())
        if not answer["ok"]:
            refused = Refused(answer["error"])
            try:
                await asyncio.wait_for(client.socket.recv(), 5)
            except websockets.ConnectionClosed:
                pass
            refused.close = client.socket.close_code
            raise refused
        client.hello = answer["payload"]
        client.reader = asyncio.create_task(client.read())
        return client

    async def send_raw(self, frame):
        await self.socket.send(frame if isinstance(frame, (str, bytes)) else json.dumps(frame))

    async def read(self):
        try:
            async for message in self.socket:
                frame = json.loads(message)
                async with self.news:
                    if frame["type"] == "event":
                        self.events.append(frame)
                    else:
                        self.answers.setdefault(frame["id"], []).append(frame)
                    self.news.notify_all()
        except websockets.ConnectionClosed:
            pass
        async with self.news:
            self.news.notify_all()

    async def until(self, found, seconds=60):
        """Waits until found() is something true, and returns that."""
        async with self.news:
            async def loop():
                while not (value := found()):
                    await self.news.wait()
                return value
            return await asyncio.wait_for(loop(), seconds)

    async def ask(self, method, params=None, answers=1):
        """Sends a request. -> its id; `answer` waits for what comes back."""
        self.last += 1
        name = f"r{self.last}"
        frame = {"type": "req", "id": name, "method": method}
        if params is not None:
            frame["params"] = params
        await self.send_raw(frame)
        return name

    async def answer(self, name, number=1):
        found = await self.until(
            lambda: len(self.answers.get(name, [])) >= number and self.answers[name])
        frame = found[number - 1]
        if not frame["ok"]:
            raise Refused(frame["error"], frame.get("payload"))
        return frame["payload"]

    async def call(self, method, params=None):
        return await self.answer(await self.ask(method, {} if params is None else params))

    def named(self, event, **members):
        """The payloads of the events of a name, with these members."""
        return [e["payload"] for e in self.events if e["event"] == event
                and all(e["payload"].get(k) == v for k, v in members.items())]

    async def event(self, name, seconds=60, **members):
        return (await self.until(lambda: self.named(name, **members), seconds))[0]

    async def chat(self, message, key, session="main", **more):
        return await self.call("chat.send", {
            "sessionKey": session, "message": message, "idempotencyKey": key, **more})

    async def reply(self, key, seconds=60):
        """Waits for the end of a run. -> its last chat event and its text."""
        ends = ("final", "aborted", "error")
        last = (await self.until(lambda: [
            p for p in self.named("chat", runId=key) if p["state"] in ends], seconds))[0]
        return last, self.text(key)

    def text(self, key):
        """The text of a run by the one rule of the contract, section 7."""
        text = ""
        for payload in self.named("chat", runId=key):
            message = payload.get("message")
            if message is not None:
                text = "".join(b["text"] for b in message["content"] if b["type"] == "text")
            elif payload.get("replace"):
                text = payload["deltaText"]
            else:
                text += payload.get("deltaText", "")
        return text

    async def close(self):
        await self.socket.close()
        if self.reader:
            await self.reader


def connect_params(*, protocol=(3, 4), scopes=(READ, WRITE), token=None, device_token=None,
                   caps=(), client=None, role="operator"):
    # Who may answer says that it shows approvals, or nothing is asked for its sake.
    shows = ["exec-approvals"] if "operator.approvals" in scopes else []
    params = {
        "minProtocol": protocol[0], "maxProtocol": protocol[1],
        "client": {"id": "cli", "version": "1", "platform": "Linux", "mode": "cli",
                   **(client or {})},
        "role": role, "scopes": list(scopes), "caps": list(caps) + shows,
        "locale": "en-US", "userAgent": "tests",
    }
    auth = {}
    if token is not None:
        auth["token"] = token
    if device_token is not None:
        auth["deviceToken"] = device_token
    if auth:
        params["auth"] = auth
    return params


# --- what the tests print: a line for each check, read by gateway.sh

def check(title, good, shown=""):
    text = "" if good else " ## " + re.sub(r"\s+", " ", str(shown))[:600]
    print(("ok " if good else "no ") + title + text, flush=True)


def same(title, got, want):
    check(title, got == want, f"got {got!r}, want {want!r}")


async def refused(title, awaitable, code, detail=None, close=None):
    try:
        got = await awaitable
        check(title, False, f"not refused: {got!r}")
    except Refused as refusal:
        got = (refusal.code, refusal.detail, getattr(refusal, "close", None))
        same(title, got, (code, detail, close))
        return refusal


def run(tests):
    """Runs one of the functions, named by the first argument, with the others."""
    name, *words = sys.argv[1:]
    try:
        asyncio.run(asyncio.wait_for(tests[name](*words), 300))
    except Exception as error:  # whatever happens is a check that failed
        traceback.print_exc()
        check(f"{name} ran to its end", False, repr(error))
        sys.exit(1)
