#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""callgrind.py BUILD FOLDER OBJECT -- CMD [ARG...]: runs CMD once under callgrind, which counts each instruction and each
conditional jump that was followed, and once with `bbtrace user OBJECT '*' -c`: are the counts of each branch equal?
TAP, and a line for the table of tests/long/t_callgrind.sh in FOLDER/row. Files are written to FOLDER.

A branch that ran must be among the edges, unless bbtrace lists its bytes as undecoded or in no function; a count may be
unknown (null), or differ by no more than the summary's `cut`. Each of these is a declared gap, and counted. Conditionals are
objdump's. Both runs have the same arguments, environment (valgrind's) and descriptors.

A program's path may depend on its addresses, which are others under valgrind, or on the processor. So where the counts of a
branch differ, the single-stepper (tests/step), which runs the program where bbtrace does, decides: its count is then bbtrace's,
or bbtrace is wrong. If there is too much to step, the kernel's uprobes decide: perf counts by the flags that a jump finds.
"""

import json
import os
import re
import subprocess
import sys

from emulated import LINE, MACHINES, Object, Tap, read

build, folder, target = sys.argv[1:4]
command = sys.argv[5:]
bbtrace = os.environ.get("BBTRACE", build + "/bbtrace")
given = os.environ.get("INPUT", os.devnull)
again = os.path.dirname(os.path.abspath(__file__)) + "/../step/again.sh"
COST = re.compile(r"(0x[0-9a-f]+|[-+]\d+|\*) (?:[-+]?\d+|\*)(?: (\d+)| )?$")
NAMED = re.compile(r"c?ob=\((\d+)\)(?: (.*))?$")
CONDITIONAL = MACHINES["x86-64"].conditional
UPROBES = "/sys/kernel/tracing/uprobe_events"
LESS = "(fl & 0x80 && !(fl & 0x800)) || (fl & 0x800 && !(fl & 0x80))"
FLAGS = {"b": "fl & 1", "p": "fl & 4", "e": "fl & 0x40", "be": "fl & 0x41", "s": "fl & 0x80", "o": "fl & 0x800"}
FLAGS |= {"l": LESS, "le": f"fl & 0x40 || {LESS}"}
JUMP = re.compile(r"jcnd=(\d+)/(\d+) ")
SHOWN = 12
MOST_PROBED = 200  # branches
MOST_STEPPED = 1000000  # branches, each of which is a line of the stepper's


def run(name, command, env):
    with open(f"{folder}/{name}.out", "wb") as out, open(f"{folder}/{name}.err", "wb") as err, open(given, "rb") as into:
        return subprocess.run(
            ["setarch", "-R", *command], stdin=into, stdout=out, stderr=err, env=env, check=False
        ).returncode


def environment():
    """That of a program under valgrind, which adds to its own."""
    out = subprocess.run(
        ["valgrind", "-q", "--tool=none", "/usr/bin/env", "-0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True
    ).stdout
    return dict(row.split(b"=", 1) for row in out.split(b"\0") if b"=" in row)


def counted(path, wanted):
    """Of the object: how often each instruction was executed, and how often each conditional jump was followed."""
    executed, followed, names = {}, {}, {}
    here, at, skip, jump = None, 0, False, None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = COST.match(line)
            if match:
                place, cost = match.groups()
                at = int(place, 16) if place[0] == "0" else at if place == "*" else at + int(place)
                if here != wanted:
                    pass
                elif jump is not None:
                    followed[at] = followed.get(at, 0) + jump
                elif cost and not skip:
                    executed[at] = executed.get(at, 0) + int(cost)
                skip, jump = False, None
                continue
            match = NAMED.match(line)
            if match:
                if match[2]:
                    names[match[1]] = match[2]
                if line[0] == "o":
                    here = names.get(match[1])
                continue
            match = JUMP.match(line)
            jump = int(match[1]) if match else 0 if line.startswith("jump=") else jump
            skip = skip or line.startswith("calls=")
    return executed, followed


def stepped(text, env):
    """As edges: how often the single-stepper saw each branch of .text taken and passed. None: not to its end."""
    with open(f"{folder}/ranges", "w", encoding="utf-8") as ranges:
        print(f"text {text.extent.start:#x} {len(text.extent):#x} text", file=ranges)
    lines, counts, ended = f"{folder}/steps", {}, False
    options = ["--object", target, "--ranges", f"{folder}/ranges"]
    run("again", [again, lines, f"{folder}/stepped.out", build + "/stepref", *options, "--", *command], env)
    with open(lines, encoding="utf-8") as rows:
        for row in rows:
            if row[0] == "#":
                ended = "steps, status" in row
                continue
            if not row.endswith("\n"):
                return None
            _, kind, vaddr, way = row.split()[:4]
            if kind not in ("entry", "return"):
                count = counts.setdefault(int(vaddr, 16), [0, 0])
                count[way == "not-taken"] += 1
    os.remove(lines)
    return counts if ended else None


def taken_if(insn):
    """perf's filter for the flags with which a jump is taken. None: flags don't decide."""
    if not CONDITIONAL.match(insn):
        return "fl >= 0"
    code = {"a": "nbe", "ae": "nb", "g": "nle", "ge": "nl"}.get(insn[1:], insn[1:])
    if code in FLAGS:
        return FLAGS[code]
    return f"!({FLAGS[code[1:]]})" if code[1:] in FLAGS else None


def probe_events(lines):
    file = os.open(UPROBES, os.O_WRONLY | os.O_APPEND)  # without O_APPEND the kernel removes all that are there
    for line in lines:
        os.write(file, line.encode() + b"\n")
    os.close(file)


def probed(addresses, text, env):
    """As stepped(), of some branches, by the kernel's uprobes, which perf counts."""
    group, counts, ways = f"callgrind{os.getpid()}", {}, []
    for address in addresses:
        taken = taken_if(text.branches.get(address, "none"))
        if taken is None:
            return None
        counts[address] = [0, 0]
        ways += [(address, 0, taken), (address, 1, f"!({taken})")]
    options = [o for address, _, way in ways for o in ("-e", f"{group}:at{address:x}", "--filter", way)]
    try:
        probe_events(f"p:{group}/at{a:x} {target}:{a + text.shift:#x} fl=%flags:x64" for a in counts)
        same = ["env", "-i", *(name + b"=" + value for name, value in env.items())]  # perf adds to its own
        run("probed", ["perf", "stat", "-x,", "-o", f"{folder}/perf", *options, "--", *same, *command], env)
    finally:
        probe_events(f"-:{group}/at{a:x}" for a in counts)
    rows = [row.split(",") for row in read(f"{folder}/perf").decode().splitlines() if f"{group}:" in row]
    if len(rows) != len(ways):
        return None
    for (address, way, _), row in zip(ways, rows):
        counts[address][way] = int(row[0])
    return counts


