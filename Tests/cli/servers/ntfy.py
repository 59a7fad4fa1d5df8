#!/usr/bin/env python3
"""A stand-in for an ntfy server: it answers as 2.13.0 was recorded to, see ntfy_replay.py.

It has publishing by headers, query and JSON; actions; encoded words; delays; attachments; errors
with code and text; users, rights and tokens; /TOPIC/auth; /json, /sse and /raw with since, poll
and filters; the limits of a visitor, who is the same for all; a cache in a file or in memory.
It lacks /ws (always 400), tiers and reservations, dates in words, e-mail, Firebase, the web page
and TLS. Cached messages do not expire.

ntfy.py [OPTION...]; durations are 500ms, 30s, 5m, 1h. The file of --auth-file is read again when
it changes: {"NAME": {"password": "...", "tokens": ["tk_..."], "role": "user", "topics": {"PATTERN":
"rw|ro|wo|deny"}}}, NAME "everyone" for all. It writes a record `listening` to its standard output,
and a line for each request to its standard error, never with a token.
"""
import argparse, base64, http.server, json, os, random, re, string, sys, threading, time
from urllib.parse import urlsplit, parse_qsl, unquote


def duration(text):
    if not re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", text):
        raise argparse.ArgumentTypeError(f"no duration: {text}")
    return sum(float(n) * dict(ms=.001, s=1, m=60, h=3600)[u] for n, _, u in re.findall(r"(\d+(\.\d+)?)(ms|s|m|h)", text))


def arguments():
    p = argparse.ArgumentParser(usage=__doc__, allow_abbrev=False)
    p.add_argument("--listen-http", default="127.0.0.1:0", metavar="HOST:PORT")
    p.add_argument("--base-url", default="")
    p.add_argument("--cache-file", default="", help="empty: the cache is memory")
    p.add_argument("--auth-file", default="", help="empty: everybody may do everything")
    p.add_argument("--auth-default-access", default="read-write", choices=["read-write", "read-only", "write-only", "deny-all"])
    p.add_argument("--attachment-cache-dir", default="", help="empty: no attachments")
    p.add_argument("--keepalive-interval", type=duration, default=45.0)
    p.add_argument("--visitor-request-limit-burst", type=int, default=60)
    p.add_argument("--visitor-request-limit-replenish", type=duration, default=5.0)
    p.add_argument("--visitor-message-daily-limit", type=int, default=0)
    p.add_argument("--visitor-subscription-limit", type=int, default=30)
    p.add_argument("--visitor-subscriber-rate-limiting", action="store_true")
    p.add_argument("--later", action="store_true", help="answer with sequence_id, as from 2.16 on")
    p.add_argument("--lose-answers", type=int, default=0, metavar="COUNT",
                   help="close the connection in place of the first answers to messages")
    return p.parse_args()


cfg = dict(users=None, delay_sweep=10.0)
RIGHTS = {"read-write": "rw", "read-only": "ro", "write-only": "wo", "deny-all": "deny"}
DENIED = "docs static file app metrics account settings signup login v1".split()
D = "https://ntfy.sh/docs/"
ERR = {40001: (400, "e-mail notifications are not enabled", "config/#e-mail-notifications"),
       40002: (400, "cannot disable cache for delayed message", ""),
       40004: (400, "invalid delay parameter: unable to parse delay", "publish/#scheduled-delivery"),
       40005: (400, "invalid delay parameter: too small, please refer to the docs", "publish/#scheduled-delivery"),
       40006: (400, "invalid delay parameter: too large, please refer to the docs", "publish/#scheduled-delivery"),
       40007: (400, "invalid priority parameter", "publish/#message-priority"),
       40008: (400, "invalid since parameter", "subscribe/api/#fetch-cached-messages"),
       40009: (400, "invalid request: topic invalid", ""), 40010: (400, "invalid request: topic name is not allowed", ""),
       40013: (400, "invalid request: attachment URL is invalid", "publish/#attachments"),
       40014: (400, "invalid request: attachments not allowed", "config/#attachments"),
       40016: (400, "invalid request: client not using the websocket protocol", "subscribe/api/#websockets"),
       40018: (400, "invalid request: actions invalid", "publish/#action-buttons"),
       40021: (400, "invalid request: icon URL is invalid", "publish/#icons"),
       40024: (400, "invalid request: request body must be valid JSON", ""),
       40101: (401, "unauthorized", "publish/#authentication"), 40301: (403, "forbidden", "publish/#authentication"),
       40401: (404, "page not found", ""),
       41301: (413, "attachment too large, or bandwidth limit reached", "publish/#limitations"),
       41303: (413, "JSON body too large", ""),
       42901: (429, "limit reached: too many requests", "publish/#limitations"),
       42903: (429, "limit reached: too many active subscriptions", "publish/#limitations"),
       42908: (429, "limit reached: daily message quota reached", "publish/#limitations"),
       42909: (429, "limit reached: too many auth failures", "publish/#limitations"),
       50001: (500, "internal server error", ""),
       50701: (507, "cannot publish to UnifiedPush topic without previously active subscriber", "")}


