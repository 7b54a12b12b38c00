#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Are the values that --why shows those that gdb finds?

why.py BBTRACE SAMPLES FILE FUNC... -- CMD...: traces the FUNCs of FILE, of which CMD (one thread, the same each time, no
addresses at random) has a copy of its own; takes up to SAMPLES conditionals, of all sites, the first executions and late
ones; stops gdb at the same execution of the instruction that objdump shows to have set the flags; there gdb evaluates its
operands, or behind it its result, and then steps over the branch. ENGINE=inline: other engines.

Prints what disagrees, and at the end `SITES sites, WITH with values, EXECUTED executed, TOLD told, SAMPLES compared,
MEMORY of memory, UNSTEADY unsteady, MOVED moved, WRONG wrong`. Unsteady: of a sample that disagrees either gdb or bbtrace
has other values in a second run (the time, random numbers). Moved: addresses whole pages apart.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from conditions import REGISTERS, SIZES, Code, READS  # noqa: E402

KEPT = 6  # executions of a site that are candidates
HITS = int(os.environ.get("HITS", "60000"))  # at gdb's breakpoints, in total
BEFORE = ("cmp", "test", "bt", "sub", "add")
BEHIND = ("and", "or", "xor", "inc", "dec", "neg", "adc", "sbb", "shl", "sal", "shr", "sar")
GDB_NAMES = {f"r{n}b": f"r{n}l" for n in range(8, 16)}  # as gdb calls them

# ---- what bbtrace tells ----


class Site:
    def __init__(self):
        self.executed = self.told = 0
        self.early, self.late = [], []  # (execution, line)

    def add(self, line, pick):
        self.executed += 1
        if b'"why":' not in line:
            return
        self.told += 1
        if len(self.early) < 2:
            self.early.append((self.executed, line))
        elif len(self.late) < KEPT - 2:
            self.late.append((self.executed, line))
        elif (at := pick.randrange(self.told)) < KEPT - 2:
            self.late[at] = (self.executed, line)

    def lines(self):
        return self.early + self.late


