#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""reference.py BBTRACE ARCH CPU ROOT BUILD BACK FOLDER ROWS: what a guest of ARCH has traced (BACK, by guest_reference.sh), is it what
QEMU's user emulation of the same processor executes? ROOT: the guest's packages; BUILD: what is built for it. The trace files are read by BBTRACE, which is this machine's. TAP.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../check")
from emulated import Emulation, Object, Tap, compare, read, traced  # noqa: E402


bbtrace, arch, cpu, root, build, back, folder, table = sys.argv[1:]
PLACEMENTS = "full", "implied", "witness"


def rows():
    with open(table, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, functions, stdin, command = (field.strip() for field in line.split("|"))
                yield name, functions.split(), os.devnull if stdin == "-" else stdin, command.split()


def here(path):
    """A file of the guest's, on this machine."""
    return f"{build}/{path[6:]}" if path.startswith("build/") else root + path


def report(path, into):
    """The JSON of a trace file."""
    with open(into, "wb") as out:
        run = subprocess.run(
            [bbtrace, "report", path, "-q", "-F", "json"], stdout=out, stderr=subprocess.PIPE, check=False
        )
    return run.returncode == 0, run.stderr.decode("utf-8", "replace")


def judge(tap, name, placement, ref, status, inside):
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
        equal, gaps, hidden, why = compare(ref, list(traced(lines, inside)))
    text = f"{name}, {placement}: {equal} branches as executed, {gaps} unknown hide {hidden}"
    tap.check(equal and not why, text, why + "\n" + said[-300:])
    os.remove(f"{folder}/json")
    return equal


def main():
    tap = Tap()
    os.makedirs(folder, exist_ok=True)
    total = 0
    for name, functions, stdin, command in rows():
        program = here(command[0])
        inside = command[0] if command[0].startswith("/") else "/src/" + command[0]
        thing = Object(bbtrace, program, arch, functions)
        options = ("-cpu", cpu, "-L", root)
        status, ref = Emulation(thing, folder, command[0], command, options, program, stdin).reference()
        tap.check(ref, f"{name}: QEMU executed {len(ref)} branches")
        total += sum(judge(tap, name, placement, ref, status, inside) for placement in PLACEMENTS)
        os.remove(f"{folder}/qemu")
    tap.check(total, f"{arch}: {total} branches compared")
    tap.done()


main()
