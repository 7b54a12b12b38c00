#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs for other machines: are their branches those that objdump shows? Compared for the C library (MATRIX=whole: and
# that of C++) of Debian's cross toolchains and for switches by clang. Their functions can be listed and shown, but not traced.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
BBTRACE=$BUILD/bbtrace

# Triplet of the toolchain | bbtrace's name | most branches that may be undecoded in libc and in libstdc++, in hundredths
# of a percent | least branches of libc in functions: Debian's for riscv64 has no .eh_frame of static functions, that for
# ARM no unwinding table. In that of libstdc++ for ARM the linker has joined functions that unwind alike.
machines='
aarch64-linux-gnu   | arm64   | 60  | 10 | 50000
riscv64-linux-gnu   | riscv64 | 100 | 10 | 30000
arm-linux-gnueabihf | arm     | 20  | 60 | 30000
'
# glibc 2.41 (Debian 13) has vfwprintf's jumps by two tables and a base from another block, too: 110
case $(dpkg-query -W -f '${Version}' libc6-arm64-cross 2>/dev/null) in
'' | 2.3*) ;;
*) machines=${machines/| 60 /| 120 } ;;
esac

figure() { # NAME: of foreign.py's last line
	sed -n "\$s/.*[:,] \([0-9.]*\) $1.*/\1/p" "$T/said"
}

