# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU executed of an object, and how that compares with what bbtrace traced. Used by qemu.py (here) and
tests/arch/reference.py (other architectures).

Branches and their targets are objdump's; the next instruction that QEMU executed shows which were taken. The functions'
extents are bbtrace's; cold parts are found by .eh_frame.
"""
import array
import bisect
import json
import os
import re
import subprocess
import sys

LINE = re.compile(r"^ +([0-9a-f]+):\t(.*)")
TRACE = re.compile(rb"^Trace \d+: \S+ \[\w+/(\w+)/")
GAP = None
STOPPED = None  # among addresses: QEMU has not executed the last one
RUN = 64  # events that have to fit behind a gap


class Machine:
    """tools: prefix of binutils. branch: a branch in objdump's text, its mnemonic and its operands. conditional: of these
    the mnemonics of those that may fall through. target: a direct one's, in the operands."""

    def __init__(self, name, qemu, tools, branch, conditional, target):
        self.name, self.qemu, self.tools = name, qemu, tools
        self.branch, self.conditional, self.target = map(re.compile, (branch, conditional, target))


MACHINES = {
    "x86-64": Machine(
        "x86-64",
        "qemu-x86_64",
        "",
        r"(?:(?:notrack|bnd|rep[nz]?|repn?z|data16|addr32|[c-g]s) )*(j\w+|call\w*|ret\w*|loop\w*)(?:,p[nt])?\s*(.*)",
        r"j(?!mp)|loop",
        r"(?:0x)?([0-9a-f]+)\b(?! *\()",
    ),
    "arm64": Machine(
        "arm64",
        "qemu-aarch64",
        "aarch64-linux-gnu-",
        r"(bc?\.\w+|bl?|c[b][a-z]+|tbn?z|br|blr|ret|blra\w+|bra[ab]z?|reta\w+)(?:\s+(.*))?$",
        r"bc?\.(?!al$|nv$)|cb|tb",
        r"(?:.*, *)?(?:0x)?([0-9a-f]+)(?: <.*)?$",
    ),
    "riscv64": Machine(
        "riscv64",
        "qemu-riscv64",
        "riscv64-linux-gnu-",
        r"(b(?:eq|ne|lt|ge|le|gt)[uz]?|j|jal|jr|jalr|ret)(?:\s+(.*))?$",
        r"b",
        r"(?:.*,)?(?:0x)?([0-9a-f]+)(?: <.*)?$",
    ),
}


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Object:
    """An object file, by bbtrace, objdump and readelf. target: the file here; names: the functions that are traced."""

    def __init__(self, bbtrace, target, machine="x86-64", names=("*",)):
        self.bbtrace, self.target, self.machine, self.names = bbtrace, target, MACHINES[machine], names
        self.segments = self.read_segments()
        self.branches = self.read_branches(self.extents())

    def is_fixed(self):
        """Its addresses are those of the file, in each run."""
        return bool(re.search(r"^ *Type: +EXEC", self.tool("readelf", "-h"), re.M))

    def tool(self, name, *options):
        command = [self.machine.tools + name, *options, self.target]
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
        ).stdout

    def listed(self, *arguments):
        command = [self.bbtrace, "list", "-q", "-F", "json", *arguments]
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        return [json.loads(line) for line in out.splitlines()]

    def extents(self):
        """Where the traced functions lie: [start, end), ascending."""
        functions = self.listed(self.target, *self.names)
        rows = sorted((int(f["vaddr"], 16), int(f["vaddr"], 16) + f["size"]) for f in functions if "size" in f)
        sites = sorted(int(site["vaddr"], 16) for site in self.listed("--sites", self.target, *self.names))
        frames = self.tool("readelf", "--debug-dump=frames")
        parts, ranges = [], {(int(a, 16), int(b, 16)) for a, b in re.findall(r"FDE .*pc=(\w+)\.\.(\w+)", frames)}
        ends = dict(ranges)  # a function's size includes its cold part, which lies elsewhere
        rows = [(start, min(end, ends.get(start, end))) for start, end in rows]
        for start, end in sorted(ranges):
            below = bisect.bisect_right(rows, (start, 1 << 64)) - 1
            first = bisect.bisect_left(sites, start)
            if (below < 0 or start >= rows[below][1]) and first < len(sites) and sites[first] < end:
                parts.append((start, end))
        return sorted(rows + parts)

    def read_branches(self, ranges):
        """Address -> (conditional, target, next)."""
        found, pending = {}, None
        for line in self.tool("objdump", "-d", "--no-show-raw-insn", "-w").splitlines():
            match = LINE.match(line)
            if not match:
                continue
            address = int(match[1], 16)
            if pending:
                found[pending[0]] = (*pending[1:], address)
                pending = None
            branch = self.machine.branch.match(match[2])
            i = bisect.bisect_right(ranges, (address, 1 << 64)) - 1
            if not branch or i < 0 or address >= ranges[i][1]:
                continue
            conditional = bool(self.machine.conditional.match(branch[1]))
            direct = self.machine.target.match(branch[2] or "")
            pending = (address, conditional, int(direct[1], 16) if direct else None)
        if pending:
            found[pending[0]] = (*pending[1:], None)
        return found

    def read_segments(self):
        out = self.tool("readelf", "-lW")
        return [
            (int(m[1], 16), int(m[2], 16), int(m[3], 16), "E" in m[4])
            for m in re.finditer(r"LOAD +(0x\w+) (0x\w+) \S+ \S+ (0x\w+) ([RWE ]+)", out)
        ]


