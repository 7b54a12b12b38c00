#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares bbtrace, the cost of its traps alone, and its peers, on the same branch sites.

Runs are interleaved (A B C A B C ...), each in a fresh process. Prints medians, and medians of the ratios
within one round, which are insensitive to phases of the machine. Everything is also written to bench.json.
Contenders that can't run here are named with the reason. No figure makes the benchmark fail.

Clocks: a tool that works in the traced thread (a trap, instrumentation) is timed by that thread's CPU
time, so other load is not counted; a tool that stops the program is timed by the wall clock.
"""
import argparse
import json
import os
import platform
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import time

import running
import whole
from common import BBTRACE, BUILD, ROOT, Skip, at, need
from elf import functions_by_unwind, name_sites

OBJECT = os.environ.get("BENCH_OBJECT", os.path.join(BUILD, "bbtrace.bpf.o"))
OUT = at("times")
RUN_SECONDS = 120
MOST_PERF_PROBES = 100  # bpftrace detaches one by one, 0.1 to 0.2 s each


def run(command, env=None):
    """Runs to its end; what it said on stderr. Skip when it fails or takes too long."""
    p = subprocess.Popen(command, env=dict(os.environ, BENCH_OUT=OUT, **(env or {})), text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, errors="replace", start_new_session=True)
    try:
        _, err = p.communicate(timeout=RUN_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        raise Skip(f"took more than {RUN_SECONDS} s") from None
    if p.returncode:
        said = [line for line in err.strip().splitlines() if line] or [f"exit status {p.returncode}"]
        raise Skip(next((line for line in said if "ERROR" in line), said[-1]))
    return err


# ---- workloads ----

class Work:
    """A program to trace and what of it. n: how often its work is done in one run, 0: it has no say."""

    def __init__(self, name, what, command, target, functions, events=None, n=0, main=False,
                 library=None, threads=False, contenders=None):
        self.name, self.what, self.command, self.target = name, what, command, target
        self.functions, self.n, self.main, self.library = functions, n, main, library
        self.select = ["-e", events] if events else []
        self.threads = threads
        self.contenders = contenders  # of this row alone; None: the table's
        self.path = self.sites = None  # of bbtrace's own link
        self.hits = self.steps = None  # probe hits and bbtrace's events, for one time of work
        self.file_branches = None

    def times(self, scale=1.0):
        return max(int(self.n * scale), 1) if self.n else 1

    def done(self, n):
        """With the warm-up of work.c."""
        return n + n // 10 + 1 if self.n else 1

    def argv(self, n, program=None, wrap=()):
        """The command line; wrap: a tool that starts the program itself, inside the clock."""
        command = list(self.command)
        if program:
            command[0] = program
        if self.n:
            return [*self.environment(), *wrap, *command, str(n)]
        return [at("timed"), OUT, *wrap, *command]

    def environment(self, folder=None):
        return [shutil.which("env"), f"LD_LIBRARY_PATH={folder or self.library}"] if self.library else []

    def find_sites(self):
        self.path, self.sites = self.link(*self.select)

    def link(self, *options):
        """The file, and the very sites and cookies that bbtrace probes, from the kernel."""
        p = subprocess.Popen([BBTRACE, "user", "--attach", "uprobe_multi", self.target, *self.functions, *options, "-o",
                              "/dev/null", "--", "sleep", "20"], stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(200):
                ids = links_of(p.pid)
                if ids or p.poll() is not None:
                    break
                time.sleep(0.05)
            links = [subprocess.run([at("probe"), "link", i], capture_output=True, text=True) for i in ids]
        finally:
            p.terminate()
            err = p.communicate()[1]
        if not ids:
            raise Skip("no uprobe_multi link: " + err.strip())
        for out in links:
            if out.returncode:
                raise Skip(out.stderr.strip() + " (Linux 6.8 tells a link's sites)")
            path, sites = out.stdout.splitlines()
            # a function that ends with a jump into another file has probes there, too
            if os.path.samefile(path, self.target):
                return path, sites
        raise Skip("no link to " + self.target)

    def offsets(self):
        return [int(s.split("=")[0], 16) for s in self.sites.split(",")]


def links_of(pid):
    ids, folder = [], f"/proc/{pid}/fdinfo"
    for fd in os.listdir(folder) if os.path.isdir(folder) else ():
        try:
            text = open(f"{folder}/{fd}").read()
        except OSError:
            continue
        found = re.search(r"link_type:\s*uprobe_multi\s+link_id:\s*(\d+)", text)
        if found:
            ids.append(found[1])
    return sorted(ids, key=int)


# ---- contenders: each runs once and tells what it lost ----

def bare(work, n):
    run(work.argv(n))


def empty(work, n):
    run([at("probe"), "empty", work.path, work.sites, "--", *work.argv(n)])


def records(work, n):
    """The operand table stays empty: what an indirect branch loads from memory is not in its price."""
    err = run([at("probe"), "records:" + OBJECT, work.path, work.sites, "--", *work.argv(n)])
    found = int(re.search(r"(\d+) records", err)[1])
    if not found:
        raise Skip("no records: is what probe.c gives the BPF program still what it takes?")
    work.hits = found / work.done(n)


def bbtrace(*options):
    def contender(work, n):
        err = run([BBTRACE, "user", work.target, *work.functions, *work.select, *options, "-o",
                   "/dev/null", "--", *work.argv(n)])
        found = re.search(r"(\d+) events, (\d+) lost", err)
        work.steps = int(found[1]) / work.done(n)
        return int(found[2])
    return contender


def bpftrace(action, each=False):
    """Debian's bpftrace refuses offsets into a function: a copy of the file has a symbol at each site.

    each: every site has a probe of its own, and N in action is its number."""
    def contender(work, n):
        need("bpftrace")
        need("objcopy")
        sites = work.offsets()
        if len(sites) > MOST_PERF_PROBES:
            raise Skip(f"{len(sites)} probes, detached one by one")
        named = at("named/" + os.path.basename(work.path))
        os.makedirs(at("named"), exist_ok=True)
        name_sites(work.path, named, sites)
        if work.library:
            argv = [*work.environment(at("named")), *work.command, str(n)]
        else:
            argv = work.argv(n, named)
        probes = f"uprobe:{named}:site_* {action}"
        if each:
            probes = " ".join(f"uprobe:{named}:site_{i} {action.replace('N', str(i))}" for i in range(len(sites)))
        err = run(["bpftrace", "-o", "/dev/null", "-e", probes, "-c", " ".join(argv)])
        return sum(int(x) for x in re.findall(r"Lost (\d+) events", err))
    return contender


def int3(work, n):
    if work.library:
        raise Skip("sites in a library, not in the program")
    if work.threads:
        raise Skip("one thread only: stepping over a breakpoint has to stop the others")
    run([at("int3"), work.path, work.sites, "--", *work.argv(n)])


def gdb(*record):
    def contender(work, n):
        need("gdb")
        if not work.n:
            raise Skip("the whole program, without a function to start at")
        if work.threads:
            raise Skip("not for several threads")
        library = [f"set environment LD_LIBRARY_PATH {work.library}"] if work.library else []
        script = ["set debuginfod enabled off", *library, f"break do_{work.command[1]}", "ignore 1 1", "run",
                  "set record full insn-number-max 0", " ".join(record), "finish", "record stop",
                  "delete", "continue"]
        err = run(["gdb", "-nx", "-batch", *(x for s in script for x in ("-ex", s)), "--args",
                   *work.command, str(n)])
        trouble = re.search(r"^(Could not.*|Target does not.*|Process record.*not.*)$", err, re.M)
        if trouble:
            raise Skip(trouble[1])
    return contender


def callgrind(work, n):
    need("valgrind")
    run(work.argv(n, wrap=["valgrind", "-q", "--tool=callgrind", "--collect-jumps=yes",
                           "--callgrind-out-file=/dev/null"]))


def uftrace(work, n):
    need("uftrace")
    if work.name != "recursion":
        raise Skip("functions only, built with -pg: see recursion")
    run(["uftrace", "record", "--no-pager", "-d", at("uftrace.data"), *work.argv(n, at("work.pg"))])


def perf_stat(work, n):
    need("perf")
    err = run(["perf", "stat", "-e", "branches:u", "--", *work.argv(n)])
    if "<not supported>" in err:
        raise Skip("this machine has no branch counter (no PMU)")


PRINT = '{ printf("%d %llu %lx\\n", tid, nsecs, reg("sp")); }'
COUNT = '{ @[reg("ip")] = count(); }'

ENTRY_PRINT = '{ printf("%d %llu %lx\\n", tid, nsecs, arg0); }'
RETURN_PRINT = '{ printf("%d %llu %lx\\n", tid, nsecs, retval); }'
# A map for each probe, without a key: the cheapest count().
ENTRY_COUNT, RETURN_COUNT, SITE_COUNT = "{ @entry = count(); }", "{ @return = count(); }", "{ @site_N = count(); }"


def bpftrace_calls(entry, on_return):
    """A probe at the entry of each function, and a return probe. count() is kept per CPU."""
    def contender(work, n):
        need("bpftrace")
        if work.library:
            raise Skip("functions in a library")
        probes = " ".join(f"uprobe:{work.target}:{f} {entry} uretprobe:{work.target}:{f} {on_return}" for f in work.functions)
        err = run(["bpftrace", "-o", "/dev/null", "-e", probes, "-c", " ".join(work.argv(n))])
        return sum(int(x) for x in re.findall(r"Lost (\d+) events", err))
    return contender


# As PERF below, with a return probe for each site.
PERF_CALLS = """mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing || exit 1
cd /sys/kernel/tracing || exit 1
echo "p:bbtrace_bench/entry $0" >>uprobe_events && echo "r:bbtrace_bench/return $0" >>uprobe_events || exit 1
cd - >/dev/null
perf record -q -o "$BENCH_PERF" -e bbtrace_bench:entry -e bbtrace_bench:return -- "$@"
status=$?
for event in entry return; do echo "-:bbtrace_bench/$event" >>/sys/kernel/tracing/uprobe_events; done
exit $status"""


def perf_calls(work, n):
    need("perf")
    if len(work.functions) != 1 or work.library:
        raise Skip("one function of a program only")
    entry = min(o for o in work.offsets())
    run(["unshare", "-m", "sh", "-c", PERF_CALLS, f"{work.path}:{entry:#x}", *work.argv(n)],
        {"BENCH_PERF": at("perf.data")})


# Against peers at their best: the first peer of a row is what its ratio is to.
CALLS = (
    ("bare", bare, 1, "cpu", True),
    ("bpftrace printf", bpftrace_calls(ENTRY_PRINT, RETURN_PRINT), 0.5, "cpu", True),
    ("bbtrace, entry+return", bbtrace("--returns", "probe"), 1, "cpu", True),
    ("perf record", perf_calls, 0.5, "cpu", True),
)
COUNTS = (
    ("bare", bare, 1, "cpu", True),
    ("bpftrace count, calls", bpftrace_calls(ENTRY_COUNT, RETURN_COUNT), 0.5, "cpu", True),
    ("bpftrace count, sites", bpftrace(SITE_COUNT, True), 0.5, "cpu", True),
    ("bbtrace -c", bbtrace("-c"), 1, "cpu", True),
    ("callgrind, jumps", callgrind, 1, "cpu", True),
)
SUMMARY = (
    ("bare", bare, 1, "cpu", True),
    ("bpftrace printf", bpftrace_calls(ENTRY_PRINT, RETURN_PRINT), 0.5, "cpu", True),
    ("summary, rets", bbtrace("-F", "summary"), 0.2, "cpu", True),
    ("summary, uretprobes", bbtrace("-F", "summary", "--returns", "probe"), 1, "cpu", True),
)
BRANCHES = (
    ("bare", bare, 1, "cpu", True),
    ("bpftrace printf", bpftrace_calls(ENTRY_PRINT, RETURN_PRINT), 0.5, "cpu", True),
    ("bbtrace, uretprobes", bbtrace("--returns", "probe"), 1, "cpu", True),
)

# name, what runs it, how much of the work it is given, its clock, for the main rows too
CONTENDERS = (
    ("bare", bare, 1, "cpu", False),
    ("empty uprobe", empty, 1, "cpu", True),
    ("bbtrace, records", records, 1, "cpu", True),
    ("bbtrace, trace file", bbtrace(), 1, "cpu", True),
    ("bbtrace, text", bbtrace("-F", "text"), 1, "cpu", True),
    ("bbtrace, JSON", bbtrace("-F", "json"), 1, "cpu", True),
    ("bbtrace, uretprobes", bbtrace("--returns", "probe"), 1, "cpu", False),
    ("bpftrace printf", bpftrace(PRINT), 0.1, "cpu", True),
    ("bpftrace count", bpftrace(COUNT), 0.5, "cpu", False),
    ("ptrace int3", int3, 0.02, "wall", False),
    ("gdb record full", gdb("record", "full"), 0.002, "wall", False),
    ("gdb record btrace", gdb("record", "btrace"), 0.002, "wall", False),
    ("callgrind, jumps", callgrind, 1, "cpu", False),
    ("uftrace", uftrace, 1, "cpu", False),
    ("perf stat branches", perf_stat, 1, "cpu", False),
)


# ---- files: how large, how fast written and read ----

EVENTS = 17  # BLOCK_EVENTS of src/file/format.h


def undeflated(path):
    """Bytes of a trace file's blocks of events before they are deflated."""
    data, at_byte, total = open(path, "rb").read(), 20, 0
    while at_byte < len(data):
        raw, stored = struct.unpack_from("<II", data, at_byte + 4)
        total += raw if data[at_byte] == EVENTS else 0
        at_byte += 20 + stored
    return total


