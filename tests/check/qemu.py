#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""qemu.py BBTRACE FOLDER OBJECT -- CMD [ARG...]: runs CMD once emulated by QEMU, which logs each instruction, and once
traced with each placement, with all functions of OBJECT: is every executed branch in the trace or covered by an `unknown`,
and no other? TAP. Files are written to FOLDER.

Branches and their targets are objdump's; the next instruction that QEMU executed shows which were taken. The functions'
extents are bbtrace's; cold parts are found by .eh_frame. Both runs have the same environment and the same descriptors, but
different addresses and a different CPU: OBJECT's path must depend on neither.
"""
import bisect
import json
import os
import re
import subprocess
import sys

BRANCH = re.compile(r"^(?:(?:notrack|bnd|rep[nz]?|repn?z|data16|addr32|[c-g]s) )*(j\w+|call\w*|ret\w*|loop\w*)(?:,p[nt])?\s*(.*)")
LINE = re.compile(r"^ +([0-9a-f]+):\t(.*)")
TRACE = re.compile(rb"^Trace \d+: \S+ \[\w+/(\w+)/")
GAP = None
RUN = 64  # events that have to fit behind a gap

bbtrace, folder, target = sys.argv[1:4]
command = sys.argv[5:]
tests = failed = 0


def check(good, name, why=""):
    global tests, failed
    tests += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {tests} - {name}")
    if why and not good:
        print(re.sub("^", "# ", why.strip(), flags=re.M))
    sys.stdout.flush()


# ---- the object, by objdump and readelf ----


def listed(*arguments):
    out = subprocess.run([bbtrace, "list", "-q", "-F", "json", *arguments], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def extents():
    """Where the traced functions lie: [start, end), ascending."""
    rows = sorted((int(f["vaddr"], 16), int(f["vaddr"], 16) + f["size"]) for f in listed(target, "*") if "size" in f)
    sites = sorted(int(site["vaddr"], 16) for site in listed("--sites", target, "*"))
    frames = subprocess.run(
        ["readelf", "--debug-dump=frames", target], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
    parts = []
    for start, end in sorted({(int(a, 16), int(b, 16)) for a, b in re.findall(r"FDE .*pc=(\w+)\.\.(\w+)", frames)}):
        below = bisect.bisect_right(rows, (start, 1 << 64)) - 1
        first = bisect.bisect_left(sites, start)
        if (below < 0 or start >= rows[below][1]) and first < len(sites) and sites[first] < end:
            parts.append((start, end))
    return sorted(rows + parts)


def branches(ranges):
    """Address -> (conditional, target, next)."""
    found, pending = {}, None
    run = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", "-w", target], stdout=subprocess.PIPE, text=True)
    for line in run.stdout:
        match = LINE.match(line)
        if not match:
            continue
        address = int(match[1], 16)
        if pending:
            found[pending[0]] = (*pending[1:], address)
            pending = None
        branch = BRANCH.match(match[2])
        i = bisect.bisect_right(ranges, (address, 1 << 64)) - 1
        if not branch or i < 0 or address >= ranges[i][1]:
            continue
        conditional = branch[1].startswith(("j", "loop")) and not branch[1].startswith("jmp")
        direct = re.match(r"([0-9a-f]+)\b(?! *\()", branch[2])
        pending = (address, conditional, int(direct[1], 16) if direct else None)
    if pending:
        found[pending[0]] = (*pending[1:], None)
    run.wait()
    return found


def segments():
    out = subprocess.run(["readelf", "-lW", target], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [
        (int(m[1], 16), int(m[2], 16), int(m[3], 16), "E" in m[4])
        for m in re.finditer(r"LOAD +(0x\w+) (0x\w+) \S+ \S+ (0x\w+) ([RWE ]+)", out)
    ]


# ---- what QEMU executed ----


def emulate(name, *options):
    path = f"{folder}/{name}"
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        status = subprocess.run(
            ["setarch", "-R", "qemu-x86_64", "-cpu", "max", "-one-insn-per-tb", "-D", path, *options, *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            check=False,
        ).returncode
    return status, path


def bias_of(log, is_program):
    """Running address minus link-time address, by where QEMU (the program) or the loader (a library) has mapped the
    object."""
    first_vaddr = min(vaddr for _, vaddr, _, _ in segments()) & ~0xFFF
    with open(log, encoding="utf-8", errors="replace") as lines:
        text = lines.read()
    if is_program:
        return int(re.search(r"^(\w{16})-\w{16} ", text, re.M)[1], 16) - first_vaddr
    for opened in re.finditer(r'openat\(\S+?,"([^"]+)",\S+\) = (\d+)\n', text):
        if os.path.realpath(opened[1]) == os.path.realpath(target):
            mapped = re.compile(r"mmap\(\w+,\d+,\S+,\S+," + opened[2] + r",0\) = 0x(\w+)")
            return int(mapped.search(text, opened.end())[1], 16) - first_vaddr
    sys.exit(f"{target}: {command[0]} doesn't map it")


def executed(log, known, bias):
    """(branch, taken or None, where to) one after the other. QEMU logs an instruction before it executes it, once more
    if it was stopped there."""
    path, last = [], None
    with open(log, "rb") as lines:
        for line in lines:
            match = TRACE.match(line)
            if not match:
                if line.startswith(b"Stopped execution"):
                    last = None
                continue
            pc = int(match[1], 16) - bias
            if last is not None:
                conditional, to, after = known[last]
                path.append((last, to == after or pc != after if conditional else None, pc))
            last = pc if pc in known else None
    if last is not None:
        path.append((last, None, None))
    return path


# ---- what bbtrace tells ----


def traced(path):
    """As executed(); GAP where it says that it doesn't know."""
    own = os.path.realpath(target)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["event"] in ("unknown", "lost"):
                yield GAP
            elif event["event"] == "branch":
                to = event.get("to") or {}
                inside = to.get("vaddr") and os.path.realpath(to.get("object") or "") == own
                yield int(event["vaddr"], 16), event.get("taken"), int(to["vaddr"], 16) if inside else None


