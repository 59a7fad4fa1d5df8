#!/usr/bin/env python3
"""dashboard.py [--token T] [--tick SECONDS] [--keep N] [--guilds ID,...] [--think SECONDS]

Behaves on the wire as a real Clanky dashboard does, see Agent/Clanky/CONTRACT.md 2
and 3: live actions in camelCase
without an id, rows in snake_case cut at 2000 UTF-16 units, a snapshot of the
newest 220, no `id:` lines, stats after every action and every 3 s, a heartbeat
every 15 s, at most 1000 rows from /api/actions, no replay.

--tick scales the 3 and 15 seconds (1 is a second). --keep forgets the oldest
rows beyond N, as retention does. --guilds are those that the agent is in: rows
of others may be there, for it may have left them. --think is how long it takes to
answer a question for some kinds.

What the real one does not have, for the tests:

    POST /control/actions   live actions, NDJSON; logged in order, at once, in
                            one millisecond unless they bring createdAt
    POST /control/drop      every stream is cut; ?how=between (after a frame,
                            default), inside (in the middle of one), reset;
                            &away=1: one that is asked for waits until /control/back
    GET  /control/state     {"rows":n,"clients":n,"requests":[...]}
"""
import argparse
import json
import queue
import socket
import struct
import threading
import time
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

SNAPSHOT = 220
LIMIT = (200, 1, 1000)
CONTENT_UNITS = 2000


def now():
    """The time as JavaScript's toISOString writes it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z"


def dump(value):
    """JSON as JSON.stringify writes it: no blanks, raw Unicode, 4e-7."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{dump(str(k))}:{dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dump, value)) + "]"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
        text = repr(value)
        if "e" not in text:
            return text
        digits, _, power = text.partition("e")
        power = int(power)
        if -7 < power < 0:
            return f"{value:.{-power + len(digits.replace('.', '')) - 1}f}"
        return f"{digits}e{power:+d}"
    return json.dumps(value, ensure_ascii=False)


def cut(text):
    """The first 2000 UTF-16 units; half a surrogate pair becomes U+FFFD."""
    if text is None:
        return None
    units = str(text).encode("utf-16-le", "surrogatepass")[:2 * CONTENT_UNITS]
    return units.decode("utf-16-le", "replace")


def stored(value):
    """What the store keeps of an id or a content: null of what JavaScript takes for
    false, else a text; lists and objects are not for this server."""
    if isinstance(value, str):
        return value or None
    return dump(value) if value else None


def row_of(number, live):
    """The stored row of a live action."""
    return {
        "id": number, "created_at": live["createdAt"], "guild_id": stored(live.get("guildId")),
        "channel_id": stored(live.get("channelId")),
        "message_id": stored(live.get("messageId")), "user_id": stored(live.get("userId")),
        "kind": live["kind"], "content": cut(stored(live.get("content"))),
        "metadata": live.get("metadata"), "usd_cost": live.get("usdCost") or 0,
    }


class Client:
    """One open stream: frames wait here for the thread that writes them."""

    def __init__(self, voice):
        self.voice = voice
        self.frames = queue.SimpleQueue()


class Dashboard:
    def __init__(self, options):
        self.options = options
        self.lock = threading.RLock()
        self.rows = []
        self.next_id = 1
        self.counts = {}
        self.cost = 0.0
        self.clients = []
        self.requests = []
        self.is_there = threading.Event()
        self.is_there.set()

    def log(self, lives):
        """Stores actions and sends each, and the stats after it, to every client."""
        stamp = now()
        with self.lock:
            for live in lives:
                live = dict(live)
                live["createdAt"] = live.pop("createdAt", None) or stamp
                row = row_of(self.next_id, live)
                self.next_id += 1
                self.rows.append(row)
                self.counts[row["kind"]] = self.counts.get(row["kind"], 0) + 1
                self.cost += row["usd_cost"]
                data = dump(live)
                stats = frame("stats_update", self.stats())
                for client in self.clients:
                    if not client.voice:
                        client.frames.put(frame("action_event", data))
                        client.frames.put(stats)
                    elif live["kind"].startswith("voice_"):
                        client.frames.put(frame("voice_event", data))
            if self.options.keep:
                del self.rows[:-self.options.keep]

    def newest(self, limit, matches=lambda row: True):
        """Rows newest first; inside one millisecond by ascending id."""
        with self.lock:
            rows = [row for row in self.rows if matches(row)]
        rows.sort(key=lambda row: row["created_at"], reverse=True)  # stable: ids ascend
        return rows[:limit]

    def stats(self):
        with self.lock:
            return dump(self.stats_payload())

    def stats_payload(self):
        return {
            "stats": {"last24h": self.counts, "totalCostUsd": self.cost,
                      "dailyCost": [{"day": now()[:10], "usd": self.cost}],
                      "performance": {"windowHours": 24, "sampleLimit": 4000, "sampleCount": 0}},
            "runtime": {"isReady": True, "guildCount": 2,
                        "replyQueue": {"channels": 0, "pending": 0},
                        "gateway": {"hasConnectedAtLeastOnce": True, "reconnectInFlight": False,
                                    "reconnectAttempts": 0},
                        "voice": {"activeCount": 0, "sessions": []}}}

    def drop(self, how, is_away):
        if is_away:
            self.is_there.clear()
        with self.lock:
            clients, self.clients = self.clients, []
        for client in clients:
            client.frames.put(("drop", how))


