#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ELF files that nobody should have to read.

hostile_elf.py around SECTIONS OUT      a program around debug sections, as tests/fuzz/fuzz_lines.c makes it
hostile_elf.py zeros IN OUT SECTION     IN, that section a few kilobytes that unpack to 4 GiB of zeros
hostile_elf.py lines IN OUT             IN, its .debug_line 64 KiB that unpack to 64 million rows
hostile_elf.py section IN OUT NAME FILE IN, that section of type PROGBITS the bytes of FILE
"""
import struct
import sys
import zlib

NAMES = ('', '.shstrtab', '.text', '.symtab', '.debug_info', '.debug_abbrev', '.debug_line', '.debug_str',
         '.debug_line_str', '.debug_ranges', '.debug_rnglists', '.debug_addr', '.debug_str_offsets', '.debug_types',
         '.debug_aranges')
DEBUG, TEXT, TEXT_END = 4, 0x200, 0x1000
EHDR, PHDR, SHDR = '<16sHHIQQQIHHHHHH', '<IIQQQQQQ', '<IIQQQQIIQQ'
PROGBITS, STRTAB, SYMTAB, COMPRESSED = 1, 3, 2, 0x800


def around(data):
    """The same bytes as make_program() there."""
    text = bytearray(TEXT_END)
    text[TEXT], text[-1] = 0x90, 0xc3
    strings = b''.join(n.encode() + b'\0' for n in NAMES) + b'f\0'
    at = {n: strings.index(b'\0' + n.encode() + b'\0') + 1 for n in NAMES[1:]}
    out, headers = text, [struct.pack(SHDR, *[0] * 10)]

    def put(name, kind, body, flags=0, link=0, entry=0):
        headers.append(struct.pack(SHDR, at[name], kind, flags, 0, len(out), len(body), link, 0, 0, entry))
        out.extend(body)

    put('.shstrtab', STRTAB, strings)
    headers.append(struct.pack(SHDR, at['.text'], PROGBITS, 6, TEXT, TEXT, TEXT_END - TEXT, 0, 0, 0, 0))
    put('.symtab', SYMTAB, bytes(24) + struct.pack('<IBBHQQ', len(strings) - 2, 2, 0, 2, 0x270, 0x35), link=1, entry=24)
    lengths = struct.unpack(f'<{len(NAMES) - DEBUG}H', data[:2 * (len(NAMES) - DEBUG)].ljust(22, b'\0'))
    data = data[2 * len(lengths):]
    for name, n in zip(NAMES[DEBUG:], lengths):
        put(name, PROGBITS, data[:n & 0x7fff], flags=COMPRESSED if n & 0x8000 else 0)
        data = data[n & 0x7fff:]
    out.extend(bytes(-len(out) % 8))
    ident = b'\x7fELF\2\1\1' + bytes(9)
    out[:120] = struct.pack(EHDR, ident, 3, 62, 1, 0, 64, len(out), 0, 64, 56, 1, 64, len(NAMES), 1) + struct.pack(
        PHDR, 1, 5, 0, 0, 0, TEXT_END, TEXT_END, 0)
    return out + b''.join(headers)


def section(elf, name):
    """Where its header is, and the header."""
    offset, n, names = struct.unpack_from('<Q', elf, 40)[0], *struct.unpack_from('<HH', elf, 60)
    strings = struct.unpack_from(SHDR, elf, offset + 64 * names)[4]
    for at in range(offset, offset + 64 * n, 64):
        header = struct.unpack_from(SHDR, elf, at)
        start = strings + header[0]
        if elf[start:elf.index(0, start)] == name.encode():
            return at, header
    sys.exit(f'no section {name}')


def replace(elf, name, body, compressed):
    at, h = section(elf, name)
    flags = h[2] | COMPRESSED if compressed else h[2] & ~COMPRESSED
    struct.pack_into(SHDR, elf, at, h[0], PROGBITS, flags, h[3], len(elf), len(body), h[6], h[7], 1, h[9])
    return elf + body


def packed(head, byte, count, tail):
    """As a compressed section holds it: that byte again and again, in blocks of deflate that repeat."""
    block, size = zlib.compressobj(9, zlib.DEFLATED, -15), 1 << 24
    first = zlib.compressobj(9, zlib.DEFLATED, -15)
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = first.compress(head) + first.flush(zlib.Z_FULL_FLUSH)
    chunk = byte * size
    middle = block.compress(chunk) + block.flush(zlib.Z_FULL_FLUSH)
    adler = zlib.adler32(head)
    for _ in range(count // size if byte != b'\0' else 0):
        adler = zlib.adler32(chunk, adler)
    if byte == b'\0':
        low = adler & 0xffff
        adler = ((adler >> 16) + low * count) % 65521 << 16 | low
    adler = zlib.adler32(tail, adler)
    body = start + middle * (count // size) + last.compress(tail) + last.flush()
    return struct.pack('<IIQQ', 1, 0, len(head) + count + len(tail), 1) + b'\x78\xda' + body + struct.pack('>I', adler)


def lines(elf):
    """The first unit's header, its address, then one row a byte."""
    h = section(elf, '.debug_line')[1]
    unit = elf[h[4]:h[4] + h[5]]
    version = struct.unpack_from('<H', unit, 4)[0]
    at = 8 if version >= 5 else 6
    start = at + 4 + struct.unpack_from('<I', unit, at)[0]
    address = unit.index(b'\0\x09\x02', start)
    count, tail = 1 << 26, b'\0\1\1'
    head = unit[:start] + unit[address:address + 11]
    struct.pack_into('<I', head, 0, len(head) + count + len(tail) - 4)
    return packed(bytes(head), b'\x13', count, tail)


def main(what, source, out, *more):
    with open(source, 'rb') as f:
        data = bytearray(f.read())
    if what == 'around':
        data = around(bytes(data))
    elif what == 'zeros':
        data = replace(data, more[0], packed(b'', b'\0', 1 << 32, b''), True)
    elif what == 'lines':
        data = replace(data, '.debug_line', lines(data), True)
    elif what == 'section':
        with open(more[1], 'rb') as f:
            data = replace(data, more[0], f.read(), False)
    with open(out, 'wb') as f:
        f.write(data)


main(*sys.argv[1:])
