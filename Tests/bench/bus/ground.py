"""A nats-server to be measured, and a client of a few lines for what takes many connections."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# Servers are not on everyone's PATH.
os.environ["PATH"] += ":/usr/sbin:/sbin"
HERE = os.path.dirname(os.path.abspath(__file__))


def setting(name, default):
    """A whole number from the environment."""
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        sys.exit(f"bench-bus: {name}: not a whole number: {text}")
    return int(text)


class Server:
    """A server with JetStream and a store of its own on free ports of this machine."""

    def __init__(self, *options, config=""):
        self.folder = tempfile.mkdtemp(prefix="scale.")
        if config:
            file = os.path.join(self.folder, "config")
            with open(file, "w") as out:
                out.write(config)
            options = (*options, "-c", file)
        self.store = os.path.join(self.folder, "store")
        self.command = ["nats-server", "-js", "-sd", self.store, "-a", "127.0.0.1", "-p", "-1",
                        "-m", "-1", "-profile", "-1", "--ports_file_dir", self.folder, *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not self.find_ports():
            if time.monotonic() > deadline or self.process.poll() is not None:
                self.close()
                sys.exit("bench-bus: nats-server does not come up")
            time.sleep(0.02)

    def restart(self):
        """Kills it as kill -9 does and starts it again, on other ports."""
        self.process.kill()
        self.process.wait()
        for name in os.listdir(self.folder):
            if name.endswith(".ports"):
                os.unlink(os.path.join(self.folder, name))
        self.start()

    def find_ports(self):
        for name in os.listdir(self.folder):
            if name.endswith(".ports"):
                with open(os.path.join(self.folder, name)) as file:
                    text = file.read()
                try:
                    self.ports = {word: urls[0] for word, urls in json.loads(text).items()}
                except ValueError:
                    return False
                self.url = self.ports["nats"]
                return True
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cpu(self):
        """Seconds of processor time so far."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as file:
                words = file.read().rsplit(")", 1)[1].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            seconds = 0.0
            for part in self.ps("time").split(":"):
                seconds = seconds * 60 + float(part)
            return seconds

    def resident(self):
        """Resident memory, bytes."""
        return int(self.ps("rss")) * 1024

    def ps(self, column):
        return subprocess.run(["ps", "-o", f"{column}=", "-p", str(self.process.pid)],
                              capture_output=True, text=True, check=True).stdout.strip()

    def live(self):
        """Memory in use once what is garbage is away, stacks too, bytes: the same whatever else
        the machine does, which resident memory is not."""
        url = self.ports["profile"] + "/debug/pprof/heap?gc=1&debug=1"
        with urllib.request.urlopen(url, timeout=60) as answer:
            text = answer.read().decode()
        return sum(int(re.search(rf"^# {word} = (\d+)", text, re.M)[1])
                   for word in ("HeapAlloc", "Stack"))

    def monitor(self, path):
        with urllib.request.urlopen(f"{self.ports['monitoring']}/{path}", timeout=60) as answer:
            return json.load(answer)

    def disk(self):
        """Bytes of all files of the store."""
        total = 0
        for folder, _, names in os.walk(self.store):
            for name in names:
                try:
                    total += os.path.getsize(os.path.join(folder, name))
                except FileNotFoundError:
                    pass
        return total

    def stream(self, name):
        """State of a stream; None when there is none."""
        for account in self.monitor("jsz?streams=1&accounts=1").get("account_details", ()):
            for each in account.get("stream_detail", ()):
                if each["name"] == name:
                    return each["state"]
        return None


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def cluster():
    """Three servers that know each other."""
    ports = free_ports(3)
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    return [Server("-n", f"c{port}", "--cluster_name", "c", "--cluster",
                   f"nats://127.0.0.1:{port}", "--routes", routes) for port in ports]


class Wire:
    """One connection, spoken by hand: a thousand of them fit into one process."""

    def __init__(self, url):
        host, port = url.split("//")[1].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 30)
        self.left = b""
        self.socket.sendall(b'CONNECT {"verbose":false,"pedantic":false,"headers":true,'
                            b'"no_responders":true}\r\nSUB answers.' + self.name() +
                            b" 1\r\nPING\r\n")
        self.until(b"PONG\r\n", 1)

    def name(self):
        return str(self.socket.getsockname()[1]).encode()

    def until(self, mark, count):
        """Reads until a mark came so often."""
        text = self.left
        while text.count(mark) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise OSError("the server hangs up")
            text += more
        # Nothing is under way behind the last mark but the rest of its own line.
        self.left = b"" if text.endswith(b"\n") else text[text.rfind(b"\n") + 1:]
        return text

    def send(self, subject, body, count=1):
        """Publishes a record so often, to be acknowledged."""
        self.socket.sendall((b"PUB %s answers.%s %d\r\n%s\r\n" % (
            subject, self.name(), len(body), body)) * count)

    def send_once(self, subject, body, identifier):
        """Publishes a record with a message id."""
        head = b"NATS/1.0\r\nNats-Msg-Id: %s\r\n\r\n" % identifier
        self.socket.sendall(b"HPUB %s answers.%s %d %d\r\n%s%s\r\n" % (
            subject, self.name(), len(head), len(head) + len(body), head, body))

    def acknowledged(self, count):
        if b'"error"' in self.until(b'"seq":', count):
            raise OSError("the server refuses a record")

    def ask(self, subject, **body):
        """A request to JetStream, JSON for JSON."""
        self.send(b"$JS.API." + subject.encode(), json.dumps(body).encode())
        text = self.until(b"}\r\n", 1)
        return json.loads(text[text.index(b"{"):])

    def close(self):
        self.socket.close()