def seconds_of(command):
    start = time.monotonic()
    run(command)
    return time.monotonic() - start


def reader_seconds(work, n):
    """The CPU time, outside of the kernel, of a bbtrace that records: it traces a process that is not its child."""
    waiting = subprocess.Popen(["sh", "-c", 'read -r _; exec "$@"', "sh", *work.argv(n)], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, BENCH_OUT=OUT))
    tracer = subprocess.Popen([BBTRACE, "user", "-v", "--buffer", "256M", work.target, *work.functions, *work.select,
                               "-o", at("taken"), "-p", str(waiting.pid)], stderr=subprocess.PIPE, text=True)
    for line in tracer.stderr:
        if "probes attached" in line:
            waiting.stdin.write(b"\n")
            waiting.stdin.close()
    waiting.kill()
    waiting.wait()
    _, tracer.returncode, usage = os.wait4(tracer.pid, 0)
    if tracer.returncode:
        raise Skip("bbtrace failed")
    return usage.ru_utime


def taken_per_second(work, n, rate):
    """What it takes to start is left out."""
    return 20 * n * rate / (reader_seconds(work, 20 * n) - reader_seconds(work, 10)) if work.n else None


def trace_file(work, n):
    path = at("trace")
    err = run([BBTRACE, "user", "--buffer", "256M", work.target, *work.functions, *work.select, "-o",
               path, "--", *work.argv(n)])
    wall = read_times()["wall"] / 1e9
    json_lines = at("report.json")
    run([BBTRACE, "report", path, "-e", "branch", "-F", "json", "-o", json_lines])
    last = open(json_lines, "rb").read().splitlines()[-1]
    branches = json.loads(last)["events"] or 1
    events = int(re.search(r"(\d+) events", err)[1])
    row = {"name": "bbtrace trace file", "branches": branches, "events": events,
           "lost": int(re.search(r"(\d+) lost", err)[1]), "bytes": os.path.getsize(path),
           "undeflated": undeflated(path), "recorded_per_second": branches / wall}
    rate = taken_per_second(work, n, events / work.done(n))
    if rate:
        row["taken_per_second"] = rate
    for form, options in (("text", []), ("unfolded", ["--no-fold"]), ("json", ["-F", "json"])):
        took = min(seconds_of([BBTRACE, "report", "-q", path, *options, "-o", at("report")]) for _ in range(5))
        row[form + "_per_second"] = branches / took
    return row


