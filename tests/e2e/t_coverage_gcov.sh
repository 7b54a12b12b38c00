#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -F lcov of programs that were built without optimization is what gcov(1) says of the same source, in C and in C++: line for
# line, function for function, branch for branch. tests/check/coverage.py names what may differ.
. "$(dirname "$0")/lib.sh"
needs root uprobes cmd:gcov cmd:c++ cmd:python3

# They end by exit(3), in the process that began, without a longjmp: else gcov's counts are wrong, or not written.
programs=(progs/{altstack,callback,cold,context,counted,deep,exits,fallen,fib,generated,handler,hidden,jcc,ladder,loopinsn}.c
	progs/{loops,midjump,million,mutual,odd,quick,raise,switch,tail,tailmem,threads,twice}.c
	cover/{classes,inlines,lambdas,ranges,statics,templates,throws}.cc)
n=0
for source in "${programs[@]}"; do
	in_part $((n++)) || continue
	p=${source##*/} cc=cc
	[[ $p != *.cc ]] || cc=c++
	mkdir "$T/gcov"
	(
		cd "$T/gcov" || exit
		$cc -w -O0 -g -o plain "$ROOT/tests/$source" -lpthread && $cc -w -O0 -g --coverage -fprofile-update=atomic -o built \
			"$ROOT/tests/$source" -lpthread && { ./built || true; } &&
			gcov --branch-probabilities --json-format built-*.gcda
	) </dev/null >"$T/gcov.out" 2>&1
	bb user "$T/gcov/plain" '*' -F lcov -o "$T/info" -- "$T/gcov/plain"
	tests/check/coverage.py "$T"/gcov/*.gcov.json.gz "$T/info" >"$T/said" 2>&1
	ok $? "$p: functions, lines and branches are as gcov has them" || diag "$(head -20 "$T/said" "$T/gcov.out")"
	diag "$p: $(tail -1 "$T/said")"
	tests/check/lcov_info.py "$T/info" >"$T/said" 2>&1
	ok $? "$p: a strict reader finds nothing wrong" || diag "$(head -20 "$T/said")"
	rm -r "$T/gcov"
done
done_testing
