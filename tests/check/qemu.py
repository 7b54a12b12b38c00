#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""qemu.py BBTRACE FOLDER OBJECT -- CMD [ARG...]: runs CMD once emulated by QEMU, which logs each instruction, and once
traced with each placement, with all functions of OBJECT: is every executed branch in the trace or covered by an `unknown`,
and no other? TAP. Files are written to FOLDER.

Both runs have the same environment and the same descriptors, but different addresses and a different CPU: OBJECT's path
must depend on neither. PRELOAD: a library that both preload.
"""
import os
import subprocess
import sys

from emulated import Emulation, Object, Tap, compare, read, traced

bbtrace, folder, target = sys.argv[1:4]
command = sys.argv[5:]
preload = os.environ.pop("PRELOAD", None)


def trace(placement):
    path = f"{folder}/{placement}"
    with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err:
        run = subprocess.run(
            ["setarch", "-R", bbtrace, "user", target, "*", "--placement", placement, "--buffer", "256M", "-F", "json"]
            + ["-o", path + ".json", "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={"LD_PRELOAD": preload, **os.environ} if preload else None,  # first, as QEMU has it
            check=False,
        )
    return run.returncode, path, read(path + ".err").decode("utf-8", "replace")


def main():
    tap = Tap()
    os.makedirs(folder, exist_ok=True)
    options = ("-cpu", "max", *(("-E", "LD_PRELOAD=" + preload) if preload else ()))
    status, ref = Emulation(Object(bbtrace, target), folder, target, command, options).reference()
    tap.check(ref, f"QEMU executed {len(ref)} branches")
    for placement in "full", "implied", "witness":
        got_status, path, said = trace(placement)
        good = got_status == status and read(path + ".out") == read(f"{folder}/qemu.out")
        tap.check(good, f"{placement}: status {status} and output as emulated", said)
        with open(path + ".json", encoding="utf-8") as lines:
            equal, gaps, hidden, why = compare(ref, list(traced(lines, os.path.realpath(target))))
        tap.check(equal and not why, f"{placement}: {equal} branches as executed, {gaps} unknown hide {hidden}", why)
        os.remove(path + ".json")
    os.remove(f"{folder}/qemu")
    tap.done()


main()
