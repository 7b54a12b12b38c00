# SPDX-License-Identifier: BSD-2-Clause
"""Whole programs under tracers that write events from inside the process, or simulate it: the price of every branch.

The program's own time on a CPU is compared with that of its untraced run in the same round. Beside it stand the
wall time until the tool's output is complete, the CPU time of the tool itself, what of the log waited in memory at most,
and what was lost, which makes a figure worth less.
"""
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import time

from common import BBTRACE, Skip, at, need

RUN_SECONDS = 100
TIMES = at("whole.times")


class Whole:
    """A program and what of it is traced. functions: of target."""

    def __init__(self, name, what, command, target, *functions, library=None, pg=None):
        self.name, self.what, self.command, self.target, self.functions = name, what, command, target, functions
        # library: a folder for LD_LIBRARY_PATH. pg: the program as uftrace needs it
        self.environment = [shutil.which("env"), f"LD_LIBRARY_PATH={library}"] if library else []
        self.pg = pg

    def timed(self, *wrap, program=None):
        command = [program, *self.command[1:]] if program else self.command
        return [at("timed"), TIMES, *wrap, *self.environment, *command]


def run(argv):
    """What the tool said, and its wall time. The clock of the program itself is in TIMES."""
    with contextlib.suppress(OSError):
        os.unlink(TIMES)
    start = time.monotonic()
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        raise Skip(f"took more than {RUN_SECONDS} s") from None
    wall = time.monotonic() - start
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line] or [f"exit status {done.returncode}"]
        raise Skip(lines[-1])
    return done.stderr, wall


def program_seconds():
    for _ in range(200):  # timed.c writes when the program has ended, maybe after the tool has
        try:
            wall, cpu = open(TIMES).read().split()
            return float(wall) / 1e9, float(cpu) / 1e9
        except (OSError, ValueError):
            time.sleep(0.02)
    raise Skip("the program was not run to its end")


# ---- contenders: each returns what it said and its wall time ----

def untraced(work):
    return run(work.timed())


def bbtrace(*options):
    def contender(work):
        return run([BBTRACE, "user", "-v", work.target, *work.functions, *options, "--", *work.timed()])
    return contender


def callgrind(work):
    need("valgrind")
    return run(work.timed("valgrind", "-q", "--tool=callgrind", "--collect-jumps=yes", "--callgrind-out-file=/dev/null"))


def uftrace(work):
    """Entries and returns only. It overwrites code at entries of programs that were built for that."""
    need("uftrace")
    if not work.pg:
        raise Skip("only for programs that are built with -pg, see inline fib")
    return run(work.timed("uftrace", "record", "--no-pager", "-d", at("uftrace.data"), program=work.pg))


def frida(work):
    raise Skip("its npm package has no binaries in it: its install script fetches them from elsewhere")


CONTENDERS = [
    ("untraced", untraced),
    ("inline, -o file", bbtrace("--engine", "inline", "-o", "/dev/null")),
    ("inline, -F summary", bbtrace("--engine", "inline", "-F", "summary", "-o", "/dev/null")),
    ("inline, witness", bbtrace("--engine", "inline", "--placement", "witness", "-o", "/dev/null")),
    ("inline, --last 100", bbtrace("--engine", "inline", "--last", "100", "-o", "/dev/null")),
    ("inline, -c", bbtrace("--engine", "inline", "-c", "-o", "/dev/null")),
    ("uprobes, -c", bbtrace("--engine", "probe", "-c", "-o", "/dev/null")),
    ("uprobes, -o file", bbtrace("--engine", "probe", "-o", "/dev/null")),
    ("callgrind", callgrind),
    ("uftrace", uftrace),
    ("frida", frida),
]


