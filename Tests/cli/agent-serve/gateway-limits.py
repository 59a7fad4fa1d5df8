"""How much a gateway keeps for its clients (run by gateway-limits.t)."""

from gateway import *

BOTH = [READ, WRITE, APPROVALS]
MOST = 100
LONG = "x" * 7_000_000


async def alone(client):
    """Waits until the gateway has seen that the others are gone."""
    while len(await client.call("system-presence")) > 1:
        await asyncio.sleep(0.01)


async def decisions(url):
    """Who waits for an approval. The asker is one of them."""
    asker = await Client.connect(url, Device(1), scopes=BOTH)
    crowd = await Client.connect(url, Device(2), scopes=BOTH)
    asked = await asker.ask("exec.approval.request", {"command": "x", "id": "many"})
    await crowd.event("exec.approval.requested", id="many")
    for _ in range(MOST - 1):
        await crowd.ask("exec.approval.waitDecision", {"id": "many"})
    refusal = await refused("more than a hundred do not wait for an approval", crowd.call(
        "exec.approval.waitDecision", {"id": "many"}), "INVALID_REQUEST")
    same("which is said", refusal.error["message"], "too many wait for this approval")
    await crowd.close()
    await alone(asker)
    name = await asker.ask("exec.approval.waitDecision", {"id": "many"})
    await asker.call("exec.approval.resolve", {"id": "many", "decision": "deny"})
    same("who leaves makes room", (await asker.answer(name))["decision"], "deny")
    same("and the asker is answered", (await asker.answer(asked))["decision"], "deny")
    await asker.close()


async def ends(url):
    """Who waits for the end of a run, which waits for an approval; and what waits behind it."""
    person = await Client.connect(url, Device(1), scopes=BOTH)
    crowd = await Client.connect(url, Device(2), scopes=BOTH)
    await person.chat("hi", "run")
    event = await person.event("exec.approval.requested")
    again = {"message": "hi", "idempotencyKey": "run"}
    for _ in range(MOST):
        await crowd.call("agent", again)
    refusal = await refused("more than a hundred do not wait for a run",
                            crowd.call("agent", again), "INVALID_REQUEST")
    same("which is said, too", refusal.error["message"], "too many wait for this run")
    await refused("in no way", crowd.call("agent.wait", {"runId": "run"}), "INVALID_REQUEST")
    await crowd.close()
    await alone(person)
    got = set()
    for _ in range(MOST + 1):
        got.add((await person.call("agent.wait", {"runId": "run", "timeoutMs": 1}))["status"])
    same("who leaves makes room there, and whose time is over", got, {"timeout"})
    for number in range(4):
        await person.chat(LONG, f"long{number}")
    await refused("long messages wait in a short queue", person.chat(LONG, "long4"), "UNAVAILABLE")
    await person.chat("short", "short")
    await person.call("chat.abort", {"sessionKey": "main"})
    await person.chat(LONG, "long5")
    check("until it is empty", True)
    await person.call("chat.abort", {"sessionKey": "main"})
    await refused("what waited needs no answer", person.call(
        "exec.approval.resolve", {"id": event["id"], "decision": "deny"}), "APPROVAL_NOT_FOUND",
        "APPROVAL_NOT_FOUND")
    await person.close()


async def ended(url):
    """Messages of runs that are over."""
    client = await Client.connect(url, Device(1))
    for number in range(30):
        await client.chat(LONG, f"ended{number}")
        last, text = await client.reply(f"ended{number}")
        if (last["state"], text.strip()) != ("final", str(len(LONG))):
            check("long messages are replied to", False, (last["state"], text))
            return
    check("long messages are replied to", True)
    await client.close()


run({f.__name__: f for f in (decisions, ends, ended)})
