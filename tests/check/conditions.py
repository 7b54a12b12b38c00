#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Is what `bbtrace list --sites -F json` tells of conditional branches true?

conditions.py text BBTRACE FILE...: is each `compare` the instruction that objdump shows in front of the branch, the last
one that changes the flags which the branch tests? If there is none, is there a reason? Prints a line `FILE: CONDITIONALS
conditionals, COMPARES compares, RELATIONS relations, WRONG wrong`, and before it what is wrong.

conditions.py run BBTRACE FILE... -- CMD...: single-steps CMD, and at each conditional branch of the FILEs that it executes
evaluates `if_taken` and `if_not_taken` by the registers and the memory at the instruction that set the flags. Exactly the
one that is of the way which control went must hold. Prints `STEPS steps, BRANCHES conditionals, TOLD told, SKIPPED not
evaluated, LOST lost, WRONG wrong`. A lost step (tests/step/README.md) makes no verdict.

Nothing here is from bbtrace but the list: flags, operands and their sizes are by objdump's text and the table below.
"""

import bisect
import collections
import ctypes
import functools
import json
import os
import re
import signal as signals
import struct
import subprocess
import sys

LINE = re.compile(r"^ +([0-9a-f]+):\t(.*)")
NUMBER = re.compile(r"0x([0-9a-f]+)")

# ---- objdump ----

Insn = collections.namedtuple("Insn", "addr text next")


def disassemble(path):
    """The instructions in order of address."""
    run = subprocess.run(
        ["objdump", "-d", "-w", "-M", "intel", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True, check=True
    )
    found = [LINE.match(line) for line in run.stdout.splitlines()]
    rows = sorted({(int(m[1], 16), m[2].strip()) for m in found if m})
    return [Insn(a, t, rows[i + 1][0] if i + 1 < len(rows) else None) for i, (a, t) in enumerate(rows)]


@functools.lru_cache(maxsize=None)
def normal(text):
    """objdump's text, or Zydis', of an instruction in one form: without sizes, with absolute addresses."""
    text, _, note = text.lower().partition("#")
    absolute = re.match(r"\s*(?:0x)?([0-9a-f]+)", note)
    text = re.sub(r"<[^>]*>", "", text)
    text = re.sub(r"\b(?:byte|[a-z]*word|fword|tbyte|oword)(?: ptr| bcst)? ", "", text)
    if absolute:
        text = re.sub(r"\[rip[^]]*\]", f"[0x{absolute[1]}]", text)
    text = re.sub(r"\b([cdefgs]s):(0x[0-9a-f]+)", r"\1:[\2]", text)
    text = re.sub(r"\bds:", "", text)
    text = NUMBER.sub(lambda m: hex(int(m[1], 16)), text)
    text = re.sub(r"\+0x0\]", "]", text)
    text = re.sub(r"\*1\b(?!\d)", "", text)
    text = re.sub(r"\bst\((\d)\)", r"st\1", text)
    text = re.sub(r"\bst\b(?!\d)", "st0", text)
    text = re.sub(r"^((?:lock )?)sal\b", r"\1shl", text)
    text = re.sub(r"^((?:lock )?)popfq?\b", r"\1popf", text)
    text = re.sub(r",1$", ",0x1", text)
    text = re.sub(r"^((?:rep|repz|repnz|lock|data16|addr32|bnd|[cdefgs]s|rex\.?[wrxb]*) )+", lambda m: m[0] if "lock" in m[0] else "", text)
    head, _, tail = text.strip().partition(" ")
    if head == "lock":
        verb, _, tail = tail.strip().partition(" ")
        head = "lock " + verb
    return (head + " " + tail.replace(" ", "")).strip()


# ---- which flags an instruction changes, or may change ----

ALL = "cpzso"
READS = {
    "o": "o", "no": "o", "b": "c", "ae": "c", "e": "z", "ne": "z", "be": "cz", "a": "cz", "s": "s", "ns": "s",
    "p": "p", "np": "p", "l": "so", "ge": "so", "le": "zso", "g": "zso",
}  # fmt: skip
FLAGLESS = re.compile(
    r"^(mov\w*|lea|push\w*|pop|nop\w*|endbr64|set\w+|cmov\w+|not|xchg|bswap|cdq|cqo|cwde|cdqe|cwd|cbw|movs|stos|lods|xlat"
    r"|sarx|shlx|shrx|rorx|mulx|pdep|pext|prefetch\w*|[lms]fence|ldmxcsr|stmxcsr|xgetbv|rdtscp?|cpuid|pause|leave|cld|std"
    r"|v(?!ptest|u?comis|testp)\w+|k(?!ortest|test)\w+|p(?!test|cmp[ei]str|opcnt|opf)\w+|f(?!u?comip?)\w+|cvt\w+|emms"
    r"|(add|sub|mul|div|and|andn|or|xor|sqrt|min|max|unpck\w|cmp\w*|shuf|r(cp|sqrt)|addsub|h(add|sub)|round|blendv?)(p|s)(s|d)"
    r"|l?ddqu|xsave\w*|xrstor\w*|fx\w+|rd[fg]sbase|wr[fg]sbase|data16|cs|ss|ds|es|aes\w+|sha(1|256)\w+|gf2p8\w+|clflush\w*|clwb|movbe)$"
)
PARTS = {
    "inc": "pzso", "dec": "pzso", "clc": "c", "stc": "c", "cmc": "c", "rol": "co", "ror": "co", "rcl": "co", "rcr": "co",
    "sahf": "cpzs", "cmpxchg8b": "z", "cmpxchg16b": "z", "adcx": "c", "adox": "o", "bt": "cpso", "bts": "cpso",
    "btr": "cpso", "btc": "cpso",
}  # fmt: skip
TRANSFER = re.compile(r"^(?:(?:notrack|bnd|rep[nz]?|repn?z|data16|[c-g]s) )*(?:j\w+|call\w*|ret\w*|loop\w*|syscall|sysenter|int\w*|hlt|ud\w+|iret\w*|xabort|xbegin|\(bad\))")


@functools.lru_cache(maxsize=None)
def changes(text):
    """The flags that an instruction, in normal form, changes or may change."""
    head = text.removeprefix("lock ").split(" ")[0]
    if head in ("rep", "repz", "repnz", "bnd", "data16"):
        head = (text.split(" ") + [""])[1]
    if FLAGLESS.match(head):
        return ""
    return PARTS.get(head, ALL)


def condition_of(site):
    return READS.get(site["insn"][1:]) if site["kind"] == "jcc" else {"loope": "z", "loopne": "z"}.get(site["insn"], "")


# ---- the texts ----


def sites_of(bbtrace, path):
    run = subprocess.run([bbtrace, "list", "-q", "-F", "json", "--sites", path, "*"], stdout=subprocess.PIPE, check=True)
    sites = [json.loads(line) for line in run.stdout.splitlines()]
    return [s for s in sites if s["kind"] in ("jcc", "loop")]


class Code:
    def __init__(self, path):
        self.insns = disassemble(path)
        self.starts = [i.addr for i in self.insns]
        direct = (i.text for i in self.insns if "<" in i.text and "#" not in i.text) # most have neither: no expression for them
        branches = (re.match(r"\S+ +(?:\S+ )*([0-9a-f]+) <", text) for text in direct if TRANSFER.match(text))
        self.targets = {int(m[1], 16) for m in branches if m}

    def at(self, addr):
        i = bisect.bisect_left(self.starts, addr)
        return i if i < len(self.starts) and self.starts[i] == addr else None

    def setter(self, branch, reads):
        """The last instruction before a branch that changes flags of these; None and a reason, if that isn't known."""
        i = self.at(branch)
        if i is None:
            return None, "overlaps"
        while True:
            if self.starts[i] in self.targets:
                return None, "entered"
            i -= 1
            if i < 0 or self.insns[i].next != self.starts[i + 1] or TRANSFER.match(self.insns[i].text):
                return None, "another block"
            if set(changes(normal(self.insns[i].text))) & set(reads):
                return self.insns[i], ""


