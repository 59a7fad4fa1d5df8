"""Orders to a server of the tests: lines through a FIFO, each in FIFO.done when it was
obeyed. And the log of what was asked of it."""
import json
import os
import threading


def listen(path, obey):
    """Calls obey(word, rest) for each line, in a thread."""
    def read():
        # For writing too: then it does not end with its first writer.
        with open(os.open(path, os.O_RDWR), encoding="utf-8") as orders, \
                open(path + ".done", "a", encoding="utf-8") as done:
            for line in orders:
                word, _, rest = line.rstrip("\n").partition(" ")
                if not word:
                    continue
                try:
                    obey(word, rest)
                except Exception as error:  # the test shall see it, and go on
                    line = "failed: %s: %r\n" % (line.rstrip("\n"), error)
                done.write(line)
                done.flush()
    if path:
        threading.Thread(target=read, daemon=True).start()


class Log:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8") if path else None
        self.lock = threading.Lock()

    def write(self, **members):
        if self.file:
            with self.lock:
                self.file.write(json.dumps(members) + "\n")
                self.file.flush()