# perf records uprobes that tracefs defines; where it is not mounted, it is for these commands alone. $0: FILE:OFFSET...
PERF = """mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing || exit 1
cd /sys/kernel/tracing || exit 1
i=0
for site in $0; do echo "p:bbtrace_bench/s$((i += 1)) $site" >>uprobe_events || exit 1; done
cd - >/dev/null
perf record -q -o "$BENCH_PERF" -e 'bbtrace_bench:*' -- "$@"
status=$?
while [ $i -gt 0 ]; do echo "-:bbtrace_bench/s$i" >>/sys/kernel/tracing/uprobe_events; i=$((i - 1)); done
exit $status"""


def perf_data(work, n):
    need("perf")
    sites = work.offsets()
    if len(sites) > MOST_PERF_PROBES:
        raise Skip(f"{len(sites)} probes, detached one by one")
    n = max(n // 10, 1) if work.n else 1  # each takes so many bytes
    path = at("perf.data")
    run(["unshare", "-m", "sh", "-c", PERF, " ".join(f"{work.path}:{o:#x}" for o in sites),
         *work.argv(n)], {"BENCH_PERF": path})
    wall, branches = read_times()["wall"] / 1e9, work.file_branches * work.done(n)
    return {"name": "perf.data", "branches": branches, "bytes": os.path.getsize(path), "lost": None,
            "recorded_per_second": branches / wall}


def uftrace_data(work, n):
    uftrace(work, n)
    folder = at("uftrace.data")
    size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder))
    calls = 177 * work.done(n)
    return {"name": "uftrace.data, a call", "branches": calls, "bytes": size, "lost": None,
            "recorded_per_second": calls / (read_times()["wall"] / 1e9)}


