#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""coverage.py GCOV.json.gz OURS.info: is -F lcov of a program that was built without optimization what gcov says of
the same source, built with --coverage, line for line, function for function and branch for branch?

Prints what differs and has no reason here; exits with 1 if there is any. The last line counts. What may differ:

opening   gcov counts a function's calls at the line where it is declared, debug information also at that of its first
          instruction: the next one, if the brace is there
closing   a function's last line, of its epilogue, isn't counted by gcov; nor is it of a lambda, whose last line is one of
          the function around it, too
label     gcov counts the line of a label: case 3:
switch    gcov's branches are the labels of a switch, bbtrace's are those of its jumps: a table, and a check of its bounds
asm       what is written in assembler: gcov knows neither functions nor branches in it

In C++ alone:

implicit  functions that nobody wrote, which gcov leaves out: those of a class that only says so, of a global's
          construction and destruction, of a lambda that becomes a pointer; and their lines, outside of functions, or where
          something else is: there bbtrace's count has theirs in addition
lambda    the line on which a lambda begins: gcov mixes the function's count with that of the function around it
unwound   what is executed on the way out of an exception, too: the end of a block with destructors, a call from which control
          comes back to destructors, a catch. gcov adds both ways, bbtrace shows the one that ran more often
catch     gcov's branches of a catch are one choice of several, bbtrace's a jump for each type
array     a loop that nobody wrote, over an array of objects that is constructed or destroyed
"""
import collections
import gzip
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lcov_info import read_info  # noqa: E402

ARRAY = re.compile(r"^\s*\w+ \w+\[\d+\];$")
IMPLICIT = re.compile(r"^_GLOBAL__sub_I_|__static_initialization_and_destruction_0|^__tcf_|_FUNE|cvPF")


def called_alone(branches):
    """The sides of what was written: a call that may throw is a branch for gcov, too."""
    out = []
    for b in branches:
        if b["throw"]:
            if out and out[-1]["fallthrough"]:
                out.pop()
        else:
            out.append(b)
    return [b["count"] for b in out]


def read_gcov(path):
    data = json.load(gzip.open(path))
    files = {}
    for f in data["files"]:
        name = os.path.normpath(os.path.join(data["current_working_directory"], f["file"]))
        lines, sides, thrown = collections.Counter(), collections.defaultdict(list), collections.Counter()
        for line in f["lines"]:
            lines[line["line_number"]] += line["count"]
            sides[line["line_number"]] += called_alone(line["branches"])
            thrown[line["line_number"]] += sum(b["count"] for b in line["branches"] if b["throw"])
        functions = {}
        for fn in f["functions"]:
            functions[fn["name"]] = (fn["start_line"], fn["end_line"], fn["execution_count"])
        files[name] = lines, sides, functions, thrown
    return files


def one_name(name):
    """Constructors and destructors of one code have several symbols."""
    return re.sub(r"([CD])1(E|I)", r"\g<1>2\2", name)


class Source:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.text = open(path).read().split("\n")
        self.has_asm = any("asm" in line for line in self.text)
        self.has_throws = any(re.search(r"\b(throw|catch)\b", line) for line in self.text)

    def is_class(self, line):
        return re.match(r"\s*(class|struct)\b", self.text[line - 1])

    def is_array(self, line):
        return ARRAY.match(self.text[line - 1]) or \
            (self.text[line - 1].strip() == "}" and any(ARRAY.match(text) for text in self.text))


class Comparison:
    def __init__(self):
        self.counts = collections.Counter()
        self.implicit = collections.Counter()  # by line: their calls

    def differs(self, what, *text):
        print(what + ":", *text)
        self.counts["different"] += 1

    def functions(self, source, theirs, ours):
        theirs = {one_name(fn): row for fn, row in theirs.items()}
        ours = {one_name(fn): row for fn, row in ours.items()}
        for fn in sorted(set(theirs) | set(ours)):
            self.counts["functions"] += 1
            if fn not in theirs:
                if source.has_asm:
                    self.counts["asm"] += 1
                elif IMPLICIT.search(fn) or source.is_class(ours[fn][0]):
                    self.counts["implicit"] += 1
                    self.implicit[ours[fn][0]] += ours[fn][1]
                else:
                    self.differs(source.name, "a function that gcov doesn't know:", fn)
            elif fn not in ours:
                self.differs(source.name, "no function", fn)
            elif (theirs[fn][0], theirs[fn][2]) != ours[fn]:
                self.differs(source.name, fn, "gcov", theirs[fn], "here", ours[fn])

    def class_of_line(self, source, line, theirs, ours, functions, opened, thrown):
        starts = [f for f in functions.values() if f[0] == line]
        ends = [f for f in functions.values() if f[1] == line]
        text, a, b = source.text[line - 1], theirs.get(line), ours.get(line)
        # a function that begins and ends on one line has both there
        if b is None and starts and a == sum(f[2] for f in starts) and \
                next((ours[n] for n in sorted(ours) if n > line), None) == a:
            opened.add(min(n for n in ours if n > line))
            return "opening"
        if a is None and (line in opened or (text.strip() == "{" and any(f[0] == line - 1 and f[2] == b for f in functions.values()))):
            return "opening"
        if ends and b is not None and (a or 0) <= b <= (a or 0) + sum(f[2] for f in ends):
            return "closing"
        if a is None and source.has_asm:
            return "asm"
        if b is None and re.fullmatch(r"\s*(case .*|default|\w+):", text):
            return "label"
        if a is None and (source.is_class(line) or not any(f[0] <= line <= f[1] for f in functions.values())):
            return "implicit"
        if b is not None and self.implicit[line] and b == (a or 0) + self.implicit[line]:
            return "implicit"
        if "](" in text and starts and a and b and b >= max(f[2] for f in starts):
            return "lambda"
        if a and b and source.has_throws and b < a <= 2 * b and (text.strip().startswith("}") or thrown[line]):
            return "unwound"
        return "array" if a and b and source.is_array(line) else None

    def lines(self, source, theirs, ours, functions, thrown):
        opened = set()
        for line in sorted(set(theirs) | set(ours)):
            self.counts["lines"] += 1
            if theirs.get(line) == ours.get(line):
                continue
            reason = self.class_of_line(source, line, theirs, ours, functions, opened, thrown)
            if reason:
                self.counts[reason] += 1
            else:
                self.differs(f"{source.name}:{line}", "gcov", theirs.get(line), "here", ours.get(line))

    def sides(self, source, theirs, ours, functions):
        for line in sorted(set(theirs) | set(ours.branches)):
            a, b = sorted(theirs.get(line, [])), sorted(ours.sides(line))
            text = source.text[line - 1]
            self.counts["sides"] += len(a)
            if a == b:
                continue
            if re.search(r"\bswitch\b", text):
                self.counts["switch"] += 1
            elif not a and source.has_asm:
                self.counts["asm"] += 1
            elif re.search(r"\} catch \(", text) and set(a) <= set(b) and len(a) + 1 == len(b):
                self.counts["catch"] += 1
            elif source.is_array(line):
                self.counts["array"] += 1
            elif not a and not any(f[0] <= line <= f[1] for f in functions.values()):
                self.counts["implicit"] += 1
            else:
                self.differs(f"{source.name}:{line}", "sides: gcov", a, "here", b)


def main():
    theirs, ours = read_gcov(sys.argv[1]), read_info(sys.argv[2])
    c = Comparison()
    for path, (lines, sides, functions, thrown) in theirs.items():
        source = Source(path)
        if path not in ours:
            c.differs(source.name, "is missing")
            continue
        c.functions(source, functions, ours[path].functions)
        c.lines(source, lines, ours[path].lines, functions, thrown)
        c.sides(source, sides, ours[path], functions)
    for path in ours:
        if path not in theirs:
            c.differs(os.path.basename(path), "is not known to gcov")
    print(", ".join(f"{n} {what}" for what, n in sorted(c.counts.items())))
    return 1 if c.counts["different"] else 0


sys.exit(main())
