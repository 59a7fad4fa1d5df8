#!/usr/bin/env python3
"""once.py: an HTTP server that goes away while it answers its first request.

Nobody can connect any more when the answer is there, which is of no agent in particular.
Prints a `listening` record.
"""
import socket

listener = socket.create_server(("127.0.0.1", 0))
print('{"type":"listening","url":"http://127.0.0.1:%d"}' % listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
listener.close()
request = b""
while b"\r\n\r\n" not in request:
    request += connection.recv(65536)
answer = b'{"agents":[],"data":[],"lastSequence":"3"}'
connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                   b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer))
