#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs of Debian's for other architectures, traced in guests with each placement: equal, in order, to what QEMU's user
# emulation of the same processor logs. ARCHES="arm64": only these. ROWS=FILE: these programs.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
rows=${ROWS:-tests/arch/programs}
[[ $(id -u) == 0 ]] || skip_all 'needs root'

# The same work each time, and some millions of branches.
seq 1 7 60000 | sed 's/$/ the same words on each line/' | head -n 4000 >tests/arch/text
gzip -9 -n -c tests/arch/text >tests/arch/text.gz
at_end 'rm -f tests/arch/text tests/arch/text.gz'

compare() { # ARCH CPU-OF-THE-GUEST CPU QEMU
	local root

	if ! command -v "$4" >/dev/null || [[ ! -x $BUILD/$1/bbtrace ]]; then
		skip "$1" "needs $4 and make ARCH=$1"
		return
	fi
	root=$(scripts/sysroot.sh "$1" guest 2>"$T/said") || { skip "$1" "$(tail -n 1 "$T/said")" && return; }
	rm -rf "$T/back"
	KERNEL='' guest -A "$1" -C "$2" -M 1024 -- tests/arch/guest_reference.sh "$rows" full implied witness
	relay "$1" < <(env -i PATH="$PATH" LC_ALL=C PYTHONHASHSEED=0 tests/arch/reference.py "$BUILD/bbtrace" "$1" "$3" "$root" \
		"$BUILD/$1" "$T/back" "$T/$1" "$rows" 2>&1)
	is "$relayed" "$planned" "$1: to its end"
	rm -rf "${T:?}/$1"
}

for arch in ${ARCHES:-arm64 riscv64}; do
	case $arch in
	arm64) compare arm64 neoverse-n1 neoverse-n1 qemu-aarch64 ;;
	riscv64) compare riscv64 rv64 rv64 qemu-riscv64 ;;
	esac
done
done_testing
