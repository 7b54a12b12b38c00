#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Modules in a guest: calls and branches of overlay, loop, ext4 and xfs are in the trace as often as QEMU executed them. A
# QEMU plugin, independent of bbtrace, counts them (tests/vm/executed.c).
# KERNELS="6.12 newest" MODULES="overlay loop" SITES=400 PLACEMENT=full: only these.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"
needs_guest objdump python3 mkfs.xfs
qemu_10 || skip_all "needs QEMU 10: scripts/deps.sh test"
nm -D "$(type -P "$QEMU")" | grep -q qemu_plugin_register_vcpu_tb_trans_cb || skip_all "$QEMU was built without plugins"
helper kernel_mark
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -o "$T/executed.so" tests/vm/executed.c || exit 2
truncate -s 320M "$T/xfs.img"
mkfs.xfs -q "$T/xfs.img"
read -ra modules <<<"${MODULES:-overlay loop ext4 xfs}"

# The first address is that of the kernel's text without address randomisation, the last one the end of its modules.
cat >"$T/qemu" <<-END
	#!/bin/bash
	exec $QEMU "\$@" -plugin $T/executed.so,out=$T/counts,from=0xffffffff80000000,to=0xfffffffffe000000
END
chmod +x "$T/qemu"

judge() { # WHAT ARG of executed.py...
	local what=$1
	shift

	tests/check/executed.py "$T/counts" "$@" >"$T/said" 2>&1
	ok $? "$what: as often as QEMU ran them" || diag "$(head -n 20 "$T/said")"
	diag "$(tail -n 1 "$T/said")"
}

for KERNEL in ${KERNELS:-6.12 newest}; do
	has_kernel "$KERNEL" || continue
	QEMU=$T/qemu guest -c 2 -M 2048 -a nokaslr -m overlay -m loop -m xfs -f "$T/kernel_mark" -f "$T/xfs.img" -- \
		tests/vm/guest_modules.sh "$T/kernel_mark" "$T/xfs.img" "${PLACEMENT:-witness}" "${SITES:-200}" "${modules[@]}"
	window=0
	for module in "${modules[@]}"; do
		judge "$KERNEL $module: calls" $((++window)) "$T/back/$module.entries.json" \
			--entries "$T/back/$module.list" "$T/back/$module.entries.err"
		judge "$KERNEL $module: branches" $((++window)) "$T/back/$module.json" --code "$T/back/$module.ranges" "$T/back/code"
	done
done
done_testing
