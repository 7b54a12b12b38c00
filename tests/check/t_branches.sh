#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Is every branch of a function listed? Compared with objdump, for code by Debian's compilers: perl, whose switches
# have tables without bounds checks, and an OCaml program, whose handlers are in no table.
# shellcheck disable=SC2154 # tap.sh sets it
. "$(dirname "$0")/../tap.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${B:-$ROOT/build}" && pwd)

branches() { # FILE...: how many there are, how many aren't listed
	"$ROOT/tests/check/branches.py" "${BBTRACE:-$BUILD/bbtrace}" "$@" >"$T/said"
	sed -n '$s/.*, \([0-9]*\) branches, \([0-9]*\) not.*/\1 \2/p' "$T/said"
}

if command -v perl >/dev/null; then
	perl -MConfig -e 'print "$Config{archlib}\n"' >"$T/archlib"
	modules=("$(cat "$T/archlib")"/auto/{re/re,List/Util/Util,POSIX/POSIX,Storable/Storable}.so)
	read -r all missing <<<"$(branches "$(readlink -f "$(command -v perl)")")"
	ok $((all < 50000)) "perl has $all branches"
	is "$missing" 0 "perl: all branches are listed" || diag "$(cat "$T/said")"
	found=()
	for module in "${modules[@]}"; do [[ -e $module ]] && found+=("$module"); done
	if ((${#found[@]})); then
		read -r all missing <<<"$(branches "${found[@]}")"
		is "$missing" 0 "${#found[@]} of perl's modules: all of $all branches are listed" || diag "$(cat "$T/said")"
	else
		skip "perl's modules: all branches are listed" 'none installed'
	fi
else
	skip 'perl: all branches are listed' 'no perl'
fi

# What stands after a loop without end is never executed, and not listed.
if command -v headache >/dev/null; then
	read -r all missing <<<"$(branches "$(readlink -f "$(command -v headache)")")"
	ok $((all < 10000)) "a program of OCaml has $all branches"
	ok $((missing * 1000 > all)) "a program of OCaml: $missing branches aren't listed, fewer than a thousandth" || diag "$(cat "$T/said")"
else
	skip 'a program of OCaml: all branches but few are listed' 'no headache'
fi
done_testing
