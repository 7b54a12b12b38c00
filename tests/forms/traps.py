#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""traps.py PAGE TRACE: of each function whose entry has a probe in a trace file, `NAME TRAPS`: how many traps bbtrace
assumes that a hit of it takes (0: that depends on the kernel). By ../formats/trace_page.py, which reads the file as bbtrace-trace(5), the PAGE, says.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "formats"))
import trace_page

PROBED = 1

tables, data = trace_page.files(*sys.argv[1:])
rows = {kind: [] for kind in tables}
for kind, contents in trace_page.blocks(data):
    if kind != trace_page.EVENTS:
        rows[kind] += trace_page.read_table(tables[kind], contents)
for site in rows[trace_page.SITES]:
    if site["entry"] and site["probe"] == PROBED:
        print(rows[trace_page.FUNCTIONS][site["function"]]["name"], site["traps"])
