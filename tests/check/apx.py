#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""apx.py LENGTHS OBJDUMP...: are instructions of APX as long as objdump says?

LENGTHS is build/lengths (lengths.c), OBJDUMP the command of an objdump that knows APX (binutils 2.43 or newer); it reads
/tmp/NAME. Forms are made from all opcodes of REX2 and EVEX, with registers and memory. The last line is
`FORMS forms, SAME of the same length, WRONG of another, MISSING not decoded, INVALID invalid` (by objdump); a line for each of
another length precedes it.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile

SLOT = 32
LINE = re.compile(rb"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)")
# no instruction: a bad one, or prefixes alone
NOTHING = re.compile(rb"\(bad\)|^(?:(?:data16|repn?z|rep|rex2?\S*|\{\w+\}) ?)+(?:0x\w+)?\s*$")
# register, memory by a register, with displacements, SIB, relative to the instruction pointer
OPERANDS = [bytes.fromhex(o) for o in ("c1", "d4", "ed", "f9", "00", "48 10", "6c 24 08", "94 8b 11 22 33 44", "35 10 20 30 40")]
TAIL = bytes(range(0x11, 0x19))


def rex2():
    for map1, opcode in itertools.product((0, 0x80), range(256)):
        for payload, operand in itertools.product((0x00, 0x08, 0x18, 0x47, 0x7F), OPERANDS):
            yield bytes([0xD5, map1 | payload, opcode]) + operand + TAIL
        yield bytes([0x66, 0xD5, map1 | 0x10, opcode]) + OPERANDS[0] + TAIL
        yield bytes([0xF3, 0xD5, map1 | 0x10, opcode]) + OPERANDS[0] + TAIL


def evex():
    for opcode, map_, pp, wide in itertools.product(range(256), range(1, 8), range(4), (0, 0x80)):
        for p0, p2, operand in itertools.product((0xF0, 0x68), (0x08, 0x18, 0x0C, 0x00), OPERANDS[: 9 if map_ == 4 else 6]):
            if map_ != 4 and p0 == 0xF0 and p2 != 0x08:
                continue
            yield bytes([0x62, p0 | map_, wide | 0x7C | pp, p2, opcode]) + operand + TAIL


def objdump(command, code):
    """The length of the instruction at the start of each slot; 0 for none."""
    name = os.path.join("tmp", f"apx{os.getpid()}")
    root = command[command.index("chroot") + 1] if "chroot" in command else "/"
    path = os.path.join(root, name)
    with open(path, "wb") as f:
        f.write(code)
    found = [0] * (len(code) // SLOT)
    try:
        run = subprocess.Popen(
            [*command, "-D", "-w", "-z", "-b", "binary", "-m", "i386:x86-64", "/" + name], stdout=subprocess.PIPE
        )
        for line in run.stdout:
            m = LINE.match(line)
            if m and int(m[1], 16) % SLOT == 0 and not NOTHING.search(m[3]):
                found[int(m[1], 16) // SLOT] = len(m[2].split())
        run.wait()
    finally:
        os.unlink(path)
    return found


def main():
    lengths, *command = sys.argv[1:]
    forms = [form for make in (rex2, evex) for form in make()]
    code = b"".join(form.ljust(SLOT, b"\x90") for form in forms)
    ours = list(map(int, subprocess.run([lengths], input=code, stdout=subprocess.PIPE, check=True).stdout.split()))
    theirs = objdump(command, code)
    wrong = [(form, mine, real) for form, mine, real in zip(forms, ours, theirs) if mine and real and mine != real]
    for form, mine, real in wrong:
        print("WRONG", form.hex(" "), mine, real)
    same = sum(mine == real != 0 for mine, real in zip(ours, theirs))
    missing = sum(mine == 0 != real for mine, real in zip(ours, theirs))
    invalid = sum(real == 0 != mine for mine, real in zip(ours, theirs))
    print(f"{len(forms)} forms, {same} of the same length, {len(wrong)} of another, {missing} not decoded, {invalid} invalid")


main()