def why_silent(text, reads):
    """Why is a setter that is there not told?"""
    head = text.removeprefix("lock ").split(" ")[0]
    if set(reads) - set(PARTS.get(head, ALL)):
        return "other flags are older"
    if head in ("shl", "shr", "sar", "shld", "shrd", "rol", "ror", "rcl", "rcr") and text.endswith(",cl"):
        return "it may change nothing"
    if head in ("mul", "imul", "div", "idiv", "bsf", "bsr", "tzcnt", "lzcnt", "bt", "bts", "btr", "btc", "bextr", "blsi", "blsr"):
        return "flags are undefined"
    if head in ("cmps", "scas", "rdrand", "rdseed", "xtest", "popf"):
        return "not described"
    return None


def check_text(bbtrace, path):
    code, sites = Code(path), sites_of(bbtrace, path)
    compares = relations = wrong = 0
    reasons = collections.Counter()
    for site in sites:
        told = site.get("compare")
        compares += told is not None
        relations += "if_taken" in site
        reads = condition_of(site)
        if not reads:
            wrong += told is not None
            continue
        insn, reason = code.setter(int(site["vaddr"], 16), reads)
        seen = normal(insn.text) if insn else None
        if told is None:
            reason = reason or why_silent(seen, reads)
            reasons[reason or f"no reason: {seen}"] += 1
            bad = not reason
        else:
            bad = normal(told) != seen and reason != "overlaps"
            reasons[reason] += bool(reason)
        if bad:
            print(f"{path} {site['vaddr']} {site['insn']}: '{told}', objdump has '{insn.text if insn else reason}'")
            wrong += 1
    print("; ".join(f"{n} {reason}" for reason, n in reasons.most_common()))
    print(f"{path}: {len(sites)} conditionals, {compares} compares, {relations} relations, {wrong} wrong")


