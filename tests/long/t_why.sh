#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/check/t_why.sh with libc, python3 and sqlite3, too.
PROGRAMS=all LINES_TO_GZIP=3000 exec "$(dirname "$0")/../check/t_why.sh"