def files(work):
    rows = []
    for fn in (trace_file, perf_data, uftrace_data):
        if os.path.exists(OUT):
            os.unlink(OUT)
        n = work.times(0.25)
        try:
            row = fn(work, n)
            work.file_branches = work.file_branches or row["branches"] / work.done(n)
        except Skip as why:
            row = {"name": fn.__name__.replace("_", "."), "skipped": str(why)}
        rows.append(row)
    return rows


# ---- placements: entries and branches by fewer probes ----

PLACEMENTS = (
    ("full", "full"),
    ("implied", "implied"),
    ("witness", "witness"),
    ("witness, by profile", "witness", "--profile", at("trace")),
)


ACTION_RET = 2  # SITE_ACTION() of bpf/wire.h


def without_rets(path, sites):
    return path, ",".join(s for s in sites.split(",")
                          if int(s.split(":")[1], 16) >> 28 & 7 != ACTION_RET)


def hit_placement(work, row, n):
    """Rets cost the same wherever they are probed, the most where they are stepped: given apart."""
    for link, hits, runs in (row["link"], "hits", "runs"), (without_rets(*row["link"]), "hits_without_rets",
                                                           "runs_without_rets"):
        if os.path.exists(OUT):
            os.unlink(OUT)
        err = run([at("probe"), "records:" + OBJECT, *link, "--", *work.argv(n)])
        row[hits] = int(re.search(r"(\d+) records", err)[1]) / work.done(n)
        row[runs].append(read_times()["cpu"] / n)


