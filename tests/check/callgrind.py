#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""callgrind.py BUILD FOLDER OBJECT -- CMD [ARG...]: runs CMD once under callgrind, which counts each instruction and each
conditional jump that was followed, and once with `bbtrace user OBJECT '*' -c`: are the counts of each branch equal?
TAP, and a line for the table of tests/long/t_callgrind.sh in FOLDER/row. Files are written to FOLDER.

A branch that ran must be among the edges, unless bbtrace lists its bytes as undecoded or in no function; a count may be
unknown (null), or differ by no more than the summary's `cut`. Each of these is a declared gap, and counted. Conditionals are
objdump's. Both runs have the same arguments, environment (valgrind's) and descriptors.

A program's path may depend on its addresses, which are others under valgrind. So where the counts of a branch differ, the
single-stepper (tests/step), which runs the program where bbtrace does, decides: its count is then bbtrace's, or bbtrace is
wrong.
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
again = os.path.dirname(os.path.abspath(__file__)) + "/../step/again.sh"
COST = re.compile(r"(0x[0-9a-f]+|[-+]\d+|\*) (?:[-+]?\d+|\*)(?: (\d+)| )?$")
NAMED = re.compile(r"c?ob=\((\d+)\)(?: (.*))?$")
JUMP = re.compile(r"jcnd=(\d+)/(\d+) ")
SHOWN = 12
MOST_STEPPED = 1000000  # branches, each of which is a line of the stepper's


def run(name, command, env, stderr=None):
    with open(f"{folder}/{name}.out", "wb") as out, open(stderr or os.devnull, "wb") as err:
        return subprocess.run(
            ["setarch", "-R", *command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, check=False
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
        print(f"text {text.start:#x} {len(text):#x} text", file=ranges)
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


def branches_of(path):
    """All of the object's .text: address -> whether it is conditional."""
    machine, found = MACHINES["x86-64"], {}
    command = ["objdump", "-d", "-j", ".text", "--no-show-raw-insn", "-w", path]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for line in out.stdout.splitlines():
        match = LINE.match(line)
        branch = match and machine.branch.match(match[2])
        if branch:
            found[int(match[1], 16)] = bool(machine.conditional.match(branch[1]))
    return found


def extent_of_text(path):
    out = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    match = re.search(r" \.text +PROGBITS +(\w+) \w+ (\w+)", out)
    return range(int(match[1], 16), int(match[1], 16) + int(match[2], 16))


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
        self.figures, self.apart = dict.fromkeys(names, 0), {}

    def judge(self, address, is_conditional, declared):
        figures, edge, ran = self.figures, self.edges.get(address), self.executed.get(address, 0)
        figures["branches"] += 1
        figures["conditionals"] += is_conditional
        figures["executions"] += ran
        taken = self.followed.get(address, 0) if is_conditional else ran
        want = (taken, ran - taken)
        got = (edge["taken_count"], edge.get("not_taken_count", 0)) if edge else (0, 0)
        off = [abs(n - w) for n, w in zip(got, want) if n is not None]
        if not edge and ran and declared(address) or len(off) < 2 or 0 < max(off) <= self.cut:
            figures["declared"] += 1
        elif any(off):
            self.apart[address] = (got, want)
        else:
            figures["equal"] += 1

    def settle(self, text, env):
        """The stepper's word on what differs. Returns what is still different, as lines."""
        steps = stepped(text, env) if self.apart and self.figures["executions"] < MOST_STEPPED else None
        rows = []
        for address, (got, want) in self.apart.items():
            third = tuple(steps.get(address, (0, 0))) if steps is not None else None
            if got == third:
                self.figures["elsewhere"] += 1
                continue
            self.figures["different"] += 1
            edge = self.edges.get(address)
            name = f"{edge['symbol']}+{edge['offset']:#x} {edge['insn']}" if edge else "no edge"
            rows.append(f"{address:#x} {name}: taken and not {got}; callgrind {want}; single steps {third}")
        return rows


def main():
    tap = Tap()
    os.makedirs(folder, exist_ok=True)
    env = environment()
    counts = f"{folder}/callgrind.counts"
    options = ["--dump-instr=yes", "--collect-jumps=yes", "--skip-plt=no", f"--callgrind-out-file={counts}"]
    status = run("callgrind", ["valgrind", "-q", "--tool=callgrind", *options, *command], None)
    executed, followed = counted(counts, os.path.realpath(target))
    tap.check(executed, f"callgrind ends with {status} and has counted {len(executed)} instructions")
    options = ["-c", "-F", "json", "-o", f"{folder}/edges"]
    got = run("traced", [bbtrace, "user", target, "*", *options, "--", *command], env, f"{folder}/said")
    said = read(f"{folder}/said").decode("utf-8", "replace")
    same = got == status and read(f"{folder}/traced.out") == read(f"{folder}/callgrind.out")
    tap.check(same, f"status {status} and output as under callgrind", f"{got}: {said}")
    edges, summary = traced(f"{folder}/edges")
    cut = summary.get("cut", 0)
    seen = Comparison(executed, followed, edges, cut)
    known, declared, text = branches_of(target), gaps_of(Object(bbtrace, target)), extent_of_text(target)
    for address in sorted(a for a in known.keys() | edges.keys() if a in text):
        is_conditional = known.get(address, address in edges and edges[address]["kind"] in ("jcc", "loop"))
        if address in edges or executed.get(address):
            seen.judge(address, is_conditional, declared)
    rows = seen.settle(text, env)
    f = seen.figures
    told = f"{f['branches']} branches, {f['executions']} executions: {f['different']} differ, {f['declared']} declared gaps, "
    told += f"{f['elsewhere']} as in single steps"
    tap.check(not rows and summary.get("lost") == 0, told, "\n".join(rows[:SHOWN]) + "\n" + said)
    tap.check(f["declared"] * 100 <= f["branches"], "no more than a hundredth is a declared gap")
    with open(f"{folder}/row", "w", encoding="utf-8") as row:
        print(*list(f.values())[:6], file=row)
    tap.done()


main()
