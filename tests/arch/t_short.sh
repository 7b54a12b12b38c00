#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Another architecture, in a guest: programs whose calls are known, in all placements; a kernel function. make quick builds
# what it needs; make check-arch has riscv64, too, and the rest.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
export B=$BUILD/quick

short() { # ARCH QEMU
	local command

	for command in "$2" cpio busybox mke2fs; do
		PATH=$PATH:/usr/sbin command -v "$command" >/dev/null || { skip "$1" "needs $command" && return; }
	done
	[[ -x $B/$1/bbtrace ]] || { skip "$1" "needs $B/$1/bbtrace: make quick, where the cross compiler is" && return; }
	"$VM/kernel.sh" -A "$1" >"$T/said" 2>&1 && scripts/sysroot.sh "$1" small >"$T/said" 2>&1 ||
		{ skip "$1" "$(tail -n 1 "$T/said")" && return; }
	KERNEL='' guest -A "$1" -c 1 --small -- tests/arch/guest_short.sh ${MATRIX:-}
}

arches=arm64
[[ ${MATRIX:-} != whole ]] || arches='arm64 riscv64'
for arch in ${ARCHES:-$arches}; do
	case $arch in
	arm64) short arm64 qemu-system-aarch64 ;;
	riscv64) short riscv64 qemu-system-riscv64 ;;
	esac
done
done_testing