def placements(work, rounds):
    """What files() has recorded is the profile, and tells how many branches there are."""
    rows = [{"name": name, "options": options, "runs": [], "runs_without_rets": []}
            for name, *options in PLACEMENTS]
    for row in rows:
        try:
            row["link"] = work.link("-e", "entry,branch", "--placement", *row["options"])
        except Skip as why:
            row["skipped"] = str(why)
    for _ in range(rounds):
        for row in rows:
            if "skipped" not in row:
                hit_placement(work, row, work.times(0.5))
    for row in rows:
        if "skipped" in row:
            continue
        row["probes"] = row.pop("link")[1].count(",") + 1
        row["hits_per_branch"] = row["hits"] / work.file_branches
        for suffix in "", "_without_rets":
            row["to_full" + suffix] = statistics.median(
                x / y for x, y in zip(row["runs" + suffix], rows[0]["runs" + suffix]))
    return rows


# ---- attaching all of libc ----

def attach_once(path, row):
    """The summary comes before the probes go."""
    start = time.monotonic()
    p = subprocess.Popen([BBTRACE, "user", "-v", path, "*", "-e", "entry,branch", "-o", "/dev/null", "--", "true"],
                         stderr=subprocess.PIPE, text=True)
    found, summary = None, start
    for line in p.stderr:
        found = found or re.search(r"(\d+) probes attached by \S+ in ([0-9.]+) s", line)
        summary = time.monotonic()
    if p.wait() or not found:
        raise Skip(f"bbtrace ended with {p.returncode}")
    end = time.monotonic()
    row["probes"] = int(found[1])
    row["runs"].append({"attach": float(found[2]), "detach": end - summary, "whole": end - start,
                        "list": seconds_of([BBTRACE, "list", "--sites", path, "*"]),
                        "objdump": seconds_of(["objdump", "-d", path])})


def attaching(rounds):
    """A private copy that nothing runs: what is measured is planning and placing the probes."""
    row = {"name": "attach", "what": "every function of libc, entries and branches", "runs": []}
    try:
        need("objdump")
        for _ in range(rounds):
            attach_once(private_libc() + "/libc.so.6", row)
    except Skip as why:
        return dict(row, skipped=str(why))
    for key in ("attach", "detach", "whole", "list"):
        row[key] = statistics.median(r[key] for r in row["runs"])
        row[key + "_to_objdump"] = statistics.median(r[key] / r["objdump"] for r in row["runs"])
    return row


# ---- a short run ----

def start_to_end(*options):
    """Seconds from start to end, the CPU time of that, and until CMD has ended."""
    stamp = at("ended")
    start = time.time()
    before = os.times()
    run([BBTRACE, "user", "-q", *options, "--", "touch", stamp])
    after = os.times()
    return {"wall": time.time() - start, "until_end": os.stat(stamp).st_mtime - start,
            "cpu": after.children_user - before.children_user + after.children_system - before.children_system}


def starting(rounds):
    """One function of libc, one event. The least of many: what else runs on the machine only adds to it."""
    row = {"name": "start to end", "what": "malloc of libc, one event, the least of %d runs" % rounds, "runs": []}
    for _ in range(rounds):
        row["runs"].append(start_to_end("libc.so.6", "malloc", "-l", "1"))
    for key in ("wall", "until_end", "cpu"):
        row[key] = min(r[key] for r in row["runs"])
    return row


# ---- kprobes, in a guest ----

KERNEL_WORK = 300  # calls in one run


