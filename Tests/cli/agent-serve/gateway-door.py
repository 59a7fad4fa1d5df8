"""The handshake of a gateway: what it takes and what it refuses (run by gateway.t)."""

from gateway import *

PAIRED_CLOSE = 1008


async def hello(url):
    client = await Client.connect(url, Device(1))
    same("protocol 4 is spoken with who knows it", client.hello["protocol"], 4)
    same("hello-ok says its type", client.hello["type"], "hello-ok")
    same("the scopes are those asked for", client.hello["auth"]["scopes"], [READ, WRITE])
    check("a device gets a token", len(client.hello["auth"].get("deviceToken", "")) > 30)
    policy = client.hello["policy"]
    check("the policy has its numbers", all(
        isinstance(policy[k], int) for k in ("maxPayload", "maxBufferedBytes", "tickIntervalMs")))
    defaults = client.hello["snapshot"]["sessionDefaults"]
    same("it says where to talk", defaults["mainSessionKey"], "agent:main:main")
    agents = await client.call("agents.list")
    same("its agent is listed", [a["id"] for a in agents["agents"]], [agents["defaultId"]])
    same("health", (await client.call("health"))["ok"], True)
    check("status", "pendingApprovals" in await client.call("status"))
    same("cron has nothing", (await client.call("cron.list"))["jobs"], [])
    check("models", isinstance((await client.call("models.list"))["models"], list))
    same("presence", len(await client.call("system-presence")), 1)
    methods = client.hello["features"]["methods"]
    check("it names its methods", {"chat.send", "exec.approval.list"} <= set(methods))
    await client.close()
    for wish, want in (((3, 3), 3), ((4, 4), 4), ((3, 9), 4), ((1, 3), 3)):
        client = await Client.connect(url, Device(1), protocol=wish)
        same(f"{wish[0]} to {wish[1]} gives {want}", client.hello["protocol"], want)
        await client.close()
    client = await Client.connect(url, Device(2), scopes=[READ, "operator.unheard"])
    same("a scope that is not known is not granted", client.hello["auth"]["scopes"], [READ])
    await refused("what it was not granted", client.chat("x", "k"), "FORBIDDEN", "MISSING_SCOPE")
    await refused("nor this", client.call("exec.approval.list"), "FORBIDDEN", "MISSING_SCOPE")
    await refused("no such method", client.call("logs.tail"), "INVALID_REQUEST")
    await refused("connect again", client.call("connect"), "INVALID_REQUEST")
    same("and it goes on", (await client.call("health"))["ok"], True)
    await client.close()
    client = await Client.connect(url, Device(3), prove="v2", protocol=(3, 3))
    same("a signature of the older form", client.hello["protocol"], 3)
    await client.close()
    client = await Client.connect(url, Device(4), client={"deviceFamily": "Tablet",
                                                         "platform": " MacOS "})
    same("one over a platform and a family", client.hello["protocol"], 4)
    await client.close()


