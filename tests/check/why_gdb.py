# SPDX-License-Identifier: BSD-2-Clause
"""Within gdb, for why.py: $WHY/order says what to evaluate where and when; $WHY/answer: (branch, execution, values, taken)."""

import json
import os
import re

import gdb

FOLDER = os.environ["WHY"]
with open(f"{FOLDER}/order") as order:
    ORDER = json.load(order)
MASKS = {8: 0xFF, 16: 0xFFFF, 32: 0xFFFFFFFF, 64: (1 << 64) - 1}
STEPS = 64  # from the instruction to its branch


def pc():
    return int(gdb.parse_and_eval("(unsigned long)$pc"))


def mappings():
    try:
        with open(f"/proc/{gdb.selected_inferior().pid}/maps") as maps:
            return [line.split() for line in maps]
    except OSError:
        return []


def base():
    """Where the file is, once its code is mapped."""
    mine = [row for row in mappings() if len(row) > 5 and row[5] == ORDER["file"]]
    if not any("x" in row[1] for row in mine):
        return None
    return min(int(row[0].split("-")[0], 16) for row in mine) - ORDER.get("lowest", 0)


class Place(gdb.Breakpoint):
    """At an instruction that sets flags: of one branch, or several."""

    def __init__(self, address):
        super().__init__(f"*{address:#x}", internal=True)
        self.silent = True
        self.rows, self.last, self.count = [], 0, 0

    def add(self, row):
        self.rows.append(row)
        self.last = max(self.last, *row["at"])

    def stop(self):
        self.count += 1
        return any(self.count in row["wanted"] for row in self.rows)


def value(expression, bits):
    """As a number without a sign."""
    return int(gdb.parse_and_eval(expression)) & MASKS[bits]


def address_of(expression):
    """What is in memory is read behind the instruction at the address that it had."""
    found = re.fullmatch(r"(\*\([\w ]+\*\))\((.*)\)", expression)
    if not found:
        return expression
    return f"{found[1]}({int(gdb.parse_and_eval(f'(unsigned long)({found[2]})')) & MASKS[64]:#x})"


def step_to(address):
    for _ in range(STEPS):
        if pc() == address:
            return True
        gdb.execute("stepi", to_string=True)
    return False


def evaluate(row, bias):
    """The values; the thread is in front of the instruction, and then behind the branch."""
    where = [address_of(e.replace("BASE", hex(bias))) for e in row["operands"]]
    values = [value(e, row["bits"]) for e in where]
    if row["behind"]:
        gdb.execute("stepi", to_string=True)
        values = [value(e, row["bits"]) for e in where]
    if not step_to(bias + row["branch"]):
        return None
    gdb.execute("stepi", to_string=True)
    return values, pc() != bias + row["next"]


def is_alive():
    return gdb.selected_inferior().pid != 0


def to_the_start():
    """To where the file's code has just been mapped, and none of it has run."""
    gdb.execute("catch exec", to_string=True)
    words = " ".join("'" + w.replace("'", "'\\''") + "'" for w in ORDER["command"])
    gdb.execute("file /bin/sh", to_string=True)
    gdb.execute("set args -c " + "'" + ("exec " + words).replace("'", "'\\''") + "'" + " >/dev/null </dev/null", to_string=True)
    gdb.execute("run", to_string=True)
    while is_alive() and os.path.realpath(f"/proc/{gdb.selected_inferior().pid}/exe") != ORDER["program"]:
        gdb.execute("continue", to_string=True)
    gdb.execute("delete", to_string=True)
    if base() is None:
        gdb.execute("catch syscall close", to_string=True)
        while is_alive() and base() is None:
            gdb.execute("continue", to_string=True)
        gdb.execute("delete", to_string=True)
    if not is_alive():
        raise gdb.GdbError("it ended before the file was mapped")


def main():
    for setting in ("pagination off", "confirm off", "breakpoint pending off", "auto-solib-add off", "debuginfod enabled off", "width 0", "height 0"):
        gdb.execute("set " + setting, to_string=True)
    to_the_start()
    bias, places, answer = base(), {}, []
    for row in ORDER["rows"]:
        at = bias + row["setter"]
        row["wanted"] = set(row["at"])
        places.setdefault(at, None)
        places[at] = places[at] or Place(at)
        places[at].add(row)
    gdb.execute("continue", to_string=True)
    while is_alive():
        place = places.get(pc())
        if not place:
            gdb.execute("continue", to_string=True)
            continue
        number = place.count
        for row in [r for r in place.rows if number in r["wanted"]][:1]:
            row["wanted"].discard(number)
            before = {p: p.count for p in places.values()}
            found = evaluate(row, bias)
            if found:
                answer.append((row["branch"], number, *found))
            # gdb may or may not have counted one that a single step came to
            next_place = places.get(pc()) if is_alive() else None
            if next_place and next_place.count == before[next_place]:
                next_place.count += 1
        if number >= place.last:
            place.enabled = False
        next_place = places.get(pc()) if is_alive() else None
        if next_place and any(next_place.count in r["wanted"] for r in next_place.rows):
            continue
        if not any(r["wanted"] for p in places.values() for r in p.rows):
            break
        gdb.execute("continue", to_string=True)
    if is_alive():
        gdb.execute("kill", to_string=True)
    with open(f"{FOLDER}/answer.new", "w") as out:
        json.dump(answer, out)
    os.rename(f"{FOLDER}/answer.new", f"{FOLDER}/answer")


main()