def in_guest(rounds):
    """The CPU is emulated there: the ratios are only roughly those of a real one."""
    row = {"name": "kernel", "what": "kprobes on each branch of do_sys_openat2, in an emulated guest",
           "contenders": {}, "skipped_contenders": []}
    guest = os.path.join(ROOT, "tests/vm/run.sh")
    script, work, peer = os.path.join(ROOT, "bench/kernel.sh"), at("work"), shutil.which("bpftrace")
    needed = [x for path in (script, work, peer) if path for x in ("-f", path)]
    try:
        need("qemu-system-x86_64")
        p = subprocess.run([guest, "-M", "2048", "-t", "1800", *needed, "--", "bash", script, work,
                            peer or "bpftrace", str(rounds), str(KERNEL_WORK)],
                           capture_output=True, text=True, cwd=ROOT, stdin=subprocess.DEVNULL,
                           env=dict(os.environ, B=BUILD))
        if p.returncode:
            raise Skip((p.stderr.strip().splitlines() or ["the guest failed"])[-1])
    except Skip as why:
        return dict(row, skipped=str(why))
    for line in p.stdout.splitlines():
        name, value = line.rsplit(" ", 1)
        if line.startswith("skipped "):
            if line not in row["skipped_contenders"]:
                row["skipped_contenders"].append(line)
        elif name == "probes":
            row["probes"] = int(value)
        else:
            row["contenders"].setdefault(name, []).append(int(value))
    return row


def show_guest(row):
    if "skipped" in row:
        print(f"\nkernel: skipped: {row['skipped']}")
        return
    print(f"\nkernel: {row['what']}; {row['probes']} sites\n    {'':20}{'ns/call':>12}{'to bare':>10}{'to full':>10}")
    runs = row["contenders"]
    for name, times in runs.items():
        ratios = [statistics.median(x / y for x, y in zip(times, runs.get(base, times)))
                  for base in ("bare", "bbtrace, full")]
        print(f"    {name:20}{statistics.median(times):12.0f}{ratios[0]:10.2f}{ratios[1]:10.2f}")
    for line in row["skipped_contenders"]:
        print(f"    {line}")


# ---- a row: its contenders in turn ----

def read_times():
    for _ in range(100):  # timed.c writes when the program has ended, maybe after the tool has
        try:
            wall, cpu = open(OUT).read().split()
            return {"wall": float(wall), "cpu": float(cpu)}
        except (OSError, ValueError):
            time.sleep(0.02)
    raise Skip("the program was not run to its end")


def measure_once(work, result):
    n = work.times(result["scale"])
    if os.path.exists(OUT):
        os.unlink(OUT)
    before = os.times()
    lost = result["run"](work, n) or 0
    after = os.times()
    times = read_times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    result["tool"].append(max(spent * 1e9 - times["cpu"], 0) / n)
    result["lost"] += lost
    for clock, ns in times.items():
        result["runs"][clock].append(ns / n)


def measure(work, seconds, most_rounds):
    results = [{"name": name, "run": fn, "scale": scale, "clock": clock, "lost": 0,
                "tool": [], "runs": {"wall": [], "cpu": []}}
               for name, fn, scale, clock, main in work.contenders or CONTENDERS if main or not work.main]
    end = time.monotonic() + seconds
    for done in range(most_rounds):
        if done >= 3 and time.monotonic() > end:
            break
        for result in results:
            if "skipped" in result:
                continue
            try:
                measure_once(work, result)
            except Skip as why:
                result["skipped"] = str(why)
    return results


def conclude(work, results):
    """Medians, and medians of the ratios within a round."""
    by_name = {r["name"]: r for r in results}
    hits = work.hits or work.steps or 1
    for r in results:
        del r["run"]
        if "skipped" in r:
            continue
        runs = r["runs"][r["clock"]]
        r["ns"] = statistics.median(runs)
        r["ns_per_event"] = r["ns"] / hits
        r["wall_ns"], r["tool_ns"] = statistics.median(r["runs"]["wall"]), statistics.median(r["tool"])
        for base, key in (("empty uprobe", "to_empty"), ("bare", "to_bare"), (results[1]["name"], "to_peer")):
            if base in by_name and "skipped" not in by_name[base]:
                other = by_name[base]["runs"][r["clock"]]
                r[key] = statistics.median(x / y for x, y in zip(runs, other))
    return {"name": work.name, "what": work.what, "events": work.hits, "steps": work.steps,
            "probes": len(work.offsets()), "contenders": results}


# ---- the table ----

def figure(value, form):
    return form.format(value) if value is not None else ""


def show(row):
    print(f"\n{row['name']}: {row['what']}; {row['probes']} probes, "
          f"{row['events'] or 0:.1f} events each time")
    print(f"    {'':20}{'ns/event':>10}{'to empty':>10}{'to bare':>12}{'lost':>10}   clock, runs")
    for r in row["contenders"]:
        if "skipped" in r:
            print(f"    {r['name']:20}{'skipped: ' + r['skipped'][:100]}")
            continue
        print(f"    {r['name']:20}{r['ns_per_event']:10.1f}{figure(r.get('to_empty'), '{:10.3f}'):>10}"
              f"{figure(r.get('to_bare'), '{:12.1f}'):>12}{r['lost']:10}   {r['clock']}, "
              f"{len(r['runs'][r['clock']])}")
    sys.stdout.flush()


