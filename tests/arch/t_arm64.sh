#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is arm64's own, on several kernels: conditions, exclusives, signed return addresses, consistent branches, static
# probes, arguments of system calls; what is refused. KERNELS="6.12": only these.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
[[ $(id -u) == 0 ]] || skip_all 'needs root'
for command in qemu-system-aarch64 aarch64-linux-gnu-gcc cpio busybox mke2fs; do
	PATH=$PATH:/usr/sbin command -v $command >/dev/null || skip_all "needs $command"
done
export B=$BUILD/arm64
[[ -x $B/bbtrace ]] || skip_all "needs $B/bbtrace: make ARCH=arm64"
# The newest libc of a cross compiler may be newer than the guest's.
aarch64-linux-gnu-gcc -std=gnu11 -O1 -g -static -mbranch-protection=standard -DCONSISTENT -o "$T/arm64" tests/arch/arm64.c || exit 2

for KERNEL in ${KERNELS:-6.12 6.1 newest}; do
	if "$VM/kernel.sh" -A arm64 "$KERNEL" >"$T/said" 2>&1; then
		guest -A arm64 -f "$T/arm64" -- tests/arch/guest_arm64.sh "$T/arm64"
	else
		skip "Linux $KERNEL" "$(tail -n 1 "$T/said")"
	fi
done
done_testing
