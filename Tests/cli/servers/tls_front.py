#!/usr/bin/env python3
"""tls_front.py HOST:PORT FILE LOG: speaks TLS in front of a server that does not.

FILE is a key and its certificate, and is read for each connection, so that another certificate is
shown as soon as it lies there. Each line of LOG is a JSON record of a connection: `begin`, `shown`
when the handshake is over, `bytes` for what the client said then, and `end`.
"""
import json
import socket
import ssl
import sys
import threading

place, shown, path = sys.argv[1:4]
host, port = place.rsplit(":", 1)
log = open(path, "a", buffering=1)
listener = socket.create_server(("127.0.0.1", 0))
print(json.dumps({"type": "listening", "url": "https://127.0.0.1:%d" % listener.getsockname()[1]},
                 separators=(",", ":")), flush=True)


def note(number, what, **more):
    log.write(json.dumps({"connection": number, "what": what, **more}) + "\n")


def serve(number, plain):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown)
    plain.settimeout(20)
    # As a whole, in memory: a socket of Python's ssl cannot be read and written by two threads.
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    secure = context.wrap_bio(incoming, outgoing, server_side=True)
    while True:
        try:
            secure.do_handshake()
            plain.sendall(outgoing.read())
            break
        except ssl.SSLWantReadError:
            plain.sendall(outgoing.read())
            data = plain.recv(65536)
            if not data:
                raise OSError("gone")
            incoming.write(data)
    note(number, "shown", version=secure.version())
    plain.settimeout(None)
    server = socket.create_connection((host, int(port)))
    lock = threading.Lock()

    def back():
        try:
            while data := server.recv(65536):
                with lock:
                    secure.write(data)
                    plain.sendall(outgoing.read())
        except OSError:
            pass
        end(plain)

    threading.Thread(target=back, daemon=True).start()
    try:
        while True:
            try:
                with lock:
                    data = secure.read(65536)
                if not data:
                    break
                note(number, "bytes", text=data.decode("latin-1"))
                server.sendall(data)
            except ssl.SSLWantReadError:
                data = plain.recv(65536)
                if not data:
                    break
                with lock:
                    incoming.write(data)
    finally:
        end(server)


def end(one):
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def run(number, plain):
    try:
        serve(number, plain)
    except OSError:
        # Whoever does not like the certificate goes away.
        pass
    finally:
        end(plain)
        note(number, "end")


number = 0
while True:
    client = listener.accept()[0]
    number += 1
    note(number, "begin")
    threading.Thread(target=run, args=(number, client), daemon=True).start()