def frame(event, data):
    return f"event: {event}\ndata: {data}\n\n".encode("utf-8", "replace")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    dashboard = None

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Date", self.date_time_string())
        data = body.encode("utf-8", "replace")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def allowed(self):
        token = self.dashboard.options.token
        return token is None or self.headers.get("x-dashboard-token") == token

    def do_GET(self):
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/control/state":
            return self.state()
        with self.dashboard.lock:
            self.dashboard.requests.append(self.path)
        if not self.allowed():
            return self.answer(401, '{"error":"Unauthorized. Provide x-dashboard-token."}')
        if parts.path == "/api/health":
            return self.answer(200, '{"ok":true}')
        if parts.path == "/api/stats":
            return self.answer(200, self.dashboard.stats())
        if parts.path == "/api/actions":
            if "kinds" in query:
                time.sleep(self.dashboard.options.think)
            return self.answer(200, dump(self.actions(query)))
        if parts.path == "/api/guilds":
            guilds = self.dashboard.options.guilds.split(",") if self.dashboard.options.guilds else []
            return self.answer(200, dump([{"id": guild, "name": f"Guild {guild}"}
                                          for guild in guilds]))
        if parts.path == "/api/voice/state":
            return self.answer(200, '{"activeCount":0,"sessions":[]}')
        if parts.path == "/api/activity/events":
            return self.stream(voice=False)
        if parts.path == "/api/voice/events":
            return self.stream(voice=True)
        self.answer(404, "Not found.", "text/plain; charset=UTF-8")

    do_HEAD = do_GET

    def do_POST(self):
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if parts.path == "/control/actions":
            lives = [json.loads(line) for line in body.split(b"\n") if line.strip()]
            self.dashboard.log(lives)
            return self.answer(200, dump({"stored": len(lives)}))
        if parts.path == "/control/drop":
            query = parse_qs(parts.query)
            self.dashboard.drop(query.get("how", ["between"])[0], "away" in query)
            return self.answer(200, "{}")
        if parts.path == "/control/back":
            self.dashboard.is_there.set()
            return self.answer(200, "{}")
        if not self.allowed():
            return self.answer(401, '{"error":"Unauthorized. Provide x-dashboard-token."}')
        self.answer(404, '{"error":"Not found."}')

    def state(self):
        with self.dashboard.lock:
            state = {"rows": len(self.dashboard.rows), "clients": len(self.dashboard.clients),
                     "requests": self.dashboard.requests}
        self.answer(200, dump(state))

    def actions(self, query):
        default, least, most = LIMIT
        try:
            limit = min(max(int(float(query.get("limit", default))), least), most)
        except ValueError:
            limit = default
        kinds = [kind for kind in query.get("kinds", "").split(",") if kind]
        guild = query.get("guildId")
        since = None
        try:
            hours = float(query.get("sinceHours", 0))
            if hours > 0:
                stamp = time.time() - hours * 3600
                since = datetime.fromtimestamp(stamp, timezone.utc).strftime(
                    "%Y-%m-%dT%H:%M:%S.%f")[:23] + "Z"
        except (ValueError, OverflowError, OSError):
            pass
        return self.dashboard.newest(limit, lambda row: (
            (not kinds or row["kind"] in kinds) and (not guild or row["guild_id"] == guild)
            and (since is None or row["created_at"] >= since)))

    def stream(self, voice):
        self.dashboard.is_there.wait()
        self.send_response_only(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"),
                            ("Connection", "keep-alive"), ("X-Accel-Buffering", "no"),
                            ("Transfer-Encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        if self.command == "HEAD":
            return
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(voice)
        with self.dashboard.lock:
            self.dashboard.clients.append(client)
        try:
            self.feed(client)
        except OSError:
            pass
        finally:
            with self.dashboard.lock:
                if client in self.dashboard.clients:
                    self.dashboard.clients.remove(client)

    def feed(self, client):
        # Joined first, snapshot afterwards: an action of this moment comes twice.
        self.chunk(self.regular(client, first=True))
        tick = self.dashboard.options.tick
        next_stats = time.monotonic() + 3 * tick
        next_heartbeat = time.monotonic() + 15 * tick
        while True:
            wait = min(next_stats, next_heartbeat) - time.monotonic()
            try:
                item = client.frames.get(timeout=max(wait, 0.0001))
            except queue.Empty:
                item = None
            if isinstance(item, tuple):
                return self.cut(client, item[1])
            if item is not None:
                self.chunk(item)
            if time.monotonic() >= next_stats:
                next_stats += 3 * tick
                self.chunk(self.regular(client))
            if time.monotonic() >= next_heartbeat:
                next_heartbeat += 15 * tick
                self.chunk(b": heartbeat\n\n")

    def regular(self, client, first=False):
        if client.voice:
            return frame("voice_state", '{"activeCount":0,"sessions":[]}')
        stats = self.dashboard.stats()
        if not first:
            return frame("stats_update", stats)
        rows = dump(self.dashboard.newest(SNAPSHOT))
        return frame("activity_snapshot", f'{{"actions":{rows},"stats":{stats}}}')

    def chunk(self, data):
        self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def cut(self, client, how):
        if how == "inside":
            data = self.regular(client)
            self.connection.sendall(b"%x\r\n%s" % (len(data), data[:len(data) // 2]))
        elif how == "reset":
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        else:
            self.connection.sendall(b"0\r\n\r\n")
        self.connection.shutdown(socket.SHUT_RDWR)


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--token")
    parser.add_argument("--tick", type=float, default=1)
    parser.add_argument("--keep", type=int)
    parser.add_argument("--guilds", default="")
    parser.add_argument("--think", type=float, default=0)
    options = parser.parse_args()
    Handler.dashboard = Dashboard(options)
    server = Listener(("127.0.0.1", 0), Handler)
    print(dump({"type": "listening", "url": f"http://127.0.0.1:{server.server_port}",
                "time": now()}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
