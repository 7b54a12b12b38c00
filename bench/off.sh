#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# off.sh [PAIRS]: what a program pays while recording is off, with probes and with copies (--engine). Runs of a program alone, and under --control app without a
# START, alternate; the time is that of the traced function's calls, by the thread's own clock. Shown: the median of the
# pairs' ratios with its 95 % interval (by order statistics), beside the same with recording on.
set -u
cd "$(dirname "$0")/.." || exit 1
B=${B:-build}
pairs=${1:-21}
T=$(mktemp -d /var/tmp/bbtrace-off.XXXXXX)
trap 'rm -rf "$T"' EXIT

cat >"$T/calls.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "bbtrace.h"
static volatile long sink;
__attribute__((noinline)) long work(long n)
{
	for (int i = 0; i < 4; i++)
		if (n >> i & 1)
			sink += i;
	return sink;
}
static double ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000000;
	double start;
	if (argc > 2) {
		struct timespec t = {1, 0};
		BBTRACE_START();
		nanosleep(&t, NULL);
	}
	start = ns();
	for (long i = 0; i < n; i++)
		work(i);
	fprintf(stderr, "NS %f\n", (ns() - start) / n);
	BBTRACE_STOP();
	return 0;
}
END
cc -O2 -Iinclude -o "$T/calls" "$T/calls.c" || exit 1

alone() { "$T/calls" "$1" 2>&1 | sed -n 's/^NS //p'; }
off() { "$B/bbtrace" user "$T/calls" work --engine "$engine" --control app -q -o /dev/null -F json -- "$T/calls" "$1" 2>&1 | sed -n 's/^NS //p'; }
on() { "$B/bbtrace" user "$T/calls" work --engine "$engine" --control app -q -o /dev/null -F json -- "$T/calls" "$1" start 2>&1 | sed -n 's/^NS //p'; }

# "alone traced", ns a call; which of the two is first alternates
for engine in probe inline; do
	for ((i = 0; i < pairs; i++)); do
		if ((i % 2)); then a=$(alone 100000000) b=$(off 100000000); else b=$(off 100000000) a=$(alone 100000000); fi
		echo "off $a $b"
		((i % 5)) || echo "on $(alone 100000) $(on 100000)"
	done >"$T/pairs"
	for how in off on; do
		awk -v how=$how '$1 == how { print $3 / $2, $2, $3 }' "$T/pairs" | sort -n | awk -v how=$how -v engine=$engine '
			{ ratio[NR] = $1; alone += $2; traced += $3 }
			END {
				# the median lies between these two with 95 %: Conover, Practical Nonparametric Statistics, 3.2
				low = int(NR / 2 - 0.98 * sqrt(NR)); high = NR + 1 - low
				printf "%-6s  recording %-4s %9.2f ns a call, alone %6.2f ns: ratio %.4f", engine, how, traced / NR, alone / NR, ratio[int((NR + 1) / 2)]
				if (low >= 1) printf "  (95 %%: %.4f to %.4f)", ratio[low], ratio[high]
				printf "  of %d pairs\n", NR
			}'
	done
done
