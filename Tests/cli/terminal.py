#!/usr/bin/env python3
"""terminal.py [ROWSxCOLUMNS] [typing TEXT] COMMAND...: run a command on a terminal
of its own, with TEXT (and its \\n) typed ahead.

Its output (stdout and stderr, as the terminal got them) is copied to standard
output; the status is the command's, or 128 + signal.
"""
import fcntl, os, pty, re, struct, sys, termios

arguments = sys.argv[1:]
rows, columns = 24, 80
size = re.fullmatch(r"(\d+)x(\d+)", arguments[0]) if arguments else None
if size:
    rows, columns = int(size[1]), int(size[2])
    arguments = arguments[1:]
typed = b""
if arguments[:1] == ["typing"]:
    typed = arguments[1].replace("\\n", "\n").encode()
    arguments = arguments[2:]
if not arguments:
    sys.exit(__doc__)

child, master = pty.fork()
if child == 0:
    # The size must stand before the command asks for it.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(arguments[0], arguments)
os.write(master, typed)
while True:
    try:
        data = os.read(master, 65536)
    except OSError:  # Linux says EIO when the last writer has gone
        break
    if not data:
        break
    os.write(1, data)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(128 - status if status < 0 else status)
