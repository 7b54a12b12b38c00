#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""trace_page.py PAGE TRACE: reads a trace file by what bbtrace-trace(5) says, and by nothing else.

The tables are those of the page itself. Prints a line `TIME PID TID CPU ADDRESS TAKEN` for each event of a branch; TAKEN
is - for an unconditional one. Helper functions, which are not shown, are left out. Fails if a byte is left over anywhere.
"""

import ctypes
import re
import struct
import sys
import zlib

OBJECTS, FUNCTIONS, SITES, EVENTS, LOG = 2, 5, 7, 17, 36
HELPER = 8  # in flags
JCC, LOOP, RET, INDIRECT = 1, 2, 7, (5, 6)
RECORD_BRANCH, RECORD_ENTRY, RECORD_STACK, RECORD_SIGNAL, RECORD_RETURN, RECORD_NAMED = 0, 2, 4, 5, 7, 8
SP, IP, REGISTERS = 4, 16, 18  # x86-64
ALL = (1 << 64) - 1


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size : self.at]

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def difference(self):
        number = self.number()
        return number >> 1 ^ -(number & 1)

    def delta(self, expected, bits=64):
        return expected + self.difference() & (1 << bits) - 1

    def part(self):
        return self.take(self.number())

    def ends(self):
        return self.at == len(self.data)


class Bits:
    def __init__(self, data):
        self.data, self.at = data, 0

    def bit(self):
        self.at += 1
        return self.data[self.at - 1 >> 3] >> (self.at - 1 & 7) & 1

    def ends(self):
        return self.at + 7 >> 3 == len(self.data)


# ---- tables ----


def columns(page):
    """The page's tables, by type of block: (name, type) of each column."""
    tables, table = {}, None
    for line in page:
        heading = re.match(r"\.Ss (\d+): \w+$", line)
        row = re.match(r"\.It (\d+) Ta (\S+) Ta (\S+)", line)
        if heading:
            table = tables.setdefault(int(heading[1]), [])
        elif table is not None and row:
            assert int(row[1]) == len(table), line
            table.append((row[2], row[3]))
        elif table:
            table = None
    return tables


def numbers(column, kind, rows):
    bits, total = 1 if kind == "bool" else int(kind[1:]), 0
    for _ in range(rows):
        total += column.difference()
        value = total & (1 << bits) - 1
        yield value - (1 << bits) if kind[0] == "i" and value >> bits - 1 else value


def strings(column, rows):
    known = [None]
    for _ in range(rows):
        number = column.number()
        if number == len(known):
            known.append(column.part().decode("utf-8", "replace"))
        yield known[number]


def read_table(table, data):
    block = Reader(data)
    rows = [{} for _ in range(block.number())]
    while rows and not block.ends():
        number, coded, column = block.number(), block.take(1)[0], Reader(block.part())
        name, kind = table[number]
        assert coded == {"bool": 1, "string": 2, "bytes": 3}.get(kind, 0), name
        if coded < 2:
            cells = numbers(column, kind, len(rows))
        else:
            cells = strings(column, len(rows)) if coded == 2 else (column.part() for _ in rows)
        for row, cell in zip(rows, cells):
            row[name] = cell
        assert column.ends(), name
    return rows


# ---- events ----


class Thread:
    def __init__(self, pid, tid):
        self.pid, self.tid = pid, tid
        self.sp = self.cpu = self.time = self.context = 0
        self.comm, self.regs, self.args, self.user = bytes(16), [0] * REGISTERS, [0] * 6, [0, 0]
        self.stack, self.callers = [], {}


class Site:
    def __init__(self):
        self.kind = self.state = self.taken = self.caller = self.ip = 0
        self.values = [0, 0]


class Follower:
    site = taken = sp_change = takes = 0
    took = None