class Text:
    """The object's .text: its addresses, what has to be added for offsets in the file, and its branches' mnemonics."""

    def __init__(self, path):
        command = ["readelf", "-SW", path]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        match = re.search(r" \.text +PROGBITS +(\w+) (\w+) (\w+)", out)
        start, offset, size = (int(n, 16) for n in match.groups())
        self.extent, self.shift, self.branches = range(start, start + size), offset - start, {}
        command = ["objdump", "-d", "-j", ".text", "--no-show-raw-insn", "-w", path]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        for line in out.splitlines():
            match = LINE.match(line)
            branch = match and MACHINES["x86-64"].branch.match(match[2])
            if branch:
                self.branches[int(match[1], 16)] = branch[1]


def gaps_of(thing):
    """Predicate: bbtrace says that the address is in no function, or in bytes that were not decoded."""
    undecoded = []
    for function in thing.listed(target, "*"):
        undecoded += [(int(g["vaddr"], 16), int(g["vaddr"], 16) + g["size"]) for g in function.get("undecoded") or ()]
    extents = thing.extents()

    def declared(address):
        return any(a <= address < b for a, b in undecoded) or not any(a <= address < b for a, b in extents)

    return declared


def traced(path):
    edges, summary = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["event"] == "edge":
                edges[int(row["vaddr"], 16)] = row
            elif row["event"] == "summary":
                summary = row
    return edges, summary


