"""resident.py KIB COMMAND ARG...: runs a command and fails when it has held more
memory than that at a time, or ended with more than 1 (or what ENDS says)."""
import os
import subprocess
import sys

# Linux counts KiB, macOS bytes.
unit = 1024 if sys.platform == "darwin" else 1
with subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL) as child:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
print(f"{usage.ru_maxrss // unit} KiB of {sys.argv[1]}, status {child.returncode}")
sys.exit(not 0 <= child.returncode <= int(os.environ.get("ENDS", 1)) or usage.ru_maxrss // unit > int(sys.argv[1]))
