"""PyPI openclaw-sdk as a client (run by gateway-sdk.t)."""

import logging
from pathlib import Path

import structlog
from cryptography.hazmat.primitives.serialization import NoEncryption, PrivateFormat
from openclaw_sdk import OpenClawClient
from openclaw_sdk.core.exceptions import AgentExecutionError, GatewayError

from gateway import *

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def identity(token, scopes):
    """The files that the official tools keep, for the SDK to find."""
    device = Device(42)
    folder = Path.home() / ".openclaw" / "identity"
    folder.mkdir(parents=True, exist_ok=True)
    public = device.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    private = device.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "device.json").write_text(json.dumps({
        "version": 1, "deviceId": device.id, "publicKeyPem": public.decode(),
        "privateKeyPem": private.decode(), "createdAtMs": 1}))
    (folder / "device-auth.json").write_text(json.dumps({
        "version": 1, "deviceId": device.id, "tokens": {"operator": {
            "token": token, "role": "operator", "scopes": scopes, "updatedAtMs": 1}}}))


async def talk(url):
    identity("", [READ, WRITE, APPROVALS])
    async with await OpenClawClient.connect(gateway_ws_url=url) as client:
        agent = client.get_agent("main")
        result = await agent.execute("what the tide does")
        same("it talks, and is answered", (result.success, result.content),
             (True, "WHAT THE TIDE DOES"))
        history = await client.gateway.chat_history(agent.session_key)
        same("it can read what was said", [m["role"] for m in history], ["user", "assistant"])
        check("it is healthy", (await client.gateway.health()).healthy)
        listed = await client.gateway.agents_list()
        same("it sees the agent", [a["id"] for a in listed["agents"]], ["main"])
        same("and the conversations", [s["key"] for s in await client.gateway.sessions_list()],
             [agent.session_key])
        got = await client.gateway.exec_approval_request("ls", timeout_ms=1000)
        same("nobody approves", got["decision"], None)
        try:
            await client.gateway.call("no.such.method", {})
            check("what is not served is refused", False)
        except GatewayError as error:
            same("what is not served is refused", error.code, "INVALID_REQUEST")
        pieces = [event async for event in await agent.execute_stream("second words")
                  if event.event_type.value == "agent"]
        check("it can read as it comes", any(
            p.data["payload"].get("stream") == "assistant" for p in pieces))


async def refused_token(url):
    identity("nonsense", [READ, WRITE])
    client = await OpenClawClient.connect(gateway_ws_url=url)
    try:
        await asyncio.wait_for(client.gateway.agents_list(), 10)
        check("with a wrong token nothing is answered", False)
    except GatewayError:
        check("with a wrong token nothing is answered", True)
    await client.close()


run({"talk": talk, "refused_token": refused_token})