def trace(bbtrace, path, functions, command, out):
    """Sites by address."""
    # a function that can't be found would end it: the error shows
    run = subprocess.run(
        [bbtrace, "user", path, *functions, "--why", "-F", "json", "-r", "none", "--engine", os.environ.get("ENGINE", "probe"), "-o", out, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if run.returncode:
        sys.exit(f"bbtrace: status {run.returncode}: {run.stderr.decode()}")
    sites, pick, thread, lost = {}, random.Random(1), None, 0
    place = re.compile(rb'"tid":(\d+),.*?"object":"([^"]*)",.*?"vaddr":"0x([0-9a-f]+)".*?"kind":"(?:jcc|loop)"')
    with open(out, "rb") as lines:
        for line in lines:
            if b'"event":"summary"' in line:
                lost = json.loads(line)["lost"]
            if b'"event":"branch"' not in line or not (m := place.search(line)):
                continue
            thread = thread or m[1]
            if m[1] == thread and m[2] == path.encode():
                sites.setdefault(int(m[3], 16), Site()).add(line, pick)
    if lost:
        sys.exit(f"{lost} events were lost: executions can't be counted")
    return sites


# ---- what is to be compared ----


def gdb_operand(text, note, bits):
    """An operand of objdump's as an expression of gdb's; BASE: where the file is. And its bits."""
    size, _, rest = text.partition(" PTR ")
    if rest:
        bits, text = SIZES[size.lower()], rest
    if text in REGISTERS:
        return "$" + GDB_NAMES.get(text, text), REGISTERS[text][2]
    if re.fullmatch(r"-?0x[0-9a-f]+|\d+", text):
        return text, bits
    inside = re.fullmatch(r"(?:[cdes]s:)?\[(.*)\]", text)
    if not inside or not bits:
        return None, None  # another segment, another form
    kind = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long"}[bits]
    if "rip" in inside[1]:
        address = f"BASE+0x{note}"
    else:
        address = re.sub(r"\b(r\w+|e\w+)\b", r"(unsigned long)$\1", inside[1])
    return f"*({kind}*)({address})", bits


def parts_of(insn):
    """Mnemonic, expressions, bits of an instruction; None: not one that gdb can evaluate."""
    text, _, note = insn.text.partition("#")
    note = (note.split() or [""])[0]
    mnemonic, _, operands = re.sub(r"<[^>]*>", "", text).strip().partition(" ")
    if mnemonic not in BEFORE + BEHIND:
        return None
    found, bits = [], None
    # the size is that of the operand that has one
    for word in operands.strip().split(","):
        if word in REGISTERS:
            bits = bits or REGISTERS[word][2]
        elif " PTR " in word:
            bits = bits or SIZES[word.split()[0].lower()]
    for word in operands.strip().split(","):
        expression, _ = gdb_operand(word.strip(), note, bits)
        if expression is None:
            return None
        found.append(expression)
    if mnemonic in BEHIND or (mnemonic == "test" and found[0] == found[1]):
        found = found[:1]
    return mnemonic, found, bits


def choose(sites, code, most):
    """Samples, by turns of the sites, while gdb has not too much to do."""
    asked, rounds, hits, total = {}, 0, 0, 0
    reasons = {}
    rows = []
    for address, site in sorted(sites.items()):
        if not site.told:
            continue
        why = json.loads(site.early[0][1])
        insn, reason = code.setter(address, READS[why["insn"][1:]])
        if not insn or not (parts := parts_of(insn)):
            reasons[reason or insn.text] = address
            continue
        rows.append((address, site, insn.addr, parts))
    random.Random(2).shuffle(rows)
    for rounds in range(KEPT):
        for address, site, setter, parts in rows:
            lines = sorted(site.lines())
            if total >= most or rounds >= len(lines):
                continue
            number, line = lines[rounds]
            row = asked.setdefault(address, {"setter": setter, "operands": parts[1], "bits": parts[2], "behind": parts[0] in BEHIND, "at": {}})
            more = max(0, number - max(row["at"], default=0))
            if hits + more > HITS:
                continue
            hits += more
            total += 1
            step = json.loads(line)
            row["at"][number] = {"values": [int(v, 16) for v in step["why"]["values"]], "bits": step["why"]["bits"], "taken": step["taken"], "compare": step["why"]["compare"], "again": "read_again" in step["why"]}
    for text, address in sorted(reasons.items()):
        print(f"{address:#x}: not compared: {text}")
    return {a: row for a, row in asked.items() if row["at"]}, reasons


# ---- what gdb finds ----


def ask_gdb(path, command, asked, code, folder):
    """(address, execution) → values, taken"""
    order = {"file": path, "lowest": lowest(path), "program": os.path.realpath(command_of(command)), "command": command, "rows": []}
    for address, row in asked.items():
        order["rows"].append(
            {
                "branch": address,
                "next": code.insns[code.at(address)].next,
                "setter": row["setter"],
                "operands": row["operands"],
                "bits": row["bits"],
                "behind": row["behind"],
                "at": sorted(row["at"]),
            }
        )
    with open(f"{folder}/order", "w") as out:
        json.dump(order, out)
    if os.path.exists(f"{folder}/answer"):
        os.unlink(f"{folder}/answer")
    run = subprocess.run(
        ["gdb", "-nx", "-batch", "-x", f"{HERE}/why_gdb.py"],
        env=dict(os.environ, WHY=folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        with open(f"{folder}/answer") as answer:
            return {(a, n): (values, taken) for a, n, values, taken in json.load(answer)}
    except OSError:
        sys.exit(f"gdb: {run.stdout.decode()[-3000:]}")


def is_moved(told, got):
    """The kernel maps a page of its own for probes: what is mapped behind is some pages lower."""
    if not got or got[1] != told["taken"] or len(got[0]) != len(told["values"]):
        return False
    apart = {a - b for a, b in zip(got[0], told["values"])} - {0}
    mapped = all(v >> 40 == 0x7F for a, b in zip(got[0], told["values"]) if a != b for v in (a, b))
    return mapped and len(apart) == 1 and not apart.pop() % 4096


def lowest(path):
    """The address that the first page of the file's is linked to."""
    run = subprocess.run(["readelf", "-lW", path], stdout=subprocess.PIPE, text=True, check=True)
    return min(int(line.split()[2], 16) for line in run.stdout.splitlines() if line.split()[:1] == ["LOAD"]) & ~0xFFF


def command_of(command):
    """The program behind setarch and env."""
    return next(word for word in command[command.index("-i") + 1 :] if "=" not in word)


def disagreements(asked, found):
    for address, row in asked.items():
        for number, told in row["at"].items():
            got = found.get((address, number))
            if not got or got[0] != told["values"] or got[1] != told["taken"] or told["bits"] != row["bits"]:
                yield address, number, told, got


def main():
    bbtrace, most, path = sys.argv[1], int(sys.argv[2]), os.path.realpath(sys.argv[3])
    split = sys.argv.index("--")
    functions, command = sys.argv[4:split], ["setarch", "-R", "env", "-i", "LC_ALL=C", *sys.argv[split + 1 :]]
    code = Code(path)
    with tempfile.TemporaryDirectory() as folder:
        sites = trace(bbtrace, path, functions, command, f"{folder}/trace")
        asked, _ = choose(sites, code, most)
        found = ask_gdb(path, command, asked, code, folder)
        bad = list(disagreements(asked, found))
        moved = unsteady = 0
        if bad:
            some = {a: dict(asked[a], at={n: t for b, n, t, _ in bad if b == a}) for a in {b[0] for b in bad}}
            second = ask_gdb(path, command, some, code, folder)
            again = trace_samples(bbtrace, path, functions, command, f"{folder}/trace", some)
            steady = [b for b in bad if found.get(b[:2]) == second.get(b[:2]) and again.get(b[:2]) == (b[2]["values"], b[2]["taken"])]
            unsteady = len(bad) - len(steady)
            bad = [b for b in steady if not is_moved(b[2], b[3])]
            moved = len(steady) - len(bad)
    for address, number, told, got in bad:
        print(f"{address:#x}, execution {number}: '{told['compare']}', {told['bits']} bits: {[hex(v) for v in told['values']]}, taken {told['taken']}; gdb: {got and [hex(v) for v in got[0]]}, {got and got[1]}")
    samples = [t for row in asked.values() for t in row["at"].values()]
    print(
        f"{len(sites)} sites, {sum(s.told > 0 for s in sites.values())} with values, {sum(s.executed for s in sites.values())} executed, "
        f"{sum(s.told for s in sites.values())} told, {len(samples) - unsteady - moved} compared, {sum(t['again'] for t in samples)} of memory, {unsteady} unsteady, {moved} moved, {len(bad)} wrong"
    )


def trace_samples(bbtrace, path, functions, command, out, asked):
    """The same executions in another run."""
    trace(bbtrace, path, functions, command, out)
    place = re.compile(rb'"object":"([^"]*)",.*?"vaddr":"0x([0-9a-f]+)".*?"kind":"(?:jcc|loop)"')
    counts, found = dict.fromkeys(asked, 0), {}
    with open(out, "rb") as lines:
        for line in lines:
            if b'"event":"branch"' not in line or not (m := place.search(line)) or m[1] != path.encode():
                continue
            address = int(m[2], 16)
            if address not in counts:
                continue
            counts[address] += 1
            if counts[address] in asked[address]["at"]:
                step = json.loads(line)
                if "why" in step:
                    found[address, counts[address]] = ([int(v, 16) for v in step["why"]["values"]], step["taken"])
    return found


if __name__ == "__main__":
    main()