class Comparison:
    """Of each branch: taken and passed by bbtrace and by callgrind."""

    def __init__(self, executed, followed, edges, cut):
        self.executed, self.followed, self.edges, self.cut = executed, followed, edges, cut
        names = ("conditionals", "equal", "declared", "elsewhere", "different", "executions", "branches")
        self.figures, self.apart, self.ran = dict.fromkeys(names, 0), {}, 0

    def judge(self, address, is_conditional, declared):
        figures, edge, ran = self.figures, self.edges.get(address), self.executed.get(address, 0)
        figures["branches"] += 1
        self.ran += ran
        if is_conditional:
            figures["conditionals"] += 1
            figures["executions"] += ran
        taken = self.followed.get(address, 0) if is_conditional else ran
        want = (taken, ran - taken)
        got = (edge.get("taken_count"), edge.get("not_taken_count", 0)) if edge else (0, 0)
        off = [abs(n - w) for n, w in zip(got, want) if n is not None]
        if not edge and ran and declared(address) or len(off) < 2 or 0 < max(off) <= self.cut:
            figures["declared"] += 1
        elif any(off):
            self.apart[address] = (got, want)
        else:
            figures["equal"] += 1

    def settle(self, text, env):
        """The stepper's or uprobes' word on what differs. Returns what is still different, as lines."""
        rows, steps = [], None
        if self.apart and self.ran < MOST_STEPPED:
            steps = stepped(text, env)
        elif 0 < len(self.apart) <= MOST_PROBED:
            steps = probed(self.apart, text, env)
        for address, (got, want) in self.apart.items():
            third = tuple(steps.get(address, (0, 0))) if steps is not None else None
            if got == third:
                self.figures["elsewhere"] += 1
                continue
            self.figures["different"] += 1
            edge = self.edges.get(address)
            name = f"{edge['symbol']}+{edge['offset']:#x} {edge['insn']}" if edge else "no edge"
            rows.append(f"{address:#x} {name}: taken and not {got}; callgrind {want}; third {third}")
        return rows


def main():
    tap = Tap()
    os.makedirs(folder, exist_ok=True)
    env = environment()
    run("first", command, env)  # so that each of the others finds the files that a run leaves
    counts = f"{folder}/callgrind.counts"
    options = ["--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no", f"--callgrind-out-file={counts}"]
    status = run("callgrind", ["valgrind", "-q", "--tool=callgrind", *options, *command], None)
    executed, followed = counted(counts, os.path.realpath(target))
    tap.check(executed, f"callgrind ends with {status} and has counted {len(executed)} instructions")
    options = ["-c", "-F", "json", "-o", f"{folder}/edges"]
    got = run("traced", [bbtrace, "user", target, "*", *options, "--", *command], env)
    said = read(f"{folder}/traced.err").decode("utf-8", "replace")
    same = got == status and read(f"{folder}/traced.out") == read(f"{folder}/callgrind.out")
    tap.check(same, f"status {status} and output as under callgrind", f"{got}: {said}")
    edges, summary = traced(f"{folder}/edges")
    cut = summary.get("cut", 0)
    seen = Comparison(executed, followed, edges, cut)
    declared, text = gaps_of(Object(bbtrace, target)), Text(target)
    for address in sorted(a for a in text.branches.keys() | edges.keys() if a in text.extent):
        insn = text.branches.get(address)
        is_conditional = bool(CONDITIONAL.match(insn)) if insn else edges[address]["kind"] in ("jcc", "loop")
        if address in edges or executed.get(address):
            seen.judge(address, is_conditional, declared)
    rows = seen.settle(text, env)
    f = seen.figures
    told = f"{f['branches']} branches, {seen.ran} executions: {f['different']} differ, {f['declared']} declared gaps, "
    told += f"{f['elsewhere']} as by the third"
    tap.check(not rows and summary.get("lost") == 0, told, "\n".join(rows[:SHOWN]) + "\n" + said)
    tap.check(f["declared"] * 100 <= f["branches"], "no more than a hundredth is a declared gap")
    with open(f"{folder}/row", "w", encoding="utf-8") as row:
        print(*list(f.values())[:6], file=row)
    tap.done()


main()