def programs():
    gzip, python = shutil.which("gzip"), os.path.realpath("/usr/bin/python3")
    text, large, sqlite = at("whole.text"), at("whole.large"), shutil.which("sqlite3")
    make_text(text, 200000)
    make_text(large, 4000000)
    work = at("work")
    if os.path.exists(work):
        yield Whole("inline fib", "fib(10), 2000 times", [work, "fib", "2000"], work, "fib", pg=at("work.pg"))
        yield Whole("inline 1 thread", "a loop of one branch, 10 million times", [work, "spin", "10000000"], work, "spin")
        yield Whole("inline 4 threads", "the same in four threads", [work, "threads", "10000000"], work, "spin")
        libc = private_libc()
        if libc:
            yield Whole("inline malloc", "malloc and free, 200000 times", [work, "malloc", "200000"], libc + "/libc.so.6",
                        "malloc", "free", library=libc)
    if gzip:
        yield Whole("inline gzip", "every function of gzip, 200 kB", [gzip, "-c", text], gzip, "*")
        yield Whole("inline gzip large", "every function of gzip, 4 MB", [gzip, "-c", large], gzip, "*")
    if os.path.exists(python):
        yield Whole("inline python3", "every function of python3", [python, "-S", "-E", "-c", "sum(i * i for i in range(20000))"],
                    python, "*")
    if sqlite:
        yield Whole("inline sqlite3", "every function of libsqlite3", [sqlite, ":memory:",
                    "with recursive n(i) as (select 1 union all select i + 1 from n limit 20000) select sum(i * i) from n"],
                    "libsqlite3.so.0", "*")


def private_libc():
    """A folder with a copy of it; None: there is none."""
    found = re.search(r"/\S*/libc\.so\.6$", open("/proc/self/maps").read(), re.M)
    if found:
        os.makedirs(at("libc"), exist_ok=True)
        shutil.copy(found[0], at("libc"))
    return at("libc") if found else None


def make_text(path, size):
    """Lines that compress as sources do, the same each time."""
    words = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench.py")).read()
    open(path, "w").write((words * (size // len(words) + 1))[:size])


def lost_of(said):
    found = re.search(r"(\d+) events, (\d+) lost", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def waited(said):
    found = re.search(r"at most ([0-9.]+) MB waited", said)
    return float(found[1]) if found else None


def tool_seconds():
    times = os.times()
    return times.children_user + times.children_system


def measure(work, rounds):
    results = [{"name": name, "run": fn, "cpu": [], "wall": [], "tool": [], "events": 0, "lost": 0, "waited_mb": None}
               for name, fn in CONTENDERS]
    for _ in range(rounds):
        for r in results:
            if "skipped" in r:
                continue
            try:
                before = tool_seconds()
                said, wall = r["run"](work)
                spent = tool_seconds() - before
                cpu = program_seconds()[1]
                r["cpu"].append(cpu)
                r["wall"].append(wall)
                r["tool"].append(max(spent - cpu, 0))
                r["waited_mb"] = max((x for x in (r["waited_mb"], waited(said)) if x is not None), default=None)
                r["events"], lost = lost_of(said)
                r["lost"] += lost
            except Skip as why:
                r["skipped"] = str(why)
    return results


def conclude(work, results):
    bare, whole = results[:2]
    for r in results:
        if "--last" in r["name"]:  # it shows some of the events that are logged
            r["events"] = whole["events"]
        del r["run"]
        if "skipped" in r or "skipped" in bare:
            continue
        r["cpu_to_bare"] = statistics.median(x / y for x, y in zip(r["cpu"], bare["cpu"]))
        r["wall_to_bare"] = statistics.median(x / y for x, y in zip(r["wall"], bare["wall"]))
        if r["events"]:
            r["ns_per_event"] = statistics.median(x - y for x, y in zip(r["cpu"], bare["cpu"])) * 1e9 / r["events"]
    return {"name": work.name, "what": work.what, "contenders": results}


def show(row):
    print(f"\n{row['name']}: {row['what']}\n    {'':20}{'CPU s':>10}{'to bare':>10}{'ns/event':>10}{'output s':>10}{'tool CPU s':>12}"
          f"{'waited MB':>11}{'events':>13}{'lost':>10}   runs")
    for r in row["contenders"]:
        if "skipped" in r:
            print(f"    {r['name']:20}skipped: {r['skipped'][:100]}")
            continue
        each = f"{r['ns_per_event']:10.2f}" if "ns_per_event" in r else " " * 10
        print(f"    {r['name']:20}{statistics.median(r['cpu']):10.3f}{r['cpu_to_bare']:10.2f}{each}"
              f"{statistics.median(r['wall']):10.2f}{statistics.median(r['tool']):12.3f}"
              f"{'' if r['waited_mb'] is None else format(r['waited_mb'], '.1f'):>11}{r['events']:13}{r['lost']:10}"
              f"   {len(r['cpu'])}", flush=True)


def rows(rounds, only):
    """only: is the row of this name wanted?"""
    for work in programs():
        if only(work.name):
            row = conclude(work, measure(work, rounds))
            show(row)
            yield row
