#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""starts.py SITES FILE...: does an instruction start wherever bbtrace would put a probe?

SITES is build/sites (sites.c). The judge is objdump's linear sweep, which is independent of bbtrace: over the whole file;
where it lost track in data, again from the start of the address's FDE, as readelf shows it, and from the targets of
direct jumps that objdump shows (past data in the middle of a function, as in Go's crypto/internal/boring/sig). A branch
past a prefix is legal (`je 1f; lock; 1: cmpxchg`, in glibc): there an instruction without its prefix counts, too.

Prints a line `BAD PATH BUILD-ID ADDRESS...` for each file with a site that fails; the last line is
`FILES files, SITES sites, BAD not at a start, UNRESOLVED jumps unresolved, SKIPPED files skipped`.
Exceptions, by build-id and with their reason, are in starts.known beside this file.
"""

import bisect
import concurrent.futures
import os
import re
import subprocess
import sys

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


def is_behind_jump(path, jumps, address):
    i = bisect.bisect_right(jumps, address) - 1
    return i >= 0 and address - jumps[i] < 64 and address in starts_in_frame(path, (jumps[i], address + 15))


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
    bad = []
    for address in sorted(wrong):
        frame = frames.around(address)
        known = starts_in_frame(path, frame) if frame else {}
        if address not in known and not is_behind_prefix(known, address):
            bad.append(address)
    jumps = jumps_to(path) if bad else []
    return [address for address in bad if not is_behind_jump(path, jumps, address)]


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
    return len(sites), not_at_a_start(path, sites), int(unresolved.split()[1])


def known_exceptions():
    table = os.path.join(os.path.dirname(os.path.abspath(__file__)), "starts.known")
    with open(table, encoding="utf-8") as lines:
        rows = [line.split(None, 2) for line in lines if line.strip() and line[0] != "#"]
    return {(build, int(address, 16)) for build, address, _ in rows}


def main():
    tool, files = sys.argv[1], sys.argv[2:] or [line.rstrip("\n") for line in sys.stdin]
    known = known_exceptions()
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
                own = build_id(path)
                wrong = [address for address in wrong if (own, address) not in known]
            if wrong:
                print("BAD", path, own, *(f"{address:#x}" for address in wrong), flush=True)
            bad += len(wrong)
    print(
        f"{len(files) - skipped} files, {sites} sites, {bad} not at a start, "
        f"{unresolved} jumps unresolved, {skipped} files skipped"
    )


main()
