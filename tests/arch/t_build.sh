#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make ARCH=…: bbtrace is built for each architecture without a warning, is that architecture's, and runs there. The BPF
# objects, too: no other architecture's registers.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"

builds() { # ARCH MACHINE EMULATOR ARRAY-OF-REGISTERS
	local said out=$BUILD/$1 root

	command -v "${2}-linux-gnu-gcc" >/dev/null || { skip "$1" "needs $2-linux-gnu-gcc" && return; }
	root=$(scripts/sysroot.sh "$1" 2>"$T/said") || { skip "$1" "$(tail -n 1 "$T/said")" && return; }
	said=$(make --no-print-directory ARCH="$1" B="$out" WERROR=-Werror 2>&1)
	ok $? "make ARCH=$1" || diag "$(tail -n 20 <<<"$said")"
	grep -v '^  [A-Z][A-Z]*  ' <<<"$said" >"$T/more"
	is "$(cat "$T/more")" '' "$1: nothing is said but what is built"
	is "$(readelf -h "$out/bbtrace" | sed -n 's/ *Machine: *//p')" "$3" "$1: a program of that architecture"
	is "$(readelf -d "$out/bbtrace" | grep -c '(RPATH)\|(RUNPATH)')" 0 "$1: finds its libraries as any program does"
	if command -v "qemu-$2" >/dev/null; then
		is "$("qemu-$2" -L "$root" "$out/bbtrace" --version 2>&1)" "$("$BUILD/bbtrace" --version)" "$1: runs"
		is "$("qemu-$2" -L "$root" "$out/bbtrace" list "$BUILD/progs/fib" fib 2>&1)" "$("$BUILD/bbtrace" list "$BUILD/progs/fib" fib)" \
			"$1: lists a program of this machine as here"
	else
		skip "$1: runs" "needs qemu-$2"
	fi
	# preserve_access_index: which of its members are read is in the object
	bpftool -j btf dump file "$out/bbtrace.bpf.o" 2>"$T/said" |
		jq -r '.types[] | select(.kind == "STRUCT" and (.name | . == "pt_regs" or . == "user_pt_regs" or . == "user_regs_struct")) | .members[].name' |
		sort -u >"$T/members"
	grep -qx "$4" "$T/members"
	ok $? "$1: its BPF program reads that architecture's registers" || diag "$(cat "$T/said" "$T/members")"
}

builds arm64 aarch64 AArch64 pstate
builds riscv64 riscv64 RISC-V ra
done_testing
