#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_paths.sh MARK WORK [PLACEMENT...]: the ranges of functions of the kernel, and their code from memory. With placements:
# and the paths that bbtrace counts in them while a program makes system calls, once with each. MARK: kernel_mark, WORK: paths_work; each run is
# a window of tests/vm/logged.c.

# shellcheck disable=SC2154 # guest_lib.sh sets them
. tests/vm/guest_lib.sh
MARK=$1 WORK=$2
shift 2
mkdir -p "$OUT/code"

# Their code stands together, so that QEMU logs little else; nothing else calls them meanwhile. None has parts of its own.
mapfile -t functions < <(listed traceable do_mkdirat do_rmdir do_symlinkat do_linkat do_unlinkat vfs_mkdir vfs_rmdir vfs_unlink vfs_symlink vfs_link \
	vfs_rename do_renameat2 path_parentat filename_create may_link may_delete)
diag "${#functions[@]} functions: ${functions[*]}"
((${#functions[@]} >= 10))
ok $? 'at least ten functions'
ranges "${functions[@]}" >"$OUT/ranges"
while read -r _ start size; do
	live_text "$OUT/code/$start" "$start" "$size"
done <"$OUT/ranges"

# where rets jump to, if they do
sorted_symbols | awk '$3 ~ /return_thunk$/ { print "0x" $1 }' >"$OUT/thunks"

mkdir "$T/place"
"$WORK" "$T/place" # what the first run finds in no cache
window=0
for placement; do
	bb kernel "${functions[@]}" -f --placement "$placement" --buffer 64M -F paths:json -o "$OUT/$placement.json" -- "$MARK" $((++window)) "$WORK" "$T/place"
	exits 0 "$placement: the trace ends well"
	is "$(summary lost)" 0 "$placement: nothing is lost"
	diag "$(tail -n 1 "$T/err")"
done
bring_back
done_testing
