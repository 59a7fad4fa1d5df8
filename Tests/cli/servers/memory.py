#!/usr/bin/env python3
"""memory.py [FACTS]: the memory of a dashboard, by Agent/Clanky/CONTRACT.md 5.2.

FACTS is a file of lines: `{"guild": {...}}` names a guild, any other object is
a fact's row (missing members are filled in). The limits, the missing offset,
the checks of PUT and DELETE and their words are the contract's; so is that a
DELETE is answered by 404 the second time, that what a guild knows of a person is
moved to that person's scope at the start, that a search sees the facts of its
guild alone, and those of all guilds for the query __ALL__. Beyond it, for tests:

    --same-hits         a search sees the facts of all guilds, whichever is asked for, as
                        real ones were seen to do

    --create            POST /api/memory/facts makes a fact, as agent-serve does
    --slow-delete S     a DELETE takes S seconds before and after its work
    --slow-facts S      a list of facts takes S seconds
    --fault CODE        PUT and DELETE answer with this status
    GET /control/facts  every fact that is left, one a line
    GET /control/requests  how many requests came
    GET /control/together  how many lists of facts were asked for at a time, at most
    GET /control/connected  how many connections there are, this one too

A line `{"type":"listening",...}` on standard output tells the URL.
"""
import argparse
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

parser = argparse.ArgumentParser()
parser.add_argument("facts", nargs="?")
parser.add_argument("--same-hits", action="store_true")
parser.add_argument("--create", action="store_true")
parser.add_argument("--slow-delete", type=float, default=0)
parser.add_argument("--slow-facts", type=float, default=0)
parser.add_argument("--fault", type=int)
options = parser.parse_args()

lock = threading.Lock()
guilds = []
facts = {}
requests = 0
waiting = 0
together = 0
connected = 0


def row(given, number):
    base = {"id": number, "created_at": "2026-01-01T00:00:00.000Z",
            "updated_at": f"2026-01-{1 + number // 86400 % 28:02}T{number // 3600 % 24:02}:"
                          f"{number // 60 % 60:02}:{number % 60:02}.000Z",
            "scope": "guild", "guild_id": None, "channel_id": None, "user_id": None,
            "subject": "__lore__", "fact": "", "fact_type": "other", "evidence_text": None,
            "source_message_id": None, "confidence": 0.5, "metadata": {"isLegacy": False}}
    base.update(given)
    if base["scope"] == "guild" and (base["subject"].isdigit() or base["subject"] == "__self__"):
        base.update(scope="user", guild_id=None)
        if base["user_id"] is None and base["subject"].isdigit():
            base["user_id"] = base["subject"]
    if base["scope"] == "guild" and base["guild_id"] is None and guilds:
        base["guild_id"] = guilds[0]["id"]
    return base


if options.facts:
    for line in open(options.facts, encoding="utf-8"):
        value = json.loads(line)
        if "guild" in value:
            guilds.append(value["guild"])
        else:
            fact = row(value, len(facts) + 1)
            facts[fact["id"]] = fact


def limited(query, default, most):
    try:
        return max(1, min(most, int(float(query.get("limit", [""])[0]))))
    except ValueError:
        return default


# What a change makes stale: the facts of a guild with what is searched in them.
known = {}


def searched(guild):
    if guild not in known:
        mine = [f for f in facts.values() if f["scope"] != "guild" or f["guild_id"] == guild]
        mine.sort(key=lambda f: (f["updated_at"], f["id"]), reverse=True)
        names = ["subject", "fact", "fact_type", "evidence_text", "source_message_id",
                 "channel_id"]
        known[guild] = [(f, "\0".join(str(f[n] or "") for n in names).lower()) for f in mine]
    return known[guild]


def seen(guild):
    return [fact for fact, _ in searched(guild)]


