"""Talking to a gateway (run by gateway-chat.t)."""

import os

from gateway import *


def step(steps, name):
    open(os.path.join(steps, name), "w").close()


async def streamed(url, steps, protocol):
    protocol = int(protocol)
    client = await Client.connect(url, Device(protocol), protocol=(protocol, protocol))
    key = f"pieces-{protocol}"
    answer = await client.chat("pieces one two three", key)
    same("a message begins a run, known by its key", answer, {"runId": key, "status": "started"})
    seen = ""
    for word in ("one", "two", "three"):
        step(steps, word)
        seen += word
        await client.until(lambda: client.text(key).startswith(seen))
        seen += " "
    last, text = await client.reply(key)
    same(f"the text is whole, protocol {protocol}", text, "one two three end")
    same("the end is final", (last["state"], last["stopReason"]), ("final", "stop"))
    chats = client.named("chat", runId=key)
    deltas = [p for p in chats if p["state"] == "delta"]
    check("it came in pieces", len(deltas) >= 3, deltas)
    if protocol == 3:
        check("each with the whole text so far", all(
            "deltaText" not in p and "replace" not in p for p in deltas))
        check("no status", all(p["state"] != "status" for p in chats))
    else:
        same("first a status", (chats[0]["state"], chats[0]["phase"]),
             ("status", "starting_model"))
        check("the first piece also whole", deltas[0]["message"]["content"][0]["text"]
              == deltas[0]["deltaText"])
        check("then what is to be appended", all("message" not in p for p in deltas[1:]))
        check("and it fits", "".join(p["deltaText"] for p in deltas) == text)
    numbers = [e["payload"]["seq"] for e in client.events
               if e["event"] in ("chat", "agent") and e["payload"].get("runId") == key]
    same("a run counts its events", numbers, sorted(set(numbers)))
    same("the whole key of the conversation", chats[0]["sessionKey"], "agent:main:main")
    history = await client.call("chat.history", {"sessionKey": "main", "limit": 2})
    said = [(m["role"], m["content"][0]["text"]) for m in history["messages"]]
    same("history has both", said, [("user", "pieces one two three"), ("assistant", text)])
    await client.close()


async def together(url, steps):
    """Several clients, of both protocols, one of them late."""
    old = await Client.connect(url, Device(3), protocol=(3, 3))
    new = await Client.connect(url, Device(4))
    blind = await Client.connect(url, Device(5), scopes=[])
    key = "together"
    await new.chat("pieces a b", key)
    step(steps, "a")
    await old.until(lambda: old.text(key) == "a ")
    late = await Client.connect(url, Device(6))
    history = await late.call("chat.history", {"sessionKey": "main"})
    same("history knows what is under way", history["inFlightRun"], {"runId": key, "text": "a "})
    same("and that it is", history["sessionInfo"],
         {"hasActiveRun": True, "activeRunIds": [key]})
    step(steps, "b")
    for name, client in (("old", old), ("new", new), ("late", late)):
        last, text = await client.reply(key)
        same(f"the {name} one has the text", text, "a b end")
    first = [p for p in late.named("chat", runId=key) if p["state"] == "delta"][0]
    check("the late one's first piece is whole", first["message"]["content"][0]["text"]
          .startswith("a b") and not first["deltaText"].startswith("a"), first)
    for name, client in (("new", new), ("late", late)):
        numbers = [e["seq"] for e in client.events if "seq" in e]
        same(f"the {name} one's events have no hole", numbers,
             list(range(numbers[0], numbers[0] + len(numbers))))
        same(f"and begin at 1 ({name})", numbers[0], 1)
    numbers = [e["seq"] for e in old.events]
    check("those of protocol 3 share a count", numbers == sorted(set(numbers)) and numbers[0] > 1)
    same("who may not read gets nothing", [e for e in blind.events if e["event"] != "tick"], [])
    for client in (old, new, blind, late):
        await client.close()


async def keys(url, steps):
    client = await Client.connect(url)
    await client.chat("pieces c", "once")
    same("the same key while it runs", await client.chat("pieces c", "once"),
         {"runId": "once", "status": "in_flight"})
    step(steps, "c")
    await client.reply("once")
    again = await client.chat("pieces c", "once")
    same("and when it has ended", (again["runId"], again["status"]), ("once", "ok"))
    same("nothing is said twice", len(client.named("chat", runId="once", state="final")), 1)
    # Another message of the same conversation waits for its turn; one of another does not.
    await client.chat("pieces d", "first")
    await client.chat("say second", "second")
    await client.chat("say elsewhere", "elsewhere", session="other")
    await client.reply("elsewhere")
    same("the second one waits", client.named("chat", runId="second"), [])
    step(steps, "d")
    await client.reply("second")
    ends = [p["runId"] for p in client.named("chat") if p["state"] == "final"]
    check("for the first", ends.index("first") < ends.index("second"))
    await client.close()


