#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""found.py BBTRACE SITES ORIGINAL STRIPPED: are functions that are found without symbols and FDEs real?

STRIPPED is ORIGINAL without symbols and unwinding tables. Each function that bbtrace lists of it, and each address where it
would put a probe (SITES: build/sites), has to be at an instruction of ORIGINAL by objdump, each entry at a symbol of nm; the rest
has no entry. The last line is `FOUND functions, STARTS of them at a symbol, of SYMBOLS; ENTRIES entries, WRONG not at a symbol;
SITES sites, BAD not at an instruction`."""

import json
import re
import subprocess
import sys


def output(*c):
    run = subprocess.run(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return run.stdout.decode("utf-8", "replace")


bbtrace, sites, original, stripped = sys.argv[1:]
symbols = {int(l.split()[0], 16) for l in output("nm", "--plugin", "/dev/null", "--defined-only", original).splitlines() if l.split()[1] in "tTwWi"}
code = output("objdump", "-d", "--no-show-raw-insn", original)
insns, stubs = set(), set()
for part in code.split("\nDisassembly of section ")[1:]:
    addresses = {int(m[1], 16) for m in re.finditer(r"^ *([0-9a-f]+):\t", part, re.M)}
    insns |= addresses
    stubs |= addresses if part.startswith(".plt") else set()
found = [json.loads(l) for l in output(bbtrace, "list", stripped, "-F", "json").splitlines() if l.startswith("{")]
found = [f for f in found if "vaddr" in f and "plt" not in f["symbol"]]
starts = {int(f["vaddr"], 16) for f in found}
entries = {int(f["vaddr"], 16) for f in found if f.get("entry", True)}
probes = {int(l, 16) for l in output(sites, stripped).splitlines() if " " not in l}
bad = sorted(a for a in starts | probes if a not in insns)
for a in bad[:50]:
    print(f"BAD {a:#x}")
wrong = sorted(entries - symbols - stubs)
for a in wrong[:50]:
    print(f"BAD entry {a:#x}")
text = [a for a in symbols if a in insns]
print(
    f"{len(starts)} functions, {len(starts & symbols)} of them at a symbol, of {len(text)}; "
    f"{len(entries)} entries, {len(wrong)} not at a symbol; "
    f"{len(probes)} sites, {len(bad)} not at an instruction"
)
