#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""modules.py CODE SYMBOLS FUNCTIONS SITES [FILE SECTIONS]

Is every branch listed that objdump shows in a module? CODE: a folder with code from the guest's memory, in files named by
their start address. SYMBOLS (lines "NAME ADDRESS SIZE"): the functions in it, and the kernel's thunks. FUNCTIONS and
SITES: the output of `bbtrace list -F json` in the guest, without and with --sites.

Each branch must be listed with its kind and its target, and everything listed must be a branch. Branches in bytes that
bbtrace declares undecoded are counted: no function may have any. With a module's FILE and SECTIONS (lines "NAME ADDRESS":
where the kernel put them) functions and branches are those of FILE, except where a table of FILE says that the kernel
rewrites the code: such places are counted by table.
"""
import bisect
import collections
import json
import os
import re
import struct
import subprocess
import sys

# objdump's address, bytes, prefixes, mnemonic, the rest
LINE = re.compile(r'^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2} )+)\s*(?:(?:bnd|notrack|[c-g]s|data16|rep[nz]*) )*(\S+)\s*(.*)')
BRANCH = re.compile(r'(?:j\w+|loop\w*|call\w?|ret\w?)$')
RETURN = re.compile(r'\b(?:__x86|srso|srso_alias|retbleed|its)_return_thunk\b')
INDIRECT = re.compile(r'\b__x86_indirect_(?:jump_|call_)?thunk_')
KINDS = {'call': ('call', 'icall'), 'jmp': ('jmp', 'ijmp')}
# Tables of places that the kernel rewrites: bytes of a row, whose first field says where, and bytes that change there.
TABLES = {
    '__mcount_loc': ('ftrace', 8, 5),
    '.static_call_sites': ('static call', 8, 5),
    '__jump_table': ('jump label', 16, 5),
    '.retpoline_sites': ('retpoline', 4, 6),
    '.return_sites': ('return thunk', 4, 5),
}
RELA, SYMTAB, FUNC, EXECINSTR = 4, 2, 2, 4

Branch = collections.namedtuple('Branch', 'kind target')


def lines_of(path):
    with open(path) as f:
        return f.read().splitlines()


def json_of(path):
    return [json.loads(line) for line in lines_of(path)]


class Object:
    """An ELF64 relocatable file: sections, symbols, relocations by the section that they apply to."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        start, = struct.unpack_from('<Q', self.data, 40)
        count, names = struct.unpack_from('<HH', self.data, 60)
        # name, type, flags, address, offset, size, link, info, align, entry size
        self.rows = [struct.unpack_from('<IIQQQQIIQQ', self.data, start + 64 * i) for i in range(count)]
        self.names = [self.text(names, row[0]) for row in self.rows]
        table = next(i for i, row in enumerate(self.rows) if row[1] == SYMTAB)
        self.symbols = [(self.text(self.rows[table][6], name), info & 15, section, value, size)
                        for name, info, _, section, value, size in struct.iter_unpack('<IBBHQQ', self.contents(table))]

    def text(self, section, offset):
        begin = self.rows[section][4] + offset
        return self.data[begin:self.data.index(b'\0', begin)].decode()

    def contents(self, section):
        return self.data[self.rows[section][4]:self.rows[section][4] + self.rows[section][5]]

    def relocations(self, name):
        """(offset, section that it names, offset there)"""
        for i, row in enumerate(self.rows):
            if row[1] == RELA and self.names[row[7]] == name:
                for offset, info, addend in struct.iter_unpack('<QQq', self.contents(i)):
                    _, _, section, value, _ = self.symbols[info >> 32]
                    yield offset, section, value + addend


def rewritten_in(elf, address):
    """By address: which table says that the kernel rewrites it."""
    out = {}

    def add(what, section, at, size):
        if section in address:
            out.update((address[section] + at + i, what) for i in range(size))

    for table, (what, row, size) in TABLES.items():
        for offset, section, at in elf.relocations(table):
            if offset % row == 0:
                add(what, section, at, size)
    if '.altinstructions' in elf.names:
        table = elf.contents(elf.names.index('.altinstructions'))
        places = list(elf.relocations('.altinstructions'))
        row = 2 * len(table) // len(places)  # two relocations each; the last fields: how many bytes, how many instead
        for offset, section, at in places:
            if offset % row == 0:
                add('alternative', section, at, table[offset + row - 2])
    return out


def kind_of(mnemonic, operand):
    if mnemonic.startswith('ret') or RETURN.search(operand):
        return 'ret'
    if mnemonic.startswith('loop') or mnemonic in ('jrcxz', 'jecxz'):
        return 'loop'
    kinds = KINDS.get(mnemonic.rstrip('q'))
    return kinds[operand.startswith('*') or bool(INDIRECT.search(operand))] if kinds else 'jcc'