# ---- the steps ----

TRACEME, PEEKUSER, CONT, SINGLESTEP, GETREGS, GETFPREGS = 0, 3, 7, 9, 12, 14
RIP = 16 * 8
LIMIT = int(os.environ.get("LIMIT", "40000"))  # conditionals of a run
ORDER = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs flags rsp ss fs_base gs_base".split()
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def registers_by_name():
    """Name → the 64-bit register, first bit, bits."""
    names = {}
    for full in ("rax", "rbx", "rcx", "rdx"):
        letter = full[1]
        names |= {full: (full, 0, 64), "e" + full[1:]: (full, 0, 32), full[1:]: (full, 0, 16)}
        names |= {letter + "l": (full, 0, 8), letter + "h": (full, 8, 8)}
    for full in ("rsi", "rdi", "rbp", "rsp"):
        names |= {full: (full, 0, 64), "e" + full[1:]: (full, 0, 32), full[1:]: (full, 0, 16), full[1:] + "l": (full, 0, 8)}
    for n in range(8, 16):
        names |= {f"r{n}": (f"r{n}", 0, 64), f"r{n}d": (f"r{n}", 0, 32), f"r{n}w": (f"r{n}", 0, 16), f"r{n}b": (f"r{n}", 0, 8)}
    return names


REGISTERS = registers_by_name()
SIZES = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128}


