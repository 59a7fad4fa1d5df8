#!/usr/bin/env python3
"""slow_agent.py SOCKET REAL SECONDS [refuse]: an ssh-agent that takes its time.

Passes each question on to the agent at REAL; signatures come SECONDS later, or
not at all with `refuse`. One client at a time.
"""
import socket
import struct
import sys
import time

path, real, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
refuses = sys.argv[4:] == ["refuse"]
SIGN, FAILURE = 13, b"\x05"


def message(stream):
    head = stream.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    return stream.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)


def send(stream, body):
    stream.sendall(struct.pack(">I", len(body)) + body)


listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
while True:
    client, _ = listener.accept()
    with client, socket.socket(socket.AF_UNIX) as agent:
        agent.connect(real)
        while question := message(client):
            if question[0] == SIGN:
                time.sleep(seconds)
                if refuses:
                    send(client, FAILURE)
                    continue
            send(agent, question)
            try:
                send(client, message(agent))
            except OSError:
                break
