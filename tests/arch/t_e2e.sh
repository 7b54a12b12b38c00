#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# tests/e2e on other architectures: the files whose programs are in C, with that architecture's own compiler, perl and gdb.
# ARCHES="arm64": only there. E2E="e2e/t_user …": only these.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"

# Left out: what is of x86 (its instructions, copies), of other languages, of this machine's kernel.
tests=(e2e/t_{user,output,points,filters,follow,pid,report,stacks,names,lines,returns,placement,tails,wrong_input,merge,dlopen})
[[ -z ${E2E:-} ]] || read -ra tests <<<"$E2E"

e2e() { # ARCH QEMU
	command -v "$2" >/dev/null || { skip "$1" "needs $2" && return; }
	[[ -x $BUILD/$1/bbtrace ]] || { skip "$1" "needs make ARCH=$1" && return; }
	scripts/sysroot.sh "$1" full >"$T/said" 2>&1 || { skip "$1" "$(tail -n 1 "$T/said")" && return; }
	KERNEL='' guest -A "$1" --full -M 2048 -t 10800 -- tests/vm/guest_e2e.sh "${tests[@]}"
}

for arch in ${ARCHES:-arm64 riscv64}; do
	case $arch in
	arm64) e2e arm64 qemu-system-aarch64 ;;
	riscv64) e2e riscv64 qemu-system-riscv64 ;;
	esac
done
done_testing