class Fault(Exception):
    def __init__(self, code, more=""):
        self.code, self.more = code, more


def word(n=12):
    return "".join(random.choices(string.ascii_letters + string.digits, k=n))


def decode(text):
    """RFC 2047, once."""
    if "=?" not in text:
        return text
    try:
        def one(m):
            raw = base64.b64decode(m[3]) if m[2] in "bB" else bytes.fromhex(
                re.sub(r"=(..)|(.)", lambda q: q[1] or ("20" if q[2] == "_" else q[2].encode().hex()), m[3], flags=re.S))
            return raw.decode(m[1])
        return re.sub(r"=\?([\w-]+)\?([bBqQ])\?([^?]*)\?=", one, re.sub(r"(\?=)\s+(=\?)", r"\1\2", text))
    except (ValueError, LookupError):
        return text


lock = threading.RLock()
cache, waiting, listeners, subscribed = [], [], [], set()
tokens = [0.0, 0.0]
auth_left, sent_today, open_streams = [30.0, time.time()], [0], [0]


def take():
    with lock:
        now = time.time()
        tokens[0] = min(cfg["visitor_request_limit_burst"],
                        tokens[0] + (now - tokens[1]) / cfg["visitor_request_limit_replenish"])
        tokens[1] = now
        if tokens[0] < 1:
            raise Fault(42901)
        tokens[0] -= 1


def store():
    if cfg["cache_file"]:
        try:
            with open(cfg["cache_file"] + ".new", "w") as f:
                json.dump([cache, waiting], f)
            os.replace(cfg["cache_file"] + ".new", cfg["cache_file"])
        except OSError:  # who listens has got it all the same
            raise Fault(50001)


stamp = [None]


def read_users():
    """The users, again if their file has changed."""
    if cfg["auth_file"]:
        with lock:
            try:
                info = os.stat(cfg["auth_file"])
                if stamp[0] != (info.st_mtime_ns, info.st_ino, info.st_size):
                    with open(cfg["auth_file"]) as f:
                        cfg["users"] = json.load(f)
                    stamp[0] = (info.st_mtime_ns, info.st_ino, info.st_size)
            except (OSError, ValueError) as e:
                print("standin: users:", e, file=sys.stderr, flush=True)
                if cfg["users"] is None:
                    raise Fault(50001)


def write_users():
    new = cfg["auth_file"] + ".new"
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        json.dump(cfg["users"], f, indent=1)
    os.replace(new, cfg["auth_file"])
    stamp[0] = None


def deliver(m):
    for want, put in list(listeners):
        if m["topic"] in want:
            put(m)


def sweep():
    while True:
        time.sleep(cfg["delay_sweep"])
        with lock:
            due = [m for m in waiting if m["time"] <= time.time()]
            for m in due:
                waiting.remove(m)
                deliver(m)
            try:
                if due:
                    store()
            except Fault:
                pass


