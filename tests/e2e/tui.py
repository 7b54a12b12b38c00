# SPDX-License-Identifier: BSD-2-Clause
"""Drives a program in a terminal of its own, of which it knows the screen.

usage: tui.py WIDTH HEIGHT PATIENCE CMD ARG... <script

Lines of the script, run in their order:

    # NAME          the checks that follow belong to this
    keys TEXT       presses keys: as in a string of Python, "\\n", "\\x1b[A"
    has TEXT        waits until the screen has this text
    lacks TEXT      waits until it hasn't
    row N TEXT      waits until row N (0: the title; -1: the last) has it
    save FILE       writes the screen into a file
    status FILE     copies /proc/PID/status of the program
    size W H        resizes the terminal
    signal NAME     sends a signal
    stops           waits until the program is suspended; the terminal is as it was
    exits STATUS    waits until it has ended; the terminal is as it was

For each check it prints a line: 0 or 1, a tab, its name; if it failed the screen follows, each line after a tab.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte

width, height, patience = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])


def set_size(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


master, slave = pty.openpty()
set_size(master, width, height)
as_it_was = termios.tcgetattr(slave)
screen = pyte.Screen(width, height)
stream = pyte.ByteStream(screen)
messages, reports = os.pipe()


def run():
    os.dup2(slave, 0)
    os.dup2(slave, 1)
    name = os.environ.get("TUI_STDERR")
    os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) if name else slave, 2)
    os.environ.setdefault("TERM", "linux")
    os.closerange(3, 64)
    try:
        os.execvp(sys.argv[4], sys.argv[4:])
    finally:
        os._exit(127)


def lead():
    """As a shell does: a program without one in its session can't be suspended."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    os.setpgid(child, child) if child else os.setpgid(0, 0)
    os.tcsetpgrp(slave, child or os.getpid())
    if not child:
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        run()
    os.write(reports, b"pid %d\n" % child)
    while True:
        _, value = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(value):
            os.write(reports, b"end %d\n" % value)
            signal.pause()
        os.write(reports, b"stopped 1\n")


leader = os.fork()
if not leader:
    lead()
os.close(reports)
news = {}


def listen(seconds):
    """Takes what the leader says."""
    while select.select([messages], [], [], seconds)[0]:
        data = os.read(messages, 4096)
        if not data:
            break
        for words in data.decode().splitlines():
            key, value = words.split()
            news[key] = int(value)
        seconds = 0


listen(patience)
pid = news["pid"]
name = "it runs"


def read(seconds):
    ready, _, _ = select.select([master], [], [], seconds)
    if not ready:
        return False
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    stream.feed(data)
    return True


def has_ended():
    listen(0)
    return "end" in news


def has_stopped():
    listen(0)
    return news.pop("stopped", 0)


def until(condition):
    end = time.monotonic() + patience
    while True:
        while read(0.02):
            pass
        if condition():
            return True
        if time.monotonic() > end or (has_ended() and not read(0.1)):
            return condition()


def text():
    return "\n".join(line.rstrip() for line in screen.display)


def report(ok, what):
    print("%d\t%s: %s" % (0 if ok else 1, name, what))
    if not ok:
        global patience
        patience = min(patience, 1)  # what follows a failure mostly fails, too
        for line in screen.display:
            print("\t|" + line)
    sys.stdout.flush()
    return ok


def sane():
    now = termios.tcgetattr(slave)
    return now[3] & (termios.ICANON | termios.ECHO) == as_it_was[3] & (termios.ICANON | termios.ECHO)


def exit_status():
    status = news["end"]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


for line in sys.stdin:
    word, _, rest = line.strip("\n").partition(" ")
    if word == "#":
        name = rest
    elif word == "keys":
        os.write(master, rest.encode("utf-8").decode("unicode_escape").encode("latin-1"))
    elif word == "has":
        report(until(lambda: rest in text()), "it has '%s'" % rest)
    elif word == "lacks":
        report(until(lambda: rest not in text()), "it has no '%s'" % rest)
    elif word == "row":
        number, _, wanted = rest.partition(" ")
        report(until(lambda: wanted in screen.display[int(number)]), "row %s has '%s'" % (number, wanted))
    elif word == "save":
        until(lambda: True)
        with open(rest, "w", encoding="utf-8") as out:
            out.write(text() + "\n")
    elif word == "status":
        with open("/proc/%d/status" % pid, encoding="utf-8") as of, open(rest, "w", encoding="utf-8") as out:
            out.write(of.read())
    elif word == "size":
        columns, lines = map(int, rest.split())
        screen.resize(lines, columns)
        set_size(master, columns, lines)
        os.kill(pid, signal.SIGWINCH)
    elif word == "signal":
        os.kill(pid, getattr(signal, "SIG" + rest))
    elif word == "stops":
        report(until(has_stopped) and sane(), "it is suspended, and the terminal is as it was")
    elif word == "exits":
        ended = until(has_ended)
        got = exit_status() if ended else "no end"
        report(ended and got == int(rest), "it ends with %s (%s)" % (rest, got))
        report(sane(), "the terminal is as it was")
    elif word:
        sys.exit("tui.py: unknown: " + line)

if not has_ended():
    os.kill(pid, signal.SIGKILL)
os.kill(leader, signal.SIGKILL)
os.waitpid(leader, 0)
