"""make fuzz: files of host keys, damaged at random.

Pins (--fingerprint): a pin that stands there whole is found, or the file is refused as a
whole; where OpenSSH finds a key for the host there, we never say that none is pinned;
what is shown are keys of the file. And --forget changes no other line.

OpenSSH's own file (--known-hosts, against a real sshd): beside a whole line with
another key of the host, the host is never trusted.
"""
import base64
import binascii
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rounds
from rounds import Difference

SHELF = tempfile.mkdtemp(prefix="agentutils-fuzz.")
SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


def generate(name):
    path = os.path.join(SHELF, name)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
    with open(path + ".pub", "rb") as file:
        return b" ".join(file.read().split()[:2])


def made(name):
    """A key that is the same each time, so that a seed names a file."""
    kind = b"ssh-ed25519"
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in (kind, hashlib.sha256(name).digest()))
    return kind + b" " + base64.b64encode(blob)


HOST = generate("host")
generate("id")
KEYS = [made(b"one"), made(b"two"), made(b"three")]
NAMES = [b"box.example", b"[box.example]:2222", b"10.0.0.7", b"[10.0.0.7]:22022", b"*.example", b"!box.example,*", b"box.example,other",
         b"BOX.example", b"[::1]:2222", b"box.exampl?", b"[box.example]:22"]
HOSTS = [("box.example", 22), ("box.example", 2222), ("10.0.0.7", 22), ("10.0.0.7", 22022)]
BITS = [b" ", b"\t", b"\n", b"\r", b",", b"*", b"?", b"!", b"#", b"@revoked ", b"@cert-authority ", b"|1|", b"[", b"]:", b"=", b"\0",
        b"\xff", b"\x1b[2J", b"ssh-ed25519", b"ssh-rsa", b"AAAA", b"box.example", b"\xef\xbb\xbf", b"+", b"/", b"\\", b'"', b"\xc2\xa0"]


def name_of(host, port):
    return host if port == 22 else f"[{host}]:{port}"


def fingerprint(blob):
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def body(rng):
    lines = []
    for _ in range(rng.choice([1, 2, 5, 20])):
        line = rng.choice(NAMES) + b" " + rng.choice(KEYS)
        if rng.random() < 0.1:
            line += b" a comment"
        if rng.random() < 0.05:
            line = rng.choice([b"@revoked ", b"@cert-authority ", b"# "]) + line
        lines.append(line)
    return b"\n".join(lines) + rng.choice([b"\n", b"\n", b""])


def shown(text):
    return set(re.findall(r"SHA256:[A-Za-z0-9+/]{43}", text))


def pins(rng, folder):
    path = os.path.join(folder, "pins")
    host, port = rng.choice(HOSTS)
    name = name_of(host, port)
    content = body(rng)
    if rng.random() < 0.8:
        content = rounds.mutate(rng, content, BITS)
    whole = set()
    for line in content.split(b"\n"):
        for key in KEYS:
            if line == name.encode() + b" " + key:
                whole.add(fingerprint(base64.b64decode(key.split()[1])))
    with open(path, "wb") as file:
        file.write(content)
    where = ["--pins", path, "-P", str(port)]

    def call(*words):
        try:
            return rounds.run(["tmux-attach", *words, *where, host], statuses=(0, 1, 77), env={**os.environ, "HOME": folder})
        except Difference as difference:
            difference.kept = content
            raise

    done = call("--fingerprint")
    found = shown(done.stdout.decode())
    if done.returncode != 77 and not whole <= found:
        raise Difference(f"{name}: pins {whole - found} are not found: {done.stdout!r} {done.stderr!r}", content)
    if done.returncode == 0:
        blobs = set()
        for word in re.split(rb"\s+", content):
            try:
                blobs.add(fingerprint(base64.b64decode(word, validate=True)))
            except (ValueError, binascii.Error):
                pass
        if not found or not found <= blobs:
            raise Difference(f"{name}: keys {found - blobs} are in no line", content)
    if done.returncode == 1:
        theirs = subprocess.run(["ssh-keygen", "-F", name, "-f", path], capture_output=True, timeout=20).stdout
        lines = [line for line in theirs.split(b"\n") if line and not line.startswith((b"#", b"@"))]
        if lines:
            raise Difference(f"{name}: OpenSSH finds {lines[:2]}, we find none: {done.stderr!r}", content)
    done = call("--forget")
    with open(path, "rb") as file:
        after = file.read()
    if done.returncode == 77 and after != content:
        raise Difference("--forget: a file that is refused is another one now", content)
    rest = after.split(b"\n")
    for line in content.split(b"\n"):
        if name.encode().lower() not in line.lower() and line not in rest:
            raise Difference(f"--forget {name}: the line {line!r} is gone", content)


class Sshd:
    """A real one that lets nobody in; it is asked for its key."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = os.path.join(SHELF, "sshd_config")
        with open(config, "w") as file:
            file.write(f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {SHELF}/host\nPidFile none\nUsePAM no\n"
                       "PasswordAuthentication no\nKbdInteractiveAuthentication no\nStrictModes no\nMaxStartups 100\n"
                       "PerSourcePenalties no\n")
        words = [SSHD, "-D", "-e", "-f", config]
        if subprocess.run([SSHD, "-t", "-f", config], capture_output=True).returncode != 0:
            with open(config) as file:
                text = file.read().replace("PerSourcePenalties no\n", "")
            with open(config, "w") as file:
                file.write(text)
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)  # between two tries
        raise SystemExit("fuzz: host keys: sshd does not start")


def known(rng, folder, sshd):
    name = f"[127.0.0.1]:{sshd.port}".encode()
    lines = [rng.choice(NAMES + [name]) + b" " + rng.choice(KEYS) for _ in range(rng.choice([0, 2, 10]))]
    wrong = name + b" " + KEYS[0]
    content = b"\n".join(lines + [b""])
    if rng.random() < 0.9:
        content = rounds.mutate(rng, content, BITS + [name])
    is_wrong = rng.random() < 0.6
    if is_wrong:
        # Whole, in the middle of anything.
        at = content.find(b"\n", rng.randrange(len(content) + 1)) + 1
        gap = b"" if content[:at].endswith(b"\n") or at == 0 else b"\n"
        content = content[:at] + gap + wrong + b"\n" + content[at:]
    # Nothing in it may be the right key.
    content = content.replace(HOST.split()[1], b"")
    path, pin = os.path.join(folder, "known"), os.path.join(folder, "new-pins")
    with open(path, "wb") as file:
        file.write(content)
    try:
        done = rounds.run(
            ["tmux-attach", "--transport", "libssh2", "-i", os.path.join(SHELF, "id"), "--pins", pin, f"--known-hosts={path}",
             "-P", str(sshd.port), "--check", "nobody@127.0.0.1"], bound=60, lines=40, env={**os.environ, "HOME": folder})
    except Difference as difference:
        difference.kept = content
        raise
    if is_wrong and (done.returncode != 77 or b"FAILED  host key" not in done.stdout or os.path.exists(pin)):
        raise Difference(f"a host with another key than that of known_hosts: status {done.returncode}, {done.stdout!r} {done.stderr!r}", content)


def main():
    sshd = Sshd() if os.path.exists(SSHD) else None

    def check(rng, folder, seed):
        pins(rng, folder)
        if sshd and rng.random() < 0.3:
            known(rng, folder, sshd)

    try:
        return rounds.main("hostkeys", check)
    finally:
        if sshd:
            sshd.process.terminate()
            sshd.process.wait()
        shutil.rmtree(SHELF)


sys.exit(main())
