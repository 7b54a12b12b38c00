#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""exclusives.py BBTRACE OBJDUMP FILE: of the sites that bbtrace lists in FILE, those between a load-exclusive and the
store-exclusive that objdump shows behind it are refused, and no others. Prints each that is wrong and, last, "N loads, N
branches refused, N wrong". Status 1: some are wrong, or there are none."""
import json
import re
import subprocess
import sys

FAR = 40  # instructions from a load to its store, at most
LOAD = re.compile(r"ld(?:a)?x[rp][bh]?$|lr\.[wd]")
STORE = re.compile(r"st(?:l)?x[rp][bh]?$|sc\.[wd]")
LINE = re.compile(r" +([0-9a-f]+):\t(\S+)")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def between(listing):
    """The addresses from a load to the next store, both included, and the number of loads."""
    code = [(int(m[1], 16), m[2]) for m in map(LINE.match, listing) if m]
    inside, loads = set(), 0
    for i, (_, name) in enumerate(code):
        if not LOAD.match(name):
            continue
        loads += 1
        for k in range(i + 1, min(i + FAR, len(code))):
            if STORE.match(code[k][1]):
                inside.update(address for address, _ in code[i : k + 1])
                break
    return inside, loads


def main():
    bbtrace, objdump, path = sys.argv[1:]
    inside, loads = between(run(objdump, "-d", "--no-show-raw-insn", "-w", path))
    refused = wrong = 0
    for line in run(bbtrace, "list", "-q", "-F", "json", "--sites", path, "*"):
        site = json.loads(line)
        if "vaddr" not in site:
            continue
        is_refused = "load-exclusive" in site.get("probe", "")
        refused += is_refused
        if is_refused != (int(site["vaddr"], 16) in inside):
            wrong += 1
            print(f"{site['vaddr']}: {'refused, but free' if is_refused else 'would carry a probe'}")
    print(f"{loads} loads, {refused} branches refused, {wrong} wrong")
    sys.exit(wrong > 0 or not loads or not refused)


main()
