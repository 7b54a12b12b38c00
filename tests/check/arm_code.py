# SPDX-License-Identifier: BSD-2-Clause
"""What objdump doesn't know of stripped 32-bit ARM code, by its own output and the file's bytes: constants among the
code, which it shows as instructions, and where an IT block ends, of which it takes constants for the start."""

import re
import struct

LITERAL = re.compile(r"\[pc, #-?\d+\]\s*@ \(?(?:0x)?([0-9a-f]+)\b")
ADR = re.compile(r"\(adr \w+, ([0-9a-f]+)\b")
CONDITION = re.compile(r"b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)(\.[nw])?")


class Memory:
    """The bytes that a file's segments map."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        (start,) = struct.unpack_from("<I", self.data, 28)
        size, count = struct.unpack_from("<HH", self.data, 42)
        heads = [struct.unpack_from("<5I", self.data, start + i * size) for i in range(count)]
        self.loads = [(vaddr, offset, length) for kind, offset, vaddr, _, length in heads if kind == 1]

    def at(self, address, size):
        for vaddr, offset, length in self.loads:
            if vaddr <= address < vaddr + length:
                at = address - vaddr + offset
                return int.from_bytes(self.data[at : at + size], "little")
        return None


def table(memory, address, size):
    """The end of a tbb's or tbh's table: it reaches up to the first of its targets. A byte that fills the last halfword
    is no entry: it would lead back into the table."""
    at, first = address, address + 0x20000
    while at < first:
        entry = memory.at(at, size)
        if entry is None or address + 2 * entry <= at:
            break
        first = min(first, address + 2 * entry)
        at += size
    return first


def words(memory, address):
    """The end of a table of distances from its start: it reaches up to the first target behind it, and code isn't
    taken for distances within a function."""
    at, first = address, address + 0x10000
    while at < first:
        entry = memory.at(at, 4)
        if entry is None or 0x8000 <= entry < (1 << 32) - 0x8000:
            break
        if entry < 0x8000:
            first = min(first, address + entry & ~1)
        at += 4
    return at


def data(memory, rows):
    """The halfwords that instructions read as constants, of (address, mnemonic, operands)."""
    found = set()
    for address, mnemonic, operands in rows:
        literal = LITERAL.search(operands)
        if literal and mnemonic.startswith(("ldr", "vldr")):
            start = int(literal[1], 16)
            size = 8 if mnemonic.startswith("ldrd") or re.match(r"d\d", operands) else 4
            found.update(range(start, start + size, 2))
        relative = ADR.search(operands)
        if relative:
            start = int(relative[1], 16)
            found.update(range(start, words(memory, start), 2))
        if mnemonic.startswith(("tbb", "tbh")) and operands.startswith("[pc"):
            start = address + 4
            found.update(range(start, table(memory, start, 2 if mnemonic[2] == "h" else 1), 2))
    return found


class Blocks:
    """Follows IT blocks line by line."""

    def __init__(self, memory):
        self.memory, self.left = memory, 0

    def end(self):
        self.left = 0

    def plain(self, address, mnemonic):
        """The mnemonic, without a condition that it can't have."""
        inside, self.left = self.left > 0, max(0, self.left - 1)
        if re.fullmatch(r"it[te]{0,3}", mnemonic):
            self.left = len(mnemonic) - 1
        half, second = self.memory.at(address, 2), self.memory.at(address + 2, 2)
        narrow = half is not None and half >> 11 == 0x1C
        wide = half is not None and second is not None and half >> 11 == 0x1E and second & 0xD000 == 0x9000
        if not inside and (narrow or wide) and mnemonic.endswith((".n", ".w")):
            return CONDITION.sub(r"b\2", mnemonic)
        return mnemonic
