#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is riscv64's own, on several kernels: conditions, displacements, calls by t0, lr and sc, static probes, kernel functions
# behind ftrace's place; what is refused. KERNELS="6.12": only these.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
[[ $(id -u) == 0 ]] || skip_all 'needs root'
for command in qemu-system-riscv64 riscv64-linux-gnu-gcc cpio busybox mke2fs; do
	PATH=$PATH:/usr/sbin command -v $command >/dev/null || skip_all "needs $command"
done
export B=$BUILD/riscv64
[[ -x $B/bbtrace ]] || skip_all "needs $B/bbtrace: make ARCH=riscv64"
riscv64-linux-gnu-gcc -std=gnu11 -O1 -g -static -o "$T/riscv64" tests/arch/riscv64.c || exit 2

for KERNEL in ${KERNELS:-6.12 newest}; do
	if "$VM/kernel.sh" -A riscv64 "$KERNEL" >"$T/said" 2>&1; then
		guest -A riscv64 -f "$T/riscv64" -- tests/arch/guest_riscv64.sh "$T/riscv64"
	else
		skip "Linux $KERNEL" "$(tail -n 1 "$T/said")"
	fi
done
done_testing
