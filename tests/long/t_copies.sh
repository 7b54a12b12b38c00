#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Large objects in C and C++, and a program in Rust if there is one: copied, and compared with objdump.
cd "$(dirname "$0")/../.." || exit 1

library() { # PROGRAM NAME
	ldd "$(command -v "$1")" 2>/dev/null | sed -n "s/.*$2[^ ]* => \([^ ]*\).*/\1/p"
}

files=$(readlink -f /usr/bin/python3)=99
for found in "$(library sh libc.so)" "$(library gdb libstdc++.so)" "$(library sqlite3 libsqlite3.so)" "$(command -v gdb)"; do
	[[ $found ]] && files+=" $(readlink -f "$found")=99"
done
rust=$(command -v rg || command -v fdfind) && files+=" $(readlink -f "$rust")"
COPIES=$files exec tests/check/t_copies.sh