def followed(known, points):
    """(branch, taken or None, where to) one after the other. points: (address, whether it is the last instruction of its
    block); what follows a branch tells where it went."""
    path, branch = [], None
    for pc, last in points:
        if last:
            branch = pc if pc in known else None
            continue
        if branch is not None and pc is not STOPPED:
            conditional, to, after = known[branch]
            path.append((branch, to == after or pc != after if conditional else None, pc))
        branch = None
    if branch is not None:
        path.append((branch, None, None))
    return path


def followed_in_guest(thing, log):
    """followed() of a program that was traced in a guest, from the log of its very run (tests/vm/logged.c)."""

    def points():
        with open(log, "rb") as file:
            while chunk := file.read(1 << 20):
                for word in array.array("Q", chunk):
                    yield word >> 1, bool(word & 1)

    return followed(thing.branches, points())


class Emulation:
    """Runs of a command by QEMU. inside: the object's path as the program sees it; here: the program's file, if it isn't
    command[0]; options: more for QEMU, the processor's model among them; stdin: a file; env, cwd: as in subprocess."""

    def __init__(self, thing, folder, inside, command, options=(), here=None, stdin=os.devnull, env=None, cwd=None):
        self.thing, self.folder, self.inside, self.command = thing, folder, inside, command
        self.options, self.here, self.stdin = options, here or command[0], stdin
        self.env, self.cwd = env, cwd

    def run(self, name, *options):
        path = f"{self.folder}/{name}"
        qemu = ["setarch", "-R", self.thing.machine.qemu, *self.options, "-one-insn-per-tb", "-D", path, *options]
        qemu += ["-0", self.command[0], self.here, *self.command[1:]]
        with open(path + ".out", "wb") as out, open(path + ".err", "wb") as err, open(self.stdin, "rb") as stdin:
            status = subprocess.run(
                qemu, stdin=stdin, stdout=out, stderr=err, env=self.env, cwd=self.cwd, check=False
            ).returncode
        return status, path

    def bias_of(self, log):
        """Running address minus link-time address, by where QEMU (the program) or the loader (a library) has mapped the
        object."""
        first_vaddr = min(vaddr for _, vaddr, _, _ in self.thing.segments) & ~0xFFF
        with open(log, encoding="utf-8", errors="replace") as lines:
            text = lines.read()
        if self.is_program():
            return int(re.search(r"^(\w{8,16})-\w{8,16} \w+ r", text, re.M)[1], 16) - first_vaddr
        for opened in re.finditer(r'openat\(\S+?,"([^"]+)",\S+\) = (\d+)\n', text):
            if os.path.basename(self.inside) in map(os.path.basename, (opened[1], os.path.realpath(opened[1]))):
                mapped = re.compile(r"mmap\(\w+,\d+,\S+,\S+," + opened[2] + r",0\) = 0x(\w+)")
                return int(mapped.search(text, opened.end())[1], 16) - first_vaddr
        sys.exit(f"{self.inside}: {self.command[0]} doesn't map it")

    def is_program(self):
        return self.inside == self.command[0] or os.path.realpath(self.inside) == os.path.realpath(self.command[0])

    def executed(self, log, bias):
        """As followed(). QEMU logs an instruction before it executes it, once more if it was stopped there."""

        def points():
            with open(log, "rb") as lines:
                for line in lines:
                    match = TRACE.match(line)
                    if match:
                        pc = int(match[1], 16) - bias
                        yield pc, False
                        yield pc, True
                    elif line.startswith(b"Stopped execution"):
                        yield STOPPED, False

        return followed(self.thing.branches, points())

    def reference(self):
        """QEMU's status and path. Where it maps the object may change from run to run: the log is of use when it was
        where it was expected."""
        maps = "page" if self.is_program() else "strace"
        status, log = self.run("mapped", "-d", maps)
        bias = self.bias_of(log)
        for _ in range(5):
            code = [f"{v + bias:#x}..{v + bias + size:#x}" for _, v, size, runs in self.thing.segments if runs]
            status, log = self.run("qemu", "-d", f"exec,nochain,{maps}", "-dfilter", ",".join(code))
            expected, bias = bias, self.bias_of(log)
            if bias == expected:
                return status, self.executed(log, bias)
        return status, []