def show_peers(row):
    """CPU and wall time of the traced program for one time of work, and the CPU time of the tool beside it."""
    print(f"\n{row['name']}: {row['what']}; ratios to {row['contenders'][1]['name']}")
    print(f"    {'':24}{'CPU ns':>12}{'wall ns':>12}{'tool CPU ns':>13}{'ratio':>9}{'lost':>10}   runs")
    for r in row["contenders"]:
        if "skipped" in r:
            print(f"    {r['name']:24}{'skipped: ' + r['skipped'][:100]}")
            continue
        print(f"    {r['name']:24}{r['ns']:12.0f}{r['wall_ns']:12.0f}{r['tool_ns']:13.0f}"
              f"{figure(r.get('to_peer'), '{:9.3f}'):>9}{r['lost']:10}   {len(r['runs']['cpu'])}")
    sys.stdout.flush()


def show_files(rows):
    print(f"    {'':20}{'bytes/branch':>14}{'undeflated':>12}{'recorded/s':>12}{'text/s':>12}{'unfolded/s':>12}{'json/s':>12}"
          f"{'taken/CPU s':>14}")
    for r in rows:
        if "skipped" in r:
            print(f"    {r['name']:20}  skipped: {r['skipped'][:100]}")
            continue
        b = r["branches"]
        print(f"    {r['name']:20}{r['bytes'] / b:14.2f}"
              f"{figure(r['undeflated'] / b if 'undeflated' in r else None, '{:12.2f}'):>12}"
              f"{r['recorded_per_second']:12.0f}{figure(r.get('text_per_second'), '{:12.0f}'):>12}"
              f"{figure(r.get('unfolded_per_second'), '{:12.0f}'):>12}"
              f"{figure(r.get('json_per_second'), '{:12.0f}'):>12}"
              f"{figure(r.get('taken_per_second'), '{:14.0f}'):>14}"
              f"{'   ' + str(r['lost']) + ' lost' if r['lost'] else ''}")
    sys.stdout.flush()


def show_placements(rows):
    print(f"    {'entries, branches':20}{'probes':>14}{'hits/branch':>12}{'to full':>12}{'without rets':>15}")
    for r in rows:
        if "skipped" in r:
            print(f"    {r['name']:20}  skipped: {r['skipped'][:100]}")
        else:
            print(f"    {r['name']:20}{r['probes']:14}{r['hits_per_branch']:12.3f}{r['to_full']:12.3f}"
                  f"{r['to_full_without_rets']:15.3f}")
    sys.stdout.flush()


def show_attaching(row):
    if "skipped" in row:
        print(f"\nattach: skipped: {row['skipped']}")
        return
    print(f"\nattach: {row['what']}; {row['probes']} probes\n    {'':24}{'seconds':>10}{'to objdump -d':>15}")
    for key, name in (("attach", "loading, attaching"), ("detach", "detaching"),
                      ("list", "list --sites, printing"),
                      ("whole", "from start to end")):
        print(f"    {name:24}{row[key]:10.3f}{row[key + '_to_objdump']:15.2f}")


def show_starting(row):
    print(f"\n{row['name']}: {row['what']}\n    {1000 * row['wall']:.1f} ms, {1000 * row['cpu']:.1f} ms of them CPU; "
          f"CMD has ended after {1000 * row['until_end']:.1f} ms")


# ---- what there is ----

def make_input(path, size):
    """Text to compress: this tree's own sources."""
    text = b""
    for folder, _, files in sorted(os.walk(os.path.join(ROOT, "src"))):
        for name in sorted(files):
            text += open(os.path.join(folder, name), "rb").read()
    open(path, "wb").write(text[:size])


def private_libc():
    folder = at("libc")
    os.makedirs(folder, exist_ok=True)
    maps = open("/proc/self/maps").read()
    found = re.search(r"/\S*/libc\.so\.6$", maps, re.M)
    if not found:
        raise Skip("no libc.so.6 here")
    shutil.copy(found[0], folder)
    return folder


def main_rows():
    work = at("work")
    return [
        Work("jcc", "a conditional jump in a tight loop", [work, "spin"], work, ["spin"], "branch",
             400000, True),
        Work("entry", "a function's entry", [work, "call"], work, ["leaf"], "entry", 400000, True),
        Work("return", "entry and ret of a function", [work, "call"], work, ["leaf"], "return", 20000,
             True),
    ]


