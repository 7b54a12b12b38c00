#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `make fuzz`: runs each target for FUZZ_TIME seconds, one after the other, and prints a table of the results. A target
# starts from corpus/NAME and the finds of earlier runs (B/fuzz/found/NAME). An input that crashes it is kept in
# B/fuzz/crashes/NAME, and the target is restarted until its time is over. Exit status 1: there were crashes.
#
#   run.sh [NAME...]     only these targets
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
seconds=${FUZZ_TIME:-60}
export ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0 UBSAN_OPTIONS=print_stacktrace=1

# Longest input, where libFuzzer's own choice (4096, or the longest of the corpus) is no good.
declare -A most=([spec]=256 [code]=640 [options]=512 [text]=256 [points]=1024 [maps]=1024)
# A libdw that crashes leaves what it had in hand (sandbox.c): these begin again before that is all memory.
declare -A leaks=([core]=0 [lines]=0 [debug]=0 [elf]=0 [gopclntab]=0)

stat_of() { sed -n "s/^stat::$1: *//p" "$2" | awk '{ n += $1 } END { print n + 0 }'; }

fuzz() {
	local name=$1 end=$((SECONDS + seconds)) log=$B/fuzz/$1.log left

	[[ -x $B/fuzz/fuzz_$name ]] || { echo "$name: not built" >&2 && exit 2; }
	mkdir -p "$B/fuzz/found/$name" "$B/fuzz/crashes/$name"
	: >"$log"
	while left=$((end - SECONDS)) && ((left > 0)); do
		ASAN_OPTIONS+=:detect_leaks=${leaks[$name]:-1} "$B/fuzz/fuzz_$name" -max_total_time=$left -rss_limit_mb=1024 \
			-timeout=10 -detect_leaks="${leaks[$name]:-1}" -print_final_stats=1 \
			${most[$name]:+-max_len=${most[$name]}} ${leaks[$name]:+-runs=100000} -artifact_prefix="$B/fuzz/crashes/$name/" \
			"$B/fuzz/found/$name" "tests/fuzz/corpus/$name" >>"$log" 2>&1 </dev/null
	done
	printf '%-12s %12d %8d %8d %8d\n' "$name" "$(stat_of number_of_executed_units "$log")" \
		"$(find "$B/fuzz/found/$name" -type f | wc -l)" "$(find "$B/fuzz/crashes/$name" -type f | wc -l)" \
		"$(sed -n 's/^stat::peak_rss_mb: *//p' "$log" | sort -n | tail -1)"
}

if (($# == 0)); then
	for target in tests/fuzz/fuzz_*.c; do
		target=${target##*/fuzz_}
		set -- "$@" "${target%.c}"
	done
fi
printf '%-12s %12s %8s %8s %8s\n' target executions inputs crashes 'peak MB'
for target; do
	mkdir -p "tests/fuzz/corpus/$target"
	fuzz "$target"
done
crashes=$(find "$B/fuzz/crashes" -type f)
[[ -z $crashes ]] && exit 0
printf 'these inputs end their target:\n%s\n' "$crashes"
exit 1
