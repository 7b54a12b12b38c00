#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""terminal.py COLUMNS LINES COMMAND...: runs it on a terminal of that size; what it shows goes to stdout, its status is ours.
SECONDS=N: Ctrl-C after N seconds. RESIZE="N TEXT": it gets N columns once TEXT was shown."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

columns, lines, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    os.environ["TERM"] = "xterm"
    os.environ["PAGER"] = "cat"
    os.execvp(command[0], command)
interrupt = time.time() + float(os.environ.get("SECONDS", 600))
resized, _, at = os.environ.get("RESIZE", "").partition(" ")
shown = b""
while True:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
        shown += data if resized else b""
        if resized and at.encode() in shown:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, int(resized), 0, 0))
            resized = ""
    if time.time() > interrupt:
        os.write(terminal, b"\x03")
        interrupt += 600
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
