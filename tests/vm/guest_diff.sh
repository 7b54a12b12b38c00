#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_diff.sh BOOT: traces of the kernel while a file is read, to be compared in here and with those of another boot.

. "$(dirname "$0")/guest_lib.sh"
mapfile -t functions < <(listed traceable ksys_read vfs_read rw_verify_area ksys_lseek)
printf 'some text\n' >"$T/text"

# record NAME ARG...: the functions while dd copies
record() {
	local name=$1 try
	shift

	for ((try = 1; try <= 20; try++)); do
		bb kernel "${functions[@]}" -o "$OUT/$name" -- dd if="$T/text" of="$T/copy" "$@"
		grep -qE 'hits.* missed' "$T/err" || break
	done
	exits 0 "$name: traced"
	isnt "$(summary events)" 0 "$name: there are events"
}
# compare STATUS NAME A B
compare() {
	bb diff "$OUT/$3" "$OUT/$4" -F json
	exits "$1" "$2"
}

record warm bs=1 count=3
record "three.$1" bs=1 count=3
record "again.$1" bs=1 count=3
record "four.$1" bs=1 count=4
record "end.$1" bs=1 skip=10 count=3
compare 0 'the kernel does the same twice' "three.$1" "again.$1"
compare 1 'another number of reads' "three.$1" "four.$1"
like "$T/out.txt" '"kind":"(place|end|branch)"' 'a read more is a difference'
compare 1 'reads at the end of the file' "three.$1" "end.$1"
like "$T/out.txt" '"symbol":"(ksys_read|vfs_read)"' 'the functions that part are named'
bring_back
done_testing
