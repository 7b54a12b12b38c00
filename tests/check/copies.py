#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""copies.py FILE FOLDER: checks what `copies FILE FOLDER` wrote with a second decoder, objdump.

Each instruction's copy is the original one but for distances, and logs before or behind it. Each
branch leads to the copy of what the original's branch leads to, or to the original. Patches cross
no page, don't overlap, and overwrite nothing that is still executed."""

import bisect
import functools
import re
import subprocess
import sys

PAGE = 4096
LINE = re.compile(r'^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(?:\t(.*))?$')
RELATIVE = re.compile(r'-?(?:0x[0-9a-f]+)?\(%[re]ip\)')
DIRECT = re.compile(r'^(?:(?:bnd|notrack|ds|cs|rex\S*|data16) )*(j\w+|call\w*|loop\w*)\s+(?:0x)?([0-9a-f]+)\b')

# What a log consists of. CURSOR, VALUE: any register.
REG = r'%[re]?[a-z0-9]+'
LOG = re.compile('^(?:' + '|'.join((
    r'lea -0x80\(%rsp\),%rsp', r'lea 0x8[08]\(%rsp\),%rsp', r'pushf\w*', f'push {REG}', f'pop {REG}',
    f'mov {REG},{REG}', 'lahf', 'seto %al', 'add \\$0x7f,%al', 'sahf', 'rdtsc',
    f'mov %gs:0x0,{REG}', f'cmp %gs:0x8,{REG}', f'mov {REG},%gs:0x0', 'jae .*',
    rf'mov {REG},-?(?:0x)?[0-9a-f]+\({REG}\)', rf'mov {REG},\({REG}\)',  # words of the record
    rf'movl \$0x[0-9a-f]+,(?:0x[0-9a-f]+)?\({REG}\)', rf'mov[lq]? \$0x[0-9a-f]+,.*',
    rf'lea 0x[0-9a-f]+\({REG}\),{REG}', rf'lea .*,{REG}', rf'mov (?:%[fs]s:)?[-0-9a-fx]*\(.*\),{REG}',
    rf'mov [-0-9a-fx]+,{REG}', rf'mov %fs:.*,{REG}', rf'movzwl .*,{REG}', rf'xor {REG},{REG}',
)) + ')$')

problems = 0


@functools.lru_cache(maxsize=None)
def is_of_log(text):
    return LOG.match(re.sub(r'\[[0-9a-f]+\]', '0x0(%rip)', text))


def problem(*what):
    global problems
    problems += 1
    if problems <= 20:
        print('#', *what)


def moved(text):
    """An operand that is relative to the stack pointer, once the return address is pushed."""
    return re.sub(r'(0x[0-9a-f]+)?\(%rsp\)', lambda m: '%#x(%%rsp)' % (int(m.group(1) or '0', 16) + 8), text)


class Insn:
    __slots__ = ('addr', 'size', 'text', 'target', 'raw')

    def __init__(self, addr, raw, text):
        self.addr, self.raw, self.size = addr, raw, len(raw) // 2
        text, _, comment = text.partition('#')
        text = re.sub(r'\s*<.*', '', ' '.join(text.split()))
        m = DIRECT.match(text)
        self.target = int(m.group(2), 16) if m else None
        rel = RELATIVE.search(text)
        if rel:
            where = re.search(r'(?:0x)?([0-9a-f]+)', comment)
            text = RELATIVE.sub('[%s]' % where.group(1), text)
        self.text = text

    @property
    def next(self):
        return self.addr + self.size

    @property
    def op(self):
        return self.text.split(' ', 1)[0]