def branches_of(text, base=0, names=None):
    """(address, branch); a target that is still to be relocated, or a thunk, is None."""
    for found in map(LINE.match, text.splitlines()):
        if not found or not BRANCH.match(found[3]):
            continue
        operand, target = found[4], re.match(r'(?:0x)?([0-9a-f]+)', found[4])
        target = base + int(target[1], 16) if target and 'R_X86_64' not in operand else None
        kind = kind_of(found[3], f"{operand} {names.get(target, '') if names else ''}")
        yield base + int(found[1], 16), Branch(kind, target if kind in ('jcc', 'loop', 'jmp', 'call') else None)


def objdump(*arguments):
    return subprocess.run(['objdump', '-w', '--insn-width=15', *arguments], check=True, capture_output=True, text=True).stdout


def in_memory(folder, names):
    branches = {}
    for name in os.listdir(folder):
        branches.update(branches_of(objdump('-D', '-b', 'binary', '-m', 'i386:x86-64', f'--adjust-vma={name}',
                                            os.path.join(folder, name)), names=names))
    return branches


class Module:
    """What FILE says, by addresses in the guest."""

    def __init__(self, path, sections):
        elf = Object(path)
        loaded = dict(line.split() for line in lines_of(sections))
        address = {i: int(loaded[name], 16) for i, name in enumerate(elf.names)
                   if name in loaded and elf.rows[i][2] & EXECINSTR}
        self.functions = [(address[section] + value, address[section] + value + size, name)
                          for name, kind, section, value, size in elf.symbols if kind == FUNC and section in address]
        self.rewritten = rewritten_in(elf, address)
        self.branches = {}
        for i, at in address.items():
            self.branches.update(branches_of(objdump('-dr', '-j', elf.names[i], path), at))


class Bounds:
    """Which of these (start, end, …) an address is in: of those that lie in another one, the outer."""

    def __init__(self, ranges):
        self.ranges = []
        for row in sorted(ranges, key=lambda r: (r[0], -r[1])):
            if not self.ranges or row[1] > self.ranges[-1][1]:
                self.ranges.append(row)
        self.starts = [r[0] for r in self.ranges]

    def at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return self.ranges[i] if i >= 0 and address < self.ranges[i][1] else None


def said(branch):
    return branch and (f'{branch.kind} to {branch.target:#x}' if branch.target else branch.kind)


def compare_file(module, branches, functions):
    """Are the branches in memory those of the file, but where tables say that they aren't? How many aren't, by table."""
    changed, wrong = collections.Counter(), []
    for at in sorted(module.branches.keys() | branches.keys()):
        file, memory = module.branches.get(at), branches.get(at)
        if not functions.at(at) or (file and memory and file.kind == memory.kind):
            continue
        if at in module.rewritten:
            changed[module.rewritten[at], file.kind if file else 'none', memory.kind if memory else 'none'] += 1
        else:
            wrong.append(f'{functions.at(at)[2]} {at:#x}: {said(file)} in the file, {said(memory)} in memory')
    return changed, wrong


def agree(site, branch):
    return site and branch and site.kind == branch.kind and branch.target in (None, site.target)


def compare_sites(sites, branches, functions, undecoded):
    hidden, wrong = 0, []
    for at in sorted(sites.keys() | branches.keys()):
        function, site, branch = functions.at(at), sites.get(at), branches.get(at)
        if not site and undecoded.at(at):
            hidden += function is not None
        elif (site or function) and not agree(site, branch):
            wrong.append(f'{function and function[2]} {at:#x}: {said(branch)}, listed: {said(site)}')
    return hidden, wrong


def main():
    code, symbols, list_path, sites_path, *file = sys.argv[1:]
    named = [(int(start, 0), int(start, 0) + int(size, 0), name) for name, start, size in map(str.split, lines_of(symbols))]
    branches = in_memory(code, {start: name for start, _, name in named})
    sites = {int(s['vaddr'], 16): Branch(s['kind'], 'to' in s and int(s['to']['vaddr'], 16)) for s in json_of(sites_path)}
    undecoded = [(int(u['vaddr'], 16), int(u['vaddr'], 16) + u['size']) for f in json_of(list_path) for u in f['undecoded']]
    module = Module(*file) if file else None
    functions = Bounds(module.functions if module else named)
    hidden, wrong = compare_sites(sites, branches, functions, Bounds(undecoded))
    if module:
        changed, differ = compare_file(module, branches, functions)
        wrong += differ
        for (table, before, now), n in sorted(changed.items()):
            print(f'{table}: {n} × {before} → {now}')
    for line in wrong:
        print(line)
    within = sum(functions.at(at) is not None for at in branches)
    outside = sum(functions.at(at) is None for at in sites)
    silent = sum(functions.at(at) is not None for start, end in undecoded for at in range(start, end))
    print(f'{within} branches in {len(functions.ranges)} functions, {len(sites)} listed, {outside} of them elsewhere; '
          f'{sum(e - s for s, e in undecoded)} bytes declared undecoded, {silent} of them in functions, with {hidden} '
          f'branches; {len(wrong)} wrong')
    return 1 if wrong or hidden or not within else 0


sys.exit(main())
