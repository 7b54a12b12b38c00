#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Functions of the kernels of other architectures, in guests: branches are in the trace as often as QEMU executed them, and
# conditionals are taken as often. A QEMU plugin, independent of bbtrace, counts them (tests/vm/executed.c). ARCHES="arm64": only these.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
[[ $(id -u) == 0 ]] || skip_all 'needs root'
${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -o "$T/executed.so" tests/vm/executed.c || exit 2

judge() { # ARCH PLACEMENT WINDOW
	"$BUILD/bbtrace" report "$T/back/$2.bbt" -q -F json >"$T/json" 2>"$T/said"
	ok $? "$1, $2: its trace file is read on this machine" || diag "$(head "$T/said")"
	tests/check/executed.py "$T/counts" "$3" "$T/json" --code "$T/back/ranges" "$T/back/code" "$1" >"$T/said" 2>&1
	ok $? "$1, $2: as often as QEMU ran them: $(tail -n 1 "$T/said")" || diag "$(head -n 20 "$T/said")"
}

compare() { # ARCH QEMU TRIPLET FROM TO
	local placement window=0

	command -v "$2" "$3-gcc" "$3-objdump" >/dev/null && [[ -x $BUILD/$1/bbtrace ]] ||
		{ skip "$1" "needs $2, $3-gcc and make ARCH=$1" && return; }
	nm -D "$(type -P "$2")" | grep -q qemu_plugin_register_vcpu_tb_trans_cb || { skip "$1" "$2 was built without plugins" && return; }
	"$3-gcc" -static -O1 -Wall -Wextra -o "$T/kernel_mark" tests/vm/kernel_mark.c || exit 2
	printf '#!/bin/bash\nexec %s "$@" -plugin %s\n' "$2" "$T/executed.so,out=$T/counts,from=$4,to=$5" >"$T/qemu"
	chmod +x "$T/qemu"
	rm -rf "$T/back"
	KERNEL='' QEMU=$T/qemu guest -A "$1" -c 2 -M 1024 -a nokaslr -f "$T/kernel_mark" -- tests/arch/guest_kernel.sh "$T/kernel_mark" full implied witness
	for placement in full implied witness; do
		judge "$1" "$placement" $((++window))
	done
}

# The kernel's text without address randomisation.
for arch in ${ARCHES:-arm64 riscv64}; do
	case $arch in
	arm64) compare arm64 qemu-system-aarch64 aarch64-linux-gnu 0xffff800080000000 0xffff800084000000 ;;
	riscv64) compare riscv64 qemu-system-riscv64 riscv64-linux-gnu 0xffffffff80000000 0xffffffff84000000 ;;
	esac
done
done_testing
