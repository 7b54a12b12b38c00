# SPDX-License-Identifier: BSD-2-Clause
"""Writes a table of 1000 rows."""


class Page:
    def __init__(self):
        self.html = ""

    def add(self, row):
        self.html += f"<tr><td>{row}</td></tr>"


page = Page()
for row in range(1000):
    page.add(row)
