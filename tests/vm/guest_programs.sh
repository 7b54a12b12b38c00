#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_programs.sh BUILD NAME... -- NAME...: traces tests/progs' programs on this kernel, with each of its mechanisms, and
# counts those behind the --. The host has their single-stepped references and compares; the programs behave the same on
# both.

. "$(dirname "$0")/guest_lib.sh"
BUILD=$1
shift
ln -s "$BUILD/ref" build/
traced=()
while (($#)) && [[ $1 != -- ]]; do
	traced+=("$1")
	shift
done
shift
counted=("$@")

bb doctor -F json
mechanisms=$(jq -r 'select(.available and (.mechanism == "uprobe_multi" or .mechanism == "uprobe_event")) | .mechanism' "$T/out.txt")
isnt "$mechanisms" '' "Linux $(uname -r) has a mechanism to attach to programs: ${mechanisms//$'\n'/, }"
for mechanism in $mechanisms; do
	STAGES=trace BBFLAGS="--attach $mechanism" tests/check/compare_all.sh build "${traced[@]}" >"$T/traced" 2>&1
	ok $? "$(uname -r) $mechanism: traced, programs print and return what they always do" || diag "$(grep -B8 '^not ok' "$T/traced")"
	mkdir -p "$OUT/$mechanism/cmp" "$OUT/$mechanism.counts/cmp"
	mv build/cmp/*.json "$OUT/$mechanism/cmp/"
	STAGES=trace BBFLAGS="-c --attach $mechanism" tests/check/compare_all.sh build "${counted[@]}" >"$T/traced" 2>&1
	ok $? "$(uname -r) $mechanism: counted, too" || diag "$(grep -B8 '^not ok' "$T/traced")"
	mv build/cmp/*.json "$OUT/$mechanism.counts/cmp/"
done
bring_back
done_testing
