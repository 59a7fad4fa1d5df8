#!/usr/bin/env python3
"""talk.py COMMAND... <SCRIPT: hold a conversation with a command on a terminal.

Each line of the script is `PROMPT|ANSWER`: when the terminal shows the prompt,
the answer is typed, with Enter unless it ends in `\c`; `^C`, `^D` and `^Z` are those
keys, and `-` types nothing. What begins with `!` is run by sh and not typed.
What the terminal showed goes to standard output, then `echo on` or `echo off`
for how the terminal was left. The status is the command's, or 128 + signal.
"""
import fcntl, os, select, signal, subprocess, sys, termios, time

KEYS = {"^C": b"\x03", "^D": b"\x04", "^Z": b"\x1a", "-": b""}
script = [line.rstrip("\n").split("|", 1) for line in sys.stdin]
master, slave = os.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(slave, number)
    os.execvp(sys.argv[1], sys.argv[1:])

shown, start, ended = b"", 0, None
deadline = time.time() + 30


def listen(seconds):
    """Whether anything came."""
    global shown
    if not select.select([master], [], [], seconds)[0]:
        return False
    shown += os.read(master, 65536)
    return True


def has_ended():
    global ended
    if ended is None:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            ended = os.waitstatus_to_exitcode(status)
    return ended is not None


for prompt, answer in script:
    while prompt.encode() not in shown[start:]:
        if time.time() > deadline or not listen(0.1) and has_ended():
            print("talk: never saw: " + prompt, file=sys.stderr)
            break
    start = shown.find(prompt.encode(), start) + len(prompt)
    # A key that makes a signal is for a terminal that is being read: behind the prompt
    # the command has a moment to set that up, for nothing shows when it has.
    time.sleep(0.05 if answer in KEYS else 0)
    if answer.startswith("!"):
        subprocess.run(answer[1:], shell=True, check=True)
        continue
    keys = answer[:-2] if answer.endswith("\\c") else answer + "\n"
    os.write(master, KEYS.get(answer, keys.encode()))
while not has_ended() and time.time() < deadline:
    listen(0.05)
while listen(0):
    pass
if ended is None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    ended = -signal.SIGALRM
os.write(1, shown.replace(b"\r\n", b"\n"))
echo = termios.tcgetattr(slave)[3] & termios.ECHO
print("echo on" if echo else "echo off")
sys.exit(128 - ended if ended < 0 else ended)
