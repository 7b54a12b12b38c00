#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""paths.py [--unknown] OBJECT RANGES REF JSON: are the paths that bbtrace counted (-F paths:json) those that the single steps of
stepref tell, or those of logged.py: then OBJECT is a folder of code by address? The control flow is objdump's, with the targets of indirect jumps that were seen. A back edge is one whose
target dominates it; a function in which a cycle has none is left out and named. --unknown: paths may be missing, as many
as bbtrace says that it has not counted. Status 1: they differ, or nothing was compared."""
import collections
import json
import os
import re
import sys

import insns as code

UNKNOWN = sys.argv[1] == "--unknown"
OBJECT, RANGES, REF, JSON = sys.argv[-4:]


class Function:
    def __init__(self, name, start):
        self.name, self.start, self.ranges = name, start, []

    def has(self, vaddr):
        return any(s <= vaddr < e for s, e in self.ranges)


functions = {}
for line in open(RANGES):
    name, start, size, _ = line.split()
    f = functions.setdefault(name, Function(name, int(start, 16)))
    f.ranges.append((int(start, 16), int(start, 16) + int(size, 16)))


def function_at(vaddr):
    return next((f for f in functions.values() if f.has(vaddr)), None)


# ---- instructions: vaddr -> (kind, target, next) ----
insns = {}
FOLDER = os.path.isdir(OBJECT)  # of a kernel's code, by address
thunks = {int(a, 16) for a in open(f"{OBJECT}/../thunks").read().split()} if FOLDER else ()
for f in functions.values():
    for start, end in f.ranges:
        insns.update(code.of_memory(OBJECT, start, end - start, thunks) if FOLDER else code.of_object(OBJECT, start, end))

# ---- what was executed ----
steps = collections.defaultdict(list)
targets = collections.defaultdict(set)
for line in open(REF):
    if line.startswith("#"):
        continue
    thread, kind, vaddr, taken, to = line.split()[:5]
    vaddr = int(vaddr, 16)
    place = re.search(r"\+0x([0-9a-f]+)$", to)
    to = int(place[1], 16) if place else None
    steps[thread].append((kind, vaddr, taken == "taken", to))
    if kind == "ijmp":
        targets[vaddr].add(to)


# ---- back edges ----
def successors(f, vaddr):
    kind, target, behind = insns[vaddr]
    out = {"ret": [], "stop": [], "jmp": [target], "ijmp": sorted(t for t in targets[vaddr] if t),
           "jcc": [target, behind]}.get(kind, [behind])
    return [t for t in out if t in insns and f.has(t)]


def analyze(f):
    order, state, stack, retreating = [], {f.start: 1}, [(f.start, iter(successors(f, f.start)))], set()
    while stack:
        at, rest = stack[-1]
        to = next(rest, None)
        if to is None:
            state[at] = 2
            order.append(at)
            stack.pop()
        elif to not in state:
            state[to] = 1
            stack.append((to, iter(successors(f, to))))
        elif state[to] == 1:
            retreating.add((at, to))
    order.reverse()
    number = {v: i for i, v in enumerate(order)}
    before = collections.defaultdict(list)
    for v in order:
        for t in successors(f, v):
            before[t].append(v)
    up, changed = {f.start: f.start}, True
    while changed:
        changed = False
        for v in order[1:]:
            new = None
            for u in before[v]:
                if u not in up:
                    continue
                if new is None:
                    new = u
                a = u
                while a != new:
                    if number[a] > number[new]:
                        a = up[a]
                    else:
                        new = up[new]
            if up.get(v) != new:
                up[v], changed = new, True

    def dominates(a, b):
        while number[b] > number[a]:
            b = up[b]
        return a == b
    f.back = {(u, v) for u in order for v in successors(f, u) if dominates(v, u)}
    f.reducible = f.back == retreating


for f in functions.values():
    analyze(f)


# ---- paths ----
class Call:
    def __init__(self, f):
        self.f, self.at, self.behind, self.ended, self.known = f, f.start, False, None, True
        self.begin("entry", f.start)

    def begin(self, how, at):
        self.begins, self.start, self.way, self.known = how, at, [], True

    def end(self, how, at):
        if self.known:
            counts[self.f.name, self.begins, self.start, tuple(self.way), how, at] += 1
        self.known = False

    def pass_edge(self, to):
        edge = (self.at, to)
        self.at, self.behind = to, False
        if edge in self.f.back:
            self.end("loop", to)
            self.begin("loop", to)

    def go_to(self, vaddr):
        while self.at != vaddr or self.behind:
            if self.at not in insns:
                self.known = False
                return
            kind, _, behind = insns[self.at]
            if not (kind == "plain" or (kind == "call" and self.behind)):
                self.known, self.at, self.behind = False, vaddr, False
                return
            self.pass_edge(behind)

    def branch(self, kind, vaddr, taken, to):
        if self.ended:
            self.known, self.ended = False, None
        self.go_to(vaddr)
        self.at = vaddr
        if kind in ("jcc", "loop"):
            self.way.append((vaddr, taken))
        elif kind == "ijmp":
            self.way.append((vaddr, to if to is not None and self.f.has(to) else None))
        if kind in ("call", "icall"):
            self.behind = True
            return
        to = insns[vaddr][2] if kind in ("jcc", "loop") and not taken else to
        if kind == "ret":
            self.ended = ("return", vaddr)
        elif to is None or not self.f.has(to):
            self.ended = ("tail-call", vaddr)
        else:
            self.pass_edge(to)


counts = collections.Counter()
for lines in steps.values():
    calls, last = [], None
    for kind, vaddr, taken, to in lines:
        if kind == "entry":
            jumped = last and last[0] not in ("call", "icall", "ret", "return", "entry") and last[3] == vaddr
            if not (jumped and calls and calls[-1].f.start == vaddr):
                calls.append(Call(function_at(vaddr)))
        elif kind == "return":
            while calls and calls[-1].f.start != vaddr:
                calls.pop()
            if calls:
                call = calls.pop()
                if call.ended:
                    call.end(*call.ended)
        else:
            f = function_at(vaddr)
            i = next((i for i in reversed(range(len(calls))) if calls[i].f is f), None)
            if i is not None:
                del calls[i + 1:]
                calls[i].branch(kind, vaddr, taken, to)
        last = (kind, vaddr, taken, to)

# ---- what bbtrace counted ----
got, told, numbers = collections.Counter(), {}, collections.defaultdict(set)
bad = False
for line in open(JSON):
    e = json.loads(line)
    if e["event"] == "paths":
        told[e["function"]] = e
    if e["event"] != "path":
        continue
    way = []
    for part in e["parts"]:
        if part["kind"] in ("jcc", "loop"):
            way.append((int(part["vaddr"], 16), part["taken"]))
        elif part["kind"] == "jmp" or part["kind"] == "ijmp":
            way.append((int(part["vaddr"], 16), int(part["to"]["vaddr"], 16) if "to" in part else None))
    at = int((e["loop"] if e["ends"] == "loop" else e["end"])["vaddr"], 16)
    got[e["function"], e["begins"], int(e["start"]["vaddr"], 16), tuple(way), e["ends"], at] += e["count"]
    if e["number"] in numbers[e["function"]] if "number" in e else False:
        print(f"two paths of {e['function']} have the number {e['number']}")
        bad = True
    if "number" in e:
        numbers[e["function"]].add(e["number"])


def text(key):
    name, begins, start, way, ends, at = key
    parts = ", ".join(f"{v:#x} {'taken' if w is True else 'not' if w is False else w and hex(w)}" for v, w in way)
    return f"{name}: {begins} {start:#x}: {parts}: {ends} {at and hex(at)}"


compared, missing = 0, collections.Counter()
for f in functions.values():
    if not f.reducible:
        print(f"left out: {f.name}, in which a cycle has no dominator")
for key in sorted(set(counts) | set(got), key=str):
    if not functions[key[0]].reducible:
        continue
    compared += counts[key]
    if UNKNOWN and got[key] < counts[key]:
        missing[key[0]] += counts[key] - got[key]
    elif counts[key] != got[key]:
        print(f"{text(key)}: {got[key]}, by single steps {counts[key]}")
        bad = True
for name, n in missing.items():
    if n > sum(told[name]["apart"].values()):
        print(f"{name}: {n} paths are missing, {told[name]['apart']}")
        bad = True
for name, e in told.items():
    if not UNKNOWN and any(e["apart"].values()):
        print(f"{name}: {e['apart']}")
        bad = True
    if "possible" in e and not e.get("at_least") and any(n > e["possible"] for n in numbers[name]):
        print(f"{name}: a path has a number beyond {e['possible']}")
        bad = True
    if e["ran"] > e.get("possible", e["ran"]) and not e.get("at_least"):
        print(f"{name}: {e['ran']} of {e['possible']} paths ran")
        bad = True
print(f"{compared} paths that ran, {len(counts)} different ones")
sys.exit(1 if bad or not compared else 0)
