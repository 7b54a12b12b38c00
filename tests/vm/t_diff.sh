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
	if setpriv --reuid 65534 --clear-groups true 2>"$T/err"; then
		chmod 755 "$T" "$T/files"
		chmod 644 "$T"/files/*
		install -m 755 "$BUILD/bbtrace" "$T/bbtrace"
		for format in text json html; do
			setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR=/var/tmp "$T/bbtrace" diff "$T/files/three.1" \
				"$T/files/end.2" -n 50 -q -F $format >"$T/out" 2>"$T/err"
			like "$T/out" '\(hidden\)' "Linux $KERNEL: $format: addresses are hidden from other users"
			unlike "$T/out" '0xffffffff[89ab][0-9a-f]{7}' "Linux $KERNEL: $format: none is left"
		done
	else
		skip 'addresses are hidden' 'no other user can be had here'
	fi
done
done_testing
