#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# diff.sh [ROUNDS]: how long two traces of ROUNDS * 15 steps take to compare, and how much memory, beside diff(1) on what
# report prints of both. A difference is in the middle. As ratios: what report takes to print one of them is 1.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
rounds=${1:-200000}
T=$(mktemp -d /var/tmp/bbtrace-diff.XXXXXX)
trap 'rm -rf "$T"' EXIT

cc -O1 -g -o "$T/parting" tests/diff/parting.c -lpthread || exit 1
for bad in 0 1; do
	"$B/bbtrace" user "$T/parting" loop_if note --engine inline -q -o "$T/$bad" -- "$T/parting" loop_if $bad "$rounds" || exit 1
done

# measure NAME COMMAND...: CPU seconds and peak memory in KiB
measure() {
	local name=$1
	shift

	command time -f '%U %S %M' -o "$T/time" "$@" >"$T/out" 2>"$T/err"
	tail -n 1 "$T/time" | { read -r user system peak && echo "$name|$(echo "$user + $system" | bc -l)|$peak"; }
}

{
	measure 'report -F json, one file' "$B/bbtrace" report -q -F json "$T/0"
	measure 'bbtrace diff' "$B/bbtrace" diff -q "$T/0" "$T/1"
	for bad in 0 1; do # without what differs by run
		"$B/bbtrace" report -q -F json "$T/$bad" | sed 's/"ts":[0-9]*,"pid":[0-9]*,"tid":[0-9]*,//; s/"regs":{[^}]*},*//; s/"\(cpu\|duration_ns\|net_ns\|since_entry_ns\|value\)":[^,}]*,*//g' >"$T/$bad.lines"
	done
	measure 'diff(1) of the lines, without making them' diff --speed-large-files "$T/0.lines" "$T/1.lines"
} | awk -F'|' -v steps=$((rounds * 15)) '
	NR == 1 { unit = $2 }
	{ printf "%-45s %8.2f s %8.2f %8.1f MB\n", $1, $2, $2 / unit, $3 / 1024 }
	END { printf "%d steps in each file\n", steps }'
