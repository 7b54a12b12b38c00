#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""coverage_llvm.py LLVM.json OURS.info PROGRAM: is -F lcov of PROGRAM, which clang has built without optimization, what
clang's own coverage says of the same source (llvm-cov export), line for line, function for function and branch for branch?

clang counts regions of the source text, from a character to another one; a line has the highest count of those that it is
in. bbtrace counts the code of lines. A branch of clang's is a condition, with the numbers of times it was true and false;
one of bbtrace's is a conditional jump: both are compared as pairs, the smaller number first.

Prints what differs and has no reason here; exits with 1 if there is any. The last line counts. What may differ:

nocode    a line without instructions, which is in a region: a brace, else, do, try, a label, a declaration, a statement
          without effect, the end of one that goes on over several lines
regions   a line that several regions, or functions, have text on: bbtrace has the count of one of them in each function
          that has code there, llvm the highest
closing   the last line of a function: clang counts the region behind the last return, bbtrace the epilogue
outside   code of a line that is in no region: the head of a constructor, with what is called for bases and members, a class,
          a global
implicit  functions that nobody wrote, which clang leaves out: those of a class that only says so, of a global, of a lambda
          that becomes a pointer; at a line where something else is bbtrace's count has theirs in addition
unused    a function of which there is no code, since nothing calls it
loophead  the opening brace of a function in front of a loop: clang gives it what is loaded again in each round
unwound   a line with } that is executed on the way out of an exception, too: that code is of no region
range     the head of a loop over a range: clang counts neither the steps nor the check, except as a branch
forever   the head of a loop without condition: its code is the jump back
asm       what is written in assembler

value     the last operand of && or ||, of which only the value is needed: no jump is made for it
select    a choice between two constants, or of what is as simple: no jump is made for it
switch    clang's branches are the labels of a switch, bbtrace's are those of its jumps: comparisons, or a table
inherent  a jump that nobody wrote: a catch's for its types, a delete's of a null pointer, those of a static's first use, of
          an array that is constructed or destroyed
