#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""exported.py BBTRACE FILE...: are the names of `bbtrace list FILE --exported` the functions that readelf shows in .dynsym?

And do they, given back as FUNC, mean the functions that --exported means? Prints a line `BAD PATH ...` for each file where
not; the last line is `FILES files, FUNCTIONS functions, BAD bad`.
"""

import json
import re
import subprocess
import sys

SYMBOL = re.compile(
    r"^ *\d+: ([0-9a-f]+) +\S+ (FUNC|IFUNC|NOTYPE) +(GLOBAL|WEAK|UNIQUE) +(DEFAULT|PROTECTED) +(\d+) ([^\s@]+)(@@?\S+)?", re.M
)
SECTION = re.compile(r"^ +\[ *\d+\] .*? ([0-9a-f]{16}) [0-9a-f]{6,} ([0-9a-f]{6,}) [0-9a-f]+ +(\w*X\w*) ", re.M)
OFFSET = re.compile(r"^0x([0-9a-f]+)(?::(.*))?$")
LOAD = re.compile(r"^ +LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+) ", re.M)
WORDS = 500  # at once on a command line


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout


def exported_symbols(path):
    """name -> version or '' -> addresses, of .dynsym; the segments: offset, address, size."""
    text = output("readelf", "-lSW", "--dyn-syms", path)
    code = [(int(s, 16), int(s, 16) + int(n, 16)) for s, n, _ in SECTION.findall(text)]
    found = {}
    for value, kind, _, _, _, name, version in SYMBOL.findall(text):
        at = int(value, 16)
        label = kind == "NOTYPE" and (name.startswith(".L") or name.startswith("$"))
        if not label and any(start <= at < end for start, end in code):
            found.setdefault(name, {}).setdefault(version.lstrip("@"), set()).add(at)
    return found, [tuple(int(n, 16) for n in row) for row in LOAD.findall(text)]


def addresses_of(word, symbols, loads):
    """What the exported symbols say that this word names."""
    offset = OFFSET.match(word)
    if offset:
        n = int(offset[1], 16)
        return {n - start + vaddr for start, vaddr, size in loads if start <= n < start + size}
    name, _, version = word.partition("@")
    return set().union(*(at for v, at in symbols.get(name, {}).items() if not version or v == version))


def listed(bbtrace, path, *words):
    """The addresses of the functions that bbtrace lists."""
    lines = output(bbtrace, "list", path, *words, "-F", "json").splitlines()
    return {json.loads(line)["vaddr"] for line in lines}


def problem(bbtrace, path):
    """The number of functions, and what is wrong with them, or None."""
    symbols, loads = exported_symbols(path)
    words = output(bbtrace, "list", path, "--exported").splitlines()
    want = set().union(*(at for versions in symbols.values() for at in versions.values()))
    got = set()
    for word in words:
        at = addresses_of(word, symbols, loads)
        if len(at) != 1 and not (len(at & want) == 1 and OFFSET.match(word)):
            return len(words), f"{word} is {sorted(map(hex, at))}"
        got |= at & want
    if got != want:
        return len(words), f"missing {[hex(a) for a in sorted(want - got)[:5]]}, too many {[hex(a) for a in sorted(got - want)[:5]]}"
    if len(words) != len(want):
        return len(words), f"{len(words)} names of {len(want)} functions"
    back = set().union(*(listed(bbtrace, path, *words[i : i + WORDS]) for i in range(0, len(words), WORDS)))
    if words and back != listed(bbtrace, path, "--exported"):
        return len(words), "other functions when they are given back"
    return len(words), None


def main():
    bbtrace, paths = sys.argv[1], sys.argv[2:] or [line.rstrip("\n") for line in sys.stdin]
    functions = bad = 0
    for path in paths:
        n, why = problem(bbtrace, path)
        functions += n
        if why:
            bad += 1
            print("BAD", path, why, flush=True)
    print(f"{len(paths)} files, {functions} functions, {bad} bad")


main()
