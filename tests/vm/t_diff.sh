#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bbtrace diff of the kernel, in a guest: one boot, and two boots, whose code is at other addresses. KERNELS="6.12 newest": on
# these.

. "$(dirname "$0")/lib.sh"
needs_guest
for KERNEL in ${KERNELS:-6.1}; do
	has_kernel "$KERNEL" || continue
	for boot in 1 2; do
		rm -rf "$T/back"
		guest -- tests/vm/guest_diff.sh $boot
		mkdir -p "$T/files"
		mv "$T"/back/* "$T/files/"
	done
	compare() { # STATUS NAME A B
		"$BUILD/bbtrace" diff "$T/files/$3" "$T/files/$4" >"$T/out" 2>"$T/err"
		is "$?" "$1" "Linux $KERNEL: $2"
	}
	compare 0 'two boots do the same' three.1 three.2
	compare 1 'one more read in another boot' three.1 four.2
	compare 1 'the end of the file in another boot' three.1 end.2
	like "$T/out" '^[<>] .*(ksys_read|vfs_read)\+0x' "Linux $KERNEL: the branch in which they part"
done
done_testing
