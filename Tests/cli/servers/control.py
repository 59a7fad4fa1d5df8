"""control.py: orders for a helper that runs beside a test, over a Unix socket.

One connection, one order: a line in, one line back when it has been done. The
line back begins with `ok` or `no`. ssh.sh's `ask` is the other end.
"""
import os
import selectors
import socket


class Control:
    """Listens at `path`; `obey(order, reply)` is called with each order's line
    and must call reply(text) once, then or later."""

    def __init__(self, path, selector, obey):
        self.selector, self.obey = selector, obey
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.setblocking(False)
        # Under its name only when it listens: the name is the sign to begin.
        self.listener.bind(path + ".new")
        self.listener.listen(16)
        os.rename(path + ".new", path)
        selector.register(self.listener, selectors.EVENT_READ, self.accept)

    def accept(self, _events):
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        said = b""

        def read(_events):
            nonlocal said
            data = connection.recv(65536)
            said += data
            if data and not said.endswith(b"\n"):
                return
            self.selector.unregister(connection)
            self.obey(said.decode("utf-8", "surrogateescape").rstrip("\n"), reply)

        def reply(text):
            connection.setblocking(True)
            try:
                connection.sendall(text.encode("utf-8", "surrogateescape") + b"\n")
            except OSError:
                pass  # who asked has gone
            connection.close()

        self.selector.register(connection, selectors.EVENT_READ, read)
