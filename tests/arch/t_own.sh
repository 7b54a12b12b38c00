#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is an architecture's own, on several kernels: conditions, exclusives, signed return addresses, displacements, calls by
# other link registers, static probes, arguments of system calls; what is refused. ARCHES="arm64" KERNELS="6.12": only these.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
[[ $(id -u) == 0 ]] || skip_all 'needs root'

own() { # ARCH QEMU TRIPLET KERNELS [FLAG of the compiler...]
	local command arch=$1 kernels=$4

	for command in "$2" "$3-gcc" cpio busybox mke2fs; do
		PATH=$PATH:/usr/sbin command -v "$command" >/dev/null || { skip "$arch" "needs $command" && return; }
	done
	[[ -x $BUILD/$arch/bbtrace ]] || { skip "$arch" "needs $BUILD/$arch/bbtrace: make ARCH=$arch" && return; }
	# static: the cross compiler's libc may be newer than the guest's
	"$3-gcc" -std=gnu11 -O1 -g -static "${@:5}" -o "$T/$arch" "tests/arch/$arch.c" || exit 2
	for KERNEL in ${KERNELS:-$kernels}; do
		if "$VM/kernel.sh" -A "$arch" "$KERNEL" >"$T/said" 2>&1; then
			guest -A "$arch" -f "$T/$arch" -- "tests/arch/guest_$arch.sh" "$T/$arch"
		else
			skip "$arch, Linux $KERNEL" "$(tail -n 1 "$T/said")"
		fi
	done
}

for arch in ${ARCHES:-arm64 riscv64}; do
	case $arch in
	arm64) own arm64 qemu-system-aarch64 aarch64-linux-gnu '6.12 6.1 newest' -mbranch-protection=standard -DCONSISTENT ;;
	riscv64) own riscv64 qemu-system-riscv64 riscv64-linux-gnu '6.12 newest' ;;
	esac
done
done_testing
