# SPDX-License-Identifier: BSD-2-Clause
"""
What gdb says of arguments and results: gdb -batch -ex 'source gdb_args.py'. FUNCS: names; OUT: a file. A line for each
call from outside the library: the name, then NAME=VALUE of numbers and strings. Pointers differ from run to run.
"""
import os

import gdb


def shown(value):
    t = value.type.strip_typedefs()
    if t.code == gdb.TYPE_CODE_PTR:
        target = t.target().unqualified().strip_typedefs()
        if target.code != gdb.TYPE_CODE_INT or str(target) != "char":
            return None
        if int(value) == 0:
            return "null"
        data = bytes(gdb.selected_inferior().read_memory(int(value), 64)).split(b"\0")[0]
        return repr(data)
    if t.code == gdb.TYPE_CODE_ENUM:
        return repr(str(value).encode())
    if t.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return str(int(value))
    return None


class Entry(gdb.Breakpoint):
    def __init__(self, name):
        self.name_ = name
        super().__init__("*" + name, internal=True)

    def stop(self):
        if gdb.newest_frame().older().find_sal().symtab is None or \
           not gdb.newest_frame().older().find_sal().symtab.filename.endswith("args.c"):
            return False
        words = []
        try:
            block = gdb.newest_frame().block()
        except RuntimeError:
            return False
        while not block.function:
            block = block.superblock
        for s in block:
            if s.is_argument:
                try:
                    text = shown(s.value(gdb.newest_frame()))
                except (gdb.error, gdb.MemoryError):
                    text = None
                if text is not None:
                    words.append("%s=%s" % (s.name, text))
        out.write(" ".join([self.name_] + words) + "\n")
        return False


out = open(os.environ["OUT"], "w")
gdb.execute("set pagination off")
gdb.execute("set print thread-events off")
gdb.execute("break main")
gdb.execute("run")
for f in os.environ["FUNCS"].split():
    Entry(f)
gdb.execute("handle SIGCONT nostop noprint pass")
gdb.execute("continue")
out.close()
