#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_programs.sh whole|'' BUILD NAME... -- NAME... [-- HOW...]: traces tests/progs' programs on this kernel, with each of
# its mechanisms and with copied functions, and counts those after the --. HOW: only so, "inline", "MECHANISM" or
# "MECHANISM.PLACEMENT". Unless whole, each way traces a quarter of them in turn, and counts one. The host has their single-stepped references and compares; the programs behave the same on both.

. "$(dirname "$0")/guest_lib.sh"
[[ $1 != whole ]] || export MATRIX=whole
BUILD=$2
shift 2
ln -s "$BUILD/ref" build/
traced=()
while (($#)) && [[ $1 != -- ]]; do
	traced+=("$1")
	shift
done
shift
counted=()
while (($#)) && [[ $1 != -- ]]; do
	counted+=("$1")
	shift
done
hows=("${@:2}")

bb doctor -F json
mechanisms=$(jq -r 'select(.available and (.mechanism | test("^(uprobe|executed)_(multi|event)$"))) | .mechanism' "$T/out.txt")
isnt "$mechanisms" '' "Linux $(uname -r) has a mechanism to attach to programs: ${mechanisms//$'\n'/, }"

turn=0
# trace NAME OPTION...: to the folders NAME and NAME.counts, with lists of what was traced
trace() {
	local programs counted_now

	mapfile -t programs < <(part_of $((turn % parts)) $parts "${traced[@]}")
	mapfile -t counted_now < <(part_of $((turn % ${#counted[@]})) ${#counted[@]} "${counted[@]}")
	((++turn))
	mkdir -p "$OUT/$1"
	printf '%s\n' "${programs[@]}" >"$OUT/$1/names"
	STAGES=trace BBFLAGS="${*:2}" tests/check/compare_all.sh build "${programs[@]}" >"$T/traced" 2>&1
	ok $? "$(uname -r) $1: traced, programs print and return what they always do" || diag "$(grep -B8 '^not ok' "$T/traced")"
	mkdir -p "$OUT/$1/cmp"
	mv build/cmp/*.json "$OUT/$1/cmp/"
	# a jump out of a handler leaves paths unknown, and what ran there isn't counted
	[[ $1 != *.witness ]] || return 0
	mkdir -p "$OUT/$1.counts/cmp"
	printf '%s\n' "${counted_now[@]}" >"$OUT/$1.counts/names"
	STAGES=trace BBFLAGS="-c ${*:2}" tests/check/compare_all.sh build "${counted_now[@]}" >"$T/traced" 2>&1
	ok $? "$(uname -r) $1: counted, too" || diag "$(grep -B8 '^not ok' "$T/traced")"
	mv build/cmp/*.json "$OUT/$1.counts/cmp/"
}

if ((!${#hows[@]})); then
	read -ra hows <<<"${mechanisms//$'\n'/ }"
	[[ $(uname -m) != x86_64 ]] || hows+=(inline)
fi
# Each program is traced in some way, if there are fewer ways.
parts=$((${#hows[@]} < 4 ? ${#hows[@]} : 4))
for how in "${hows[@]}"; do
	case $how in
	inline) trace inline --engine inline ;;
	*.*) trace "$how" --attach "${how%.*}" --placement "${how#*.}" ;;
	*) trace "$how" --attach "$how" ;;
	esac
done
bring_back
done_testing