"""
import collections
import itertools
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from lcov_info import read_info  # noqa: E402

CODE, EXPANSION, SKIPPED, GAP = range(4)
ARRAY = re.compile(r"^\s*(static )?\w+ \w+\[\w+\];$")
NOCODE = re.compile(r"""\s*(
    /\*.* | .*\*/ |                                     # comments
    [{}]+;? | \}?\s*else(\ \{)? | do\ \{ | try\ \{ |    # words and braces alone
    (case\ .*|default|\w+): |                           # labels
    \#define\ .* |                                      # a macro, which is used elsewhere
    \(void\)\w+; |
    static\ .* |                                        # a constant, an initialized static
    (const\ |volatile\ |struct\ |unsigned\ )*[\w:]+(\ |\ \*+)\w+(\[[^=]*\])?(,\ \*?\w+(\[\w+\])?)*;   # no value
    )\s*(/\*.*)?""", re.X)
INHERENT = re.compile(r"\} catch \(|\bdelete\b|\bstatic \w+ \w+\(")


class Function:
    """Of one file: the regions of a function, or of an instance of a template."""

    def __init__(self, data):
        self.name = data["name"].split(":")[-1]
        self.count = data["count"]
        self.file = os.path.normpath(data["filenames"][0])
        # where what a macro contains is expanded: by number of its file
        expanded = {r[6]: r for r in data["regions"] if r[7] == EXPANSION}
        self.regions = [r for r in data["regions"] if r[5] == 0 and r[7] != SKIPPED]
        self.start = self.regions[0][0]
        self.end = self.regions[0][2]
        self.branches = collections.defaultdict(list)
        for b in data["branches"]:
            fid, line = b[6], b[0]
            while fid in expanded:
                line, fid = expanded[fid][0], expanded[fid][5]
            self.branches[line].append(tuple(sorted(b[4:6])))

    def counts(self, line, text):
        """Those of the innermost regions of the line's characters."""
        out = set()
        for column, c in enumerate(text, 1):
            if c.isspace():
                continue
            inner = [r for r in self.regions if r[:2] <= [line, column] < r[2:4]]
            if inner:
                out.add(max(inner, key=lambda r: (r[:2], [-r[2], -r[3]]))[4])
        return out


class Source:
    def __init__(self, path, functions):
        self.name = os.path.basename(path)
        self.text = [""] + open(path).read().split("\n")
        self.functions = functions
        self.has_asm = any("asm" in line for line in self.text)
        self.has_throws = any(re.search(r"\b(throw|catch)\b", line) for line in self.text)
        self.implicit = collections.Counter()  # by line: their calls

    def at(self, line):
        return [f for f in self.functions if f.start <= line <= f.end]

    def is_continued(self, line):
        """Does a statement go on here that began above?"""
        before = re.sub(r"\s*(/\*.*\*/|//.*)$", "", self.text[line - 1].strip())
        return before and before[-1] not in ";{}:" and not before.startswith("#")


class Comparison:
    def __init__(self, symbols):
        self.counts = collections.Counter()
        self.symbols = symbols

    def differs(self, what, *text):
        print(what + ":", *text)
        self.counts["different"] += 1

    def functions(self, source, ours):
        theirs = collections.Counter()
        for f in source.functions:
            theirs[f.name] += f.count
        for fn in sorted(set(theirs) | set(ours)):
            self.counts["functions"] += 1
            if fn not in theirs:
                line, calls = ours[fn]
                if source.has_asm and fn in self.symbols and not any(f.start <= line <= f.end for f in source.functions):
                    self.counts["asm"] += 1
                elif re.match(r"_Z.*([CD]\dE|aSE|__invoke|cvPF)|__cxx_global|_GLOBAL__sub_I_", fn):
                    self.counts["implicit"] += 1
                    source.implicit[line] += calls
                else:
                    self.differs(source.name, "a function that llvm doesn't know:", fn)
            elif fn not in ours:
                if theirs[fn] or fn in self.symbols:
                    self.differs(source.name, "no function", fn)
                else:
                    self.counts["unused"] += 1
            elif theirs[fn] != ours[fn][1]:
                self.differs(source.name, fn, "llvm", theirs[fn], "here", ours[fn][1])

    def class_of_line(self, source, line, theirs, ours, pairs):
        text, at = source.text[line], source.at(line)
        if ours is None:
            if all(f.name not in self.symbols for f in at) and at:
                return "unused"
            return "nocode" if NOCODE.fullmatch(text) or source.is_continued(line) else None
        if theirs is None:
            return "asm" if source.has_asm and not at else "outside" if not at or \
                any(f.start == line for f in at) or re.match(r"\s*(class|struct) ", text) else None
        # one of an implicit function may be of its other code: that of a destructor that is called by delete
        implicit = source.implicit[line] + sum(source.implicit[f.start] + source.implicit[f.start - 1] for f in at)
        for counts in itertools.product(*([0, *f.counts(line, text)] for f in at)):
            if ours == sum(counts) or implicit and ours == sum(counts) + implicit:
                return "implicit" if ours != sum(counts) else "regions"
        ends = [f.count for f in at if f.end == line]
        if ends and ours <= sum(ends):
            return "closing"
        if re.search(r"\bfor \(.* : ", text) and ours in [sum(p) for p in pairs]:
            return "range"
        if re.search(r"\bwhile \((true|1)\)|\bfor \(.*;;.*\)", text) and ours <= theirs:
            return "forever"
        if text.strip() == "{" and re.match(r"\s*(while|for) \(", source.text[line + 1]) and \
                any(ours in f.counts(line + 1, source.text[line + 1]) for f in at if f.start == line):
            return "loophead"
        if source.has_throws and text.strip().startswith("}") and ours <= sum(f.count for f in at):
            return "unwound"
        return "inherent" if is_inherent(source, line) else None

    def lines(self, source, ours):
        theirs = {}
        branches = collections.defaultdict(list)
        for f in source.functions:
            for line in range(f.start, f.end + 1):
                counts = f.counts(line, source.text[line])
                if counts:
                    theirs[line] = theirs.get(line, 0) + max(counts)
            for line, pairs in f.branches.items():
                branches[line] += pairs
        for line in sorted(set(theirs) | set(ours)):
            self.counts["lines"] += 1
            if theirs.get(line) == ours.get(line):
                continue
            reason = self.class_of_line(source, line, theirs.get(line), ours.get(line), branches[line])
            if reason:
                self.counts[reason] += 1
            else:
                self.differs(f"{source.name}:{line}", "llvm", theirs.get(line), "here", ours.get(line))
        return branches

    def class_of_sides(self, source, line, theirs, ours):
        text = source.text[line]
        more, less = ours - theirs, theirs - ours
        if re.search(r"\b(switch \(|case .*:)", text):
            return "switch"
        if source.has_asm and not source.at(line):
            return "asm"
        if all(f.name not in self.symbols for f in source.at(line)) and not ours:
            return "unused"
        if not more:
            if re.search(r"&&|\|\|", text):
                return "value"
            return "select" if "?" in text else None
        if not source.at(line):
            return "outside"
        return "inherent" if not less and is_inherent(source, line) else None

    def sides(self, source, theirs, ours):
        for line in sorted(set(theirs) | set(ours.branches)):
            a = collections.Counter(theirs.get(line, []))
            branches = ours.branches.get(line, {}).values()
            b = collections.Counter(tuple(sorted(0 if n == "-" else n for n in sides)) for sides in branches)
            self.counts["conditions"] += sum(a.values())
            if a == b:
                continue
            reason = self.class_of_sides(source, line, a, b)
            if reason:
                self.counts[reason] += 1
            else:
                self.differs(f"{source.name}:{line}", "sides: llvm", list(a.elements()), "here", list(b.elements()))


def is_inherent(source, line):
    text = source.text[line]
    return INHERENT.search(text) or ARRAY.match(text) or \
        (text.strip() == "}" and any(ARRAY.match(t) for f in source.at(line) for t in source.text[f.start:f.end]))


def main():
    data = json.load(open(sys.argv[1]))["data"][0]
    ours = read_info(sys.argv[2])
    symbols = {line.split()[-1] for line in subprocess.check_output(["nm", "--plugin", "/dev/null", sys.argv[3]], text=True).splitlines()}
    c = Comparison(symbols)
    functions = collections.defaultdict(list)
    for f in data["functions"]:
        f = Function(f)
        functions[f.file].append(f)
    for path, of_file in functions.items():
        source = Source(path, of_file)
        if path not in ours:
            if any(f.name in symbols for f in of_file):
                c.differs(source.name, "is missing")
            continue
        c.functions(source, ours[path].functions)
        c.sides(source, c.lines(source, ours[path].lines), ours[path])
    for path in ours:
        if path not in functions:
            c.differs(os.path.basename(path), "is not known to llvm")
    print(", ".join(f"{n} {what}" for what, n in sorted(c.counts.items())))
    return 1 if c.counts["different"] else 0


sys.exit(main())
