# SPDX-License-Identifier: BSD-2-Clause
"""Processes that run before they are traced (-p): a Redis server under load, and a busy loop with a bystander.

Each tracer comes and goes while the same process runs on. The clock is the kernel's own of the process's
threads on a CPU, without other load; the server is timed by the wall clock, too.
"""
import contextlib
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time

from common import BBTRACE, Skip, at, need

ATTACH_SECONDS = 20
REQUESTS = 20000
WINDOW = 0.7  # seconds in which the busy loop is measured
SERVER_FUNCTIONS = ("processCommand", "lookupKeyReadWithFlags", "dictFind")


def wait_until(holds, seconds=ATTACH_SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def cpu_ns(pid):
    """On a CPU, all of its threads."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{tid}/schedstat") as stat:
            total += int(stat.read().split()[0])
    return total


def end(process, how=signal.SIGINT):
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# ---- tracers of a process: (command, are its probes attached?) ----

def bbtrace(*options, out="trace"):
    def command(program, functions, pid):
        return [BBTRACE, "user", "-v", program, *functions, *options, "-p", str(pid), "-o", at(out)]
    return command, lambda tracer, log, probes: re.search(r"^bbtrace: recording$", open(log).read(), re.M)


def perf_events(pid):
    folder, n = f"/proc/{pid}/fd", 0
    for fd in os.listdir(folder):
        with contextlib.suppress(OSError):
            n += "[perf_event]" in os.readlink(f"{folder}/{fd}")
    return n


def bpftrace(on_entry, on_return, out="/dev/null"):
    def command(program, functions, pid):
        need("bpftrace")
        probes = " ".join(f"uprobe:{program}:{f} {on_entry.replace('NAME', f)} uretprobe:{program}:{f} "
                          f"{on_return.replace('NAME', f)}" for f in functions)
        return ["bpftrace", "-o", out, "-p", str(pid), "-e", probes]
    # one perf event for each probe, and one for each CPU's buffer
    return command, lambda tracer, log, probes: perf_events(tracer.pid) >= 2 * probes + os.cpu_count()


BARE = (None, None)
CONTENDERS = (
    ("bare", BARE),
    ("bpftrace printf", bpftrace('{ printf("%d %llu %lx\\n", tid, nsecs, arg0); }',
                                 '{ printf("%d %llu %lx\\n", tid, nsecs, retval); }')),
    ("bpftrace count", bpftrace("{ @entry_NAME = count(); }", "{ @return_NAME = count(); }")),
    ("bbtrace, text", bbtrace("-F", "text", out="text.out")),
    ("bbtrace, trace file", bbtrace()),
    ("bbtrace -c", bbtrace("-c", out="counts.out")),
    ("bbtrace -c, calls", bbtrace("-c", "-e", "entry,return", "--returns", "probe", out="counts.out")),
    ("inline, trace file", bbtrace("--engine", "inline")),
    ("inline, -F summary", bbtrace("--engine", "inline", "-F", "summary", out="summary.out")),
    ("inline, --last 100", bbtrace("--engine", "inline", "--last", "100", out="last.out")),
    ("inline, -c", bbtrace("--engine", "inline", "-c", out="counts.out")),
    ("summary, uretprobes", bbtrace("-F", "summary", "--returns", "probe", out="summary.out")),
)


@contextlib.contextmanager
def traced(contender, program, functions, pid):
    """Gives the seconds that attaching took."""
    command, attached = contender
    if not command:
        yield 0.0
        return
    log = at("tracer.log")
    start = time.monotonic()
    with open(log, "w") as err:
        tracer = subprocess.Popen(command(program, functions, pid), stdin=subprocess.DEVNULL, stdout=err, stderr=err)
    try:
        if not wait_until(lambda: tracer.poll() is not None or attached(tracer, log, len(functions))) or tracer.returncode is not None:
            raise Skip((open(log).read().strip().splitlines() or ["no probes were attached"])[-1])
        yield time.monotonic() - start
    finally:
        end(tracer)


def lost_events():
    """As the tracer that ended last says: bbtrace at its end, bpftrace in between."""
    text = open(at("tracer.log")).read()
    return sum(int(n) for n in re.findall(r"(\d+) lost|Lost (\d+) events", text) for n in n if n)


def in_turn(rounds, measure):
    """Interleaved. measure(contender) -> figures by name. What can't be measured has a reason."""
    rows = [{"name": name, "lost": 0, "runs": []} for name, _ in CONTENDERS]
    for _ in range(rounds):
        for row, (_, contender) in zip(rows, CONTENDERS):
            if "skipped" in row:
                continue
            try:
                row["runs"].append(measure(contender))
                row["lost"] += lost_events() if contender[0] else 0
            except Skip as why:
                row["skipped"] = str(why)
    bare = rows[0]["runs"]
    for row in rows:
        if "skipped" in row:
            continue
        for key in row["runs"][0]:
            row[key] = statistics.median(r[key] for r in row["runs"])
            if bare[0][key]:
                row[key + "_to_bare"] = statistics.median(r[key] / b[key] for r, b in zip(row["runs"], bare))
    return rows


# ---- a Redis server ----

@contextlib.contextmanager
def redis_server():
    """A private one on a Unix socket in a temporary folder: gives its process and the socket."""
    with tempfile.TemporaryDirectory(prefix="bbtrace-bench-") as folder:
        socket = folder + "/socket"
        server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "",
                                   "--appendonly", "no", "--daemonize", "no"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not wait_until(lambda: os.path.exists(socket) or server.poll() is not None) or server.returncode is not None:
                raise Skip("redis-server didn't start")
            yield server, socket
        finally:
            end(server, signal.SIGKILL)


def load(socket, what, n):
    p = subprocess.run(["redis-benchmark", "-s", socket, "-t", what, "-n", str(n), "-c", "8", "-q"], capture_output=True,
                       text=True, check=False)
    if p.returncode:
        raise Skip("redis-benchmark: " + p.stderr.strip())


def has_functions(program):
    """Debian's is stripped, but exports its functions to its modules."""
    p = subprocess.run([BBTRACE, "list", program, "--exported"], capture_output=True, text=True, check=False)
    return set(SERVER_FUNCTIONS) <= set(p.stdout.split())


def redis(rounds):
    row = {"name": "redis", "what": f"GET of a Redis server with {', '.join(SERVER_FUNCTIONS)} traced by -p", "contenders": []}

    def measure(contender):
        with traced(contender, program, SERVER_FUNCTIONS, server.pid) as attach:
            wall, cpu = time.monotonic_ns(), cpu_ns(server.pid)
            load(socket, "get", REQUESTS)
            return {"cpu": (cpu_ns(server.pid) - cpu) / REQUESTS, "wall": (time.monotonic_ns() - wall) / REQUESTS,
                    "attach": attach}

    try:
        need("redis-server")
        need("redis-benchmark")
        program = os.path.realpath(shutil.which("redis-server"))
        if not has_functions(program):
            raise Skip("this redis-server exports no functions: give their addresses, or its debug symbols")
        with redis_server() as (server, socket):
            load(socket, "set", 1)
            load(socket, "get", REQUESTS)
            row["contenders"] = in_turn(rounds, measure)
    except Skip as why:
        row["skipped"] = str(why)
    return row


# ---- a busy loop, and a bystander: another process of its program ----

@contextlib.contextmanager
def busy(name):
    counter = at(name + ".count")
    process = subprocess.Popen([at("busy"), counter])
    try:
        wait_until(lambda: os.path.exists(counter) and os.path.getsize(counter) == 8)
        yield process, lambda: (cpu_ns(process.pid), struct.unpack("Q", open(counter, "rb").read(8))[0])
    finally:
        end(process, signal.SIGKILL)


def busy_loop(rounds):
    row = {"name": "-p", "what": "fib(10) in a busy process, traced by -p, and in a bystander: another one of its program"}

    def measure(contender):
        with traced(contender, at("busy"), ["fib"], process.pid) as attach:
            before = [sample(), sample_bystander()]
            time.sleep(WINDOW)
            (cpu, n), (bystander_cpu, bystander_n) = ([x - y for x, y in zip(new, old)]
                                                      for new, old in zip([sample(), sample_bystander()], before))
            return {"cpu": cpu / max(n, 1), "bystander": bystander_cpu / max(bystander_n, 1), "attach": attach}

    with busy("busy") as (process, sample), busy("bystander") as (_, sample_bystander):
        row["contenders"] = in_turn(rounds, measure)
    return row


# ---- many functions of a running process ----

SLEEP = "import time\nwhile True: time.sleep(0.001)"


def stops(rounds):
    """The least of some: what else runs on the machine only adds to it."""
    row = {"name": "stop", "what": "every function of a running python3, by -p: how long it is stopped", "runs": []}
    program = os.path.realpath("/usr/bin/python3")
    process = subprocess.Popen([program, "-S", "-E", "-c", SLEEP])
    try:
        for _ in range(rounds):
            with traced(bbtrace("--engine", "inline", "--last", "100", out="last.out"), program, ["*"], process.pid):
                pass
            said = open(at("tracer.log")).read()
            stop = re.search(r"was stopped for ([0-9.]+) ms$", said, re.M)
            back = re.search(r"was stopped for ([0-9.]+) ms to be let go$", said, re.M)
            functions = re.search(r"(\d+) functions, (\d+) probes", said)
            if not (stop and back and functions):
                raise Skip((said.strip().splitlines() or ["nothing was said"])[-1])
            row["functions"] = int(functions[1])
            row["runs"].append({"stop_ms": float(stop[1]), "back_ms": float(back[1])})
        for key in ("stop_ms", "back_ms"):
            row[key] = min(r[key] for r in row["runs"])
    except Skip as why:
        row["skipped"] = str(why)
    finally:
        end(process, signal.SIGKILL)
    return row


def show_stops(row):
    if "skipped" in row:
        print(f"\n{row['name']}: skipped: {row['skipped']}")
        return
    print(f"\n{row['name']}: {row['what']}\n    {row['functions']} functions; {row['stop_ms']:.1f} ms when attaching, "
          f"{row['back_ms']:.1f} ms when detaching; the least of {len(row['runs'])} runs", flush=True)


# ---- the tables ----

def show(row, second):
    if "skipped" in row:
        print(f"\n{row['name']}: skipped: {row['skipped']}")
        return
    print(f"\n{row['name']}: {row['what']}\n    {'':24}{'CPU ns':>12}{'to bare':>10}{second + ' ns':>16}{'to bare':>10}"
          f"{'attach s':>10}{'lost':>10}   runs")
    for r in row["contenders"]:
        if "skipped" in r:
            print(f"    {r['name']:24}skipped: {r['skipped'][:100]}")
            continue
        print(f"    {r['name']:24}{r['cpu']:12.0f}{r['cpu_to_bare']:10.3f}{r[second]:16.0f}{r[second + '_to_bare']:10.3f}"
              f"{r['attach']:10.2f}{r['lost']:10}   {len(r['runs'])}", flush=True)


def rows(rounds, only):
    """only: is the row of this name wanted?"""
    for name, run, second in (("redis", redis, "wall"), ("-p", busy_loop, "bystander")):
        if only(name):
            row = run(rounds)
            show(row, second)
            yield row
    if only("stop"):
        row = stops(rounds)
        show_stops(row)
        yield row