def disassemble(*args):
    out = []
    for line in subprocess.run(['objdump', '-w', *args], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        m = LINE.match(line)
        if m and m.group(3) is not None:
            out.append(Insn(int(m.group(1), 16), m.group(2).replace(' ', ''), m.group(3)))
    return out


class Tables:
    def __init__(self, folder):
        self.functions, self.pcs, self.live, self.intact, self.sites = [], [], set(), [], set()
        self.copy_of, self.exact = {}, {}
        for line in open(folder + '/tables'):
            f = line.split()
            if f[0] == 'base':
                self.base = int(f[1], 16)
            elif f[0] == 'function':
                ranges = [tuple(int(x, 16) for x in r.split('-')) for r in f[4:]]
                self.functions.append((int(f[1], 16), int(f[2], 16), f[3], ranges))
            elif f[0] in ('pc', 'near'):
                at, vaddr = int(f[1], 16), int(f[2], 16)
                self.pcs.append((at, vaddr, f[0] == 'near'))
                if f[0] == 'pc':
                    self.copy_of.setdefault(vaddr, at)
                    self.exact.setdefault(at, set()).add(vaddr)
            elif f[0] == 'live':
                self.live.add(int(f[1], 16))
            elif f[0] == 'intact':
                self.intact.append((int(f[1], 16), int(f[2], 16)))
            elif f[0] == 'site':
                self.sites.add(int(f[1], 16))
        self.patches = []
        for line in open(folder + '/patches'):
            vaddr, kind, to, raw = line.split()
            self.patches.append((int(vaddr, 16), int(kind), int(to, 16), raw))

    def is_intact(self, addr):
        i = bisect.bisect(self.intact, (addr, 1 << 64)) - 1
        return i >= 0 and self.intact[i][0] <= addr < self.intact[i][1]


class Check:
    def __init__(self, file, folder):
        self.t = t = Tables(folder)
        code = disassemble('-d', file)
        self.original = {i.addr: i for i in code}
        self.code = code
        image = disassemble('-D', '-b', 'binary', '-m', 'i386:x86-64', '--adjust-vma=%#x' % t.base,
                            folder + '/image')
        self.image = image
        self.index = {i.addr: n for n, i in enumerate(image)}
        self.logs = self.compared = 0

    # ---- copies ----

    def chunk(self, start, end):
        n = self.index.get(start)
        if n is None:
            problem('no instruction begins at %x of the image' % start)
            return []
        out = []
        while n < len(self.image) and self.image[n].addr < end:
            out.append(self.image[n])
            n += 1
        return out

    def leads_to(self, at, vaddr):
        """Does this address of the image, or of the original, stand for vaddr?"""
        return at == vaddr or vaddr in self.t.exact.get(at, ())

    def taken_leads_to(self, at, vaddr):
        """The same behind a log."""
        if self.leads_to(at, vaddr):
            return True
        i = bisect.bisect_left(self.t.pcs, (at, 0, False))
        if i == len(self.t.pcs) or self.t.pcs[i][0] != at or not self.t.pcs[i][2]:
            return False
        end = min([f[1] for f in self.t.functions if f[0] <= at < f[1]] +
                  [p[0] for p in self.t.pcs[i + 1:i + 2]])
        code = self.chunk(at, end)
        return bool(code) and self.is_log(code[:-1]) and code[-1].op == 'jmp' and \
            self.leads_to(code[-1].target, vaddr)

    def is_log(self, code):
        """Do these instructions do nothing but log?"""
        if not code:
            return True
        self.logs += 1
        text = [i.text for i in code]
        for t in text:
            if not is_of_log(t):
                problem('%x: %s is not of a log' % (code[0].addr, t))
                return False
        stores = sum(t.startswith('mov %r') and t.endswith('%gs:0x0') for t in text)
        jumps = sum(t.startswith('jae') for t in text)
        pushes = sum(t.startswith('push') for t in text)
        pops = sum(t.startswith('pop') for t in text) + \
            any(t.startswith('lea 0x88(%rsp)') for t in text)
        # an entry at a landing instruction that is followed by a branch: two logs
        return stores == jumps >= 1 and pushes == pops

    def same(self, copy, old):
        return copy.text == old.text or \
            (copy.target is None and re.sub(r'^(cs|ds|es|ss|rex\S*|data16|notrack|bnd) ', '', copy.text) ==
             re.sub(r'^(cs|ds|es|ss|rex\S*|data16|notrack|bnd) ', '', old.text))

    def drop_fall(self, code, old):
        """Without the jump to what follows the original, which has to be there if that isn't next."""
        if len(code) > 1 and code[-1].op == 'jmp' and self.leads_to(code[-1].target, old.next):
            return code[:-1]
        if old.next in self.t.exact.get(code[-1].next, ()):
            return code
        problem('%x: nothing leads on to %x' % (old.addr, old.next))
        return code

    def is_emulated(self, code, old):
        """push rax or what the call reads; push rax; lea return; mov; pop rax; jmp"""
        if len(code) < 6 or code[-1].op not in ('jmp', 'notrack', 'bnd'):
            return False
        if '[%x]' % old.next not in code[-4].text:
            return False
        jump = code[-1]
        if old.target is not None:
            goes = jump.target == old.target
        else:
            goes = jump.text.replace('jmp', '') == moved(old.text.replace('call', ''))
        return goes and self.is_log(code[:-6])

    def check_insn(self, old, code, at):
        op = old.op
        self.compared += 1
        if old.addr in self.t.live and len(code) and code[-1].op == 'jmp' and \
                code[-1].target == old.addr:
            return self.is_log(code[:-1])  # kept, or a springboard that calls
        if 'call' in old.text.split('*')[0].split(' ')[:2] or op.startswith('call'):
            return self.is_emulated(code, old)
        if old.target is not None and op == 'jmp':
            if code and code[-1].op == 'jmp' and self.leads_to(code[-1].target, old.target):
                return self.is_log(code[:-1])
            end = code[-1].next if code else at
            return self.leads_to(end, old.target) and self.is_log(code)
        if old.target is not None and (op.startswith('loop') or op in ('jrcxz', 'jecxz')):
            code = self.drop_fall(code, old)
            return code[0].op == op and code[1].op == 'jmp' and \
                code[0].target == code[2].addr and code[1].target == code[2].next and \
                self.taken_leads_to(code[2].target, old.target) and self.is_log(code[3:])
        if old.target is not None:
            code = self.drop_fall(code, old)
            return code[0].op == re.sub(',p[nt]$', '', op) and \
                self.taken_leads_to(code[0].target, old.target) and self.is_log(code[1:])
        if not code:
            return op == 'endbr64'
        if op not in ('ret', 'jmp', 'notrack', 'bnd', 'ud2', 'hlt', 'repz') or \
                (op == 'repz' and 'ret' not in old.text):
            code = self.drop_fall(code, old)
        return self.same(code[-1], old) and self.is_log(code[:-1])

    def check_copies(self):
        pcs = self.t.pcs
        for start, end, name, _ in self.t.functions:
            i = bisect.bisect_left(pcs, (start, 0, False))
            while i < len(pcs) and pcs[i][0] < end:
                at, vaddr, near = pcs[i]
                i += 1
                stop = pcs[i][0] if i < len(pcs) else end
                if near:
                    # a stub that is called: what follows begins with the same address
                    if i < len(pcs) and not pcs[i][2] and pcs[i][1] == vaddr and \
                            self.t.copy_of[vaddr] != pcs[i][0]:
                        i += 1
                    continue
                old = self.original.get(vaddr)
                if old is None:
                    continue  # within what the linear sweep takes for another instruction
                code = self.chunk(at, min(stop, end))
                try:
                    good = self.check_insn(old, code, at)
                except IndexError:
                    good = False
                if not good:
                    problem('%s: %x: %s: copied as %s' %
                            (name, vaddr, old.text, '; '.join(c.text for c in code)))

    # ---- patches ----

    def check_patches(self):
        t = self.t
        used, starts = {}, {}
        islands = {to for _, kind, to, _ in t.patches if kind == 1}
        for vaddr, kind, to, raw in t.patches:
            size = len(raw) // 2
            first = min(size, PAGE - vaddr % PAGE)  # across a page nothing may change in the first one
            old = self.original.get(vaddr)
            if first < size and (not old or old.raw[:2 * first] != raw[:2 * first]):
                problem('%x: the patch crosses a page' % vaddr)
            for b in range(vaddr, vaddr + size):
                if b in used:
                    problem('%x: patched twice' % b)
                used[b] = vaddr
            starts[vaddr] = kind
            if kind == 0:
                stands = t.exact.get(to, ())
                if vaddr not in islands and vaddr not in stands:
                    problem('%x: the springboard leads to the copy of %s' % (vaddr, stands))
        where = {v: to for v, kind, to, _ in t.patches if kind == 0}
        hops = {v: to for v, kind, to, _ in t.patches if kind == 1}
        size_of = {v: len(raw) // 2 for v, _, _, raw in t.patches}
        self.parts = {}  # of springboards that are short jumps: where their hops and islands are
        for vaddr, kind, to, _ in t.patches:
            if kind != 1 or vaddr in islands:
                continue
            self.parts[vaddr] = parts = [to]
            while to in hops and len(parts) < 100:
                to = hops[to]
                parts.append(to)
            if vaddr not in t.exact.get(where.get(to), ()):
                problem('%x: its island leads elsewhere' % vaddr)
            if size_of[vaddr] == 1:
                self.check_punned(vaddr, parts[0])
                if vaddr + 1 in used:
                    parts.append(vaddr + 1)
        self.used, self.starts = used, {s for s in starts if s not in islands}

    def check_punned(self, vaddr, to):
        """Is the byte after the one that is written the jump's distance?"""
        byte = next((int(raw[:2], 16) for v, _, _, raw in self.t.patches if v == vaddr + 1), None)
        if byte is None:
            old = next(o for o in self.code if o.addr <= vaddr + 1 < o.next)
            byte = int(old.raw[2 * (vaddr + 1 - old.addr):][:2], 16)
        if vaddr + 2 + byte - (byte >= 128) * 256 != to:
            problem('%x: the byte after it doesn\'t lead to %x' % (vaddr, to))

    def is_good(self, addr):
        """May the original be executed here?"""
        return addr in self.starts or self.t.is_intact(addr) or addr not in self.t.copy_of

    def check_intact(self):
        t = self.t
        for addr in t.live:
            old = self.original.get(addr)
            if old and addr not in self.starts and any(b in self.used for b in range(addr, old.next)):
                problem('%x: %s is kept, but overwritten' % (addr, old.text))
        for old in self.code:
            if not t.is_intact(old.addr) or old.addr in self.starts or old.addr in t.live:
                continue
            if any(b in self.used for b in range(old.addr, old.next)):
                problem('%x: %s is overwritten' % (old.addr, old.text))
            if old.op not in ('jmp', 'ret', 'ud2', 'hlt', 'notrack') and 'ret' not in old.text and \
                    not self.is_good(old.next):
                problem('%x: %s runs into what is overwritten' % (old.addr, old.text))
            if old.target is not None and not self.is_good(old.target):
                problem('%x: %s jumps into what is overwritten' % (old.addr, old.text))

    # ---- between two writes ----

    def number_writes(self):
        """What follows each other in one page is written at once, and what crosses a page alone."""
        self.write_of, last, self.writes = {}, None, 0
        for vaddr, _, _, raw in self.t.patches:
            end = vaddr + len(raw) // 2
            page = vaddr // PAGE if vaddr // PAGE == (end - 1) // PAGE else 'two, at %x' % vaddr
            self.writes += page != last
            last = page
            for b in range(vaddr, end):
                self.write_of[b] = self.writes

    def comes_from(self, ranges):
        """Where control comes into the function by itself: its entry, where it is returned to, springboards."""
        for start, end in ranges:
            for addr in range(start, end):
                old = self.original.get(addr)
                if addr in self.starts or addr == ranges[0][0]:
                    yield addr
                if old and old.op in ('call', 'bnd', 'notrack', 'syscall', 'int', 'sysenter') and \
                        (old.next in self.starts or self.t.is_intact(old.next)):
                    yield old.next

    def walk(self, name, ranges, written):
        """Whoever runs in the original while only these writes are done finds none of them in his way."""
        todo = list(self.comes_from(ranges))
        seen = set()
        while todo:
            addr = todo.pop()
            old = self.original.get(addr)
            if addr in seen or old is None or not any(a <= addr < b for a, b in ranges):
                continue
            seen.add(addr)
            if addr in self.starts and self.write_of[addr] <= written:
                if any(self.write_of[part] > written for part in self.parts.get(addr, ())):
                    problem('%s: after write %d: %x leads to an island that isn\'t there' % (name, written, addr))
                continue
            if any(self.write_of.get(b, 1 << 60) <= written for b in range(addr, old.next)):
                problem('%s: after write %d: %x: %s runs into what is overwritten' % (name, written, addr, old.text))
                return
            ends = old.op in ('jmp', 'ret', 'ud2', 'hlt', 'notrack') or 'ret' in old.text or 'jmp' in old.text
            if not ends and old.op not in ('call', 'bnd', 'syscall'):
                todo.append(old.next)
            if old.target is not None and not old.op.startswith('call'):
                todo.append(old.target)

    def check_writes(self):
        self.number_writes()
        self.torn = 0
        for _, _, name, ranges in self.t.functions:
            writes = {self.write_of[b] for start, end in ranges for b in range(start, end) if b in self.write_of}
            self.torn += len(writes) > 1
            for written in writes:
                self.walk(name, ranges, written)

    def check_callers(self):
        """What other code does."""
        owner = {}
        for n, (_, _, _, ranges) in enumerate(self.t.functions):
            for start, end in ranges:
                for a in range(start, end):
                    owner.setdefault(a, n)
        for old in self.code:
            if old.target is None or old.target not in owner:
                continue
            own = owner.get(old.addr)
            if (own is None or own != owner[old.target] or old.op.startswith('call')) and \
                    not self.is_good(old.target):
                problem('%x: %s leads into what is overwritten' % (old.addr, old.text))
        for _, _, name, ranges in self.t.functions:
            if not self.is_good(ranges[0][0]):
                problem('%s: its entry is overwritten' % name)

    def check_returns(self):
        unproved = 0
        for addr in self.t.live - self.starts:
            old = self.original.get(addr)
            if old and old.next in self.t.copy_of and old.next not in self.t.live:
                # a landing instruction precedes its springboard; else the call doesn't return
                unproved += self.original[old.next].op != 'endbr64'
        return unproved


def main():
    check = Check(*sys.argv[1:3])
    check.check_copies()
    check.check_patches()
    check.check_intact()
    check.check_writes()
    check.check_callers()
    print('%d functions, %d instructions compared, %d logs, %d patches by %d writes, %d functions by several, '
          '%d calls without a springboard, %d problems' %
          (len(check.t.functions), check.compared, check.logs, len(check.t.patches), check.writes, check.torn,
           check.check_returns(), problems))
    return problems != 0


if __name__ == '__main__':
    sys.exit(main())
