"""A server of one's own, records, and the C clients that ours are held against."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NULL = subprocess.DEVNULL


def wait_until(seconds, what, holds):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def run(command, records=None, output=NULL):
    """Seconds that it took, start and end included; RuntimeError when it fails."""
    began = time.monotonic()
    lines = open(records, "rb") if records else NULL
    done = subprocess.run(command, stdin=lines, stdout=output, stderr=subprocess.PIPE)
    took = time.monotonic() - began
    if records:
        lines.close()
    if done.returncode:
        raise RuntimeError(f"{command[0]}: status {done.returncode}: {done.stderr[-300:]}")
    return took


def piped(command):
    """The same, with somebody at the other end of a pipe."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=NULL) as reader:
        took = run(command, output=reader.stdin)
    return took


class Server:
    """A nats-server with JetStream on a free port."""

    def __init__(self, folder, more=""):
        self.folder, self.url, self.process = folder, "", None
        self.ports = os.path.join(folder, "ports")
        os.makedirs(self.ports)
        self.configuration = os.path.join(folder, "server.conf")
        with open(self.configuration, "w") as file:
            file.write(f'listen: "127.0.0.1:-1"\nports_file_dir: "{self.ports}"\n'
                       f'max_payload: 8MB\n{more}')
        self.start()

    def start(self):
        for name in os.listdir(self.ports):
            os.unlink(os.path.join(self.ports, name))
        self.process = subprocess.Popen(["nats-server", "-c", self.configuration],
                                        stdout=NULL, stderr=NULL)
        wait_until(60, "nats-server", self.is_up)

    def is_up(self):
        for name in os.listdir(self.ports):
            with open(os.path.join(self.ports, name)) as file:
                text = file.read()
            if text:
                self.url = json.loads(text)["nats"][0]
                return True
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def ask(self, subject, body=None):
        """What JetStream answers to a request."""
        host, port = self.url.split("//")[1].rsplit(":", 1)
        text = json.dumps(body).encode() if body else b""
        with socket.create_connection((host, int(port)), 20) as link, link.makefile("rb") as said:
            said.readline()
            link.sendall(b'CONNECT {"verbose":false}\r\nSUB _INBOX.bench 1\r\n'
                         + f"PUB $JS.API.{subject} _INBOX.bench {len(text)}\r\n".encode()
                         + text + b"\r\n")
            while True:
                words = said.readline().split()
                if words[0] == b"PING":
                    link.sendall(b"PONG\r\n")
                elif words[0] == b"MSG":
                    return json.loads(said.read(int(words[-1])))
                elif words[0] != b"PONG":
                    raise RuntimeError(f"{subject}: {words}")

    def make(self, name, **more):
        """Makes a stream; its subject is its name, unless it has sources."""
        if "sources" not in more:
            more["subjects"] = [name]
        answer = self.ask(f"STREAM.CREATE.{name}", {"name": name, "storage": "file", **more})
        if "error" in answer:
            raise RuntimeError(f"{name}: {answer['error']}")

    def forget(self, name):
        self.ask(f"STREAM.DELETE.{name}")

    def holds(self, name):
        """How many records a stream has."""
        return self.ask(f"STREAM.INFO.{name}").get("state", {}).get("messages", 0)


class Ground:
    def __enter__(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        missing = [name for name in ("nats-server", "cc", "bus-put") if not shutil.which(name)]
        if missing:
            sys.exit(f"bench-bus: needs {' and '.join(missing)}")
        self.tmp = tempfile.mkdtemp(prefix="bench-bus.")
        self.servers = []
        try:
            self.put, self.get = self.built("put"), self.built("get")
            self.server = self.serve("one")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.tmp)

    def built(self, name):
        path = os.path.join(self.tmp, name)
        subprocess.run(["cc", "-O2", "-o", path, os.path.join(HERE, name + ".c"), "-lnats"],
                       check=True)
        return path

    def serve(self, name, more=None):
        folder = os.path.join(self.tmp, name)
        if more is None:
            more = f'jetstream {{ store_dir: "{folder}/store" }}\n'
        server = Server(folder, more)
        self.servers.append(server)
        return server

    def records(self, count, size):
        """The path of so many actions, numbered, each of so many bytes with its line feed."""
        path = os.path.join(self.tmp, f"{count}x{size}")
        if os.path.exists(path):
            return path
        with open(path, "w") as file:
            for number in range(count):
                when = f"2026-03-14T{number // 3600000:02}:{number // 60000 % 60:02}:" \
                       f"{number // 1000 % 60:02}.{number % 1000:03}Z"
                head = f'{{"created_at":"{when}","kind":"llm_call","guild_id":"118","content":"'
                file.write(head + "x" * (size - len(head) - 3) + '"}\n')
        return path

    def ours_put(self, stream, server=None):
        url = (server or self.server).url
        return ["bus-put", "-q", "-s", url, "-t", stream, "-u", stream]

    def ours_get(self, stream, *more, server=None):
        return ["bus-get", "-q", "-s", (server or self.server).url, "-t", stream, "--all", *more]

    def peer_get(self, stream, name, count, acks="none", server=None):
        return [self.get, (server or self.server).url, stream, name, str(count), acks]
