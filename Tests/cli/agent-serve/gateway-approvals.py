"""Approvals of a gateway (run by gateway-approvals.t)."""

import os
import time

from gateway import *

BOTH = [READ, WRITE, APPROVALS]


async def asked(url):
    asker = await Client.connect(url, Device(1), scopes=[APPROVALS])
    started = time.monotonic()
    got = await asker.call("exec.approval.request", {"command": "ls", "id": "alone"})
    same("with nobody to ask it is over at once", got["decision"], None)
    check("really", time.monotonic() - started < 5)
    same("and gone", await asker.call("exec.approval.list"), [])
    person = await Client.connect(url, Device(2), scopes=[APPROVALS])
    reader = await Client.connect(url, Device(3))
    request = {"command": "rm -r build", "commandArgv": ["rm", "-r", "build"], "cwd": "/srv/kiln",
               "host": "gateway", "security": "allowlist", "ask": "on-miss", "agentId": "main",
               "sessionKey": "agent:main:main", "resolvedPath": "/bin/rm"}
    name = await asker.ask("exec.approval.request", {**request, "id": "ap-1", "twoPhase": True,
                                                     "timeoutMs": 600000})
    first = await asker.answer(name, 1)
    same("an asker is told that it waits", (first["id"], first["status"]), ("ap-1", "accepted"))
    same("and until when", first["expiresAtMs"] - first["createdAtMs"], 600000)
    event = await person.event("exec.approval.requested", id="ap-1")
    same("those who decide see what was asked, untouched", event["request"], request)
    same("in the list, too", await person.call("exec.approval.list"), [event])
    same("and alone", await person.call("exec.approval.get", {"id": "ap-1"}), event)
    same("others do not", reader.named("exec.approval.requested"), [])
    got = await person.call("exec.approval.resolve", {"id": "ap-1", "decision": "allow-once"})
    same("it is decided", got, {"ok": True})
    same("the asker hears it", (await asker.answer(name, 2))["decision"], "allow-once")
    event = await asker.event("exec.approval.resolved", id="ap-1")
    same("and everybody who may", (event["decision"], event["request"], event["resolvedBy"]),
         ("allow-once", request, "cli"))
    same("the same again is right", await person.call(
        "exec.approval.resolve", {"id": "ap-1", "decision": "allow-once"}), {"ok": True})
    await refused("another answer is too late", person.call(
        "exec.approval.resolve", {"id": "ap-1", "decision": "deny"}),
        "APPROVAL_NOT_FOUND", "APPROVAL_NOT_FOUND")
    await refused("what was never asked", person.call(
        "exec.approval.resolve", {"id": "none", "decision": "deny"}),
        "APPROVAL_NOT_FOUND", "APPROVAL_NOT_FOUND")
    old = await Client.connect(url, Device(4), scopes=[APPROVALS], protocol=(3, 3))
    refusal = await refused("as older gateways say it", old.call(
        "exec.approval.resolve", {"id": "none", "decision": "deny"}), "INVALID_REQUEST")
    check("in their words", "unknown or expired approval id" in refusal.error["message"])
    got = await asker.call("exec.approval.waitDecision", {"id": "ap-1"})
    same("waiting for what was decided", got["decision"], "allow-once")
    for client in (asker, person, reader, old):
        await client.close()


