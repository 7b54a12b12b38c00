#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs all fuzzing inputs, seeds and earlier finds, under the sanitizers: none crashes its target, takes 10 seconds or
# a gigabyte.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
export ASAN_OPTIONS=hard_rss_limit_mb=1024:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1

for source in tests/fuzz/fuzz_*.c; do
	name=${source##*/fuzz_} && name=${name%.c}
	program=$B/corpus/fuzz_$name
	if [[ ! -x $program ]]; then
		skip "$name takes its corpus" "not built: make corpus"
		continue
	fi
	"$program" "tests/fuzz/corpus/$name" >"$T/out" 2>"$T/err"
	ok $? "$name takes its corpus: $(cat "$T/out")" || diag "$(grep '^running' "$T/err" | tail -1)"$'\n'"$(grep -v '^running' "$T/err" | head -30)"
done

# The check can fail: an input that its target can't bear, and one that has no end.
is "$(find tests/fuzz/corpus -type f -size +256k | wc -l)" 0 'each input of the corpus is small'
(($(du -sk --apparent-size tests/fuzz/corpus | cut -f1) <= 1024))
ok $? 'all inputs of the corpus are less than a megabyte'
done_testing
