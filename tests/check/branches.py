#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""branches.py BBTRACE FILE...: is every branch listed that objdump shows in a function?

Functions and their extents are from `bbtrace list`, the branches in them from objdump. An extent is the size of all parts
of a function, counted from its start: it ends with its section at the latest.
Prints a line `PATH BRANCHES NOT-LISTED ADDRESS...` per file, then `FILES files, BRANCHES branches, N not listed`.
"""

import bisect
import json
import re
import subprocess
import sys

BRANCH = re.compile(r"^(?:(?:notrack|bnd|rep[nz]?|repn?z|data16|[c-g]s) )*(?:j\w+|call\w*|ret\w*|loop\w*)\b")
LINE = re.compile(r"^ +([0-9a-f]+):\t(.*)")
SECTION = "Disassembly of section "


def listed(bbtrace, *arguments):
    out = subprocess.run([bbtrace, "list", "-q", "-F", "json", *arguments], stdout=subprocess.PIPE, check=False).stdout
    return [json.loads(line) for line in out.splitlines()]


def branches(path):
    """Their addresses, each with that of its section's first instruction."""
    start = None
    run = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True, check=True)
    for line in run.stdout.splitlines():
        found = LINE.match(line)
        if line.startswith(SECTION):
            start = None
        if found and start is None:
            start = int(found[1], 16)
        if found and BRANCH.match(found[2]):
            yield int(found[1], 16), start


def check(bbtrace, path):
    functions = sorted((int(f["vaddr"], 16), f["size"]) for f in listed(bbtrace, path, "*") if "size" in f)
    sites = {int(site["vaddr"], 16) for site in listed(bbtrace, "--sites", path, "*")}
    total, missing = 0, []
    for address, section in branches(path):
        i = bisect.bisect_right(functions, (address, 1 << 64)) - 1
        if i < 0 or functions[i][0] < section or address - functions[i][0] >= functions[i][1]:
            continue
        total += 1
        if address not in sites:
            missing.append(address)
    return total, missing


def main():
    bbtrace, files = sys.argv[1], sys.argv[2:]
    total = missing = 0
    for path in files:
        count, absent = check(bbtrace, path)
        print(path, count, len(absent), *(f"{address:#x}" for address in absent[:20]))
        total += count
        missing += len(absent)
    print(f"{len(files)} files, {total} branches, {missing} not listed")


main()
