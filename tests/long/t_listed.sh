#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Whole modules of guests: every branch of overlay, loop, xfs and ext4 that objdump shows, in their files and in the guest's
# memory, is listed (tests/check/modules.py), and listed alike by batches and at once (tests/check/batches.c).
# KERNELS="6.12 newest" MODULES="overlay loop": only these.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"
needs_guest objdump python3
read -ra modules <<<"${MODULES:-overlay loop xfs ext4}"

file_of() { find "$("$VM/kernel.sh" "$KERNEL" --modules)/lib" -name "$1.ko"; }

for KERNEL in ${KERNELS:-6.1 6.12 newest}; do
	has_kernel "$KERNEL" || continue
	rm -rf "$T/sizes" "$T/back"
	mkdir "$T/sizes"
	load=()
	for module in "${modules[@]}"; do
		file=$(file_of "$module")
		[[ $file ]] || continue
		load+=(-m "$module")
		objdump -hw "$file" | awk '/ CODE/ && $2 !~ /^\.init/ { print $2, "0x" $3 }' >"$T/sizes/$module"
	done
	guest -c 1 -M 1024 "${load[@]}" -f "$T/sizes" -- tests/vm/guest_listed.sh "$T/sizes" "${modules[@]}"
	for module in "${modules[@]}"; do
		b=$T/back/$module
		file=()
		[[ ! -e $T/sizes/$module ]] || file=("$(file_of "$module")" "$b.sections")
		tests/check/modules.py "$b" "$b.symbols" "$b.functions" "$b.sites" "${file[@]}" >"$T/said" 2>&1
		ok $? "Linux $KERNEL, $module: every branch is listed"
		diag "$(sed -n "1,30p;31,\${\$p}" "$T/said")"
	done
done
done_testing
