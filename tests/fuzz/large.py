#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes an ELF file that is well-formed and absurd: one table of many entries that all point to the same bytes, so
that what looks at each in turn never ends. large.py KIND COUNT FILE; without arguments it lists the kinds."""
import struct
import sys

BASE, DATA = 0x1000, 0x1000000
RET, UNDEFINED = b"\xc3", 0


def symbol(name, value, size, bind=1, section=1):
    return struct.pack("<IBBHQQ", name, bind << 4 | 2, 0, section, value, size)


class File:
    def __init__(self):
        self.text, self.names, self.symbols = RET * 0x10000, b"\0", [symbol(0, 0, 0, 0, UNDEFINED)]
        self.sections, self.extra_segments, self.data = [], [], b""

    def name(self, text):
        self.names += text + b"\0"
        return len(self.names) - len(text) - 1

    def add(self, name, value, size, **more):
        self.symbols.append(symbol(name, value, size, **more))

    def section(self, name, kind, data, link=0, entry=0, address=0, same=None):
        """same: the index of the section whose bytes it has as well"""
        self.sections.append((name, kind, data, link, entry, address, same))
        return len(self.sections)


def nested(f, n):
    """each symbol reaches to the end of the code"""
    f.text, name = RET * (n + 16), f.name(b"f")
    for i in range(n):
        f.add(name, BASE + i, n - i)


def covered(f, n):
    """one symbol over all the others"""
    f.text, name = RET * (n + 16), f.name(b"f")
    f.add(f.name(b"all"), BASE, len(f.text))
    for i in range(n):
        f.add(name, BASE + i + 1, 1)


def namesakes(f, n):
    """many functions of one name, and as many parts that may be any's"""
    f.text, name, cold = RET * (2 * n + 16), f.name(b"f"), f.name(b"f.cold")
    for i in range(n):
        f.add(name, BASE + i, 1, bind=0)
        f.add(cold, BASE + n + i, 1, bind=0)


def tails(f, n):
    """names that are tails of one long name"""
    name = f.name(b"a" * (1 << 20))
    for i in range(n):
        f.add(name + i % (1 << 19), BASE, 1)


def versions(f, n):
    """and have a version to be cut off"""
    name = f.name(b"a" * (1 << 20) + b"@V")
    for i in range(n):
        f.add(name + i % (1 << 19), BASE + i % 60000, 1)


def relocations(f, n):
    """of names in a table that has no end, again and again"""
    f.add(f.name(b"f"), BASE, 16)
    f.section(".dynstr", 3, b"\0" + b"x" * (1 << 20))
    f.section(".dynsym", 11, symbol(0, 0, 0) + symbol(1, 0, 0), link=2, entry=24)
    entries = b"".join(struct.pack("<QQq", 0x9000 + 8 * i, 1 << 32 | 7, 0) for i in range(n))
    first = f.section(".rela.plt", 4, entries, link=3, entry=24)
    for _ in range(2000):
        f.section(".rela.plt", 4, b"", link=3, entry=24, same=first)


def frames(f, n):
    """rules that take long to read, for each frame"""
    cie = struct.pack("<I", 0) + b"\1zR\0\1\x78\x10\1\x1b\x0c\7\x08" + b"\0" * (1 << 20)
    data = bytearray(struct.pack("<I", len(cie)) + cie)
    for i in range(n):
        at = len(data)
        data += struct.pack("<IIiI", 16, at + 4, BASE + i % 60000 - (DATA + at + 8), 1) + b"\0" * 4
    f.section(".eh_frame", 1, bytes(data), address=DATA)
    f.add(f.name(b"f"), BASE, 16)


def notes(f, n):
    """of many segments that are one"""
    f.data = struct.pack("<III", 0, 0, 9) * n
    f.extra_segments = [4] * 20000
    f.add(f.name(b"f"), BASE, 16)


def write(f, path):
    names = b"\0"
    body, headers = bytearray(0x1000), [bytes(64)]

    def put(data):
        body.extend(bytes(-len(body) % 16))
        body.extend(data)
        return len(body) - len(data)

    f.sections.insert(0, (".text", 1, f.text, 0, 0, BASE, None))
    strings = f.section(".strtab", 3, f.names)
    f.section(".symtab", 2, b"".join(f.symbols), link=strings, entry=24)
    places = []
    for name, kind, data, link, entry, address, same in f.sections:
        # sections were numbered without .text
        places.append(places[same] if same else (put(data), len(data)))
        flags = 6 if name == ".text" else 2
        headers.append(struct.pack("<IIQQQQIIQQ", len(names), kind, flags, address, *places[-1], link, 0, 1, entry))
        names += name.encode() + b"\0"
    at = put(names + b".shstrtab\0")
    headers.append(struct.pack("<IIQQQQIIQQ", len(names), 3, 0, 0, at, len(names) + 10, 0, 0, 1, 0))
    data = put(f.data)
    segments = struct.pack("<IIQQQQQQ", 1, 5, places[0][0], BASE, BASE, *[len(f.text)] * 2, 16)
    segments += struct.pack("<IIQQQQQQ", 1, 4, data, 2 * DATA, 0, *[len(f.data)] * 2, 16)
    for (name, _, bytes_, _, _, address, _), place in zip(f.sections, places):
        if name == ".eh_frame":
            segments += struct.pack("<IIQQQQQQ", 1, 4, place[0], address, 0, *[len(bytes_)] * 2, 16)
    segments += struct.pack("<IIQQQQQQ", 4, 4, data, 0, 0, *[len(f.data)] * 2, 4) * len(f.extra_segments)
    segments_at = put(segments)
    headers_at = put(b"".join(headers))
    body[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, segments_at, headers_at, 0,
                                                        64, 56, len(segments) // 56, 64, len(headers),
                                                        len(headers) - 1)
    with open(path, "wb") as out:
        out.write(body)


KINDS = {"nested": 100000, "covered": 200000, "namesakes": 100000, "tails": 200000, "versions": 20000,
         "relocations": 500, "frames": 20000, "notes": 1000000}

if len(sys.argv) == 1:
    for kind, count in KINDS.items():
        print(kind, count)
else:
    made = File()
    globals()[sys.argv[1]](made, int(sys.argv[2]))
    write(made, sys.argv[3])
