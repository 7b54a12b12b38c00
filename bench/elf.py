# SPDX-License-Identifier: BSD-2-Clause
"""What the benchmarks need of ELF64 files: a symbol at each site, and functions where there are no symbols."""
import os
import re
import shutil
import struct
import subprocess

SHT_SYMTAB = 2


def sections(data):
    """(name, type, addr, offset, size, link) of each section; little-endian."""
    shoff, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    raw = [struct.unpack_from("<IIQQQQII", data, shoff + i * size) for i in range(count)]
    at = raw[names][4]
    return [(data[at + r[0]:data.index(b"\0", at + r[0])].decode(), r[1], r[3], r[4], r[5], r[6])
            for r in raw]


def name_sites(path, out, offsets):
    """A copy of the file with a function symbol site_N, one byte long, at each file offset."""
    command = ["objcopy"]
    found = sections(open(path, "rb").read())
    for i, offset in enumerate(offsets):
        name, at = next((s[0], offset - s[3]) for s in found
                        if s[1] == 1 and s[3] <= offset < s[3] + s[4])
        command += ["--add-symbol", f"site_{i}={name}:{at:#x},function,global"]
    subprocess.run([*command, path, out], check=True)
    shutil.copymode(path, out)
    data = bytearray(open(out, "rb").read())
    found = sections(data)
    for _, kind, _, at, size, link in found:
        if kind != SHT_SYMTAB:
            continue
        for symbol in range(at, at + size, 24):
            name = found[link][3] + struct.unpack_from("<I", data, symbol)[0]
            if data[name:name + 5] == b"site_":  # objcopy gives it no size, bpftrace wants one
                struct.pack_into("<Q", data, symbol + 16, 1)
    open(out, "wb").write(data)


def functions_by_unwind(path):
    """The file offset of each function of .text that the unwind table has, as bbtrace's 0xOFF."""
    text = next(s for s in sections(open(path, "rb").read()) if s[0] == ".text")
    frames = subprocess.run(["readelf", "--debug-dump=frames", os.path.realpath(path)],
                            capture_output=True, text=True).stdout
    starts = {int(a, 16) for a in re.findall(r"pc=([0-9a-f]+)\.\.", frames)}
    return [hex(a - text[2] + text[3]) for a in sorted(starts) if text[2] <= a < text[2] + text[4]]
