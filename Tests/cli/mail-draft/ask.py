#!/usr/bin/env python3
"""ask.py FILE [early] ANSWER... -- COMMAND...: runs a command on a terminal of its own, with
FILE as its standard input (- for the terminal), and types an ANSWER each time that it asks
`send? `; with `early`, a `y` is typed before, too, which answers nothing. An ANSWER `^C` is
that key, `^D` the end.

What the terminal showed is copied to standard output; the status is the command's, or 128 +
signal.
"""
import os, pty, select, sys, time

arguments = sys.argv[1:]
split = arguments.index("--")
file, answers, command = arguments[0], arguments[1:split], arguments[split + 1 :]
early = answers[:1] == ["early"]
answers = answers[early:]
child, master = pty.fork()
if child == 0:
    if file != "-":
        os.dup2(os.open(file, os.O_RDONLY), 0)
    os.execvp(command[0], command)
if early:
    os.write(master, b"y\n")
shown = b""
asked = 0
while True:
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
    shown += data
    if shown.count(b"send? ") > asked and shown.endswith(b"send? [y/N/e] "):
        asked += 1
        answer = answers.pop(0) if answers else "^C"
        keys = {"^C": b"\x03", "^D": b"\x04"}
        os.write(master, keys.get(answer, answer.encode() + b"\n"))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(128 - status if status < 0 else status)