def actions_of(text):
    text = text.strip()
    if text.startswith("["):
        try:
            found = json.loads(text, strict=True)
        except ValueError as e:
            raise Fault(40018, f"; JSON error: {e}")
        for a in found:
            if not isinstance(a.get("clear", False), bool):
                raise Fault(40018, "; JSON error")
    else:
        found, pos = [], 0
        while pos < len(text):
            a, section, last = {}, 0, False
            while not last:
                pos += len(text[pos:]) - len(text[pos:].lstrip())
                k = re.match(r"([-.\w]+)\s*=\s*", text[pos:], re.A)
                key, pos = (k[1], pos + len(k[0])) if k else ("", pos)
                if text[pos:pos + 1] in ("'", '"'):
                    start = pos + 1
                    q = re.match(r"""(['"])((?:\\\1|(?!\1).)*)\1\s*([,;]|$)""", text[pos:], re.S)
                    if not q:
                        raise Fault(40018, f"; unexpected end of input, quote started at position {start}")
                    value, end = q[2].replace("\\" + q[1], q[1]), q[3]
                    pos += len(q[0])
                else:
                    q = re.match(r"([^,;]*)([,;]|$)", text[pos:])
                    value, end = q[1].strip(), q[2]
                    pos += len(q[0])
                last = end in ("", ";")
                key = key or ("action", "label", "url")[section] if section < 3 else key
                if not key:
                    raise Fault(40018, f"; term '{value}' unknown")
                if key.startswith(("headers.", "extras.")):
                    a.setdefault(key.split(".")[0], {})[key.split(".", 1)[1]] = value
                elif key.lower() in ("action", "label", "url", "method", "body", "intent"):
                    a[key.lower()] = value
                elif key.lower() == "clear":
                    a["clear"] = value.lower() in ("1", "yes", "true")
                else:
                    raise Fault(40018, f"; key '{key}' unknown")
                section += 1
            found.append(a)
    if len(found) > 3:
        raise Fault(40018, "; only 3 actions allowed")
    out = []
    for a in found:
        kind, method = a.get("action", "").lower(), a.get("method", "").upper()
        if kind not in ("view", "broadcast", "http"):
            raise Fault(40018, f"; parameter 'action' cannot be '{kind}', valid values are 'view', 'broadcast' and 'http'")
        if not a.get("label"):
            raise Fault(40018, "; parameter 'label' is required")
        if kind != "broadcast" and not a.get("url"):
            raise Fault(40018, f"; parameter 'url' is required for action '{kind}'")
        if kind == "http" and method in ("GET", "HEAD") and a.get("body"):
            raise Fault(40018, f"; parameter 'body' cannot be set if method is {method}")
        b = {"id": word(10), "action": kind, "label": a["label"], "clear": bool(a.get("clear"))}
        b.update({k: v for k, v in (("url", a.get("url")), ("method", method), ("headers", a.get("headers")),
                                    ("body", a.get("body")), ("intent", a.get("intent")), ("extras", a.get("extras"))) if v})
        out.append(b)
    return out


