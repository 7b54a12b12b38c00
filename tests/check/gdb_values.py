# SPDX-License-Identifier: BSD-2-Clause
"""
What gdb shows of parameters: gdb -batch -ex 'source gdb_values.py' PROGRAM. FUNCS: names; AT: entry (the first instruction) or
body (after the prologue); OUT: a file of JSON lines: the function, then an object of parameters as gdb prints them.
"""
import json
import os

import gdb


def shown(frame, symbol):
    try:
        return symbol.value(frame).format_string(address=False, repeat_threshold=0, max_elements=0, symbols=False)
    except gdb.error as e:
        return "<error: %s>" % e


class Stop(gdb.Breakpoint):
    def __init__(self, name):
        self.function = name
        super().__init__(("*" if os.environ["AT"] == "entry" else "") + name, internal=True)

    def stop(self):
        frame = gdb.newest_frame()
        block = frame.block()
        while block and not block.function:
            block = block.superblock
        args = {s.name: shown(frame, s) for s in block or () if s.is_argument}
        out.write(json.dumps([self.function, args]) + "\n")
        return False


out = open(os.environ["OUT"], "w")
gdb.execute("set print null-stop on")
gdb.execute("set debuginfod enabled off")
gdb.execute("set startup-with-shell off")
stops = []
for function in os.environ["FUNCS"].split():
    try:
        stops.append(Stop(function))
    except gdb.error:
        pass
gdb.execute("run >/dev/null")
out.close()
