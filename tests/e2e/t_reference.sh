#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every program of tests/progs/progs.list, traced and single-stepped: both tell the same, however many probes there are.
# shellcheck disable=SC2154,SC2034 # lib.sh and served.sh set them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref" "file:$BUILD/progs"

# A million events are compared once.
mapfile -t names < <(awk '!/^#/ && NF && $4 !~ /L/ { print $1 }' "$ROOT/tests/progs/progs.list")
mapfile -t fewer < <(printf '%s\n' "${names[@]}" | grep -vx million)
for placement in full implied witness; do
	relay $placement < <(BBFLAGS="--placement $placement" "$ROOT/tests/check/compare_all.sh" "$BUILD" "${names[@]}")
	names=("${fewer[@]}")
	is "$relayed" "$planned" "$placement: all of them"
done
done_testing
