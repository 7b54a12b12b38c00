#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""starts.py SITES FILE...: does an instruction start wherever bbtrace would put a probe?

SITES is build/sites (sites.c). The judge is objdump's linear sweep, which is independent of bbtrace: over the whole file;
where it lost track in data, again from the start of the address's FDE, as readelf shows it, and along the code from the
targets of direct jumps that objdump shows, and of those met on the way (past data in the middle of a function, as in Go's
crypto/internal/boring/sig, and between functions, as GHC's). A branch past a prefix is legal (`je 1f; lock; 1: cmpxchg`, in glibc): there an instruction without its prefix counts, too.

A file in which the sweep lost track and that has no FDE can't be judged: it is skipped (stripped programs of Free Pascal, whose
functions are apart by zeros).

Prints a line `BAD PATH BUILD-ID ADDRESS...` for each file with a site that fails; the last line is
`FILES files, SITES sites, BAD not at a start, UNRESOLVED jumps unresolved, SKIPPED files skipped`.
"""

import bisect
import concurrent.futures
import os
import re
import struct
import subprocess
import sys
import tempfile

PREFIXES = re.compile(r"(?:lock|rep[nz]?|repn?z|data16|addr32|notrack|bnd|[c-g]s|ss)\b")
JUMP = re.compile(rb"\bj\w+\s+(?:0x)?([0-9a-f]+)\b")
HEADER = re.compile(rb"pc=([0-9a-f]+)\.\.([0-9a-f]+)")
BUILD_ID = re.compile(r"Build ID: ([0-9a-f]+)")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def instructions(path, *range_):
    """Address -> text of the instruction, by objdump."""
    run = subprocess.Popen(
        ["objdump", "-d", "--no-show-raw-insn", *range_, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    for line in run.stdout:
        if line[:1] != b" ":
            continue
        address, _, text = line.partition(b":")
        try:
            yield int(address, 16), text
        except ValueError:
            pass
    run.wait()


class Frames:
    """Where the FDEs of a file begin and end."""

    def __init__(self, path):
        dump = output("readelf", "--debug-dump=frames", path)
        self.all = sorted((int(m[1], 16), int(m[2], 16)) for m in HEADER.finditer(dump))

    def around(self, address):
        i = bisect.bisect_right(self.all, (address, 1 << 64)) - 1
        return self.all[i] if i >= 0 and self.all[i][0] <= address < self.all[i][1] else None


def starts_in_frame(path, frame):
    return dict(instructions(path, f"--start-address={frame[0]:#x}", f"--stop-address={frame[1]:#x}"))


def jumps_to(path):
    """Where direct jumps lead."""
    found = (JUMP.search(text) for _, text in instructions(path))
    return sorted({int(jump[1], 16) for jump in found if jump})


def bytes_at(path, start, end):
    """What is there of the segment that holds end, of a 64-bit ELF file."""
    with open(path, "rb") as f:
        header = f.read(64)
        table, size, count = *struct.unpack_from("<Q", header, 32), *struct.unpack_from("<HH", header, 54)
        for i in range(count):
            f.seek(table + i * size)
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", f.read(size))
            if kind == 1 and address <= end - 16 < address + length:
                start = max(start, address)
                f.seek(offset + start - address)
                return start, f.read(min(end, address + length) - start)
    return start, b""


WINDOW = 4096  # bytes ahead of an address
ENDS = re.compile(rb"\s*(?:notrack |bnd )?(?:jmp|ret|ud2|hlt|\(bad\))")


def descend(path, jumps, address):
    """Is the address met on the way from direct jumps' targets ahead of it, and from those of the jumps met there? As the
    processor goes: past a jmp or ret nothing is believed, for there tables may be, as between GHC's functions."""
    low, code = bytes_at(path, max(address - WINDOW, 0), address + 16)
    todo = jumps[bisect.bisect_left(jumps, low) : bisect.bisect_right(jumps, address)]
    met = set()
    with tempfile.NamedTemporaryFile() as window:
        window.write(code)
        window.flush()
        while todo:
            start = todo.pop()
            if not low <= start <= address or start in met:
                continue
            for at, text in instructions(
                window.name, "-D", "-b", "binary", "-m", "i386:x86-64",
                f"--adjust-vma={low:#x}", f"--start-address={start:#x}", f"--stop-address={address + 16:#x}",
            ):
                if at == address:
                    return True
                if at in met:
                    break
                met.add(at)
                jump = JUMP.search(text)
                if jump:
                    todo.append(int(jump[1], 16))
                if ENDS.match(text):
                    break
    return False


def is_behind_prefix(known, address):
    for back in range(1, 5):
        text = known.get(address - back)
        if text is not None:
            return bool(PREFIXES.match(text.decode().strip()))
    return False


def not_at_a_start(path, sites):
    wrong = sites - {address for address, _ in instructions(path)}
    if not wrong:
        return []
    frames = Frames(path)
    if not frames.all:
        return None
    bad = []
    for address in sorted(wrong):
        frame = frames.around(address)
        known = starts_in_frame(path, frame) if frame else {}
        if address not in known and not is_behind_prefix(known, address):
            bad.append(address)
    jumps = jumps_to(path) if bad else []
    return [address for address in bad if not descend(path, jumps, address)]


def build_id(path):
    found = BUILD_ID.search(output("readelf", "-n", path).decode("utf-8", "replace"))
    return found[1] if found else "-"


def check(tool, path):
    """Sites, those not at a start, jumps unresolved; None where bbtrace traces nothing of the file."""
    run = subprocess.run([tool, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if run.returncode < 0:
        sys.exit(f"{tool} {path}: ended by signal {-run.returncode}")
    if run.returncode:
        return None
    *addresses, unresolved = run.stdout.split(b"\n")[:-1]
    sites = {int(a, 16) for a in addresses}
    wrong = not_at_a_start(path, sites)
    return None if wrong is None else (len(sites), wrong, int(unresolved.split()[1]))


def main():
    tool, files = sys.argv[1], sys.argv[2:] or [line.rstrip("\n") for line in sys.stdin]
    sites = bad = unresolved = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in zip(files, pool.map(lambda path: check(tool, path), files)):
            if not found:
                skipped += 1
                continue
            sites += found[0]
            unresolved += found[2]
            wrong = found[1]
            if wrong:
                print("BAD", path, build_id(path), *(f"{address:#x}" for address in wrong), flush=True)
            bad += len(wrong)
    print(
        f"{len(files) - skipped} files, {sites} sites, {bad} not at a start, "
        f"{unresolved} jumps unresolved, {skipped} files skipped"
    )


main()
