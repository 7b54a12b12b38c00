#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""executed.py COUNTS WINDOW TRACE [--entries LIST ERR | --code RANGES FOLDER [ARCH]]

Does the trace show what QEMU executed (tests/vm/executed.c), equally often? --entries: the calls of each function in LIST
(bbtrace list -F json), except those that bbtrace excluded in ERR. --code: how often each branch that objdump finds in the
functions of RANGES ran, and for conditionals, if no other branch leads to the next instruction, how often they were not
taken. What is declared missing by an unknown, a loss or an unprobed site is counted by function and printed.
"""
import collections
import json
import re
import subprocess
import sys

from emulated import MACHINES

COUNTS, WINDOW, TRACE, MODE = sys.argv[1:5]
MACHINE = MACHINES[sys.argv[7] if len(sys.argv) > 7 else "x86-64"]
# objdump's address, bytes, instruction
LINE = re.compile(r"^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2,8} )+)\s*([^#<]*)")
FORMATS = {"x86-64": "i386:x86-64", "arm64": "aarch64", "riscv64": "riscv:rv64"}


def executed():
    first, last = collections.Counter(), collections.Counter()
    with open(COUNTS) as f:
        for line in f:
            window, at, began, ended = line.split()
            if window == WINDOW:
                first[int(at, 16)] = int(began)
                last[int(at, 16)] = int(ended)
    return first, last


def steps():
    with open(TRACE) as f:
        for line in f:
            yield json.loads(line)


def lines_of(path):
    with open(path) as f:
        return f.read().splitlines()


def compare_entries(first):
    unseen = set(re.findall(r'bbtrace: (\S+): the kernel accepts no probe', '\n'.join(lines_of(sys.argv[6]))))
    traced = collections.Counter(int(s['vaddr'], 16) for s in steps() if s['event'] == 'entry')
    calls = wrong = 0
    for f in map(json.loads, lines_of(sys.argv[5])):
        at = int(f['vaddr'], 16)
        if f['symbol'] in unseen:
            continue
        calls += first[at]
        if traced[at] != first[at]:
            wrong += 1
            print(f"{f['symbol']}: entered {first[at]} times, {traced[at]} in the trace")
    print(f'{calls} calls, {wrong} functions differ, {len(unseen)} not seen')
    return wrong or not calls


def branches():
    """(address, length, mnemonic, whether it is conditional, direct target or None, function)"""
    for line in lines_of(sys.argv[5]):
        name, start, _ = line.split()
        text = subprocess.run([MACHINE.tools + 'objdump', '-D', '-b', 'binary', '-m', FORMATS[MACHINE.name], '-w',
                               *(['--insn-width=15'] if MACHINE.name == 'x86-64' else []),
                               f'--adjust-vma={start}', f'{sys.argv[6]}/{start}'],
                              check=True, capture_output=True, text=True).stdout
        for match in map(LINE.match, text.splitlines()):
            branch = match and MACHINE.branch.match(match[3].strip())
            if branch:
                target = MACHINE.target.match(branch[2] or '')
                yield (int(match[1], 16), len(match[2].replace(' ', '')) // 2, branch[1],
                       bool(MACHINE.conditional.match(branch[1])), target and int(target[1], 16), name)


def replayed():
    """How often each branch was told, and not taken; the functions in which something is declared to be missing: those that
    their thread was in before an unknown or a loss, and after it, and those of its calls then that have no return."""
    taken, passed, declared = collections.Counter(), collections.Counter(), set()
    before, open_, calls, left, doubted = {}, set(), {}, {}, set()

    def end(thread, depth):
        """Its calls from that depth on have ended, which no return told: an unknown may tell so, now or later."""
        of = calls.setdefault(thread, [])
        left.setdefault(thread, set()).update(of[depth:])
        del of[depth:]

    for s in steps():
        thread, name = s.get('tid'), s.get('symbol')
        if s['event'] in ('unknown', 'lost'):
            declared.update((name, before.get(thread)))
            open_.add(thread)
            doubted.update((thread, name) for name in calls.get(thread, []))
            declared.update(left.pop(thread, ()))
            continue
        if thread in open_:
            declared.add(name)
            open_.remove(thread)
        before[thread] = name
        if s['event'] == 'entry':
            end(thread, s['depth'])
            calls[thread].append(name)
        elif s['event'] == 'return':
            end(thread, s['depth'] + 1)
            del calls[thread][s['depth']:]
        if s['event'] == 'branch':
            (passed if s.get('taken') is False else taken)[int(s['vaddr'], 16)] += 1
    for thread in calls:
        end(thread, 0)
    declared.update(name for thread, names in left.items() for name in names if (thread, name) in doubted)
    return taken, passed, declared


def compare_code(first, last):
    taken, passed, declared = replayed()
    sites = list(branches())
    joined = {target for *_, target, _ in sites}
    indirect = {name for _, _, mnemonic, _, target, name in sites
                if mnemonic in ('jmp', 'br', 'jr') and target is None}
    ran = wrong = excused = 0
    for at, length, mnemonic, conditional, _, name in sites:
        ran += last[at]
        told = taken[at] + passed[at]
        behind = at + length
        bad = told != last[at]
        # what is behind one that never ran was reached in another way
        if not bad and conditional and last[at] and behind not in joined and name not in indirect:
            bad = passed[at] != first[behind]
        if not bad:
            continue
        if name in declared and told <= last[at] and passed[at] <= first[behind]:
            excused += 1
            continue
        wrong += 1
        print(f'{name} {at:#x} {mnemonic}: ran {last[at]} times, {told} in the trace; not taken {first[behind]}, '
              f'{passed[at]} in the trace')
    print(f'{len(sites)} branches ran {ran} times, {wrong} differ, {excused} under a declared unknown')
    return wrong or not ran


FIRST, LAST = executed()
sys.exit(1 if (compare_entries(FIRST) if MODE == '--entries' else compare_code(FIRST, LAST)) else 0)