# ---- what bbtrace tells ----


def traced(lines, inside):
    """JSON lines as Emulation.executed(); GAP where it says that it doesn't know. inside: the object's path in them."""
    for line in lines:
        event = json.loads(line)
        if event["event"] in ("unknown", "lost"):
            yield GAP
        elif event["event"] == "branch":
            to = event.get("to") or {}
            own = to.get("vaddr") and to.get("object") == inside
            yield int(event["vaddr"], 16), event.get("taken"), int(to["vaddr"], 16) if own else None


def same(ref, got):
    return ref[0] == got[0] and ref[1] == got[1] and (got[2] is None or ref[2] is None or ref[2] == got[2])


def resync(ref, r, got, g):
    """Where the reference goes on behind a gap."""
    run = []
    for event in got[g : g + RUN]:
        if event is GAP:
            break
        run.append(event)
    if g >= len(got):
        return len(ref)
    for at in range(r, len(ref) + 1):
        if len(ref) - at >= len(run) and all(same(ref[at + i], e) for i, e in enumerate(run)):
            return at
    return None


def text(event):
    if event is GAP:
        return "unknown"
    outcome = {None: "", True: " taken", False: " not taken"}[event[1]]
    return f"{event[0]:#x}{outcome}" + (f" to {event[2]:#x}" if event[2] is not None else "")


def difference(ref, got, r, g):
    rows = []
    for i in range(-8, 4):
        left = text(ref[r + i]) if 0 <= r + i < len(ref) else ""
        right = text(got[g + i]) if 0 <= g + i < len(got) else ""
        rows.append(f"{'>' if i == 0 else ' '} {left:44} | {right}")
    return f"QEMU's {r} of {len(ref)}, bbtrace's {g} of {len(got)}:\n" + "\n".join(rows)


def compare(ref, got):
    """Branches equal, gaps, branches under them, and the first difference."""
    r = equal = gaps = hidden = 0
    for g, event in enumerate(got):
        if event is GAP:
            at = resync(ref, r, got, g + 1)
            if at is None:
                return equal, gaps, hidden, "behind an unknown: " + difference(ref, got, r, g + 1)
            gaps, hidden, r = gaps + 1, hidden + at - r, at
            continue
        if r >= len(ref) or not same(ref[r], event):
            return equal, gaps, hidden, difference(ref, got, r, g)
        equal, r = equal + 1, r + 1
    return equal, gaps, hidden, difference(ref, got, r, len(got)) if r < len(ref) else ""


# ---- TAP ----


class Tap:
    def __init__(self):
        self.tests = self.failed = 0

    def check(self, good, name, why=""):
        self.tests += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.tests} - {name}")
        if why and not good:
            print(re.sub("^", "# ", why.strip(), flags=re.M))
        sys.stdout.flush()

    def done(self):
        print(f"1..{self.tests}")
        sys.exit(self.failed > 0)
