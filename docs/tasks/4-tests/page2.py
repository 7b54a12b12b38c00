# SPDX-License-Identifier: BSD-2-Clause
"""Writes a table of 1000 rows."""


class Page:
    def __init__(self):
        self.rows = []

    def add(self, row):
        self.rows.append(f"<tr><td>{row}</td></tr>")


page = Page()
for row in range(1000):
    page.add(row)
html = "".join(page.rows)
