#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of prototypes are what scripts/prototypes.py makes of the headers, where these are of the same version.

. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1

if ! command -v clang >/dev/null; then
	skip 'libc' 'no clang'
else
	python3 scripts/prototypes.py libc >"$T/libc"
	if [[ $(head -1 "$T/libc") == "$(head -1 src/types/libc.inc)" ]]; then
		same "$T/libc" src/types/libc.inc "the table of libc's functions is that of its headers"
	else
		skip 'libc' "headers of another version: $(head -1 "$T/libc")"
	fi
fi
version=$(sed -nE '1s/.*from (.*)\. \*\//\1/p' src/types/syscalls.inc)
headers=/usr/src/linux-headers-$version/include/linux/syscalls.h
if [[ -e $headers ]]; then
	python3 scripts/prototypes.py syscalls "$headers" >"$T/syscalls"
	same "$T/syscalls" src/types/syscalls.inc 'the table of system calls is that of the headers'
else
	skip 'system calls' "no $headers"
fi
for table in libc syscalls; do
	sed -n 's/^{"\([^"]*\)".*/\1/p' src/types/$table.inc >"$T/names"
	LC_ALL=C sort -cu "$T/names"
	ok $? "$table: sorted, as it is searched"
done
done_testing
