#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""foreign.py BBTRACE OBJDUMP FILE...: are the branches of programs for another machine those that objdump shows?

For every function of each file: each site of `list --sites` is a branch of the same kind and target in objdump's
output, and each branch in objdump's output, in code that bbtrace decoded, is a site. Targets of far calls of two
instructions (RISC-V: auipc, jalr) are in objdump's comments.

Prints a line for each difference (the first 20 of a file), and at the end of a file
`FILE: SITES sites in FUNCTIONS functions, DIFFERENT different, LOST % of the branches not decoded, UNRESOLVED jumps
unresolved`. Exits 1 if any differs.
"""

import bisect
import json
import os
import re
import subprocess
import sys

import arm_code

AARCH64 = [
    (r"b|b\.al|b\.nv", "jmp"),
    (r"bc?\.\w+|cbn?z|tbn?z", "jcc"),
    (r"bl", "call"),
    (r"br|bra[ab]z?", "ijmp"),
    (r"blr|blra[ab]z?", "icall"),
    (r"ret|reta[ab]", "ret"),
]
RISCV = [
    (r"b(eq|ne|lt|ge|gt|le)u?z?", "jcc"),
    (r"j", "jmp"),
    (r"jal", "call"),
    (r"jr (ra|t0)", "ret"),  # ISA manual, section 2.5.1: both are link registers
    (r"jr", "ijmp"),
    (r"jalr", "icall"),
    (r"ret", "ret"),
]
PREFIXED = r"(?:(?:bnd|notrack|repz?|[c-gs]s) )*"
I386 = [
    (PREFIXED + r"jmp +\*.*", "ijmp"),
    (PREFIXED + r"jmp", "jmp"),
    (PREFIXED + r"call +\*.*", "icall"),
    (PREFIXED + r"call", "call"),
    (PREFIXED + r"ret", "ret"),
    (r"loop\w*|jcxz|jecxz", "loop"),
    (PREFIXED + r"j\w+(?:,p[nt])?", "jcc"),
]
# A condition may follow each of them, and the width of its encoding.
ARM_CONDITION = r"(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?(\.[nw])?"
ARM = [
    (r"b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(\.[nw])?|cbn?z", "jcc"),
    (r"b(\.[nw])?", "jmp"),
    (rf"blx?{ARM_CONDITION}(?= [0-9a-f]+ <)", "call"),
    (rf"blx{ARM_CONDITION}", "icall"),
    (r"bx pc", "jmp"),
    (rf"(bx|mov){ARM_CONDITION} (pc, )?lr", "ret"),
    (rf"pop{ARM_CONDITION} .*pc}}", "ret"),
    (rf"ldmia{ARM_CONDITION} sp!?, .*pc}}|ldmdb{ARM_CONDITION} fp, .*pc}}", "ret"),
    (rf"ldr{ARM_CONDITION} pc, \[sp\], #\d+", "ret"),
    (rf"bxj?{ARM_CONDITION} \w+", "ijmp"),
    (rf"tb[bh]{ARM_CONDITION}", "ijmp"),
    (rf"(mov|add|sub|and|orr|eor|bic|mvn|rsb|ldr){ARM_CONDITION} pc,", "ijmp"),
    (rf"ldm(ia|ib|db|da)?{ARM_CONDITION} .*pc}}", "ijmp"),
]
KINDS = {"aarch64": AARCH64, "riscv64": RISCV, "i686": I386, "arm": ARM}
LINE = re.compile(r"\s+([0-9a-f]+):\t(\S+)\s*(.*)")
DIRECT = re.compile(r"(?:^|[,\s])(?:0x)?([0-9a-f]+) <")
COMMENT = re.compile(r"# ([0-9a-f]+)\b")


def lines(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return run.stdout.splitlines()


def rows(bbtrace, path, *options):
    found = map(json.loads, lines(bbtrace, "list", path, "-q", "-F", "json", *options))
    return [row for row in found if "vaddr" in row]  # not what belongs to no function


def kinds(table):
    """text -> kind, by one expression: each instruction of a library is asked."""
    all_of_them = re.compile("|".join(rf"(?P<k{i}>{pattern})(?=\s|$)" for i, (pattern, _) in enumerate(table)))

    def kind_of(text):
        found = all_of_them.match(text)
        return table[int(found.lastgroup[1:])][1] if found else None

    return kind_of


def shown(objdump, path):
    """Address -> kind, target (None: none is said), text of each branch that objdump shows; what of them is data."""
    table = next(t for name, t in KINDS.items() if os.path.basename(objdump).startswith(name))
    kind_of = kinds(table)
    memory = arm_code.Memory(path) if table is ARM else None
    blocks = arm_code.Blocks(memory) if memory else None
    found, all_rows = {}, []
    for line in lines(objdump, "-d", "--no-show-raw-insn", path):
        m = LINE.fullmatch(line)
        if not m:
            if blocks:
                blocks.end()
            continue
        address, mnemonic = int(m[1], 16), m[2]
        if blocks:
            mnemonic = blocks.plain(address, mnemonic)
            all_rows.append((address, mnemonic, m[3]))
        kind = kind_of(f"{mnemonic} {m[3]}")
        if not kind:
            continue
        direct = COMMENT.search(m[3]) if kind in ("ijmp", "icall") else DIRECT.search(m[3])
        found[address] = (kind, int(direct[1], 16) if direct else None, f"{mnemonic} {m[3]}")
    return found, arm_code.data(memory, all_rows) if memory else set()


class Functions:
    """What bbtrace says it has decoded."""

    def __init__(self, functions):
        self.count = len(functions)
        self.unresolved = sum(f["unresolved"] for f in functions)
        self.spans = sorted((int(f["vaddr"], 16), int(f["vaddr"], 16) + f["size"]) for f in functions)
        self.ends = []
        for _, end in self.spans:
            self.ends.append(max(end, self.ends[-1] if self.ends else 0))
        self.gaps = sorted(
            (int(g["vaddr"], 16), int(g["vaddr"], 16) + g["size"]) for f in functions for g in f["undecoded"]
        )

    def hold(self, address):
        i = bisect.bisect_right(self.spans, (address, 1 << 64)) - 1
        return i >= 0 and address < self.ends[i]

    def gap(self, address):
        i = bisect.bisect_right(self.gaps, (address, 1 << 64)) - 1
        return i >= 0 and address < self.gaps[i][1]


def same(site, branch):
    kind, target, _ = branch
    if site["kind"] in ("call", "jmp") and kind in ("icall", "ijmp") and target is not None:
        kind = {"icall": "call", "ijmp": "jmp"}[kind]
    if site["kind"] != kind:
        return False
    return kind in ("ijmp", "icall", "ret") or target == int(site["to"]["vaddr"], 16)


def check(bbtrace, objdump, path):
    functions = Functions(rows(bbtrace, path))
    sites = {int(s["vaddr"], 16): s for s in rows(bbtrace, path, "--sites")}
    branches, data = shown(objdump, path)
    different, lost = [], 0
    for address, site in sites.items():
        if address not in branches:
            different.append(f"{address:x}: bbtrace has {site['insn']}, objdump no branch")
        elif not same(site, branches[address]):
            different.append(f"{address:x}: bbtrace has {site['kind']} to {site.get('to')}, objdump {branches[address][2]}")
    for address, (_, _, text) in branches.items():
        if address in sites or address in data or not functions.hold(address):
            continue
        if functions.gap(address):
            lost += 1
        else:
            different.append(f"{address:x}: bbtrace has no site, objdump {text}")
    for line in different[:20]:
        print(f"{path}: {line}")
    print(
        f"{path}: {len(sites)} sites in {functions.count} functions, {len(different)} different, "
        f"{100 * lost / max(1, lost + len(sites)):.2f} % of the branches not decoded, "
        f"{functions.unresolved} jumps unresolved"
    )
    return not different


def main():
    bbtrace, objdump, *paths = sys.argv[1:]
    results = [check(bbtrace, objdump, path) for path in paths]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
