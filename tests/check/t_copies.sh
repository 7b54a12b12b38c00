#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Are copies of functions what the original is, but for the logs? Compared with objdump: tests/check/copies.py.
# Half of the programs; MATRIX=whole: all. COPIES="FILE[=PERCENT]...": these files, of whose functions at least this many have to be copied.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)

# The FDE of a signal's trampoline begins a byte before it.
unbounded() { # FILE: the number of its functions that neither a symbol nor an FDE has; empty if there is none
	{
		readelf --debug-dump=frames "$1" 2>/dev/null |
			perl -ne 'printf "%s\n%x\n", $1, hex($1) + 1 if / FDE .*pc=0*([0-9a-f]+)\.\./'
		readelf -sW "$1" 2>/dev/null | awk '$4 == "FUNC" || $4 == "NOTYPE" || $4 == "GNU_IFUNC" { sub(/^0*/, "", $2); print $2 }'
	} >"$T/bounded"
	"$BUILD/bbtrace" list "$1" '*' -q 2>/dev/null | sed -n 's/^ *0x\([0-9a-f]*\) .*/\1/p' | grep -vxFf "$T/bounded" | grep -c . | grep -vx 0
}

check() { # FILE PLACEMENT PERCENT
	rm -rf "$T/out"
	mkdir "$T/out"
	echo " $(PLACEMENT=$2 "$BUILD/copies" "$1" "$T/out")" >"$T/said"
	awk -v got="$(sed -n 's/.* copied, \([0-9.]*\) %; [0-9]* sites.*/\1/p' "$T/said")" -v want="$3" \
		'BEGIN { exit !(got + 0 >= want) }'
	ok $? "$(basename "$1"), $2: at least $3 % of its functions are copied:$(cat "$T/said")"
	is "$(sed -n 's/.* \([0-9]*\) bounds.*/\1/p' "$T/said")" "$(unbounded "$1")" "$(basename "$1"), $2: the rest are those that neither a symbol nor an FDE has"
	"$ROOT/tests/check/copies.py" "$1" "$T/out" >"$T/checked" 2>&1 && [[ $(sed -n 's/.*, \([0-9]*\) instructions.*/\1/p' "$T/checked") -gt 20 ]]
	ok $? "$(basename "$1"), $2: $(tail -n 1 "$T/checked")" || diag "$(head -n 20 "$T/checked")"
}

if [[ ${COPIES:-} ]]; then
	for file in $COPIES; do
		[[ $file == *=* ]] && percent=${file##*=} || percent=0
		check "${file%=*}" full "$percent"
		check "${file%=*}" witness "$percent"
	done
	done_testing
	exit
fi

check "$(readlink -f "$(command -v gzip)")" full 98
check "$(readlink -f "$(command -v gzip)")" witness 98
seed=20 number=0
for compiler in gcc clang; do
	for level in -O1 -O2 -Os; do
		seed=$((seed + 1))
		in_part $((number++)) 0 2 || continue
		"$ROOT/tests/check/classes.py" $seed >"$T/p.c" && $compiler $level -w "$T/p.c" -o "$T/p$seed" || continue
		check "$T/p$seed" full 70
	done
done
for level in -O1 -O3; do
	in_part $((number++)) 0 2 || continue
	gcc $level -fno-pie -no-pie -w "$T/p.c" -o "$T/p$level" && check "$T/p$level" full 80
done
done_testing
