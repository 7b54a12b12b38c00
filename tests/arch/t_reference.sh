#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs for other architectures, traced in guests with each placement: equal, in order, to what QEMU's user emulation of the same
# processor logs, or, where the program's addresses are fixed, to what the guest's QEMU logs of that very run. Debian's
# (tests/arch/programs) and those of tests/progs whose path is always the same.
# ARCHES="arm64": only these. ROWS=FILE: these programs.
# shellcheck disable=SC2154 # lib.sh sets them
. "$(dirname "$0")/../vm/lib.sh"
[[ $(id -u) == 0 ]] || skip_all 'needs root'

${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -o "$T/logged.so" tests/vm/logged.c || exit 2

# The current folder of the programs, of the same name in the guest: what they get to see is the same.
input=$T/input
mkdir "$input"
cp tests/arch/script.* "$input"
seq 1 7 60000 | sed 's/$/ the same words on each line/' | head -n 1500 >"$input/text"
gzip -9 -n -c "$input/text" >"$input/text.gz"

# Several processes or threads, or signals that come at any time, have no such order, or QEMU's log has none; what `generated`
# makes is code of x86.
progs() { # ARCH
	[[ -e $BUILD/$1/progs/list ]] || return
	awk 'NR == FNR { built[$1]; next }
		!/^#/ && NF && $1 in built && $3 == "-" && $4 !~ /[fLs]/ {
			functions = $7
			for (i = 8; i <= NF; i++)
				functions = functions " " $i
			print $1 " | " functions " | - | /src/build/progs/" $1
		}' <(ls "$BUILD/$1/progs") tests/progs/progs.list | grep -vE '^(threads|crowd|pexit|carried|coroutine|strict|gopher|million|killed|naps|fib-stripped|execs|exits|forks-parent|generated) '
}

compare() { # ARCH CPU NAME: QEMU's, and the compiler's
	local root system

	system=$(type -P "qemu-system-$3") && command -v "qemu-$3" "$3-linux-gnu-gcc" >/dev/null && [[ -x $BUILD/$1/bbtrace ]] ||
		{ skip "$1" "needs qemu-$3, qemu-system-$3, $3-linux-gnu-gcc and make ARCH=$1" && return; }
	nm -D "$system" | grep -q qemu_plugin_register_vcpu_tb_trans_cb || { skip "$1" "$system was built without plugins" && return; }
	"$3-linux-gnu-gcc" -static -Wl,-Ttext-segment=0x40000000 -O1 -Wall -Wextra -o "$T/kernel_mark" tests/vm/kernel_mark.c || exit 2
	printf '#!/bin/bash\nexec %s "$@" -plugin %s\n' "$system" "$T/logged.so,out=$T/log,from=0x1000,to=0x10000000" >"$T/qemu"
	chmod +x "$T/qemu"
	root=$(scripts/sysroot.sh "$1" guest 2>"$T/said") || { skip "$1" "$(tail -n 1 "$T/said")" && return; }
	if [[ ${ROWS:-} ]]; then cp "$ROWS" "$input/rows"; else { cat tests/arch/programs; progs "$1"; } >"$input/rows"; fi
	rm -rf "$T/back"
	KERNEL='' QEMU=$T/qemu guest -A "$1" -C "$2" -M 1024 -b "$T/back" -f "$T/kernel_mark" -f "$input" -- \
		tests/arch/guest_reference.sh "$input" "$T/kernel_mark" full implied witness
	relay "$1" < <(tests/arch/reference.py "$BUILD/bbtrace" "$1" "$2" "$root" "$BUILD/$1" "$T/back" "$T/$1" "$input" "$input/rows" "$T/log" 2>&1)
	is "$relayed" "$planned" "$1: to its end"
	rm -rf "${T:?}/$1" "$T"/log.*
}

for arch in ${ARCHES:-arm64 riscv64}; do
	case $arch in
	arm64) compare arm64 neoverse-n1 aarch64 ;;
	riscv64) compare riscv64 rv64 riscv64 ;;
	esac
done
done_testing