# Both ways, over all functions of a file.
check() { # TRIPLET FILE LEAST-SITES MOST-LOST
	local lost

	"$ROOT/tests/check/foreign.py" "$BBTRACE" "$1-objdump" "$2" >"$T/said" 2>&1
	ok $? "${2##*/} for $1: $(sed -n '$s/.*: //p' "$T/said")" || diag "$(head -n 20 "$T/said")"
	(($(figure sites) >= $3))
	ok $? "${2##*/} for $1 has at least $3 branches"
	lost=$(figure % | tr -d .)
	((10#${lost:-10000} <= $4))
	ok $? "${2##*/} for $1: hardly any instruction was not decoded"
}

shown() { # NAME FILE
	"$BBTRACE" list "$2" malloc --sites >"$T/sites"
	grep -qE '^ +0x[0-9a-f]+  malloc\+0x[0-9a-f]+'$'\t''jcc ' "$T/sites"
	ok $? "$1: list --sites has malloc's branches" || diag "$(head -n 5 "$T/sites")"
	"$BBTRACE" list "$2" malloc -F annotate >"$T/code"
	sed -n 's/^ .*malloc+\(0x[0-9a-f]*\)\t[a-z]* *\([^ ]*\) .*/\1 \2/p' "$T/sites" | sort >"$T/branches"
	sed -n 's/^  +\(0x[0-9a-f]*\) *\([^ ]*\).*/\1 \2/p' "$T/code" | sort >"$T/insns"
	is "$(comm -23 "$T/branches" "$T/insns")" '' "$1: each branch of malloc stands in the code that annotate shows"
	grep -qE '^  \+0x[0-9a-f]+ .*malloc\+0x[0-9a-f]+$' "$T/code"
	ok $? "$1: annotate shows targets in malloc by name" || diag "$(head -n 20 "$T/code")"
	"$BBTRACE" list "$2" malloc -F dot >"$T/graph" && dot -Tplain "$T/graph" >"$T/plain" 2>&1
	ok $? "$1: dot reads malloc's flow graph" || diag "$(head -n 5 "$T/plain")"
	is "$(grep -c '^node b' "$T/plain")" "$(grep -c '^		b[0-9]* ' "$T/graph")" "$1: malloc's flow graph has all blocks"
}

# Between a load-exclusive and its store-exclusive a probe would keep the program there for ever.
exclusives() { # TRIPLET FILE
	"$ROOT/tests/check/exclusives.py" "$BBTRACE" "$1-objdump" "$2" >"$T/said" 2>&1
	ok $? "$1: no probe between a load- and a store-exclusive of libc: $(tail -n 1 "$T/said")" || diag "$(head -n 20 "$T/said")"
}

refused() { # NAME FILE
	"$BBTRACE" user "$2" malloc -- /bin/true >"$T/out" 2>"$T/err"
	is $? 1 "$1: tracing is refused"
	grep -q "libc.so.6 is for $1 and can't be traced on this machine: bbtrace list shows" "$T/err"
	ok $? "$1: the message says why tracing is refused" || diag "$(cat "$T/err")"
}

# Dense cases, so that each switch becomes a table: of bytes, of halves, of words.
switches() {
	local n i

	echo 'int sink(int);'
	for n in 6 40 700; do
		echo "int switch$n(int x, int y) { switch (x) {"
		for ((i = 0; i < n; i++)); do echo "case $i: y = sink(y * $((i * 7 + 3)) + $i); break;"; done
		echo 'default: return y; } return sink(y + x); }'
	done
	echo 'int sink(int x) { return x ^ 0x5a; }'
}

switched() { # TRIPLET COMPILER...
	local triplet=$1

	shift
	if ! "$@" -fno-inline -c "$T/switches.c" -o "$T/switches.o" 2>"$T/err" ||
		! "$triplet-ld" -shared --eh-frame-hdr -o "$T/switches.so" "$T/switches.o" 2>>"$T/err"; then
		skip "$triplet: switches by $*" "$(head -n 1 "$T/err")"
		return
	fi
	check "$triplet" "$T/switches.so" 100 0
	is "$(figure 'jumps unresolved')" 0 "$triplet: all tables of $* are read"
}

built() { # TRIPLET
	local level mode

	switches >"$T/switches.c"
	if [[ $1 == arm-* ]]; then
		for mode in -marm -mthumb; do
			for level in -O0 -O2; do
				switched "$1" clang --target=armv7-linux-gnueabihf $mode $level -fPIC
			done
			switched "$1" "$1-gcc" $mode -O2 -fPIC
			switched "$1" "$1-gcc" $mode -O2 -fno-pic
		done
		return
	fi
	for level in -O1 -O2 -Os; do
		switched "$1" clang --target="$1" $level -fPIC
	done
}

while IFS='|' read -r triplet name lost cxx least; do
	read -r triplet name lost cxx least <<<"$triplet $name $lost $cxx $least"
	[[ $triplet ]] || continue
	libs=/usr/$triplet/lib
	if ! "$BBTRACE" list "$libs/libc.so.6" malloc >/dev/null 2>"$T/err" || ! command -v "$triplet-objdump" >/dev/null; then
		skip "$name" "$(head -n 1 "$T/err") or no $triplet-objdump"
		continue
	fi
	check "$triplet" "$libs/libc.so.6" "$least" "$lost"
	[[ ${MATRIX:-} != whole ]] || check "$triplet" "$libs/libstdc++.so.6" 40000 "$cxx"
	shown "$name" "$libs/libc.so.6"
	[[ $name == arm ]] || exclusives "$triplet" "$libs/libc.so.6" # which carries no probes
	refused "$name" "$libs/libc.so.6"
	built "$triplet"
done <<<"$machines"

# i386's libc has string functions where objdump takes filling bytes for instructions. Its programs are traced:
# tests/e2e/t_i386.sh
libs=/usr/i686-linux-gnu/lib
if "$BBTRACE" list "$libs/libm.so.6" sin >/dev/null 2>"$T/err" && command -v i686-linux-gnu-objdump >/dev/null; then
	check i686-linux-gnu "$libs/libm.so.6" 20000 10
	[[ ${MATRIX:-} != whole ]] || check i686-linux-gnu "$libs/libstdc++.so.6" 40000 450
	shown i386 "$libs/libc.so.6"
else
	skip i386 "$(head -n 1 "$T/err") or no i686-linux-gnu-objdump"
fi
done_testing