def same(ref, got):
    return ref[0] == got[0] and ref[1] == got[1] and (got[2] is None or ref[2] is None or ref[2] == got[2])


def resync(ref, r, got, g):
    """Where the reference goes on behind a gap."""
    run = []
    for event in got[g : g + RUN]:
        if event is GAP:
            break
        run.append(event)
    if g >= len(got):
        return len(ref)
    for at in range(r, len(ref) + 1):
        if len(ref) - at >= len(run) and all(same(ref[at + i], e) for i, e in enumerate(run)):
            return at
    return None


def text(event):
    if event is GAP:
        return "unknown"
    outcome = {None: "", True: " taken", False: " not taken"}[event[1]]
    return f"{event[0]:#x}{outcome}" + (f" to {event[2]:#x}" if event[2] is not None else "")


def difference(ref, got, r, g):
    rows = []
    for i in range(-8, 4):
        left = text(ref[r + i]) if 0 <= r + i < len(ref) else ""
        right = text(got[g + i]) if 0 <= g + i < len(got) else ""
        rows.append(f"{'>' if i == 0 else ' '} {left:44} | {right}")
    return f"QEMU's {r} of {len(ref)}, bbtrace's {g} of {len(got)}:\n" + "\n".join(rows)


def compare(ref, got):
    """Branches equal, gaps, branches under them, and the first difference."""
    r = equal = gaps = hidden = 0
    for g, event in enumerate(got):
        if event is GAP:
            at = resync(ref, r, got, g + 1)
            if at is None:
                return equal, gaps, hidden, "behind an unknown: " + difference(ref, got, r, g + 1)
            gaps, hidden, r = gaps + 1, hidden + at - r, at
            continue
        if r >= len(ref) or not same(ref[r], event):
            return equal, gaps, hidden, difference(ref, got, r, g)
        equal, r = equal + 1, r + 1
    return equal, gaps, hidden, difference(ref, got, r, len(got)) if r < len(ref) else ""


def trace(placement):
    path = f"{folder}/{placement}"
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        run = subprocess.run(
            ["setarch", "-R", bbtrace, "user", target, "*", "--placement", placement, "--buffer", "256M", "-F", "json"]
            + ["-o", path + ".json", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            check=False,
        )
    return run.returncode, path, read(path + ".err").decode("utf-8", "replace")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def reference():
    """QEMU's status and path. Where it maps the object may change from run to run: the log is of use when it was
    where it was expected."""
    known = branches(extents())
    is_program = os.path.realpath(target) == os.path.realpath(command[0])
    maps = "page" if is_program else "strace"
    status, log = emulate("mapped", "-d", maps)
    bias = bias_of(log, is_program)
    for _ in range(5):
        code = [f"{vaddr + bias:#x}..{vaddr + bias + size:#x}" for _, vaddr, size, runs in segments() if runs]
        status, log = emulate("qemu", "-d", f"exec,nochain,{maps}", "-dfilter", ",".join(code))
        expected, bias = bias, bias_of(log, is_program)
        if bias == expected:
            return status, executed(log, known, bias)
    return status, []


def main():
    os.makedirs(folder, exist_ok=True)
    status, ref = reference()
    check(ref, f"QEMU executed {len(ref)} branches")
    for placement in "full", "implied", "witness":
        got_status, path, said = trace(placement)
        good = got_status == status and read(path + ".out") == read(f"{folder}/qemu.out")
        check(good, f"{placement}: status {status} and output as emulated", said)
        equal, gaps, hidden, why = compare(ref, list(traced(path + ".json")))
        check(equal and not why, f"{placement}: {equal} branches as executed, {gaps} unknown hide {hidden}", why)
        os.remove(path + ".json")
    os.remove(f"{folder}/qemu")
    print(f"1..{tests}")
    sys.exit(failed > 0)


main()
