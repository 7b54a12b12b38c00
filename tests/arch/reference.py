#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""reference.py BBTRACE ARCH CPU ROOT BUILD BACK FOLDER INPUT ROWS LOG: what a guest of ARCH has traced (BACK, by
guest_reference.sh), is it what QEMU executes? ROOT: the guest's packages; BUILD: what is built for it; INPUT: the current
folder of the programs, there and here; LOG: what tests/vm/logged.c has written. The trace files are read by BBTRACE, which is
this machine's. TAP.

What QEMU's user emulation of the same processor executes; of a program whose addresses are fixed, what ran in the guest
while it was traced: so the path may depend on addresses, and on what only a kernel tells (the auxiliary vector).
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../check")
from emulated import Emulation, Object, Tap, compare, followed_in_guest, read, traced  # noqa: E402


bbtrace, arch, cpu, root, build, back, folder, inputs, table, logs = sys.argv[1:]
# As guest_reference.sh sets it.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0"}
PLACEMENTS = "full", "implied", "witness"


def rows():
    with open(table, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, functions, stdin, command = (field.strip() for field in line.split("|"))
                yield name, functions.split(), os.devnull if stdin == "-" else f"{inputs}/{stdin}", command.split()


def here(path):
    """A file of the guest's, on this machine."""
    return build + path.removeprefix("/src/build") if path.startswith("/src/build/") else root + path


def report(path, into):
    """The JSON of a trace file."""
    with open(into, "wb") as out:
        run = subprocess.run(
            [bbtrace, "report", path, "-q", "-F", "json"], stdout=out, stderr=subprocess.PIPE, check=False
        )
    return run.returncode == 0, run.stderr.decode("utf-8", "replace")


def judge(tap, name, placement, status, inside, reference):
    path = f"{back}/{name}.{placement}"
    if not os.path.exists(path + ".status"):
        tap.check(False, f"{name}, {placement}: it was traced")
        return 0
    said = read(path + ".err").decode("utf-8", "replace")
    good = int(read(path + ".status")) == status and read(path + ".out") == read(f"{folder}/qemu.out")
    tap.check(good, f"{name}, {placement}: status {status} and output as emulated", said)
    whole, why = report(path + ".bbt", f"{folder}/json")
    tap.check(whole, f"{name}, {placement}: its trace file is read on this machine", why)
    with open(f"{folder}/json", encoding="utf-8") as lines:
        got = list(traced(lines, inside))
    os.remove(f"{folder}/json")
    ref = reference(path)
    equal, gaps, hidden, why = compare(ref, got)
    text = f"{name}, {placement}: {equal} of {len(ref)} branches as executed, {gaps} unknown hide {hidden}"
    tap.check(equal and not why, text, why + "\n" + said[-300:])
    return equal


def references(thing, emulation):
    """QEMU's status, and what gives the path that belongs to a trace."""
    if thing.is_fixed():
        status, _ = emulation.run("qemu")
        return status, lambda path: followed_in_guest(thing, f"{logs}.{int(read(path + '.window'))}")
    status, ref = emulation.reference()
    return status, lambda path: ref


def main():
    tap = Tap()
    os.makedirs(folder, exist_ok=True)
    total = 0
    for name, functions, stdin, command in rows():
        program = here(command[0])
        thing = Object(bbtrace, program, arch, functions)
        options = ("-cpu", cpu, "-L", root)
        emulation = Emulation(thing, folder, command[0], command, options, program, stdin, ENVIRONMENT, inputs)
        status, reference = references(thing, emulation)
        total += sum(judge(tap, name, placement, status, command[0], reference) for placement in PLACEMENTS)
        if os.path.exists(f"{folder}/qemu"):
            os.remove(f"{folder}/qemu")
    tap.check(total, f"{arch}: {total} branches compared")
    tap.done()


main()
