#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest_programs.sh BUILD NAME...: tests/progs' programs traced on this kernel, by each mechanism that it has. Their
# single-stepped references come from the host; what the programs do is the same there.

. "$(dirname "$0")/guest_lib.sh"
BUILD=$1
shift
ln -s "$BUILD/ref" "$BUILD/stepref" build/

bb doctor -F json
mechanisms=$(jq -r 'select(.available and (.mechanism == "uprobe_multi" or .mechanism == "uprobe_event")) | .mechanism' "$T/out.txt")
isnt "$mechanisms" '' "Linux $(uname -r): ${mechanisms//$'\n'/, }"
for mechanism in $mechanisms; do
	BBFLAGS="--attach $mechanism" tests/check/compare_all.sh build "$@" >"$T/compared" 2>&1
	ok $? "$mechanism: $(grep -c '^ok' "$T/compared") programs traced as they were stepped" ||
		diag "$(grep -B8 '^not ok' "$T/compared")"
	isnt "$(grep -c '^ok' "$T/compared")" 0 "$mechanism: which there are"
	diag "$(sed -n 's/^# same: .* \([0-9]*\) of [0-9]* events.*/\1/p' "$T/compared" | awk '{ n += $1 } END { print n + 0, "events compared" }')"
done
done_testing
