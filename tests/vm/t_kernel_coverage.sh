#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Coverage of the kernel, in a guest: what ran is what kprobes of the kernel's own tracer hit, what --once and all counts
# say is the same, files of a module that was loaded twice, at two addresses, are joined, and source lines are those of
# addr2line.
# KERNELS="6.1": on these. DEBUG=FOLDER: where Debian's linux-image-RELEASE-dbg was unpacked (dpkg-deb -x); without it
# source lines are not tested.

. "$(dirname "$0")/lib.sh"
PATH=$PATH:/sbin:/usr/sbin
needs_guest mke2fs nm addr2line

# Lines "FILE LINE": of each conditional, in the module's debug file.
lines_by_addr2line() { # COUNTS KO
	jq -r 'select(.event == "edge" and .object == "loop" and (.kind == "jcc" or .kind == "loop")) | "\(.symbol) \(.offset)"' "$1" |
		awk 'NR == FNR { if (!($3 in at)) at[$3] = $1; next } { printf "0x%s+%d\n", at[$1], $2 }' <(nm "$2" | awk '$2 ~ /[tT]/') - |
		while IFS=+ read -r start offset; do printf '0x%x\n' $((start + offset)); done |
		addr2line -j .text -e "$2" | sed -n 's/ (discriminator.*//; s/:\([0-9]*\)$/ \1/p' | sed 's|^.*/build_[^/]*/||; s|^\./||' | sort
}
# The same, as lcov's file has it.
lines_of() { # LCOV
	awk -F'[:,]' '/^SF:/ { file = substr($0, 4); sub(/^\.\//, "", file) }
		/^BRDA:/ && $4 == 0 { print file, $2 }' "$1" | sort
}

for KERNEL in ${KERNELS:-newest}; do
	has_kernel "$KERNEL" || continue
	"$VM/kernel.sh" "$KERNEL" --modules >"$T/kernel" 2>&1 || { skip "Linux $KERNEL" "$(tail -n 1 "$T/kernel")" && continue; }
	release=$(<"$(<"$T/kernel")/release")
	ko=${DEBUG:-/nowhere}/usr/lib/debug/lib/modules/$release/kernel/drivers/block/loop.ko
	files=(-f "$(command -v mke2fs)")
	[[ ! -e $ko ]] || files+=(-f "$ko")
	rm -rf "$T/back"
	guest -c 1 -m loop -m dummy "${files[@]}" -- tests/vm/guest_kernel_coverage.sh "$(realpath -m "${DEBUG:-/nowhere}")"
	if [[ ! -e $ko ]]; then
		skip "source lines" "DEBUG=FOLDER: linux-image-$release-dbg, unpacked there"
		continue
	fi
	lines_by_addr2line "$T/back/loop.json" "$ko" >"$T/wanted"
	lines_of "$T/back/loop.info" >"$T/lines"
	ok $(($(wc -l <"$T/wanted") < 20)) "$(wc -l <"$T/wanted") conditionals have lines"
	same "$T/lines" "$T/wanted" "their lines are those of addr2line"
done
done_testing
