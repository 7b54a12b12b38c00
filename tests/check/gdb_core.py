# SPDX-License-Identifier: BSD-2-Clause
"""Within gdb, on a core dump: a line for each frame of each thread, innermost first: TID FRAME PC FUNCTION LINE, FRAME
as gdb numbers those that aren't inlined."""
import gdb


def line(sal):
    """Of several rows of the line table at an address, gdb prefers one that begins a statement; the last has its code."""
    if not sal.symtab:
        return 0
    rows = [row.line for row in sal.symtab.linetable() if row.pc == sal.pc]
    return rows[-1] if rows else sal.line


gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit 128")
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, n = gdb.newest_frame(), 0
    while frame:
        if frame.type() != gdb.TAILCALL_FRAME:  # made up by gdb
            sal = frame.find_sal()
            inlined = frame.type() == gdb.INLINE_FRAME
            print("FRAME", thread.ptid[1], n, hex(frame.pc()), "inlined" if inlined else "-", line(sal))
            n += not inlined
        try:
            frame = frame.older()
        except gdb.error:
            break