class State:
    """A stopped process: its registers, read when they are needed."""

    def __init__(self, pid, memory):
        self.memory = memory
        raw = (ctypes.c_ulong * 27)()
        libc.ptrace(GETREGS, pid, None, ctypes.addressof(raw))
        self.regs = dict(zip(ORDER, raw))
        self.pid, self.floats = pid, None

    def xmm(self, n):
        if self.floats is None:
            raw = (ctypes.c_ubyte * 512)()
            libc.ptrace(GETFPREGS, self.pid, None, ctypes.addressof(raw))
            self.floats = bytes(raw)
        return self.floats[160 + 16 * n : 176 + 16 * n]

    def load(self, address, bits):
        return int.from_bytes(os.pread(self.memory, bits // 8, address), "little")


class Unknown(Exception):
    pass


def address_of(text, base):
    """A function of the state: the address that a memory operand without its size names."""
    found = re.fullmatch(r"(?:([cdefgs]s):)?\[(.*)\]", text)
    if not found:
        raise Unknown(text)
    terms = re.findall(r"([+-]?)([^+-]+)", found[2])
    parts = []
    for sign, term in terms:
        name, _, scale = term.partition("*")
        if name in REGISTERS and REGISTERS[name][2] == 64:
            parts.append((name, int(scale or "1", 0)))
        elif re.fullmatch(r"0x[0-9a-f]+", name) and not scale:
            parts.append((None, -int(name, 16) if sign == "-" else int(name, 16)))
        else:
            raise Unknown(text)
    start = {"fs": "fs_base", "gs": "gs_base"}.get(found[1])
    fixed = base if len(parts) == 1 and parts[0][0] is None and not start else 0

    def address(state):
        at = fixed + (state.regs[start] if start else 0)
        return (at + sum(state.regs[r] * n if r else n for r, n in parts)) % (1 << 64)

    return address


def operand(text, sizes, base, default=64):
    """An operand as a function of the state, and its bits; None: a number, of whichever."""
    size, _, rest = text.partition(" ptr ")
    if rest:
        text = rest
    if text in REGISTERS:
        full, low, bits = REGISTERS[text]
        return (lambda state: state.regs[full] >> low & (1 << bits) - 1), bits
    if re.fullmatch(r"xmm\d+", text):
        n = int(text[3:])
        return (lambda state: int.from_bytes(state.xmm(n), "little")), 128
    if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text):
        value = int(text, 0)
        return (lambda state: value), None
    if "[" not in text:
        raise Unknown(text)
    text = normal("x " + text)[2:]
    bits = SIZES.get(size) or sizes.get(text, default)
    if sizes.get(text, bits) != bits:
        raise Unknown(f"the size of {text}")
    address = address_of(text, base)
    return (lambda state: state.load(address(state), bits)), bits


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


OPS = {
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def number(raw, bits, how):
    if how == "float":
        return struct.unpack("<d" if bits == 64 else "<f", (raw & (1 << bits) - 1).to_bytes(bits // 8, "little"))[0]
    return signed(raw, bits) if how == "signed" else raw & (1 << bits) - 1


def relation(text, insn, base):
    """What a relation says, as a function of the state; whether that is the one before the instruction."""
    text, before, how = text.strip(), False, "signed"
    notes = re.search(r" \(((?:unsigned|before)(?:, before)?)\)$", text)
    if notes:
        text, before = text[: notes.start()], "before" in notes[1]
        how = "unsigned" if "unsigned" in notes[1] else how
    seen = insn.text.lower().partition("#")[0] + " #" + insn.text.partition("#")[2]
    sizes = {}
    for size, rest in re.findall(r"\b(byte|word|dword|qword|xmmword) ptr ((?:[c-g]s:)?(?:\[[^]]*\]|0x\w+))", seen):
        note = seen[seen.index("#") :] if "[rip" in rest else ""
        sizes[normal("x " + rest + " " + note)[2:]] = SIZES[size]
    floating = re.search(r"comi(s[sd])\b", insn.text)
    width = {"ss": 32, "sd": 64}[floating[1]] if floating else None

    def get(word):
        return operand(word, sizes, base)

    if floating:
        return float_relation(text, get, width), before
    if found := re.fullmatch(r"bit (\S+)(?: % (\d+))? of (.*) is (set|clear)", text):
        (index, _), (value, bits) = get(found[1]), get(found[3])
        if bits is None or (not found[2] and "[" in found[3] and not found[1].isdigit()):
            raise Unknown(text)
        wanted = found[4] == "set"
        return (lambda s: bool(value(s) >> index(s) % int(found[2] or 1 << 30) & 1) == wanted), before
    if found := re.fullmatch(r"(.*) ([+-]) (\S+) (overflows|doesn't overflow)", text):
        (a, bits), (b, _) = get(found[1]), get(found[3])
        sign, wanted = (1 if found[2] == "+" else -1), found[4] == "overflows"

        def overflows(s):
            exact = number(a(s), bits, how) + sign * number(b(s), bits, how)
            return (exact != number(exact, bits, how)) == wanted

        return overflows, before
    if found := re.fullmatch(r"(.*) \+ (.*) ([=<>!]+) 0", text):
        (a, bits), (b, _) = get(found[1]), get(found[2])
        return (lambda s: OPS[found[3]](signed(a(s), bits) + signed(b(s), bits), 0)), before
    if found := re.fullmatch(r"\((.*) & (.*)\) ([=<>!]+) 0", text):
        (a, bits), (b, more) = get(found[1]), get(found[2])
        bits = bits or more
        return (lambda s: OPS[found[3]](signed(a(s) & b(s), bits), 0)), before
    if found := re.fullmatch(r"(.*) (==|!=|<|<=|>|>=) (.*)", text):
        (a, bits), (b, more) = get(found[1]), get(found[3])
        bits = bits or more
        if more not in (None, bits):
            raise Unknown(f"the sizes of {text}")
        return (lambda s: OPS[found[2]](number(a(s), bits, how), number(b(s), bits, how))), before
    raise Unknown(text)


def float_relation(text, get, width):
    def value(word):
        raw = get(word)[0]
        return lambda s: number(raw(s), width, "float")

    if found := re.fullmatch(r"(\S+) (is|is not) NaN", text):
        a = value(found[1])
        return lambda s: (a(s) != a(s)) == (found[2] == "is")
    if found := re.fullmatch(r"(.*) and (.*) (unordered|ordered)", text):
        a, b = value(found[1]), value(found[2])
        return lambda s: (a(s) != a(s) or b(s) != b(s)) == (found[3] == "unordered")
    if found := re.fullmatch(r"(.*) < or > (.*)", text):
        a, b = value(found[1]), value(found[2])
        return lambda s: a(s) < b(s) or a(s) > b(s)
    if found := re.fullmatch(r"(\S+) ([=<>]+) (.*?)( or unordered)?", text):
        a, b = value(found[1]), value(found[3])
        return lambda s: OPS[found[2]](a(s), b(s)) or bool(found[4] and (a(s) != a(s) or b(s) != b(s)))
    raise Unknown(text)


Told = collections.namedtuple("Told", "site insn taken not_taken before")


class Stepped:
    """What is told of the conditionals of an object, by running address."""

    def __init__(self, bbtrace, path):
        self.path, self.code = os.path.realpath(path), Code(path)
        self.sites = sites_of(bbtrace, path)
        self.compares, self.branches = {}, {}  # by running address
        self.unknown = collections.Counter()

    def map(self, base):
        for site in self.sites:
            addr = int(site["vaddr"], 16)
            i = self.code.at(addr)
            if i is None:
                continue
            told = None
            if "if_taken" in site:
                try:
                    told = self.understand(site, base)
                except Unknown as why:
                    self.unknown[re.sub(r"\W.*", "", site.get("compare", site["insn"])) + ": " + str(why)] += 1
            self.branches[base + addr] = (base + int(site["to"]["vaddr"], 16), base + self.code.insns[i].next, told)
            if told and told.insn:
                self.compares[base + told.insn.addr] = told

    def understand(self, site, base):
        insn = Insn(int(site["vaddr"], 16), "counter", 0)
        if "compare" in site:
            insn, _ = self.code.setter(insn.addr, condition_of(site))
            if insn is None or normal(insn.text) != normal(site["compare"]):
                raise Unknown("not objdump's")
        elif site["insn"].startswith("loop"):
            raise Unknown("a counter")
        taken, before = relation(site["if_taken"], insn, base)
        not_taken, also = relation(site["if_not_taken"], insn, base)
        if before != also:
            raise Unknown("both sides at one time")
        return Told(site, insn if "compare" in site else None, taken, not_taken, before)


class Run:
    def __init__(self, objects, command):
        self.unmapped = list(objects)
        self.compares, self.branches = {}, {}
        self.counts = collections.Counter()
        self.held = None  # the last compare: its address, the verdicts
        self.pid = os.fork()
        if not self.pid:
            libc.ptrace(TRACEME, 0, None, None)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os.execvp(command[0], command)
        os.waitpid(self.pid, 0)
        self.memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)

    def find_objects(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            rows = [line.split(maxsplit=5) for line in maps]
        for o in list(self.unmapped):
            for row in rows:
                if len(row) == 6 and row[5].strip() == o.path and int(row[2], 16) == 0:
                    o.map(int(row[0].split("-")[0], 16))
                    self.compares |= o.compares
                    self.branches |= o.branches
                    self.unmapped.remove(o)
                    break

    def step(self, signal):
        """The instruction pointer behind a step; None: the process has ended."""
        libc.ptrace(SINGLESTEP, self.pid, None, signal)
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            return None, 0
        signal = os.WSTOPSIG(status)
        return libc.ptrace(PEEKUSER, self.pid, RIP, None) % (1 << 64), 0 if signal == 5 else signal

    def evaluate(self, told):
        state = State(self.pid, self.memory)
        return told.taken(state), told.not_taken(state)

    def judge(self, branch, came):
        taken, behind, told = branch
        self.counts["branches"] += 1
        if told is None:
            self.counts["skipped"] += 1
        elif came not in (taken, behind) or self.held is None:
            self.counts["lost"] += 1
        else:
            self.counts["told"] += 1
            if taken != behind and self.held != (came == taken, came != taken):
                self.counts["wrong"] += 1
                print(f"{told.site['vaddr']} {told.site}: went to {came:#x}, the two are {self.held}")

    def run(self):
        at, signal, steps, since = libc.ptrace(PEEKUSER, self.pid, RIP, None) % (1 << 64), 0, 0, None
        while at is not None and self.counts["branches"] < LIMIT:
            if self.unmapped and steps % 5000 == 0:
                self.find_objects()
            told, branch = self.compares.get(at), self.branches.get(at)
            if branch and branch[2] and not branch[2].insn:
                self.held = self.evaluate(branch[2])
            elif branch and branch[2] and since != branch[2]:
                self.held = None
            early = self.evaluate(told) if told and told.before else None
            came, signal = self.step(signal)
            if branch and came is not None and not signal:
                self.judge(branch, came)
            if told:
                ran = came == at + told.insn.next - told.insn.addr and not signal
                since, self.held = told, (early or self.evaluate(told)) if ran else None
            elif branch or signal:
                since = self.held = None
            at, steps = came, steps + 1
        if at is not None:
            os.kill(self.pid, signals.SIGKILL)
            os.waitpid(self.pid, 0)
        self.counts["steps"] = steps
        return self.counts


def check_run(bbtrace, objects, command):
    objects = [Stepped(bbtrace, path) for path in objects]
    counts = Run(objects, command).run()
    for o in objects:
        for why, n in o.unknown.most_common(20):
            print(f"# {o.path}: {n} not understood: {why}")
    names = ("steps", "branches", "told", "skipped", "lost", "wrong")
    words = ("steps", "conditionals", "told", "not evaluated", "lost", "wrong")
    print(", ".join(f"{counts[name]} {word}" for name, word in zip(names, words)))


def main():
    mode, bbtrace, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if mode == "text":
        for path in rest:
            check_text(bbtrace, path)
    else:
        end = rest.index("--")
        check_run(bbtrace, rest[:end], rest[end + 1 :])


if __name__ == "__main__":
    main()
