#!/usr/bin/env python3
"""stall.py CMD ARG...: runs a command whose standard output is a pipe that nobody reads,
and sends it SIGTERM when it waits for that; prints the signal that ended it.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time

reader, writer = os.pipe()
fcntl.fcntl(writer, getattr(fcntl, "F_SETPIPE_SZ", 1031), 4096)
child = subprocess.Popen(sys.argv[1:], stdout=writer)
# It is full when less than a page may be written.
for _ in range(200):
    time.sleep(0.05)
    waits = fcntl.ioctl(reader, 0x541B, b"\0" * 4)
    if int.from_bytes(waits, sys.byteorder) >= 3500 or child.poll() is not None:
        break
time.sleep(0.3)
child.send_signal(signal.SIGTERM)
try:
    child.wait(5)
except subprocess.TimeoutExpired:
    child.kill()
    child.wait()
    print("still there")
    sys.exit(1)
status = child.returncode
print(signal.Signals(-status).name if status < 0 else f"status {status}")
