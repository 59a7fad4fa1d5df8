"""What a reply command says of its work (run by gateway-notes.t)."""

import os

from gateway import *


def step(steps, name):
    open(os.path.join(steps, name), "w").close()


def tools(client, key, event="agent"):
    return [p["data"] for p in client.named(event, runId=key, stream="tool")]


async def told(url, steps):
    client = await Client.connect(url, Device(1), caps=["tool-events"])
    plain = await Client.connect(url, Device(2))
    watcher = await Client.connect(url, Device(3))
    await watcher.call("sessions.subscribe")
    await client.chat("work", "w1")
    await client.until(lambda: client.text("w1") == "Looking.")
    step(steps, "said")
    start = (await client.until(lambda: tools(client, "w1")))[0]
    same("a tool begins", start, {"phase": "start", "name": "date", "args": {"utc": True, "n": 1.10},
                                  "toolCallId": "w1/1"})
    same("what was said before it is there", client.text("w1"), "Looking.")
    step(steps, "on")
    await client.until(lambda: len(tools(client, "w1")) == 2)
    same("it prints", tools(client, "w1")[1],
         {"phase": "update", "name": "date", "toolCallId": "w1/1",
          "partialResult": {"content": [{"type": "text", "text": "Mon"}]}})
    step(steps, "over")
    last, text = await client.reply("w1")
    same("it ends, with what is known of the end", tools(client, "w1")[2],
         {"phase": "result", "name": "date", "toolCallId": "w1/1", "isError": False,
          "meta": "date -u", "result": {"content": [{"type": "text", "text": "Monday\nno zone"}],
                                        "details": {"exitCode": 0, "durationMs": 12}}})
    same("one that fails", [t["isError"] for t in tools(client, "w1") if t["toolCallId"] == "w1/2"
                            and t["phase"] == "result"], [True])
    same("one of which only the end is told begins, too",
         [t["phase"] for t in tools(client, "w1") if t["toolCallId"] == "w1/3"],
         ["start", "result"])
    same("one whose end is not told ends with the reply",
         [(t["phase"], t.get("isError"), t.get("meta")) for t in tools(client, "w1")
          if t["toolCallId"] == "w1/4"],
         [("start", None, None), ("result", True, "its end was not told")])
    thoughts = [p["data"] for p in client.named("agent", runId="w1", stream="thinking")]
    same("thoughts", thoughts, [{"text": "hm", "delta": "hm"}, {"text": "hm, yes", "delta": ", yes"},
                                {"text": "no", "delta": "no"}])
    same("what it took", last["usage"], {"input": 12, "output": 3, "cost": {"total": 0.0125}})
    same("the reply is what it was", text, "Looking.\nIt is Monday.")
    numbers = [e["payload"]["seq"] for e in client.events
               if e["event"] in ("chat", "agent") and e["payload"].get("runId") == "w1"]
    same("all of it is counted", numbers, sorted(set(numbers)))
    await plain.reply("w1")
    same("who did not ask for tools hears of none", tools(plain, "w1"), [])
    await watcher.reply("w1")
    await watcher.until(lambda: len(tools(watcher, "w1", "session.tool")) >= len(tools(client, "w1")))
    same("who follows all conversations does", tools(watcher, "w1", "session.tool"),
         tools(client, "w1"))
    same("once", tools(watcher, "w1"), [])
    history = await client.call("chat.history", {"sessionKey": "main"})
    same("history has the words alone", [m["content"][0]["text"] for m in history["messages"]],
         ["work", text])
    await client.chat("work", "w2")
    step(steps, "said")
    step(steps, "on")
    step(steps, "over")
    await client.reply("w2")
    check("the same ids in another reply are other calls",
          {t["toolCallId"] for t in tools(client, "w2")} == {f"w2/{n}" for n in (1, 2, 3, 4)})
    for each in (client, plain, watcher):
        await each.close()


async def odd(url, steps):
    client = await Client.connect(url, Device(1), caps=["tool-events"])
    await client.chat("noise", "n1")
    same("noise changes no reply", (await client.reply("n1"))[1], "still said")
    same("what is good among it counts", [t["name"] for t in tools(client, "n1")
                                          if t["phase"] == "start"], ["good"])
    await client.chat("flood", "f1")
    same("nor does a flood", (await client.reply("f1", 60))[1], "done")
    check("of which there is a limit", 200 < len(client.named("agent", runId="f1")) < 2000)
    await client.chat("shut", "s1")
    same("it may be closed at once", (await client.reply("s1"))[1], "closed")
    await client.chat("calls", "c1")
    await client.reply("c1")
    same("calls have a limit", len({t["toolCallId"] for t in tools(client, "c1")}), 1000)
    await client.chat("behind", "b1")
    same("what stays behind holds nothing up", (await client.reply("b1", 5))[1], "gone on")
    await client.chat("dies", "d1")
    last, _ = await client.reply("d1")
    same("a command that dies", last["state"], "error")
    same("leaves no call open", [t["phase"] for t in tools(client, "d1")], ["start", "result"])
    await client.chat("hangs", "h1")
    await client.until(lambda: tools(client, "h1"))
    await client.call("chat.abort", {"sessionKey": "main", "runId": "h1"})
    same("nor does one that is ended", ((await client.reply("h1"))[0]["state"],
                                        [t["phase"] for t in tools(client, "h1")]),
         ("aborted", ["start", "result"]))
    await client.close()


run({f.__name__: f for f in (told, odd)})