async def races(url):
    asker = await Client.connect(url, Device(1), scopes=[APPROVALS])
    people = [await Client.connect(url, Device(n), scopes=[APPROVALS]) for n in (2, 3, 4)]
    for turn in range(20):
        name = await asker.ask("exec.approval.request", {"command": f"c{turn}", "id": f"r{turn}"})
        await asyncio.gather(*(p.event("exec.approval.requested", id=f"r{turn}") for p in people))
        answers = [p.call("exec.approval.resolve", {"id": f"r{turn}", "decision": d})
                   for p, d in zip(people, ("allow-once", "deny", "allow-always"))]
        got = await asyncio.gather(*answers, return_exceptions=True)
        won = [g for g in got if g == {"ok": True}]
        decision = (await asker.answer(name))["decision"]
        events = await people[0].until(
            lambda: people[0].named("exec.approval.resolved", id=f"r{turn}"))
        if len(won) != 1 or len(events) != 1 or events[0]["decision"] != decision:
            check("one answer wins", False, (got, decision, events))
            return
    check("of three answers at a time one wins, twenty times", True)
    name = await asker.ask("exec.approval.request", {"command": "x", "id": "late",
                                                     "timeoutMs": 100})
    same("one that nobody answers is over", (await asker.answer(name))["decision"], None)
    same("and not listed", await people[0].call("exec.approval.list"), [])
    await refused("nor can it be answered", people[0].call(
        "exec.approval.resolve", {"id": "late", "decision": "deny"}), "APPROVAL_NOT_FOUND",
        "APPROVAL_NOT_FOUND")
    name = await asker.ask("exec.approval.request", {"command": "x", "id": "few",
                                                     "allowedDecisions": ["deny"]})
    await people[0].event("exec.approval.requested", id="few")
    await refused("only what the asker allows", people[0].call(
        "exec.approval.resolve", {"id": "few", "decision": "allow-once"}), "INVALID_REQUEST")
    await people[0].call("exec.approval.resolve", {"id": "few", "decision": "deny"})
    same("is an answer", (await asker.answer(name))["decision"], "deny")
    for client in (asker, *people):
        await client.close()


async def fates(url):
    """What late clients ask: how one stands, and who was first."""
    asker = await Client.connect(url, Device(1), scopes=[APPROVALS])
    person = await Client.connect(url, Device(2), scopes=[APPROVALS])
    for kind in "plugin", "openclaw":
        same(f"{kind} approvals are none", await person.call(f"{kind}.approval.list"), [])
    name = await asker.ask("exec.approval.request", {
        "commandArgv": ["rm", "-r", "x"], "id": "fate", "sessionKey": "s",
        "allowedDecisions": ["allow-once", "deny"]})
    await person.event("exec.approval.requested", id="fate")
    pending = (await person.call("approval.get", {"id": "fate"}))["approval"]
    same("one waits", [pending["status"], pending.get("decision"), pending["presentation"]["kind"],
                       pending["presentation"]["commandText"],
                       pending["presentation"]["allowedDecisions"], pending["source"]["sessionKey"]],
         ["pending", None, "exec", "rm -r x", ["allow-once", "deny"], "s"])
    await refused("what is not allowed", person.call(
        "approval.resolve", {"id": "fate", "kind": "exec", "decision": "allow-always"}),
        "INVALID_REQUEST")
    first = await person.call("approval.resolve", {"id": "fate", "kind": "exec", "decision": "deny"})
    same("the first answer counts", [first["applied"], first["approval"]["status"],
                                     first["approval"]["reason"]], [True, "denied", "user"])
    second = await person.call("approval.resolve", {"id": "fate", "kind": "exec",
                                                    "decision": "allow-once"})
    same("the second is told which", [second["applied"], second["approval"]["decision"]],
         [False, "deny"])
    await asker.answer(name, 1)
    name = await asker.ask("exec.approval.request", {"command": "x", "id": "gone", "timeoutMs": 50})
    await asker.answer(name, 1)
    same("what nobody answered has expired",
         (await person.call("approval.get", {"id": "gone"}))["approval"]["status"], "expired")
    await refused("one that never was", person.call("approval.get", {"id": "never"}),
                  "APPROVAL_NOT_FOUND", "APPROVAL_NOT_FOUND")
    await asker.close()
    await person.close()


