#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""lcov_info.py FILE...: are these trace files as strict readers of lcov's format want them? Prints what is not, and exits
with 1 if there is anything. lcov 1.16 reads nearly everything; lcov 2 refuses, or warns of

inconsistent  a line that ran, none of whose branches was reached; one that never ran with a branch that was taken; a
              branch at a line without a count; a function that was called, none of whose lines ran, and one that was
              never called of which a line ran (its lines are those up to the next function: lcov 2 takes them for that,
              where FN has no end)
mismatch      a function at two lines, or in FNDA and not in FN
corrupt       a side, a line, a function, or a file that is there twice; sides that aren't numbered from 0 on
count         sums that aren't those of the records

Functions within another one, as lambdas (_ZZ…), are left out of the last of the inconsistent: the other one's lines go on
behind them.
"""
import collections
import sys


class File:
    """A section: counts by line; sides by line and branch, "-" or a number; functions by name: (line, calls)."""

    def __init__(self, name):
        self.name = name
        self.lines, self.functions, self.sums = {}, {}, {}
        self.branches = collections.defaultdict(lambda: collections.defaultdict(list))
        self.wrong = []

    def add(self, key, value):
        if key == "DA":
            line, count = value.split(",")[:2]
            if int(line) in self.lines:
                self.wrong.append(f"corrupt: DA:{line} twice")
            self.lines[int(line)] = int(count)
        elif key == "BRDA":
            line, branch, side, count = value.split(",")
            sides = self.branches[int(line)][int(branch)]
            if int(side) != len(sides):
                self.wrong.append(f"corrupt: BRDA:{value}: not side {len(sides)}")
            sides.append(count if count == "-" else int(count))
        elif key == "FN":
            line, name = value.split(",", 1)
            if name in self.functions:
                self.wrong.append(f"mismatch: function {name} at lines {self.functions[name][0]} and {line}")
            self.functions[name] = int(line), None
        elif key == "FNDA":
            count, name = value.split(",", 1)
            line, calls = self.functions.get(name, (0, None))
            if not line:
                self.wrong.append(f"mismatch: FNDA:{value} without FN")
            if calls is not None:
                self.wrong.append(f"corrupt: FNDA:{value} twice")
            self.functions[name] = line, int(count)
        elif key in ("LF", "LH", "BRF", "BRH", "FNF", "FNH"):
            self.sums[key] = int(value)
        elif key != "TN":
            self.wrong.append(f"corrupt: {key}:{value}")

    def sides(self, line):
        """All sides of a line's branches, as numbers."""
        return [0 if n == "-" else n for sides in self.branches[line].values() for n in sides]

    def check_sums(self):
        sides = [n for line in list(self.branches) for n in self.sides(line)]
        calls = [n for _, n in self.functions.values()]
        for all_of, ran, counts in (("LF", "LH", self.lines.values()), ("BRF", "BRH", sides), ("FNF", "FNH", calls)):
            want = len(counts), sum(n > 0 for n in counts if n is not None)
            got = self.sums.get(all_of, 0), self.sums.get(ran, 0)
            if got != want:
                self.wrong.append(f"count: {all_of}, {ran} are {got}, not {want}")

    def check_branches(self):
        for line, branches in self.branches.items():
            if sorted(branches) != list(range(len(branches))):
                self.wrong.append(f"corrupt: branches of line {line} are {sorted(branches)}")
            reached = any(n != "-" for sides in branches.values() for n in sides)
            if line not in self.lines:
                self.wrong.append(f"inconsistent: line {line} has branches and no count")
            elif self.lines[line] and not reached:
                self.wrong.append(f"inconsistent: line {line} ran, its branches were not reached")
            elif not self.lines[line] and any(self.sides(line)):
                self.wrong.append(f"inconsistent: line {line} never ran, its branches did")

    def check_functions(self):
        starts = sorted({line for line, _ in self.functions.values()})
        for name, (line, calls) in self.functions.items():
            if calls is None:
                self.wrong.append(f"mismatch: function {name} without FNDA")
                continue
            end = next((n for n in starts if n > line), 1 << 32)
            counts = [n for at, n in self.lines.items() if line <= at < end]
            together = [n for at, n in self.functions.values() if at == line]
            if calls and counts and not any(counts):
                self.wrong.append(f"inconsistent: function {name} was called, none of its lines ran")
            if not any(together) and any(counts) and not name.startswith("_ZZ"):
                self.wrong.append(f"inconsistent: function {name} was never called, a line of it ran")

    def check(self):
        self.check_sums()
        self.check_branches()
        self.check_functions()
        return self.wrong


def read_info(path):
    """The files of a trace file, by name."""
    files, now = {}, None
    for record in open(path):
        key, _, value = record.rstrip("\n").partition(":")
        if key == "SF":
            if value in files:
                files[value].wrong.append("corrupt: file twice")
            now = files.setdefault(value, File(value))
        elif key == "end_of_record":
            now = None
        elif now:
            now.add(key, value)
        elif key != "TN":
            files.setdefault("", File("")).wrong.append(f"corrupt: {record.rstrip()} of no file")
    return files


def main():
    wrong = [f"{path}: {f.name}: {text}" for path in sys.argv[1:] for f in read_info(path).values() for text in f.check()]
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
