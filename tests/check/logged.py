#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""logged.py RANGES CODE LOG: what of a kernel's functions QEMU executed (tests/vm/logged.c), on one processor, as lines like
those of stepref: THREAD KIND ADDRESS TAKEN TARGET. RANGES: NAME START SIZE, CODE: a folder with the code of each. A function
is entered at its start, and goes on where it was when a function that it called has returned. Status 1: the log doesn't say so."""
import array
import sys

import insns as code

ranges = [(name, int(start, 16), int(size, 16)) for name, start, size in (line.split() for line in open(sys.argv[1]))]
insns = {}
thunks = {int(a, 16) for a in open(f"{sys.argv[2]}/../thunks").read().split()}
for _, start, size in ranges:
    insns.update(code.of_memory(sys.argv[2], start, size, thunks))
entry = {}
for name, start, _ in ranges:
    entry.setdefault(name, start)
starts = {start: name for name, start in entry.items()}


def function_at(at):
    return next((name for name, start, size in ranges if start <= at < start + size), None)


words = array.array("Q")
with open(sys.argv[3], "rb") as f:
    data = f.read()
words.frombytes(data)


class Frame:
    def __init__(self, name):
        self.name, self.branch, self.calls, self.left = name, None, False, False


stack, calls, trouble = [], 0, 0


def put(kind, at, taken="-", to=None):
    print(1, kind, hex(at), taken, f"k+{to:#x}" if to is not None else "-")


def fail(text):
    global trouble
    trouble += 1
    print(text, file=sys.stderr)


def leave():
    """The innermost call has returned, and with it those that ended by a jump to it."""
    while stack:
        f = stack.pop()
        put("return", entry[f.name])
        if not (stack and stack[-1].left):
            break


def settle(f, to):
    """Where the branch of a frame went to."""
    kind, at, target, behind = f.branch
    f.branch = None
    if kind == "jcc":
        if to not in (target, behind):
            fail(f"{f.name}: {at:#x} leads to {to:#x}")
        put("jcc", at, "taken" if to == target else "not-taken", to)
    else:
        put(kind, at, "-", to)


def begin(at):
    """A block starts to run."""
    global calls
    name = function_at(at)
    if name is None:
        return
    top = stack[-1] if stack else None
    if at == entry[name] and not (top and top.name == name and top.branch and not top.calls):
        if top and top.branch:
            settle(top, at)
            top.left = True
        stack.append(Frame(name))
        calls += 1
        put("entry", at)
        return
    if not top:
        return  # a call from before the window
    if top.name != name:
        fail(f"{at:#x} in {name}, while {top.name} runs")
        return
    if top.branch:
        settle(top, at)
    top.calls = False


def end(at):
    """A block's last instruction is about to run."""
    insn = insns.get(at)
    top = stack[-1] if stack else None
    if not insn or not top or function_at(at) != top.name:
        return
    kind, target, behind = insn
    top.calls = kind == "call"
    if kind == "call":
        put("call", at)
    elif kind == "ret":
        put("ret", at)
        leave()
    elif kind == "jmp" and function_at(target) != top.name:
        put("jmp", at, "-", target)
        if target in starts:
            top.left = True
        else:
            leave()
    elif kind in ("jcc", "jmp", "ijmp"):
        top.branch = (kind, at, target, behind)


for word in words:
    (end if word & 1 else begin)(word >> 1 | 1 << 63)  # the log has no room for the kernel's highest bit
print(f"{calls} calls, {len(words)} words", file=sys.stderr)
sys.exit(1 if trouble or stack or not calls else 0)