async def limits(url):
    asker = await Client.connect(url, Device(1), scopes=[APPROVALS])
    person = await Client.connect(url, Device(2), scopes=[APPROVALS])
    await refused("no command", asker.call("exec.approval.request", {"cwd": "/"}),
                  "INVALID_REQUEST")
    await refused("an unknown key", asker.call(
        "exec.approval.request", {"command": "x", "why": "because"}), "INVALID_REQUEST")
    await refused("no such decision", person.call(
        "exec.approval.resolve", {"id": "x", "decision": "yes"}), "INVALID_REQUEST")
    await refused("too long a request", asker.call(
        "exec.approval.request", {"commandArgv": ["x" * 300000]}), "INVALID_REQUEST")
    names = [await asker.ask("exec.approval.request", {"command": "x", "id": f"n{n}"})
             for n in range(101)]
    await refused("more than a hundred do not wait", asker.answer(names[100]), "UNAVAILABLE")
    await refused("nor two of one id", asker.call(
        "exec.approval.request", {"command": "x", "id": "n0"}), "UNAVAILABLE")
    for n in range(100):
        await person.call("exec.approval.resolve", {"id": f"n{n}", "decision": "deny"})
    same("all are answered", {(await asker.answer(n))["decision"] for n in names[:100]}, {"deny"})
    await asker.close()
    await person.close()


async def replies(url, ran):
    """--approve-replies: a reply is made when somebody has allowed it."""
    client = await Client.connect(url, Device(1), caps=["tool-events"])
    await client.chat("hi", "r1")
    last, _ = await client.reply("r1")
    same("nobody is there to allow it", (last["state"], last["errorKind"]), ("error", "refusal"))
    check("which says what to do", last["errorMessage"].endswith("is agent-approve running?"))
    person = await Client.connect(url, Device(2), scopes=[APPROVALS])
    await client.chat("hi", "r2")
    event = await person.event("exec.approval.requested")
    same("somebody is asked", (event["request"]["commandArgv"][:2], event["request"]["host"],
                               event["request"]["sessionKey"]),
         (["/bin/sh", "-c"], "gateway", "agent:main:main"))
    check("with the whole command", event["request"]["command"].endswith("; cat"))
    tools = client.named("agent", runId="r2", stream="tool")
    same("the one who talks sees what waits", [t["data"]["phase"] for t in tools], ["start"])
    await person.call("exec.approval.resolve", {"id": event["id"], "decision": "deny"})
    last, _ = await client.reply("r2")
    tools = client.named("agent", runId="r2", stream="tool")
    same("and that it does not run", (tools[-1]["data"]["phase"], tools[-1]["data"]["isError"]), ("result", True))
    same("who says no", (last["state"], last["errorMessage"]), ("error", "the reply was denied"))
    check("then nothing runs", not os.path.exists(ran))
    await client.chat("hi", "r3")
    await person.until(lambda: len(person.named("exec.approval.requested")) == 2)
    waiting = person.named("exec.approval.requested")[1]["id"]
    await client.call("chat.abort", {"sessionKey": "main", "runId": "r3"})
    same("one that is aborted needs no answer", (await client.reply("r3"))[0]["state"], "aborted")
    await refused("and takes none", person.call(
        "exec.approval.resolve", {"id": waiting, "decision": "allow-once"}),
        "APPROVAL_NOT_FOUND", "APPROVAL_NOT_FOUND")
    await client.chat("hi", "r4")
    await person.until(lambda: len(person.named("exec.approval.requested")) == 3)
    await person.call("exec.approval.resolve", {
        "id": person.named("exec.approval.requested")[2]["id"], "decision": "allow-once"})
    same("who says yes", (await client.reply("r4"))[1], "hi")
    tools = [p["data"] for p in client.named("agent", runId="r4", stream="tool")]
    same("the one who talks sees what runs", [t["phase"] for t in tools], ["start", "result"])
    same("by one id", tools[0]["toolCallId"], tools[1]["toolCallId"])
    same("others do not", person.named("agent"), [])
    check("it ran once", open(ran).read() == "ran\n")
    await client.chat("hi", "r5")
    await person.until(lambda: len(person.named("exec.approval.requested")) == 4)
    await person.call("exec.approval.resolve", {
        "id": person.named("exec.approval.requested")[3]["id"], "decision": "allow-always"})
    await client.reply("r5")
    await client.chat("ho", "r6")
    same("who says always is not asked again", (await client.reply("r6"))[1], "ho")
    same("really", len(person.named("exec.approval.requested")), 4)
    await client.close()
    await person.close()


run({f.__name__: f for f in (asked, races, fates, limits, replies)})