def folded(value):
    return re.sub(r"\s+", " ", value).strip() if isinstance(value, str) else ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        global connected
        super().setup()
        with lock:
            connected += 1

    def finish(self):
        global connected
        with lock:
            connected -= 1
        super().finish()

    def answer(self, status, value):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False,
                                                               separators=(",", ":"))
        body = text.encode("utf-8", "surrogatepass")
        kind = "text/plain" if isinstance(value, str) else "application/json"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "application/json" not in (self.headers.get("Content-Type") or ""):
            return {}
        value = json.loads(data or b"{}")
        return value if isinstance(value, dict) else {}

    def do_GET(self):
        global requests, waiting, together
        url = urlsplit(self.path)
        query = parse_qs(url.query, keep_blank_values=True)
        guild = query.get("guildId", [""])[0]
        if url.path == "/api/memory/facts":
            with lock:
                waiting += 1
                together = max(together, waiting)
            time.sleep(options.slow_facts)
            with lock:
                waiting -= 1
        with lock:
            requests += 1
            if url.path == "/api/guilds":
                return self.answer(200, guilds)
            if url.path == "/control/facts":
                return self.answer(200, "".join(json.dumps(f) + "\n" for f in facts.values()))
            if url.path == "/control/requests":
                return self.answer(200, str(requests))
            if url.path == "/control/together":
                return self.answer(200, str(together))
            if url.path == "/control/connected":
                return self.answer(200, str(connected))
            if url.path == "/api/memory/facts":
                return self.answer(200, self.facts(guild, query))
            if url.path == "/api/memory/subjects":
                return self.answer(200, self.subjects(guild, query))
            if url.path == "/api/memory/search":
                return self.answer(200, self.search(guild, query))
        self.answer(404, "Not found.")

    def facts(self, guild, query):
        limit = limited(query, 120, 500)
        subject = query.get("subject", [None])[0]
        text = query.get("q", [""])[0]
        found = searched(guild) if guild else []
        if subject is not None:
            found = [each for each in found if each[0]["subject"] == subject]
        if text:
            found = [each for each in found if text.lower() in each[1]]
        found = [fact for fact, _ in found[:limit]]
        return {"guildId": guild, "limit": limit, "subject": subject, "queryText": text,
                "facts": found}

    def subjects(self, guild, query):
        limit = limited(query, 200, 500)
        groups = {}
        for fact in seen(guild) if guild else []:
            key = (fact["scope"], fact["guild_id"], fact["user_id"], fact["subject"])
            group = groups.setdefault(key, {
                "scope": fact["scope"], "guild_id": fact["guild_id"],
                "user_id": fact["user_id"], "subject": fact["subject"],
                "last_seen_at": fact["updated_at"], "fact_count": 0})
            group["fact_count"] += 1
        return {"guildId": guild, "limit": limit, "subjects": list(groups.values())[:limit]}

    def search(self, guild, query):
        text = query.get("q", [""])[0]
        words = text.lower().split()
        results = []
        is_all = text.strip() == "__ALL__"
        for fact in facts.values():
            if fact["scope"] != "guild" or not (is_all or options.same_hits
                                                 or fact["guild_id"] == guild):
                continue
            score = sum(w in fact["fact"].lower() for w in words) / max(len(words), 1)
            if is_all or score > 0:
                hit = {k: v for k, v in fact.items() if k != "metadata"}
                hit.update(score=score, semanticScore=0, lexicalScore=score)
                results.append(hit)
        results.sort(key=lambda f: -f["score"])
        limit = max(1, min(24, int(query.get("limit", ["10"])[0])))
        return {"queryText": text, "guildId": guild, "channelId": None, "limit": limit,
                "results": results[:limit]}

    def change(self, method):
        global requests
        body = self.body()
        match = re.fullmatch(r"/api/memory/facts/([^/]*)", self.path)
        with lock:
            requests += 1
        if not match:
            return self.answer(404, {"error": "Not found."})
        if options.fault:
            return self.answer(options.fault, {"error": "fault"})
        guild = body.get("guildId")
        if not guild:
            return self.answer(400, {"ok": False, "error": "guildId required"})
        if not match[1].isdigit():
            return self.answer(400, {"ok": False, "error": "valid factId required"})
        if method == "DELETE":
            time.sleep(options.slow_delete)
        with lock:
            known.clear()
            fact = facts.get(int(match[1]))
            if method == "PUT":
                status, answer = self.put(fact, guild, body)
            elif fact is None or (fact["scope"] == "guild" and fact["guild_id"] != guild):
                status, answer = 404, {"ok": False, "error": "not_found"}
            else:
                del facts[fact["id"]]
                status, answer = 200, {"ok": True, "deleted": 1}
        if method == "DELETE":
            time.sleep(options.slow_delete)
        self.answer(status, answer)

    def put(self, fact, guild, body):
        for name in ["subject", "fact"]:
            if not folded(body.get(name)):
                return 400, {"ok": False, "error": f"{name} required"}
        try:
            confidence = float(body["confidence"])
        except (KeyError, TypeError, ValueError):
            return 400, {"ok": False, "error": "confidence must be a number between 0 and 1"}
        if fact is None or (fact["scope"] == "guild" and fact["guild_id"] != guild):
            return 404, {"ok": False, "error": "not_found"}
        new = {"subject": folded(body["subject"])[:120], "fact": folded(body["fact"])[:400],
               "fact_type": folded(body.get("factType")).lower()[:40] or "other",
               "evidence_text": folded(body.get("evidenceText"))[:240] or None,
               "confidence": max(0, min(1, confidence))}
        for other in facts.values():
            if other is not fact and (other["subject"], other["fact"]) == (
                    new["subject"], new["fact"]):
                return 409, {"ok": False, "error": "duplicate"}
        fact.update(new, updated_at="2026-11-21T12:00:00.000Z")
        return 200, {"ok": True, "fact": fact}

    def do_PUT(self):
        self.change("PUT")

    def do_DELETE(self):
        self.change("DELETE")

    def do_POST(self):
        body = self.body()
        if self.path == "/api/memory/facts" and options.create:
            with lock:
                known.clear()
                number = max([0, *facts]) + 1
                fact = row({"subject": body["subject"], "fact": body["fact"],
                            "fact_type": body.get("factType", "other"),
                            "evidence_text": body.get("evidenceText"),
                            "scope": body.get("scope", "guild"),
                            "guild_id": body["guildId"] if body.get("scope") == "guild" else None,
                            "user_id": body.get("userId"),
                            "confidence": body.get("confidence", 0.5)}, number)
                facts[number] = fact
            return self.answer(201, {"ok": True, "fact": fact})
        self.answer(404, {"error": "Not found."})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Handler)
print(json.dumps({"type": "listening", "url": f"http://127.0.0.1:{server.server_port}"},
                 separators=(",", ":")), flush=True)
server.serve_forever()
