#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
#
# src.py JSON OBJECT [LEAST]: the src of each line of JSON (list --sites, a trace, counts) that is in OBJECT, against what
# addr2line -f -i says of vaddr: the same frames, each of the same function, file and line. Prints how many were compared,
# and the differences; ends with 1 if there is one, or if fewer than LEAST places have lines. Named here, and counted, is
# where addr2line (binutils 2.40) says something else, by choice:
#
# - bare: of code that no function of the debug information has (assembler, thunks) it tells the symbol; src has no function.
# - zero: of line 0 it tells the file that the row of the line table has; src has neither.
# - symbol: the debug information has no linkage name (gcc, of C++ that isn't global; extern "C"), so it tells the symbol at
#   the innermost frame: of an inlined function that of the one around it, of a part that was split off f.cold.
# or by error, where llvm-symbolizer must say what src does:
#
# - inlined: it finds no inlined function, but its line: ranges in .debug_rnglists (clang). In all frames.
# - file: all else is equal, but it tells the unit's own file in place of the row's. Files and lines of all frames.
import collections
import json
import os
import re
import subprocess
import sys

SPLIT = re.compile(r'(\.(cold|part|constprop|isra|llvm|lto_priv)(\.\d+)*)+$')


def run(command, lines):
    return subprocess.run(command, input='\n'.join(lines) + '\n', text=True, capture_output=True, check=True).stdout


def path(file):
    return None if file in ('??', '', None) else os.path.normpath(file)


def number(line):
    return int(line) if line.isdigit() and line != '0' else None


def frames_by(tool, obj, addresses):
    """What addr2line, or llvm-addr2line, says: by address, a list of (function, file, line)."""
    frames, at = {}, None
    said = iter(run([tool, '-a', '-f', '-i', '-e', obj], [hex(a) for a in addresses]).splitlines())
    for text in said:
        if re.fullmatch(r'0x[0-9a-f]+', text):
            at = int(text, 16)
            frames[at] = []
            continue
        file, _, line = re.sub(r' \(discriminator \d+\)$', '', next(said)).rpartition(':')
        frames[at].append((text, path(file), number(line)))
    return frames


def demangled(frames):
    """By name, without parameters."""
    names = sorted({f[0] for fs in frames.values() for f in fs})
    return dict(zip(names, run(['c++filt', '-p', '-i'], names).splitlines())) | {'??': None}


def src_of(event):
    return [(f.get('function'), path(f.get('file')), f.get('line')) for f in event.get('src', [])]


def difference(got, want, classes):
    """What differs; None: nothing. Counts the classes that need no witness."""
    if not got and all(not f[1] or not f[2] for f in want):
        return None
    if len(got) != len(want):
        single = len(want) == 1 and want[0][2] == got[0][2] and want[0][0] == got[-1][0]
        return 'inlined' if single else 'frames'
    what = None
    for i, (have, said) in enumerate(zip(got, want)):
        if have[2] != said[2]:
            return 'line'
        if have[0] != said[0]:
            symbol = i == 0 and said[0] and SPLIT.sub('', said[0]) in (got[0][0], got[-1][0])
            if not symbol and not (have[0] is None and len(got) == 1):
                return 'function'
            classes['symbol' if have[0] else 'bare'] += 1
        if have[1] != said[1]:
            if have[2] or have[1]:
                what = 'file' if i == 0 and have[2] else 'outer file'
            else:
                classes['zero'] += 1
    return what


def main():
    lines, obj = sys.argv[1:3]
    least = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    real = os.path.realpath(obj)
    places = {}
    for text in open(lines):
        e = json.loads(text)
        if e.get('object') == real and 'vaddr' in e:
            places.setdefault(int(e['vaddr'], 16), set()).add(tuple(src_of(e)))
    frames = frames_by('addr2line', obj, places)
    name = demangled(frames)
    classes, differ = collections.Counter(), []
    for at, all_src in places.items():
        want = [(name[f[0]], *f[1:]) for f in frames[at]]
        for got in all_src:
            what = difference(list(got), want, classes)
            if what:
                differ.append((at, what, list(got), want))
    witness = frames_by('llvm-addr2line', obj, [d[0] for d in differ]) if differ else {}
    name = demangled(witness) if witness else {}
    wrong = []
    for at, what, got, want in differ:
        other = [(name[f[0]] and SPLIT.sub('', name[f[0]]), f[1] if f[2] else None, f[2]) for f in witness[at]]
        places_only = [f[1:] for f in other] == [f[1:] for f in got]
        if other == got if what == 'inlined' else what == 'file' and places_only:
            classes[what] += 1
        else:
            wrong.append(f'{at:#x}: {what}: {got} here, {want} by addr2line, {other} by llvm-symbolizer')
    for text in wrong[:20]:
        print(text)
    known = sum(any(f[2] for f in fs) for fs in frames.values())
    said = [f'{len(places)} places', f'{known} with lines', f'{sum(len(f) > 1 for f in frames.values())} inlined',
            f'{len(wrong)} different'] + [f'{n} {c}' for c, n in sorted(classes.items())]
    print(', '.join(said))
    return bool(wrong) or known < least


sys.exit(main())