async def odd(url, steps):
    client = await Client.connect(url, caps=["tool-events"])
    await client.chat("fail", "f")
    last, _ = await client.reply("f")
    same("a command that fails is an error", (last["state"], last["errorKind"]),
         ("error", "unknown"))
    same("with its last words", last["errorMessage"],
         "reply command: exit status 3: it \\e[31mburns")
    await refused("and so is its key", client.chat("fail", "f"), "UNAVAILABLE")
    await client.chat("die", "d9")
    last, _ = await client.reply("d9")
    same("one that is killed", last["errorMessage"], "reply command: exit status 137: Killed")
    await client.chat("half", "h")
    await client.until(lambda: client.text("h") == "a")
    step(steps, "half")
    same("a letter in two pieces, and no letter", (await client.reply("h"))[1], "a\u00e9\ufffd")
    await client.chat("anew", "n")
    await client.until(lambda: client.text("n") == "first draft")
    step(steps, "anew")
    await client.until(lambda: client.text("n") == "better")
    step(steps, "anew2")
    same("a form feed begins anew", (await client.reply("n"))[1], "better still")
    replaced = [p for p in client.named("chat", runId="n") if p.get("replace")]
    same("which is said", [p["deltaText"] for p in replaced], ["better"])
    await client.chat("env", "e-1", session="agent:main:room")
    text = (await client.reply("e-1"))[1].split("\n")
    same("the command knows what it is about", text[0], "e-1 agent:main:room main")
    check("and has no files of ours", not re.search("sqlite|eventpoll", text[1]), text)
    await client.chat("silent", "s")
    last, text = await client.reply("s")
    same("a command that says nothing", (last["state"], "message" in last, text),
         ("final", False, ""))
    await client.chat("ignore " + "x" * 300000, "i")
    same("one that does not listen", (await client.reply("i"))[1], "ok")
    await client.chat("say " + "\u00e4" * 100000, "l")
    same("a long message and a long reply", (await client.reply("l"))[1], "\u00e4" * 100000)
    await client.chat("big", "b")
    last, _ = await client.reply("b")
    same("too long a reply is an error", last["errorMessage"],
         "reply command: its output is longer than 262144 bytes")
    await client.chat("sleep", "t", timeoutMs=300)
    last, _ = await client.reply("t")
    same("one that takes too long", (last["state"], last["errorKind"]), ("error", "timeout"))
    await client.chat("behind", "bh")
    same("one that leaves something behind", (await client.reply("bh"))[1], "done")
    await client.close()


async def ended(url, steps):
    client = await Client.connect(url)
    await client.chat("sleep", "x")
    await client.until(lambda: client.text("x") == "begun")
    await client.chat("say waits", "y")
    got = await client.call("chat.abort", {"sessionKey": "main", "runId": "x"})
    same("a run is aborted", got, {"ok": True, "aborted": True, "runIds": ["x"]})
    last, text = await client.reply("x")
    same("it says so, and keeps the text",
         (last["state"], last["message"]["content"][0]["text"], text),
         ("aborted", "begun", "begun"))
    same("the next one goes on", (await client.reply("y"))[1], "waits")
    again = await client.call("chat.abort", {"sessionKey": "main", "runId": "x"})
    same("a second time there is nothing", again["aborted"], False)
    await refused("a run of another conversation",
                  client.call("chat.abort", {"sessionKey": "other", "runId": "y"}),
                  "INVALID_REQUEST")
    await client.chat("deaf", "z")
    await client.until(lambda: client.text("z") == "begun")
    await client.chat("say never", "w")
    got = await client.chat("stop", "word")
    same("a word stops all", (got["ok"], got["aborted"], sorted(got["runIds"])),
         (True, True, ["w", "z"]))
    same("also what waited", (await client.reply("w"))[0]["state"], "aborted")
    await client.chat("sleep", "q")
    await client.until(lambda: client.text("q") == "begun")
    await client.chat("say now", "r", queueMode="interrupt")
    same("one that interrupts", (await client.reply("r"))[1], "now")
    same("ended what was under way", (await client.reply("q"))[0]["state"], "aborted")
    await client.close()


async def agent(url, steps):
    client = await Client.connect(url)
    name = await client.ask("agent", {"message": "say hi", "agentId": "main",
                                      "idempotencyKey": "a1"})
    first = await client.answer(name, 1)
    same("agent answers at once", (first["runId"], first["status"]), ("a1", "accepted"))
    second = await client.answer(name, 2)
    same("and at the end", (second["status"], second["result"]["payloads"][0]["text"]),
         ("ok", "hi"))
    name = await client.ask("agent", {"message": "fail", "idempotencyKey": "a2"})
    await client.answer(name, 1)
    try:
        await client.answer(name, 2)
        check("a failure is the second answer", False)
    except Refused as refusal:
        same("a failure is the second answer", (refusal.code, refusal.payload["status"]),
             ("UNAVAILABLE", "error"))
    same("waiting for what has ended", (await client.call(
        "agent.wait", {"runId": "a1", "timeoutMs": 1000}))["status"], "ok")
    await client.chat("pieces g", "a3")
    same("waiting too short", (await client.call(
        "agent.wait", {"runId": "a3", "timeoutMs": 50}))["status"], "timeout")
    name = await client.ask("agent.wait", {"runId": "a3", "timeoutMs": 20000})
    step(steps, "g")
    same("and long enough", (await client.answer(name))["status"], "ok")
    await refused("for what never was", client.call("agent.wait", {"runId": "none"}),
                  "AGENT_RESULT_NOT_FOUND")
    await refused("another agent", client.call(
        "agent", {"message": "x", "agentId": "other", "idempotencyKey": "a4"}), "INVALID_REQUEST")
    await client.close()


