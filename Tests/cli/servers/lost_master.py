#!/usr/bin/env python3
"""lost_master.py SOCKET: a master of OpenSSH's that is lost as soon as a command has begun.

Says `begun` for each command that it took; the client gets that word and the end in one piece.
"""
import os
import socket
import struct
import sys

HELLO, CHECK, SESSION = 1, 0x10000004, 0x10000002


def frame(*words):
    return struct.pack(">I", 4 * len(words)) + struct.pack(f">{len(words)}I", *words)


def serve(client):
    data = b""
    while True:
        more, fds, _, _ = socket.recv_fds(client, 65536, 3)
        for fd in fds:
            os.close(fd)
        if not more:
            return
        data += more
        while len(data) >= 4 and len(data) >= 4 + struct.unpack(">I", data[:4])[0]:
            length = struct.unpack(">I", data[:4])[0]
            kind = struct.unpack(">I", data[4:8])[0]
            data = data[4 + length:]
            if kind == HELLO:
                client.sendall(frame(HELLO, 4))
            elif kind == CHECK:
                client.sendall(frame(0x80000005, 0, os.getpid()))
            elif kind == SESSION:
                # The three descriptors: each comes with a byte.
                while len(data) < 3:
                    more, fds, _, _ = socket.recv_fds(client, 3 - len(data), 3)
                    for fd in fds:
                        os.close(fd)
                    if not more:
                        return
                    data += more
                print("begun", flush=True)
                client.sendall(frame(0x80000006, 1, 1))
                return


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    client, _ = listener.accept()
    with client:
        serve(client)
