"""make fuzz: the configuration file, with lines at random.

A profile that stands there whole is used as it says, whatever else the file holds.
A file with anything in any place makes no command crash, hang or say a secret, and
sends the token nowhere else. No line asks for a token of a command: what it was
mutated to would be run.
"""
import http.server
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds
from rounds import Difference

TOKEN = "fuzz-token-of-a-profile"
SECRET = "do-not-show-this"
BITS = [b"[", b"]", b"[profile good", b"[profile ", b"[host x]", b"=", b";", b"#", b" ", b"\t", b"\n", b"\r", b"\0", b"\xff",
        b"\xc3\xa9", b"\x1b[2J", b"profile = ", b"url", b"token-file", b"port = 70000", b":", b"\\\n",
        b"\xef\xbb\xbf", b"A" * 60, b"B" * 5000, b" ; comment", b"%s%n", b"'", b'"', b"\xe2\x80\xae", b"[]", b"[profile]", b"= v"]
LINES = [b"[profile other]", b"[profile a b]", b"[host box]", b"[unknown]", b"[profile ]", b"[broken", b"url = http://127.0.0.1:1/",
         b"url=x", b"  url = y", b"port = 22", b"port = x", b"token-file = /nowhere", b"guild = 7", b"key",
         b"= value", b"# comment", b"; comment", b"", b"   ", b"\x0c", b"hostname = h", b"session = s ; t", b"host = box",
         b"[" + b"p" * 70 + b"]", b"x" * 3000, b"profile = other", b"identity = ~/id", b"token = " + SECRET.encode(),
         b"password: " + SECRET.encode(), b"  " + SECRET.encode()]

asked = []


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        asked.append((self.server.server_port, self.headers.get("x-dashboard-token")))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"ok":true}')


def start():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


own, other = start(), start()


def line(rng):
    what = rng.random()
    if what < 0.7:
        return rng.choice(LINES)
    if what < 0.9:
        return rounds.mutate(rng, rng.choice(LINES), BITS).replace(b"\n", b" ")
    return rng.randbytes(rng.choice([1, 10, 200])).replace(b"\n", b" ")


def junk(rng):
    return b"".join(line(rng) + rng.choice([b"\n", b"\n", b"\r\n"]) for _ in range(rng.choice([0, 1, 3, 12])))


def check(rng, folder, seed):
    os.makedirs(os.path.join(folder, "agentutils"))
    token = os.path.join(folder, "token")
    with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(TOKEN + "\n")
    path = os.path.join(folder, "agentutils", "config")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AGENT_")}
    environment.update(XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder, HOME=folder)
    good = f"[profile good]\nurl = http://127.0.0.1:{own}/\ntoken-file = {token}\n".encode()
    before, after = junk(rng), junk(rng)
    if rng.random() < 0.2:
        before = b"\xef\xbb\xbf" + before
    whole = before + good + b"[profile behind]\n" + after

    def call(body, *words):
        with open(path, "wb") as file:
            file.write(body)
        asked.clear()
        try:
            done = rounds.run(list(words), lines=100, env=environment)
        except Difference as difference:
            difference.kept = body
            raise
        if SECRET.encode() in done.stdout + done.stderr or TOKEN.encode() in done.stdout + done.stderr:
            raise Difference(f"a secret is shown: {words}: {done.stderr[:1000]!r}", body)
        return done

    done = call(whole, "agent-call", "-p", "good", "--max-time", "10", "health")
    if asked != [(own, TOKEN)] or done.returncode != 0:
        raise Difference(f"the profile is not used: status {done.returncode}, asked {asked}: {done.stderr[:1000]!r}", whole)

    # The other profile's server is never given this one's token.
    foreign = f"[profile foreign]\nurl = http://127.0.0.1:{other}/\n".encode()
    parts = [good, foreign, junk(rng)]
    rng.shuffle(parts)
    mixed = b"[profile x]\n".join(parts)
    call(mixed, "agent-call", "-p", "foreign", "--max-time", "10", "health")
    if any(port == other and value for port, value in asked):
        raise Difference("the token went to another profile's server", mixed)

    call(rounds.mutate(rng, whole, BITS), "agent-call", "-p", rng.choice(["good", "other", "behind"]), "--max-time", "0.5", "health")
    call(rounds.mutate(rng, whole, BITS), "tmux-attach", "--fingerprint", "--pins", os.path.join(folder, "pins"), rng.choice(["box", "x"]))


sys.exit(rounds.main("configuration", check))