async def followed(url, steps):
    client, other = await Client.connect(url), await Client.connect(url, Device(2))
    await client.call("sessions.subscribe")
    await client.call("sessions.messages.subscribe", {"key": "agent:main:seen"})
    await other.chat("say psst", "f1", session="unseen")
    await other.reply("f1")
    await other.chat("say hello", "f2", session="seen")
    await other.reply("f2")
    # What `other` was told says nothing of what has reached `client`.
    await client.until(lambda: len(client.named("session.message")) >= 2)
    await client.until(lambda: len(client.named("sessions.changed")) >= 2)
    said = [m["message"]["content"][0]["text"] for m in client.named("session.message")]
    same("the messages of one conversation", said, ["say hello", "hello"])
    changed = {c["sessionKey"] for c in client.named("sessions.changed")}
    same("and that others went on", changed, {"agent:main:unseen", "agent:main:seen"})
    check("such events are not counted", all(
        "seq" not in e for e in client.events if e["event"].startswith("session")))
    same("others are not told", other.named("session.message"), [])
    await client.call("sessions.messages.unsubscribe", {"key": "seen"})
    listed = await client.call("sessions.list", {"limit": 2, "includeLastMessage": True})
    same("the conversations, the last one first",
         [(s["key"], s["lastMessagePreview"]) for s in listed["sessions"]],
         [("agent:main:seen", "hello"), ("agent:main:unseen", "psst")])
    await client.close()
    await other.close()


async def begin_sleep(url, steps):
    client = await Client.connect(url)
    await client.chat("sleep", "last", session="last")
    await client.until(lambda: client.text("last") == "begun")
    await client.close()


async def remembered(url, steps):
    client = await Client.connect(url)
    page = await client.call("chat.history", {"sessionKey": "seen"})
    said = [(m["role"], m["content"][0]["text"]) for m in page["messages"]]
    same("after a new start history is there", said,
         [("user", "say hello"), ("assistant", "hello")])
    page = await client.call("chat.history", {"sessionKey": "last"})
    same("also of a reply that was broken off",
         [m["content"][0]["text"] for m in page["messages"]], ["sleep", "begun"])
    for number in range(5):
        await client.chat(f"say {number}", f"p{number}", session="pages")
        await client.reply(f"p{number}")
    first = await client.call("chat.history", {"sessionKey": "pages", "limit": 4})
    same("the newest, oldest of them first",
         [m["content"][0]["text"] for m in first["messages"]], ["say 3", "3", "say 4", "4"])
    same("there is more", (first["hasMore"], first["nextOffset"]), (True, 4))
    second = await client.call("chat.history", {"sessionKey": "pages", "limit": 6, "offset": 4})
    same("and it is all", (len(second["messages"]), second["hasMore"]), (6, False))
    short = await client.call("chat.history", {"sessionKey": "pages", "limit": 2, "maxChars": 3})
    check("long messages are cut", short["messages"][0]["content"][0]["text"]
          .startswith("say\n"), short)
    none = await client.call("chat.history", {"sessionKey": "nowhere"})
    same("where nothing was said", (none["messages"], none["hasMore"]), ([], False))
    await client.close()


async def folded(url):
    client = await Client.connect(url)

    async def said(key):
        page = await client.call("chat.history", {"sessionKey": key})
        return page["sessionKey"], [m["content"][0]["text"] for m in page["messages"]]

    for key in ("WORK", " agent:Main:Work "):
        same(f"'{key}' is one conversation", await said(key), ("agent:main:work", ["one", "two"]))
    same("a riff's name stays", await said("agent:main:riff:A"), ("agent:main:riff:A", ["x"]))
    await client.close()


async def mute(url):
    client = await Client.connect(url)
    refusal = await refused("without a reply command nothing is answered",
                            client.chat("x", "k"), "UNAVAILABLE")
    check("and it says why", "--reply-command" in refusal.error["message"])
    same("nor kept", (await client.call("chat.history", {"sessionKey": "main"}))["messages"], [])
    await client.close()


run({f.__name__: f for f in (streamed, together, keys, odd, ended, agent, followed, begin_sleep,
                             remembered, folded, mute)})