async def closed(url):
    """One key too many is one too many, wherever it is."""
    async def bad(title, edit):
        await refused(title, Client.connect(url, edit=edit), "INVALID_REQUEST", None, 1008)
    await bad("an unknown key", lambda p: p.update(foo=1))
    await bad("one of the client", lambda p: p["client"].update(colour="red"))
    await bad("one of the device", lambda p: p["device"].update(alg="ed25519"))
    await bad("one of auth", lambda p: p.update(auth={"apiKey": "x"}))
    await bad("a missing version", lambda p: p["client"].pop("version"))
    await bad("a client id that is not on the list", lambda p: p["client"].update(id="me"))
    await bad("a mode that is not", lambda p: p["client"].update(mode="operator"))
    await bad("a number as text", lambda p: p.update(minProtocol="3"))
    await bad("scopes that are no array", lambda p: p.update(scopes="operator.read"))
    await bad("a node", lambda p: p.update(role="node"))
    client = await Client.connect(url)
    for title, method, params in (
            ("a key too many", "health", {"x": 1}),
            ("one of chat.send", "chat.send", {"sessionKey": "main", "message": "x",
                                               "idempotencyKey": "k", "stream": True}),
            ("no idempotency key", "chat.send", {"sessionKey": "main", "message": "x"}),
            ("an empty one", "chat.send", {"sessionKey": "main", "message": "x",
                                           "idempotencyKey": ""}),
            ("a long session key", "chat.history", {"sessionKey": "s" * 513}),
            ("a limit over 1000", "chat.history", {"sessionKey": "main", "limit": 1001}),
            ("a limit of 0", "chat.history", {"sessionKey": "main", "limit": 0}),
            ("half a limit", "chat.history", {"sessionKey": "main", "limit": 1.5}),
            ("another agent", "chat.history", {"sessionKey": "agent:other:main"}),
            ("a key that rings", "chat.history", {"sessionKey": "a\u0007b"}),
            ("params that are a list", "health", [])):
        await refused(title, client.call(method, params), "INVALID_REQUEST")
    for title, frame in (
            ("a frame of another type", {"type": "event", "id": "z1", "method": "health"}),
            ("a key of the frame", {"type": "req", "id": "z2", "method": "health", "more": 1}),
            ("an id that is a number", {"type": "req", "id": 3, "method": "health"}),
            ("what is not JSON", "{"), ("nor this", ""), ("a list", "[]"),
            ("deep nesting", "[" * 100000)):
        before = sum(map(len, client.answers.values()))
        await client.send_raw(frame)
        await client.until(lambda: sum(map(len, client.answers.values())) > before)
        name = frame["id"] if isinstance(frame, dict) and frame["id"] != 3 else "invalid"
        got = client.answers[name][-1]
        same(title, (got["ok"], got["error"]["code"]), (False, "INVALID_REQUEST"))
    same("and it goes on", (await client.call("health"))["ok"], True)
    await client.close()


async def proof(url):
    async def bad(title, detail, edit, close=1008):
        await refused(title, Client.connect(url, Device(7), edit=edit), "INVALID_REQUEST",
                      detail, close)
    flipped = lambda p: p["device"].update(signature="A" + p["device"]["signature"][1:]
                                           if p["device"]["signature"][0] != "A" else "B" * 86)
    client = await Client.connect(url, Device(7), edit=lambda p: p.pop("device"))
    same("a client of this machine needs no device", client.hello["auth"]["scopes"], [READ, WRITE])
    same("and is given no token of one", client.hello["auth"].get("deviceToken"), None)
    await client.close()
    await bad("a false signature", "DEVICE_AUTH_SIGNATURE_INVALID", flipped)
    await bad("one over other scopes", "DEVICE_AUTH_SIGNATURE_INVALID",
              lambda p: p["scopes"].append(ADMIN))
    await bad("the key of another", "DEVICE_AUTH_DEVICE_ID_MISMATCH",
              lambda p: p["device"].update(publicKey=base64url(Device(8).raw)))
    await bad("no key", "DEVICE_AUTH_PUBLIC_KEY_INVALID",
              lambda p: p["device"].update(publicKey="AAAA"))
    await bad("another nonce", "DEVICE_AUTH_NONCE_MISMATCH",
              lambda p: p["device"].update(nonce="x"))
    await bad("an old signature", "DEVICE_AUTH_SIGNATURE_EXPIRED",
              lambda p: p["device"].update(signedAt=p["device"]["signedAt"] - 10**7))
    def nonceless(params):
        del params["device"]["nonce"]
    await refused("no nonce", Client.connect(url, Device(9), edit=nonceless), "INVALID_REQUEST",
                  "DEVICE_AUTH_NONCE_REQUIRED", 1008)
    for wish in ((5, 9), (1, 2)):
        refusal = await refused(
            f"protocol {wish[0]} to {wish[1]}", Client.connect(url, protocol=wish),
            "INVALID_REQUEST", "PROTOCOL_MISMATCH", 1002)
        same("says which", refusal.error["details"]["expectedProtocol"], 4)
    pem = ("-----BEGIN PUBLIC KEY-----\n" + base64.b64encode(
        bytes.fromhex("302a300506032b6570032100") + Device(7).raw).decode()
        + "\n-----END PUBLIC KEY-----\n")
    client = await Client.connect(url, Device(7),
                                  edit=lambda p: p["device"].update(publicKey=pem))
    check("a key as PEM", client.hello)
    await client.close()
    client = await Client.open(url)
    params = connect_params(client={"id": "gateway-client", "mode": "backend"})
    await client.send_raw({"type": "req", "id": "1", "method": "connect", "params": params})
    same("a helper of this machine needs no device",
         json.loads(await client.socket.recv())["ok"], True)
    await client.close()


