#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""coverage.py GCOV.json.gz OURS.info: is -F lcov of a program that was built without optimization what gcov says of
the same source, built with --coverage, line for line, function for function and branch for branch?

Prints what differs and has no reason here; exits with 1 if there is any. The last line counts. What may differ:

opening   gcov counts a function's calls at the line where it is declared, debug information at that of its first
          instruction: the next one, if the brace is there
closing   a function's last line, of its epilogue, isn't counted by gcov
label     gcov counts the line of a label: case 3:
switch    gcov's branches are the labels of a switch, bbtrace's are those of its jumps: a table, and a check of its bounds
asm       what is written in assembler: gcov knows neither functions nor branches in it
"""
import collections
import gzip
import json
import os
import re
import sys


def read_gcov(path):
    data = json.load(gzip.open(path))
    files = {}
    for f in data["files"]:
        name = os.path.normpath(os.path.join(data["current_working_directory"], f["file"]))
        lines, sides = collections.Counter(), collections.defaultdict(list)
        for line in f["lines"]:
            lines[line["line_number"]] += line["count"]
            sides[line["line_number"]] += [b["count"] for b in line["branches"] if not b["throw"]]
        functions = {}
        for fn in f["functions"]:
            functions[fn["name"]] = (fn["start_line"], fn["end_line"], fn["execution_count"])
        files[name] = lines, sides, functions
    return files


def read_info(path):
    files = {}
    for record in open(path):
        key, _, value = record.rstrip("\n").partition(":")
        if key == "SF":
            lines, sides, functions, starts = {}, collections.defaultdict(list), {}, {}
            files[value] = lines, sides, functions
        elif key == "DA":
            line, count = value.split(",")
            lines[int(line)] = int(count)
        elif key == "BRDA":
            line, _, _, count = value.split(",")
            sides[int(line)].append(0 if count == "-" else int(count))
        elif key == "FN":
            line, name = value.split(",", 1)
            starts[name] = int(line)
        elif key == "FNDA":
            count, name = value.split(",", 1)
            functions[name] = starts[name], int(count)
    return files


class Comparison:
    def __init__(self):
        self.counts = collections.Counter()

    def differs(self, what, *text):
        print(what + ":", *text)
        self.counts["different"] += 1

    def functions(self, name, theirs, ours, source):
        for fn in sorted(set(theirs) | set(ours)):
            self.counts["functions"] += 1
            if fn not in theirs:
                if "asm" in source:
                    self.counts["asm"] += 1
                else:
                    self.differs(name, "a function that gcov doesn't know:", fn)
            elif fn not in ours:
                self.differs(name, "no function", fn)
            elif (theirs[fn][0], theirs[fn][2]) != ours[fn]:
                self.differs(name, fn, "gcov", theirs[fn], "here", ours[fn])

    def lines(self, name, theirs, ours, functions, source):
        opened, text = set(), source.split("\n")
        for line in sorted(set(theirs) | set(ours)):
            self.counts["lines"] += 1
            if theirs.get(line) == ours.get(line):
                continue
            starts = [f for f in functions.values() if f[0] == line]
            ends = [f for f in functions.values() if f[1] == line]
            # a function that begins and ends on one line has both there
            if line not in ours and starts and theirs[line] == sum(f[2] for f in starts) and \
                    next((ours[n] for n in sorted(ours) if n > line), None) == theirs[line]:
                self.counts["opening"] += 1
                opened.add(min(n for n in ours if n > line))
            elif line not in theirs and line in opened:
                self.counts["opening"] += 1
            elif line not in theirs and ends and ours[line] <= sum(f[2] for f in ends):
                self.counts["closing"] += 1
            elif line not in theirs and "asm" in source:
                self.counts["asm"] += 1
            elif line not in ours and re.fullmatch(r"\s*(case .*|default|\w+):", text[line - 1]):
                self.counts["label"] += 1
            else:
                self.differs(f"{name}:{line}", "gcov", theirs.get(line), "here", ours.get(line))

    def sides(self, name, theirs, ours, source):
        text = source.split("\n")
        for line in sorted(set(theirs) | set(ours)):
            a, b = sorted(theirs.get(line, [])), sorted(ours.get(line, []))
            self.counts["sides"] += len(a)
            if a == b:
                continue
            if "switch" in text[line - 1]:
                self.counts["switch"] += 1
            elif not a and "asm" in source:
                self.counts["asm"] += 1
            else:
                self.differs(f"{name}:{line}", "sides: gcov", a, "here", b)


def main():
    theirs, ours = read_gcov(sys.argv[1]), read_info(sys.argv[2])
    c = Comparison()
    for path, (lines, sides, functions) in theirs.items():
        name = os.path.basename(path)
        if path not in ours:
            c.differs(name, "is missing")
            continue
        source = open(path).read()
        c.functions(name, functions, ours[path][2], source)
        c.lines(name, lines, ours[path][0], functions, source)
        c.sides(name, sides, ours[path][1], source)
    for path in ours:
        if path not in theirs:
            c.differs(os.path.basename(path), "is not known to gcov")
    print(", ".join(f"{n} {what}" for what, n in sorted(c.counts.items())))
    return 1 if c.counts["different"] else 0


sys.exit(main())