class Block:
    """The items of one block of events."""

    def __init__(self, data, sites, objects):
        block = Reader(data)
        self.items = block.number()
        streams = [block.part() for _ in range(8)]
        self.before = [block.number() for _ in range(4)]
        assert block.ends()
        self.hits, self.taken = map(Bits, streams[:2])
        self.runs, self.misses, self.times, self.values, self.entries, self.sideband = map(Reader, streams[2:])
        self.plan, self.objects = sites, objects
        self.has_programs = any(o["kind"] == 0 for o in objects)
        self.time, self.threads, self.sites, self.followers = 0, [], {}, {}

    def events(self):
        left = self.items
        while left:
            number, run = self.runs.number(), self.runs.number()
            left -= run
            if number > len(self.threads):
                assert number == len(self.threads) + 1
                pid = self.misses.number()
                self.threads.append(Thread(pid, self.misses.delta(pid, 32)))
            for _ in range(run):
                if number:
                    yield self.event(self.threads[number - 1])
                else:
                    self.side_event()
        for stream in vars(self).values():
            assert not isinstance(stream, (Reader, Bits)) or stream.ends()

    def side_event(self):
        side = self.sideband
        kind, pid = side.number(), side.number()
        side.number()
        if kind not in (6, 64):
            self.time = self.times.delta(self.time)
        if kind == 4:
            for _ in range(6):
                side.number()
        if kind in (1, 2, 4):
            side.part()
        for _ in range({0: 2, 5: 1, 7: 1, 9: 1, 10: 1, 64: 1}.get(kind, 0)):
            side.number()
        if kind in (8, 9, 10):
            side.part()
        assert kind in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 64), kind

    def event(self, thread):
        known = self.followers.get((thread.context * 0x9E3779B97F4A7C15 & ALL) >> 50)
        f = known or Follower()
        missed = 0 if self.hits.bit() else self.misses.number()
        number = self.misses.delta(f.site, 32) if missed & 1 else f.site
        site = self.sites.setdefault(number, Site())
        planned = self.plan[number] if number < len(self.plan) else None
        kind = self.misses.number() if missed & 2 else site.kind
        sp = thread.sp + f.sp_change & ALL
        sp = self.misses.delta(sp) if missed & 4 else sp
        cpu = self.misses.number() if missed & 8 else thread.cpu
        state = self.misses.number() if missed & 16 else site.state
        time = self.times.delta(thread.time + f.takes if thread.time else self.time)
        conditional, taken, values = planned and planned["kind"] in (JCC, LOOP), 0, None
        if conditional:
            taken = self.taken.bit() ^ (f.taken if known and f.site == number else site.taken)
        if kind not in (RECORD_BRANCH, RECORD_SIGNAL, RECORD_NAMED):
            values = self.pair(thread, site, sp, kind == RECORD_RETURN or (planned and planned["kind"] == RET))
        entry = self.entry(thread, site, planned, sp, kind) if kind in (RECORD_ENTRY, RECORD_STACK) else None
        if kind == RECORD_NAMED:
            thread.comm = self.named(thread)

        self.follow(thread, number, taken, time, sp)
        self.time = thread.time = time
        thread.cpu, thread.sp = cpu, sp
        thread.context = number << 32 ^ (taken if conditional else values[0] if values else 0)
        site.kind, site.state, site.taken = kind, state, taken
        site.values = values or site.values
        if entry:
            site.caller, thread.comm, thread.regs, thread.args, thread.user, stack = entry
            site.ip = thread.regs[IP]
            thread.callers[sp >> 3 & 31] = sp, site.caller
            thread.stack = thread.stack if stack is None else stack
        return thread, number, kind, taken if conditional else None

    def pair(self, thread, site, sp, returns):
        at, caller = thread.callers.get(sp >> 3 & 31, (None, 0))
        expected = caller if returns and at == sp and caller else site.values[0]
        return [self.values.delta(expected), self.values.delta(site.values[1])]

    def changed(self, expected):
        mask = self.entries.number()
        return [self.entries.delta(value) if mask >> i & 1 else value for i, value in enumerate(expected)]

    def entry(self, thread, site, planned, sp, kind):
        caller = self.entries.delta(site.caller)
        comm = self.entries.take(16) if self.entries.number() else thread.comm
        regs = list(thread.regs)
        regs[SP], regs[IP] = sp, site.ip
        regs, args, user, stack = self.changed(regs), self.changed(thread.args), [0, 0], None
        if self.has_programs and self.objects[planned["object"]]["kind"]:
            user = self.changed(thread.user)
        if kind == RECORD_STACK:
            frames, shared, stack = self.entries.number(), self.entries.number(), [regs[IP]]
            for _ in range(frames - shared):
                stack.append(self.entries.delta(stack[-1]))
            stack = stack[1:] + thread.stack[len(thread.stack) - shared :]
            self.entries.number()
        return caller, comm, regs, args, user, stack

    def named(self, thread):
        which, count, kernel, ip = [self.entries.number() for _ in range(4)]
        assert kernel < 2
        comm = self.entries.take(16) if self.entries.number() else thread.comm
        for _ in range(2):
            at = ip
            for _ in range(self.entries.number()):
                at = self.entries.delta(at)
        self.entries.number()
        self.entries.number()
        self.entries.part()
        return comm

    def follow(self, thread, number, taken, time, sp):
        f = self.followers.setdefault((thread.context * 0x9E3779B97F4A7C15 & ALL) >> 50, Follower())
        took = time - thread.time & ALL if thread.time else 0
        last, before = f.took or (took, took)
        f.takes, f.took = sorted((last, before, took))[1], (took, last)
        f.site, f.taken, f.sp_change = number, taken, sp - thread.sp & ALL


# ---- logs ----