def fast_rows():
    work, gzip, python = at("work"), shutil.which("gzip"), "/usr/bin/python3"
    libc, text = private_libc(), at("text")
    make_input(text, 20000)
    rows = [
        Work("tight loop", "a loop of one conditional jump", [work, "spin"], work, ["spin"], None,
             400000),
        Work("recursion", "fib(10)", [work, "fib"], work, ["fib"], None, 100),
        Work("malloc", "malloc and free of up to 2000 bytes", [work, "malloc"], libc + "/libc.so.6",
             ["malloc", "free"], None, 8000, library=libc),
        Work("4 threads", "the tight loop in four threads", [work, "threads"], work, ["spin"], None,
             400000, threads=True),
    ]
    if gzip and shutil.which("readelf"):
        rows.append(Work("gzip", "every function of gzip, 20 kB of text", [gzip, "-c", text], gzip,
                         functions_by_unwind(gzip)))
    if os.path.exists(python):
        rows.append(Work("python3", "starting: its evaluation loop",
                         [os.path.realpath(python), "-S", "-E", "-c", "pass"],
                         os.path.realpath(python), ["_PyEval_EvalFrameDefault"]))
    return rows


def peer_rows():
    """What users compare: calls, counts and summaries, each tool at its best."""
    work = at("work")
    return [
        Work("calls", "entry and return of a short function, by return probes", [work, "call"], work, ["leaf"],
             "entry,return", 40000, True, contenders=CALLS),
        Work("calls, stepped", "the same, of a function whose first instruction is not emulated", [work, "step"], work, ["moves"],
             "entry,return", 20000, True, contenders=CALLS),
        Work("counts", "-c of fib(10), with each branch", [work, "fib"], work, ["fib"], None, 100, True, contenders=COUNTS),
        Work("summary", "-F summary of fib(10)", [work, "fib"], work, ["fib"], None, 100, True, contenders=SUMMARY),
        Work("branches", "every branch of a short function and its return: fib(10)", [work, "fib"], work, ["fib"], None, 100,
             True, contenders=BRANCHES),
    ]


def machine():
    model = re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())
    return {"kernel": platform.release(), "machine": platform.machine(),
            "cpu": model[1] if model else "", "cpus": os.cpu_count(), "load": os.getloadavg()[0],
            "bbtrace": subprocess.run([BBTRACE, "--version"], capture_output=True,
                                      text=True).stdout.strip()}


LAST_ROWS = (
    ("start to end", starting, 20, show_starting),
    ("attach", attaching, 3, show_attaching),
    ("kernel", in_guest, 3, show_guest),
)


class Only:
    """Is the row of this name wanted? All names that were asked for, for a prefix that none has."""

    def __init__(self, prefix):
        self.prefix, self.names, self.found = prefix or "", [], False

    def __call__(self, name):
        self.names.append(name)
        self.found |= name.startswith(self.prefix)
        return name.startswith(self.prefix)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the main rows only, under a minute")
    parser.add_argument("--seconds", type=float, help="time for each row")
    parser.add_argument("--only", help="rows whose names begin so")
    args = parser.parse_args()
    if os.getuid():
        print("bench: needs root", file=sys.stderr)
        return 0
    only = Only(args.only)
    seconds = args.seconds or (14 if args.quick else 40)
    report = {"machine": machine(), "rows": []}
    print("bench: {bbtrace} on Linux {kernel}, {cpus} CPUs ({cpu}), load {load:.1f}".format(
        **report["machine"]))
    for work in main_rows() + ([] if args.quick else fast_rows() + peer_rows()):
        if not only(work.name):
            continue
        try:
            work.find_sites()
        except Skip as why:
            print(f"\n{work.name}: skipped: {why}")
            report["rows"].append({"name": work.name, "skipped": str(why)})
            continue
        row = conclude(work, measure(work, seconds, 25))
        (show_peers if work.contenders else show)(row)
        if not work.main:
            row["files"] = files(work)
            show_files(row["files"])
            row["placements"] = placements(work, 5)
            show_placements(row["placements"])
        report["rows"].append(row)
    if not args.quick:
        report["rows"] += running.rows(5, only)
        report["rows"] += whole.rows(3, only)
    for name, run_row, rounds, show_row in () if args.quick else LAST_ROWS:
        if only(name):
            report["rows"].append(run_row(rounds))
            show_row(report["rows"][-1])
    if not only.found:
        print(f"bench: no row begins with '{args.only}'; rows: {', '.join(only.names)}", file=sys.stderr)
        return 2
    path = os.path.join(BUILD, "bench.json")
    json.dump(report, open(path, "w"), indent=1)
    print(f"\nbench: all runs in {os.path.relpath(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
