#!/usr/bin/env python3
"""ntfy_replay.py FILE...: sends the stand-in what ntfy 2.13.0 was sent, and compares the answers.

It starts three stand-ins with the settings that the recordings name. Ids, times and tokens may
differ; streams (frames with `t`) are passed over. 0: every pair came out the same; 1: some did
not, and are shown.
"""
import atexit, http.client, json, os, re, socket, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
DROP = ("id", "time", "expires", "last_access", "last_origin", "sync_topic", "poll_id")
NAMES = ("open", "deny-all", "limits")

def start():
    """Three stand-ins; their ports."""
    folder = tempfile.TemporaryDirectory()
    made = {n: "tk_" + (n * 8)[:28] + "1" for n in ("host", "phone", "buttons")}   # the made-up tokens of the samples
    users = {"host": {"tokens": [made["host"]], "topics": {"notices-ada": "wo", "answers-ada": "ro"}},
             "phone": {"tokens": [made["phone"]], "topics": {"notices-ada": "ro"}},
             "buttons": {"tokens": [made["buttons"]], "topics": {"answers-ada": "wo"}}}
    ports, started = [], []
    def end():
        for p in started: p.kill(); p.wait()
        folder.cleanup()
    atexit.register(end)
    for name in NAMES:
        f = f"{folder.name}/{name}"
        with open(f + ".users", "w") as u: json.dump(users, u)
        options = {"open": ["--cache-file", f + ".cache", "--attachment-cache-dir", f + ".files", "--visitor-request-limit-burst", "10000"],
                   "deny-all": ["--cache-file", f + ".cache", "--auth-file", f + ".users", "--auth-default-access", "deny-all",
                                "--visitor-request-limit-burst", "10000"],   # nobody waits here as the recorder did
                   "limits": ["--auth-file", f + ".users", "--visitor-request-limit-burst", "8", "--visitor-message-daily-limit", "3",
                              "--visitor-subscription-limit", "1", "--visitor-subscriber-rate-limiting"]}[name]
        with open(f + ".log", "w") as log:
            p = subprocess.Popen([sys.executable, here + "/ntfy.py", *options], stdout=subprocess.PIPE, stderr=log)
        started.append(p)
        ports.append(int(json.loads(p.stdout.readline())["url"].rsplit(":", 1)[1]))
    return ports

def expand(v):
    if isinstance(v, dict) and set(v) == {"repeat"}: return v["repeat"][0] * v["repeat"][1]
    if isinstance(v, dict): return {k: expand(x) for k, x in v.items()}
    return [expand(x) for x in v] if isinstance(v, list) else v

def norm(v):
    """Without what differs each time."""
    v = expand(v)
    if isinstance(v, list): return [norm(x) for x in v]
    if not isinstance(v, dict): return v
    o = {k: norm(x) for k, x in v.items() if k not in DROP}
    o.update({k: True for k in DROP[:3] if k in v})
    if isinstance(o.get("url"), str): o["url"] = re.sub(r"127\.0\.0\.1:\d+", "HOST", re.sub(r"/file/\w+", "/file/ID", o["url"]))
    if str(o.get("token", "")).startswith("tk_"): o["token"] = "T"
    return o

def same(want, got):
    """Equal; of an account what is wanted is enough, as its limits and statistics are not kept in the samples."""
    if isinstance(want, dict) and isinstance(got, dict):
        return all(k in got and same(v, got[k]) for k, v in want.items()) and ("limits" in got or "role" in got or set(want) == set(got))
    if isinstance(want, list) and isinstance(got, list): return len(want) == len(got) and all(map(same, want, got))
    return want == got

ids = {}
def collect(a, b):
    """The ids and tokens of this server in place of the recorded ones."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in a:
            if k in ("id", "token") and isinstance(a[k], str) and isinstance(b.get(k), str): ids[a[k]] = b[k]
            else: collect(a[k], b.get(k))
    elif isinstance(a, list) and isinstance(b, list):
        for x, y in zip(a, b): collect(x, y)

def ask(m, port):
    """Status, body and type of the answer."""
    def here_and_now(s):
        for a, b in ids.items(): s = s.replace(a, b)
        return s
    path, headers, body = here_and_now(m["path"]), {k: here_and_now(v) for k, v in m.get("headers", {}).items()}, expand(m.get("body"))
    if isinstance(body, dict) and set(body) == {"hex"}: raw = bytes.fromhex(body["hex"])
    elif isinstance(body, (dict, list)): raw = json.dumps(body, ensure_ascii=False).encode()
    else: raw = None if body is None else body.encode()
    for left in reversed(range(m.get("times", 1))):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            c.putrequest(m["method"], path, skip_accept_encoding=True)
            if raw is not None or m["method"] in ("POST", "PUT"): c.putheader("Content-Length", str(len(raw or b"")))
            for k, v in headers.items(): c.putheader(k, v.encode())
            c.endheaders()
            try: c.send(raw or b"")
            except OSError: pass      # it said no before it had all
            r = c.getresponse()
            answer = r.status, r.read().decode(errors="replace"), (r.getheader("Content-Type") or "").split(";")[0]
        except (OSError, http.client.HTTPException) as e: answer = 0, repr(e), ""
        finally: c.close()
    return answer

def understood(text):
    try: return json.loads(text)
    except ValueError: pass
    try: return {"lines": [json.loads(l) for l in text.splitlines() if l.strip()]}
    except ValueError: return {"text": text}

ports = dict(zip(NAMES, start()))
files = sys.argv[1:]
if not files: sys.exit(__doc__)
good = bad = streams = 0
plain = lambda t: re.sub(r'"(id)":"\w+"|"(time|expires)":\d+', "", t)
for f in files:
    lines = [json.loads(l) for l in open(f, encoding="utf-8")]
    for line, then in zip(lines, lines[1:] + [{}]):
        m = line["m"]
        if line["d"] == "note" and "open" in m:       # a stream beside what follows
            held = socket.create_connection(("127.0.0.1", ports[m["server"]]))
            held.sendall(f"GET {m['open']} HTTP/1.1\r\nHost: x\r\n\r\n".encode()); held.recv(100); time.sleep(.2)
        if line["d"] == "note" and "close" in m: held.close(); time.sleep(.7)
        if line["d"] != "in": continue
        if "t" in then: streams += 1; continue
        status, text, kind = ask(m, ports[m["server"]])
        want, got = then["m"]["body"], understood(text)
        collect(want, got)
        if "text" in want: want, got = {"text": plain(want["text"])}, {"text": plain(text)}
        if status == then["m"]["status"] and same(norm(want), norm(got)) and kind == then["m"].get("type", "").split(";")[0]: good += 1; continue
        bad += 1
        print(os.path.basename(f), m["method"], m["path"][:60], m.get("what", ""), "\n  want", then["m"]["status"], json.dumps(norm(want), ensure_ascii=False)[:300],
              "\n  got ", status, json.dumps(norm(got), ensure_ascii=False)[:300])
print(f"{good} of {good + bad} pairs the same; streams passed over: {streams}")
sys.exit(bad > 0)
