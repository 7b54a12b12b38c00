#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every fifth program of tests/progs/progs.list, traced and single-stepped, shows the same. Each runs with one of the
# placements and in about one of the other ways (copies, counts), in turn. Two programs run at a time: each is traced by itself.
# MATRIX=whole: every program, in each way; ALL=1: also the one with a million events.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/lib.sh"
needs root uprobes "file:$BUILD/stepref" "file:$BUILD/progs"
placements=(full implied witness)

# The reference is made for the first placement, and serves the others. A million events are compared once.
compare() { # NAME
	local placement

	for placement in "${@:2}"; do
		[[ $1 != million || $placement == full ]] || continue
		BBFLAGS="--placement $placement" "$ROOT/tests/check/compare_all.sh" "$BUILD" "$1" >"$T/$1.$placement" 2>&1
	done
}
export -f compare
export ROOT BUILD T

mapfile -t names < <(awk '!/^#/ && NF && $4 !~ /L/ { print $1 }' "$ROOT/tests/progs/progs.list")
[[ ${ALL:-} ]] || mapfile -t names < <(printf '%s\n' "${names[@]}" | grep -vx million)
# Of the sources whose references take seconds, since exceptions unwind: some of the compilations. Of a Go program most of the
# half minute is what its runtime does before main (t_go.sh has Go).
[[ ${MATRIX:-}${ALL:-} ]] || mapfile -t names < <(printf '%s\n' "${names[@]}" |
	grep -vxE 'handled-(O0|O2|clang-O0|clang-O1|clang-O2)|except-(nopie|O2)|rusty-drops|gopher')
[[ ${ALL:-} ]] || mapfile -t names < <(part_of 0 5 "${names[@]}")
declare -A chosen # the programs, by placement
chosen[implied]=$(part_of 0 3 "${names[@]}")
chosen[witness]=$(part_of 1 3 "${names[@]}")
chosen[full]=$(part_of 2 3 "${names[@]}")
for placement in "${placements[@]}"; do
	xargs -P 2 -I '{}' bash -c 'compare "$@"' compare '{}' "$placement" <<<"${chosen[$placement]}"
done
# With return probes, where nothing unwinds and each function can carry one. They can't be attached to one process
# before Linux 6.6.
returning=()
if "$BBTRACE" doctor | grep -q '^uprobe_multi  *yes'; then
	returning=(ladder ladder-O2 jcc loops loopinsn switch fib fib-static mutual fptr tail tail-all tailmem-slots midjump-left
		cold cold-both longjmp callback threads crowd forks vforks repret strict firsts)
fi
mapfile -t returning < <(printf '%s\n' "${returning[@]}" | grep -xFf <(printf '%s\n' "${names[@]}")) # those that have a reference
compare_returns() { # NAME PLACEMENT...
	local placement

	for placement in "${@:2}"; do
		STAGES='trace compare' BBFLAGS="--placement $placement --returns probe" "$ROOT/tests/check/compare_all.sh" \
			"$BUILD" "$1" >"$T/$1.returns.$placement" 2>&1
	done
}
export -f compare_returns
turn=0
for placement in "${placements[@]}"; do
	part_of $((turn++)) 3 "${returning[@]}" >"$T/returning"
	xargs -P 2 -I '{}' bash -c 'compare_returns "$@"' compare '{}' "$placement" <"$T/returning"
	while read -r name; do
		relay "$placement, return probes" <"$T/$name.returns.$placement"
	done <"$T/returning"
done
# By copies of the functions, on x86-64.
compare_copies() { # NAME PLACEMENT...
	local placement

	for placement in "${@:2}"; do
		STAGES='trace compare' BBFLAGS="--engine inline --placement $placement" "$ROOT/tests/check/compare_all.sh" \
			"$BUILD" "$1" >"$T/$1.inline.$placement" 2>&1
	done
}
export -f compare_copies
copied=()
[[ $(uname -m) != x86_64 ]] || mapfile -t copied < <(printf '%s\n' "${names[@]}" | grep -vx million)
turn=1
for placement in full witness; do
	part_of $((turn++)) 5 "${copied[@]}" >"$T/copied"
	xargs -P 2 -I '{}' bash -c 'compare_copies "$@"' compare '{}' "$placement" <"$T/copied"
	while read -r name; do
		relay "$placement, by copies" <"$T/$name.inline.$placement"
	done <"$T/copied"
done
# Without registers, where the entries of most functions are reported after their first instruction; signals find threads there.
late=(ladder-O2 classes-O2 classes-Os fptr tailmem cold longjmp except-O2 faults faults-alone fault-first handler sigjmp nestsig
	threads carried firsts)
mapfile -t late < <(printf '%s\n' "${late[@]}" | grep -xFf <(printf '%s\n' "${names[@]}"))
compare_late() { # NAME PLACEMENT...
	local placement

	for placement in "${@:2}"; do
		STAGES='trace compare' BBFLAGS="--placement $placement -r none" "$ROOT/tests/check/compare_all.sh" "$BUILD" "$1" \
			>"$T/$1.late.$placement" 2>&1
	done
}
export -f compare_late
turn=0
for placement in full witness; do
	part_of $((turn++)) 2 "${late[@]}" >"$T/late"
	xargs -P 2 -I '{}' bash -c 'compare_late "$@"' compare '{}' "$placement" <"$T/late"
	while read -r name; do
		relay "$placement, no registers" <"$T/$name.late.$placement"
	done <"$T/late"
done
# Counts. Left out: the reference of a Go program restarts calls when stacks grow. A handler that leaves by siglongjmp may
# put the counts of what it interrupted off by one, which the summary's cut allows for. Copies count, too.
counted=()
for name in "${names[@]}"; do
	case $name in gopher | million) ;; *) counted+=("$name") ;; esac
done
count() { # NAME ENGINE
	STAGES='trace compare' BBFLAGS="-c --engine $2" "$ROOT/tests/check/compare_all.sh" "$BUILD" "$1" >"$T/$1.$2" 2>&1
}
export -f count
turn=2
for engine in probe inline; do
	part_of $((turn++)) 5 "${counted[@]}" >"$T/counted"
	xargs -P 2 -I '{}' bash -c 'count "$@"' count '{}' $engine <"$T/counted"
	all=0
	while read -r name; do
		relay "counts, $engine" <"$T/$name.$engine"
		((all += relayed))
	done <"$T/counted"
	is $all "$(wc -l <"$T/counted")" "counts, $engine: each chosen program was compared"
done
for placement in "${placements[@]}"; do
	all=0 wanted=0
	for name in ${chosen[$placement]}; do
		[[ $name != million || $placement == full ]] || continue
		relay "$placement" <"$T/$name.$placement"
		((all += relayed, ++wanted))
	done
	is $all $wanted "$placement: each chosen program was compared"
done
done_testing
