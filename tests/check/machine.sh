#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# machine.sh [FOLDER...]: prints this machine's ELF files for its architecture, separate debug information aside, once each.
[[ $# != 0 ]] || set -- /usr /opt /bin /sbin /lib
find "$@" -xdev -type f -size +4k -path /usr/lib/debug -prune -o \
	-xdev -type f -size +4k \( -perm /111 -o -name '*.so*' \) -print 2>/dev/null | sort |
	python3 -c '
import sys
for path in map(str.rstrip, sys.stdin):
    try:
        with open(path, "rb") as f:
            head = f.read(20)
    except OSError:
        continue
    if head[:6] == b"\x7fELF\x02\x01" and head[16] in (2, 3) and head[18:20] == b"\x3e\0":
        print(path)'
