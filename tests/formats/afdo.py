#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints a sample profile for gcc as LLVM's text has it. Reads as gcc/auto-profile.cc of gcc 12 does, and no more of a
file: fails if it isn't all of it."""
import struct
import sys

data = open(sys.argv[1], "rb").read()
at = 0


def u32():
    global at
    at += 4
    return struct.unpack_from("<I", data, at - 4)[0]


def u64():
    low = u32()
    return low | u32() << 32


def string():
    global at
    n = u32()
    at += n
    text = data[at - n:at]
    assert text.index(b"\0") == n - 1
    return text[:-1].decode()


def section(tag):
    """How many bytes it has."""
    assert u32() == tag, hex(tag)
    return 4 * u32()


def instance(indent, head):
    name, nlines, ninner = u32(), u32(), u32()
    total, text = 0, []
    for _ in range(nlines):
        offset, ntargets, count = u32(), u32(), u64()
        assert not offset & 0xffff
        line = f"{' ' * (indent + 1)}{offset >> 16}: {count}"
        for _ in range(ntargets):
            assert u32() == 7
            line += f" {names[u64()]}:{u64()}"
        total += count
        text.append(line)
    for _ in range(ninner):
        offset = u32()
        assert not offset & 0xffff
        inner, lines = instance(indent + 1, None)
        lines[0] = f"{' ' * (indent + 1)}{offset >> 16}: {lines[0]}"
        total += inner
        text += lines
    assert name
    return total, [f"{names[name]}:{total}" + ("" if head is None else f":{head}")] + text


assert (u32(), u32(), u32()) == (0x67636461, 2, 0)
size = section(0xaa000000)
names = [string() for _ in range(u32())]
assert names[0] == "" and len(set(names)) == len(names)
assert size == 4 + sum(4 + (len(name) + 4) // 4 * 4 for name in names)
size = section(0xac000000)
start = at
for _ in range(u32()):
    head = u64()
    print("\n".join(instance(0, head)[1]))
assert at - start == size
assert section(0xae000000) == 0 and u32() == 0
assert section(0xaf000000) == 128 * 12 and not any(data[at:]) and len(data) == at + 128 * 12
