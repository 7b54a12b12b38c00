#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Would a probe ever be within an instruction? Compared with objdump, for a sample of this machine's executables and
# libraries, and for programs whose switches read tables of bytes. STARTS=all: every file, and twice as many programs.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)
[[ -x $BUILD/sites ]] || skip_all "needs $BUILD/sites: make $BUILD/sites"

check() { # WHAT LEAST-SITES <FILES
	local sites

	"$ROOT/tests/check/starts.py" "$BUILD/sites" >"$T/said" 2>&1
	sites=$(sed -n '$s/.* files, \([0-9]*\) sites.*/\1/p' "$T/said")
	! grep -q '^BAD' "$T/said" && ((${sites:-0} >= $2))
	ok $? "$1: $(tail -n 1 "$T/said")" || diag "$(head -n 20 "$T/said")"
}

built=0
: >"$T/programs"
build() { # SEED BUILD...
	"$ROOT/tests/check/classes.py" "$1" >"$T/p.c" && "${@:2}" -w "$T/p.c" -o "$T/p$1" && built=$((built + 1)) && echo "$T/p$1" >>"$T/programs"
}

# awk's scanner has such switches; and big ones of what every machine has
{
	readlink -f "$(command -v awk)" /usr/bin/perl /usr/bin/bash
	ldd /usr/bin/perl "$BUILD/bbtrace" | awk '$3 ~ "^/" { print $3 }' | xargs readlink -f | sort -u | awk 'NR % 3 == 0'
} | sort -u >"$T/certain"
if [[ ${STARTS:-} == all ]]; then
	"$ROOT/tests/check/machine.sh" >"$T/files"
else
	{ cat "$T/certain"; "$ROOT/tests/check/machine.sh" /usr/bin /usr/sbin /usr/libexec | awk 'NR % 200 == 0'; } | sort -u >"$T/files"
fi
check "$(wc -l <"$T/files") executables and libraries of this machine" 100000 <"$T/files"

seed=170 rows=0
for compiler in gcc clang; do
	for level in -O1 -O2 -O3 -Os; do
		for kind in '' '-fno-pie -no-pie'; do
			[[ ${STARTS:-} == all ]] || (((rows++ + (seed - 170) / 2) % 2 == 0)) || { ((++seed)) && continue; }
			# shellcheck disable=SC2086 # words
			build $((++seed)) $compiler $level $kind
		done
	done
done
[[ ${STARTS:-} == all ]] && rows=16 || rows=8
is $built $rows 'programs with tables of bytes, by gcc and clang'
check 'their switches' 500 <"$T/programs"
done_testing