class Move:
    def __init__(self, low, change, words):
        self.low, self.change, self.last = low, change, [0] * words


class Log:
    """The events of one block of what threads have logged."""

    def __init__(self, data, sites):
        block, self.plan, self.moves = Reader(data), sites, {}
        self.items = block.number()
        for _ in range(4):
            block.number()
        self.registers = bin(block.number()).count("1")
        self.runs, ranks, self.firsts, self.times = [Reader(block.part()) for _ in range(4)]
        self.columns = [Reader(block.part()) for _ in range(block.number())]
        self.ranks = (half for byte in ranks.take(len(ranks.data)) for half in (byte & 15, byte >> 4))
        assert block.ends()

    def events(self):
        found = 0
        while not self.runs.ends():
            for event in self.run():
                found += 1
                yield event
        assert found == self.items
        assert all(stream.ends() for stream in [self.firsts, self.times, *self.columns])

    def size(self, low):
        site, kind = self.plan[low & 0xFFFFFF], low >> 29 & 7
        goes = site["kind"] == RET or site["kind"] in INDIRECT
        return {1: 1, 2: 2, 3: 4, 4: 4 + 2 * goes + self.registers}[kind]

    def move(self, low):
        """The next one from a record with this low half."""
        known, rank = self.moves.setdefault(low, []), next(self.ranks)
        if rank == 7:
            low, change = self.firsts.number(), self.firsts.delta(0)
            move = Move(low, change, self.size(low))
        else:
            move = known.pop(rank)
        known.insert(0, move)
        del known[7:]
        return move

    def words(self, move, kind, time):
        """The time of a record."""
        for i in range(1, len(move.last)):
            if (kind, i) in ((4, 1), (3, 3)):
                time += self.times.number()
            else:
                column = self.columns[{2: -1, 3: 0, 4: 1}[kind] + i]
                move.last[i] = column.delta(move.last[i])
        return time

    def run(self):
        thread = Thread(self.runs.number(), self.runs.number())
        thread.comm, thread.cpu = self.runs.part(), 65535
        stacks = [self.runs.number() for _ in range(4)]
        thread.time = self.runs.number()
        for _ in range(3):
            self.runs.number()
        assert stacks[0]
        low, high = 0, stacks[0] & 0xFFFFFFFF
        for _ in range(self.runs.number()):
            move = self.move(low)
            low, high = move.low, high + move.change & 0xFFFFFFFF
            number, taken, kind = low & 0xFFFFFF, low >> 24 & 1, low >> 29 & 7
            thread.time = self.words(move, kind, thread.time)
            yield thread, number, kind, taken if self.plan[number]["kind"] in (JCC, LOOP) else None


# ---- the file ----


def unpacked(contents, size):
    """By Zstandard's own library: not every Python has it."""
    to = ctypes.create_string_buffer(size)
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    n = zstd.ZSTD_decompress(to, ctypes.c_size_t(size), contents, ctypes.c_size_t(len(contents)))
    assert n == size
    return to.raw


def blocks(data):
    assert data[:8] == bytes.fromhex("894242540d0a1a0a") and data[8] == 6
    assert int.from_bytes(data[16:20], "little") == zlib.crc32(data[:16])
    at, number = 20, 0
    while at < len(data):
        kind, flags, _, raw, stored, own, crc = struct.unpack("<BBHIIII", data[at : at + 20])
        contents = data[at + 20 : at + 20 + stored]
        assert own == number and crc == zlib.crc32(data[at : at + 16] + contents)
        contents = unpacked(contents, raw) if flags else contents
        assert len(contents) == raw and flags in (0, 2)
        yield kind, contents
        at, number = at + 20 + stored, number + 1


def files(page, trace):
    with open(page, encoding="utf-8") as file:
        tables = columns(file)
    with open(trace, "rb") as file:
        return tables, file.read()


def main(page, trace):
    tables, data = files(page, trace)
    rows = {kind: [] for kind in tables}
    for kind, contents in blocks(data):
        if kind not in (EVENTS, LOG):
            rows[kind] += read_table(tables[kind], contents)
            continue
        planned = [o for o in rows[OBJECTS] if o["planned"]]
        block = Block(contents, rows[SITES], planned) if kind == EVENTS else Log(contents, rows[SITES])
        for thread, number, record, taken in block.events():
            site = rows[SITES][number] if number < len(rows[SITES]) else None
            if not site or site["role"] or (kind == EVENTS and record == RECORD_RETURN):
                continue
            if rows[FUNCTIONS][site["function"]]["flags"] & HELPER:
                continue
            print(thread.time, thread.pid, thread.tid, thread.cpu, hex(site["vaddr"]), "-" if taken is None else taken)


if __name__ == "__main__":
    main(*sys.argv[1:])