def priority_of(text):
    text = text.strip().lower()
    names = {"": 0, "0": 0, "min": 1, "low": 2, "default": 3, "high": 4, "max": 5, "urgent": 5}
    if text in names:
        return names[text]
    if text in "12345" and len(text) == 1:
        return int(text)
    raise Fault(40007)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, form, *a):
        line = re.sub(r"(auth(?:orization)?=)[^&\s]*", r"\1...", form % a)
        print(time.strftime("%H:%M:%S"), "".join(c if c.isprintable() else "?" for c in line), file=sys.stderr, flush=True)

    def param(self, *names):
        for n in names:
            v = self.fields.get(n.lower(), "")
            v = decode(v).strip()
            if n == "priority" and re.match(r"u=\d(,\s*(i|\d))?$", v):
                v = ""
            if v:
                return v
        for n in names:
            if self.query.get(n):
                return self.query[n].strip()
        return ""

    def flag(self, default, *names):
        v = self.param(*names).lower()
        return default if v == "" else v in ("1", "yes", "true")

    def answer(self, body, status=200):
        raw = body if isinstance(body, bytes) else (json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def user(self):
        """Who it is: a name, or None for anybody."""
        value = (self.headers.get("Authorization") or "").strip()
        query = self.query.get("authorization") or self.query.get("auth")
        read_users()
        if cfg["users"] is None:
            return None
        if query:
            if not re.fullmatch(r"[\w-]+=*", query) or len(query.rstrip("=")) % 4 == 1:
                raise Fault(50001)
            value = base64.urlsafe_b64decode(query.rstrip("=") + "===").decode().strip()
        if not value.lower().startswith(("basic ", "bearer ")):
            return None
        with lock:
            now = time.time()
            auth_left[0] = min(30.0, auth_left[0] + (now - auth_left[1]) / 60)
            auth_left[1] = now
            if auth_left[0] <= 1:
                raise Fault(42909)
            token = value[7:].strip() if value.startswith("Bearer") else ""
            if value.lower().startswith("basic "):
                name, _, token = base64.b64decode(value[6:]).decode().partition(":")
                if name and cfg["users"].get(name, {}).get("password") == token != "":
                    return name
                token = "" if name else token
            for name, u in cfg["users"].items():
                if token and token in u.get("tokens", []):
                    return name
            auth_left[0] -= 1
        raise Fault(40101)

    def may(self, who, topic, write):
        if cfg["users"] is None:
            return
        for name in ([who] if who else []) + ["everyone"]:
            for pattern, right in cfg["users"].get(name, {}).get("topics", {}).items():
                if re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), topic):
                    if right == "rw" or right == ("wo" if write else "ro"):
                        return
                    raise Fault(40301)
        if RIGHTS[cfg["auth_default_access"]] not in ("rw", "wo" if write else "ro"):
            raise Fault(40301)

    def go(self):
        length = int(self.headers.get("Content-Length") or 0)
        big = length > 15 << 20
        body = b"" if big else self.rfile.read(length)
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            while (size := int(self.rfile.readline().split(b";")[0] or b"0", 16)) and len(body) + size <= 15 << 20:
                body += self.rfile.read(size)
                self.rfile.readline()
            big = size > 0
            while not big and self.rfile.readline().strip():
                pass
        url = urlsplit(self.path)
        self.query = dict(reversed([(k, v) for k, v in parse_qsl(url.query, keep_blank_values=True)]))
        self.fields = {k.lower(): v.encode("latin-1").decode("utf-8", "replace") for k, v in self.headers.items()}
        try:
            self.route(self.command, unquote(url.path), body, big)
        except Fault as f:
            http_code, text, link = ERR[f.code]
            out = {"code": f.code, "http": http_code, "error": text + f.more}
            if link:
                out["link"] = D + link
            self.log_message("%d %s", f.code, text + f.more)
            self.answer(out, http_code)
        if big:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = go

    def route(self, method, path, body, big):
        who = self.user()
        name = r"[-_A-Za-z0-9]{1,64}"
        if method == "GET" and path == "/v1/health":
            return self.answer({"healthy": True})
        if path in ("/v1/account", "/v1/account/token"):
            return self.account(method, path, who, body)
        if method == "GET" and (m := re.fullmatch(r"/file/(\w+)(\.\w+)?", path)) and cfg["attachment_cache_dir"] \
                and os.path.exists(kept := os.path.join(cfg["attachment_cache_dir"], m[1])):
            with open(kept, "rb") as f:
                return self.answer(f.read())
        if method in ("POST", "PUT") and path == "/":
            return self.publish_json(who, body)
        if method in ("POST", "PUT") and re.fullmatch("/" + name, path):
            return self.publish(who, path[1:], body, big)
        if method == "GET" and (m := re.fullmatch(f"/({name})/(publish|send|trigger)", path)):
            return self.publish(who, m[1], b"", False)
        if method == "GET" and re.fullmatch("/" + name, path) and self.flag(False, "up"):
            return self.answer({"unifiedpush": {"version": 1}})
        if method == "GET" and (m := re.fullmatch(f"/({name}(?:,{name})*)/(json|sse|raw|ws|auth)", path)):
            take()
            topics = m[1].split(",")
            if any(t in DENIED for t in topics):
                raise Fault(40009)
            for t in topics:
                self.may(who, t, False)
            if m[2] == "auth":
                return self.answer({"success": True})
            if m[2] == "ws":
                raise Fault(40016)  # no WebSocket here
            return self.subscribe(topics, m[1], m[2])
        raise Fault(40401)

    def account(self, method, path, who, body):
        if who is None:
            if method == "GET" and path == "/v1/account":
                return self.answer({"username": "*", "role": "anonymous"})
            raise Fault(40101)
        with lock:
            mine = cfg["users"][who].setdefault("tokens", [])
            if method == "GET":
                return self.answer({"username": who, "role": cfg["users"][who].get("role", "user"), "tokens": [{"token": t} for t in mine]})
            if method == "POST":
                t = "tk_" + word(29).lower()
                mine.append(t)
                write_users()
                return self.answer({"token": t, "label": json.loads(body).get("label", ""), "expires": int(time.time()) + 259200})
            t = self.headers.get("X-Token") or ""
            if t in mine:
                mine.remove(t)
                write_users()
            self.answer({"success": True})

    def publish_json(self, who, body):
        if len(body) > 8191:
            raise Fault(41303)
        try:
            j = json.JSONDecoder().raw_decode(body.decode("utf-8", "replace").lstrip())[0]
        except ValueError:
            raise Fault(40024)
        kinds = dict(topic=str, title=str, message=str, priority=int, tags=list, click=str, icon=str, actions=list, attach=str,
                     markdown=bool, filename=str, email=str, call=str, cache=str, firebase=str, delay=str)
        inner = dict(action=str, label=str, clear=bool, url=str, method=str, headers=dict, body=str, intent=str, extras=dict)
        if not isinstance(j, dict):
            raise Fault(40024)
        for k, v in j.items():
            if k in kinds and v is not None and (type(v) is not kinds[k]):
                raise Fault(40024)
        for a in j.get("actions") or []:
            if not isinstance(a, dict) or any(k in inner and v is not None and type(v) is not inner[k] for k, v in a.items()) \
                    or any(not isinstance(v, str) for h in ("headers", "extras") for v in (a.get(h) or {}).values()):
                raise Fault(40024)
        topic = j.get("topic") or ""
        if not re.fullmatch(r"[-_A-Za-z0-9]{1,64}", topic):
            raise Fault(40009)
        for k in ("title", "click", "icon", "attach", "filename", "email", "call", "cache", "firebase", "delay"):
            if j.get(k):
                self.fields["x-" + k] = j[k]
        if isinstance(j.get("sequence_id"), str):
            self.fields["x-sequence-id"] = j["sequence_id"]
        if j.get("priority"):
            self.fields["x-priority"] = str(j["priority"])
        if j.get("tags"):
            self.fields["x-tags"] = ",".join(j["tags"])
        if j.get("markdown"):
            self.fields["x-markdown"] = "yes"
        if j.get("actions"):
            self.fields["x-actions"] = json.dumps([{k: v for k, v in a.items() if k in inner} for a in j["actions"]], ensure_ascii=False)
        self.publish(who, topic, (j.get("message") or "triggered").encode("utf-8", "replace"), False)

    def publish(self, who, topic, body, big):
        take()
        if topic in DENIED:
            raise Fault(40010)
        self.may(who, topic, True)
        now = time.time()
        m = {"id": word(), "time": int(now), "expires": 0, "event": "message", "topic": topic}
        cached = self.flag(True, "x-cache", "cache")
        title, click, icon = self.param("x-title", "title", "t"), self.param("x-click", "click"), self.param("x-icon", "icon")
        filename, attach = self.param("x-filename", "filename", "file", "f"), self.param("x-attach", "attach", "a")
        if attach and not re.match("https?://", attach):
            raise Fault(40013)
        if icon and not re.match("https?://", icon):
            raise Fault(40021)
        if self.param("x-email", "x-e-mail", "email", "e-mail", "mail", "e"):
            raise Fault(40001)
        text = self.param("x-message", "message", "m").replace("\\n", "\n")
        priority = priority_of(self.param("x-priority", "priority", "prio", "p"))
        tags = [t.strip() for t in self.param("x-tags", "tags", "tag", "ta").split(",") if t.strip()]
        delay = self.param("x-delay", "delay", "x-at", "at", "x-in", "in")
        if delay:
            if not cached:
                raise Fault(40002)
            unit = dict(s=1, m=60, min=60, mins=60, h=3600, hour=3600, hours=3600, d=86400, day=86400, days=86400)
            if re.fullmatch(r"\d{9,}", delay):
                due = int(delay)
            elif re.fullmatch(r"-?(\d+\s?(s|min|mins|m|hours|hour|h|days|day|d))+", delay):
                due = now + (-1 if delay[0] == "-" else 1) * sum(int(n) * unit[u] for n, u in
                                                                  re.findall(r"(\d+)\s?([a-z]+)", delay))
            else:
                raise Fault(40004)
            if int(due) < int(now + 10):
                raise Fault(40005)
            if int(due) > int(now + 259200):
                raise Fault(40006)
            m["time"] = int(due)
        actions = actions_of(a) if (a := self.param("x-actions", "actions", "action")) else None
        markdown = self.flag(False, "x-markdown", "markdown", "md") or self.fields.get("content-type", "").lower() == "text/markdown"
        up = self.flag(False, "x-unifiedpush", "unifiedpush", "up")
        poll = self.param("x-poll-id", "poll-id")
        with lock:
            if up and cfg["visitor_subscriber_rate_limiting"] and topic not in subscribed:
                raise Fault(50701)
            if cfg["visitor_message_daily_limit"] and sent_today[0] >= cfg["visitor_message_daily_limit"]:
                raise Fault(42908)
            sent_today[0] += 1
        if poll:
            m = {"id": m["id"], "time": m["time"], "event": "poll_request", "topic": topic, "message": "New message", "poll_id": poll}
            cached = False
        else:
            if cached:
                m["expires"] = m["time"] + 43200
            else:
                del m["expires"]
            attachment = encoding = None
            try:
                clear = body.decode()
            except UnicodeDecodeError:
                clear = None
            if up:
                text, encoding = (clear, None) if clear is not None else (base64.b64encode(body).decode(), "base64")
            elif attach:
                base = urlsplit(attach).path.rsplit("/", 1)[-1]
                attachment = {"name": filename or base or "attachment", "url": attach}
                text = (clear or "").strip() or text
                text = text or f"You received a file: {attachment['name']}"
            elif filename or clear is None or len(body) >= 4096:
                if not cfg["attachment_cache_dir"]:
                    raise Fault(40014)
                if big:
                    raise Fault(41301)
                attachment = {"name": filename or "attachment.txt", "type": "text/plain; charset=utf-8", "size": len(body),
                              "expires": int(now) + 10800, "url": f"{cfg['base_url']}/file/{m['id']}.txt"}
                try:
                    os.makedirs(cfg["attachment_cache_dir"], exist_ok=True)
                    with open(os.path.join(cfg["attachment_cache_dir"], m["id"]), "wb") as f:
                        f.write(body)
                except OSError:
                    raise Fault(50001)
                text = text or f"You received a file: {attachment['name']}"
            elif body:
                text = clear.strip()
            if cfg["later"]:
                m["sequence_id"] = self.fields.get("x-sequence-id") or m["id"]
            for k, v in (("title", title), ("message", text or "triggered"), ("priority", priority), ("tags", tags),
                         ("click", click), ("icon", icon), ("actions", actions), ("attachment", attachment),
                         ("content_type", "text/markdown" if markdown else ""), ("encoding", encoding)):
                if v:
                    m[k] = v
        with lock:
            if delay and m["event"] == "message":
                waiting.append(m)
            else:
                deliver(m)
            if cached:
                cache.append(m)
                store()
            if cfg["lose_answers"]:
                cfg["lose_answers"] -= 1
                self.close_connection = True
                return
        self.answer(m)

    def subscribe(self, topics, label, form):
        q = lambda *n: self.param(*n)
        poll, since = self.flag(False, "x-poll", "poll", "po"), q("x-since", "since", "si")
        scheduled = self.flag(False, "x-scheduled", "scheduled", "sched")
        if since == "":
            since = "all" if poll else "none"
        after = None
        if re.fullmatch(r"[A-Za-z0-9]{12}", since):
            pass
        elif re.fullmatch(r"-?\d+", since):
            after = int(since)
            since = "none" if after == 1 else "time"
        elif re.fullmatch(r"-?(\d+(\.\d+)?(h|ms|m|s))+", since):
            after = time.time() - (-1 if since[0] == "-" else 1) * sum(
                float(n) * dict(h=3600, m=60, s=1, ms=.001)[u] for n, _, u in re.findall(r"(\d+(\.\d+)?)(h|ms|m|s)", since))
            after, since = int(after), "time"
        elif since not in ("all", "latest", "none"):
            raise Fault(40008)
        want = {"id": q("x-id", "id"), "message": q("x-message", "message", "m"), "title": q("x-title", "title", "t")}
        tags = [t for t in q("x-tags", "tags", "tag", "ta").split(",") if t]
        priorities = [priority_of(p) for p in q("x-priority", "priority", "prio", "p").split(",") if p]

        def passes(m):
            return m["event"] != "message" or (
                all(not v or m.get(k) == v for k, v in want.items()) and all(t in m.get("tags", []) for t in tags)
                and (not priorities or (m.get("priority") or 3) in priorities))

        def frame(m):
            line = json.dumps(m, ensure_ascii=False, separators=(",", ":"))
            if form == "json":
                return line + "\n"
            if form == "raw":
                return (m["message"].replace("\n", " ") if m["event"] == "message" else "") + "\n"
            return ("" if m["event"] == "message" else f"event: {m['event']}\n") + f"data: {line}\n\n"

        with lock:
            if open_streams[0] >= cfg["visitor_subscription_limit"]:
                raise Fault(42903)
            open_streams[0] += 1
            subscribed.update(topics)
        pending, news = [], threading.Condition()

        def put(m):
            with news:
                pending.append(m)
                news.notify()

        entry = (topics, put)
        try:
            with lock:
                seen = [m for m in cache if m["topic"] in topics and (scheduled or m not in waiting)]
                ids = [m["id"] for m in cache]
                if since == "none":
                    old = []
                elif since == "latest":
                    old = [[m for m in seen if m["topic"] == t][-1:] for t in topics]
                    old = [m for ms in old for m in ms]
                elif since == "time":
                    old = [m for m in seen if m["time"] >= after]
                elif since == "all" or since not in ids:
                    old = seen
                else:
                    old = [m for m in seen if ids.index(m["id"]) > ids.index(since)]
                old = sorted(sorted(old, key=lambda m: topics.index(m["topic"])), key=lambda m: m["time"])
                if not poll:
                    listeners.append(entry)
            self.send_response(200)
            self.send_header("Content-Type", {"json": "application/x-ndjson", "sse": "text/event-stream", "raw": "text/plain"}[form] + "; charset=utf-8")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

            def write(m):
                if passes(m):
                    raw = frame(m).encode()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
                    self.wfile.flush()
            special = lambda e: {"id": word(), "time": int(time.time()), "event": e, "topic": label}
            if not poll:
                write(special("open"))
            for m in old:
                write(m)
            if poll:
                self.wfile.write(b"0\r\n\r\n")
                return
            last = time.time()
            self.connection.settimeout(0.01)
            while True:
                with news:
                    if not pending:
                        news.wait(min(.5, max(0, last + cfg["keepalive_interval"] - time.time())))
                    batch, pending[:] = pending[:], []
                self.connection.settimeout(10)
                for m in batch:
                    write(m)
                    last = time.time()
                if time.time() - last >= cfg["keepalive_interval"]:
                    write(special("keepalive"))
                    last = time.time()
                self.connection.settimeout(0.001)
                try:
                    if self.connection.recv(1) == b"":
                        return
                except TimeoutError:
                    pass
        except OSError:
            self.close_connection = True
        finally:
            self.close_connection = self.close_connection or not poll
            with lock:
                open_streams[0] -= 1
                if entry in listeners:
                    listeners.remove(entry)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    cfg.update(vars(arguments()))
    if cfg["visitor_request_limit_replenish"] <= 0 or cfg["keepalive_interval"] <= 0:
        sys.exit("standin: an interval must be more than 0")
    host, _, port = cfg["listen_http"].rpartition(":")
    tokens[:] = [float(cfg["visitor_request_limit_burst"]), time.time()]
    if cfg["cache_file"] and os.path.exists(cfg["cache_file"]):
        with open(cfg["cache_file"]) as f:
            cache, late = json.load(f)
        waiting.extend(m for m in cache if m["id"] in {x["id"] for x in late})
    threading.Thread(target=sweep, daemon=True).start()
    server = Server((host, int(port)), Handler)
    url = f"http://{host}:{server.server_address[1]}"
    cfg["base_url"] = cfg["base_url"] or url
    print(json.dumps({"type": "listening", "url": url}, separators=(",", ":")), flush=True)
    print(time.strftime("%H:%M:%S"), "listens on", cfg["listen_http"], file=sys.stderr, flush=True)
    server.serve_forever()
