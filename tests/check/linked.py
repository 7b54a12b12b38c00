#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""linked.py PROGRAM LCOV FOLDER [folded]: does a tracefile of lcov have the functions that nm and gdb have, and the lines of
the line table as gdb and objdump read it, no other ones, and none less? Only of files in FOLDER, whose code nm knows. folded: a linker may have folded
functions, so that some of them, and their lines, may be absent. Prints what differs, then a summary; exits with 1 if
anything does.
"""
import collections
import os
import re
import subprocess
import sys

program, lcov, folder = sys.argv[1:4]
folded = "folded" in sys.argv[4:]
wrong = []


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def gdb(*commands):
    return output("gdb", "-nx", "-batch", *[word for c in commands for word in ("-ex", c)], program)


def file_of(path):
    path = os.path.realpath(path)
    return path if path.startswith(folder + "/") else None


def read_symbols():
    """Names of functions by nm; the ranges of their code."""
    names, ranges = collections.defaultdict(set), []
    for line in output("nm", "--plugin", "/dev/null", "-S", program).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwWuV":
            start = int(words[0], 16)
            names[words[3].split(".")[0]].add(start)
            ranges.append((start, start + int(words[1], 16)))
    return names, ranges


def read_lines(ranges):
    """(file, line) of rows of gdb's line table within code; those of rows that aren't empty."""
    every, full = set(), set()
    name, rows = None, []

    def end():
        for i, (line, at) in enumerate(rows):
            if not line or not name or not any(s <= at < e for s, e in ranges):
                continue
            every.add((name, line))
            after = [a for _, a in rows if a > at]
            # the last row at an address is the one that has the code there
            last = [n for n, a in rows if a == at and n is not None][-1]
            if after and last == line:
                full.add((name, line))

    for row in told["lines"].splitlines():
        if row.startswith("symtab: "):
            end()
            name, rows = file_of(row[8:].split(" ((struct")[0]), []
        elif m := re.match(r"\d+\s+(\d+|END)\s+0x([0-9a-f]+)", row):
            rows.append((None if m[1] == "END" else int(m[1]), int(m[2], 16)))
    end()
    return every, full


def read_rows(ranges):
    """(file, line) of rows within code that objdump reads: gdb leaves out some where files alternate at one address."""
    rows = set()
    for row in output("objdump", "--dwarf=decodedline", program).splitlines():
        if m := re.match(r"(\S+)\s+(\d+)\s+0x([0-9a-f]+)\b", row):
            name, line, at = os.path.join(folder, m[1]), int(m[2]), int(m[3], 16)
            if os.path.exists(name) and any(s <= at < e for s, e in ranges):
                rows.add((name, line))
    return rows


def read_functions():
    """(file, line) of the functions with code of their own, by gdb."""
    found, name = set(), None
    for row in told["functions"].splitlines():
        if row.startswith("File "):
            name = file_of(row[5:].rstrip(":"))
        elif name and (m := re.match(r"(\d+):\t", row)):
            found.add((name, int(m[1])))
    return found


def read_lcov():
    functions, lines, name = {}, {}, None
    with open(lcov, encoding="utf-8") as f:
        for row in f:
            key, _, value = row.strip().partition(":")
            if key == "SF":
                name = file_of(value)
                if not name and os.path.realpath(value).startswith("/"):
                    others.add(value)
            elif key == "FN" and name:
                functions.setdefault((name, int(value.split(",")[0])), set()).add(value.split(",")[-1])
            elif key == "DA" and name:
                lines[name, int(value.split(",")[0])] = int(value.split(",")[1])
    return functions, lines


def with_code(names):
    """Functions without a symbol are inlined: of which does gdb find code?"""
    names = sorted(names)
    if not names:
        return set()
    shown = output("c++filt", *names).splitlines()
    # a breakpoint that can't be set ends gdb's commands, but for those of its own -ex
    said = gdb("set breakpoint pending off", *[c for n in shown for c in ("echo \\n@\\n", "break -q " + n)]).split("\n@\n")[1:]
    return {name for name, text in zip(names, said) if re.search(r"Breakpoint \d+ at 0x", text)}


def ask_gdb():
    """The line table, and the functions with code of their own."""
    lines, functions = gdb(
        "set width 0", "info functions -n", "echo \\n@\\n", "maint expand-symtabs", "maint info line-table"
    ).split("\n@\n")[::-1]
    return {"lines": lines, "functions": functions}


def short(place):
    return f"{os.path.basename(place[0])}:{place[1]}"


folder = os.path.realpath(folder)
others = set()
told = ask_gdb()
symbols, code = read_symbols()
known, full = read_lines(code)
known |= read_rows(code)
own = read_functions()
functions, lines = read_lcov()
asked = [(p, f) for p, names in functions.items() for f in names if f not in symbols and p not in known]
found = with_code({f for _, f in asked})
for place, function in asked:
    if function not in found:
        wrong.append(f"{function} ({short(place)}) is in lcov; nm and gdb don't have it")
for place in sorted(lines):
    if place not in known and place not in functions:
        wrong.append(f"line {short(place)} is in lcov, but not in the line table")
if not folded:
    wrong += [f"function {short(p)} is not in lcov" for p in sorted(own - set(functions))]
    wrong += [f"line {short(p)} is not in lcov" for p in sorted(full - set(lines))]
else:
    # the lines that ran belong to functions that are listed
    starts = sorted(own | set(functions))
    for place in sorted(p for p in lines if lines[p]):
        before = [s for s in starts if s[0] == place[0] and s[1] <= place[1]]
        if before and before[-1] not in functions:
            wrong.append(f"line {short(place)} ran; its function ({short(before[-1])}) is not in lcov")
print(*wrong, sep="\n", end="\n" if wrong else "")
print(f"{len(lines)} lines, {sum(map(len, functions.values()))} functions, {len(wrong)} wrong")
sys.exit(1 if wrong or not lines or not functions else 0)