async def order(url):
    client = await Client.open(url)
    await client.send_raw({"type": "req", "id": "1", "method": "health"})
    answer = json.loads(await client.socket.recv())
    same("connect comes first", answer["error"]["code"], "INVALID_REQUEST")
    try:
        await client.socket.recv()
    except websockets.ConnectionClosed:
        pass
    same("and else it is over", client.socket.close_code, 1008)
    first, second = await Client.open(url), await Client.open(url)
    check("no nonce comes twice", first.challenge["nonce"] != second.challenge["nonce"])
    params = connect_params()
    params["device"] = Device(5).prove(params, first.challenge)
    await second.send_raw({"type": "req", "id": "1", "method": "connect", "params": params})
    answer = json.loads(await second.socket.recv())
    same("what was signed for one connection is no good on another",
         answer["error"]["details"]["code"], "DEVICE_AUTH_NONCE_MISMATCH")
    await first.close()
    await second.close()


async def samples(url):
    """The signatures of RFC 8032's kind that any client has to make alike."""
    device = Device()
    device.key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    device.raw = device.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    device.id = hashlib.sha256(device.raw).hexdigest()
    same("the device of the key 00 01 02 ...", device.id,
         "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c")
    client = await Client.connect(url, device, scopes=[READ, WRITE, APPROVALS],
                                  caps=["tool-events", "approvals"])
    same("comes in", client.hello["auth"]["scopes"], [READ, WRITE, APPROVALS])
    await client.close()


async def token(url, secret):
    async def bad(title, detail, device=None, **wish):
        return await refused(title, Client.connect(url, device or Device(1), **wish),
                             "INVALID_REQUEST", detail, 1008)
    await bad("no token", "AUTH_TOKEN_MISSING")
    refusal = await bad("a wrong one", "AUTH_TOKEN_MISMATCH", token="wrong")
    same("says what to do", refusal.error["details"]["recommendedNextStep"],
         "update_auth_credentials")
    check("and not what would be right", secret not in str(refusal))
    await bad("a device's that is none", "AUTH_DEVICE_TOKEN_MISMATCH", device_token="x")
    await bad("a password", "AUTH_PASSWORD_NOT_CONFIGURED",
              edit=lambda p: p.update(auth={"password": "x"}))
    client = await Client.connect(url, Device(1), token=secret)
    own = client.hello["auth"]["deviceToken"]
    check("the right one", own and own != secret)
    await refused("chat without a reply command", client.chat("x", "k"), "UNAVAILABLE")
    await client.close()
    for wish in ({"token": own}, {"device_token": own}):
        client = await Client.connect(url, Device(1), **wish)
        same(f"the device's own, as {list(wish)[0]}", client.hello["auth"]["deviceToken"], own)
        await client.close()
    await bad("a device's, of another", "AUTH_TOKEN_MISMATCH", Device(2), token=own)
    refusal = await bad("a wrong one of a device that is known", "AUTH_TOKEN_MISMATCH",
                        token="wrong")
    same("says so", refusal.error["details"]["recommendedNextStep"], "retry_with_device_token")
    client = await Client.open(url)
    params = connect_params(client={"id": "gateway-client", "mode": "backend"}, token="wrong")
    await client.send_raw({"type": "req", "id": "1", "method": "connect", "params": params})
    same("a helper needs the secret", json.loads(await client.socket.recv())["ok"], False)
    await client.close()


async def limited(url, secret):
    for _ in range(10):
        try:
            await Client.connect(url, Device(20), token="guess")
        except Refused:
            pass
    refusal = await refused("after ten guesses", Client.connect(url, Device(20), token=secret),
                            "INVALID_REQUEST", "AUTH_RATE_LIMITED", 1008)
    check("it says how long", 0 < refusal.error["retryAfterMs"] <= 60000)
    client = await Client.connect(url, Device(21), token=secret)
    check("others are not held up", client.hello)
    await client.close()


run({f.__name__: f for f in (hello, closed, proof, order, samples, token, limited)})
