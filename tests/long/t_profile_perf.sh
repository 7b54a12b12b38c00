#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A profile beside perf's own, of the same program: in each function both have the same share of the samples.
. "$(dirname "$0")/../e2e/lib.sh"
needs root cmd:perf cmd:gcc

cat >"$T/spin.c" <<'END'
	volatile long sink;
	__attribute__((noinline, noclone)) void most(long n) { for (long i = 0; i < 7 * n; i++) sink += i; }
	__attribute__((noinline, noclone)) void some(long n) { for (long i = 0; i < 2 * n; i++) sink += i; }
	__attribute__((noinline, noclone)) void few(long n) { for (long i = 0; i < n; i++) sink += i; }
	int main(void) { for (int i = 0; i < 20000; i++) most(20000), some(20000), few(20000); return 0; }
END
gcc -O2 -g -o "$T/spin" "$T/spin.c" || exit 2
perf record -q -e cpu-clock -F 997 -o "$T/perf.data" -- "$T/spin" || exit 2
perf script -i "$T/perf.data" -F ip,sym 2>/dev/null | awk '$2 ~ /^(most|some|few)$/ { n[$2]++ } END { for (f in n) print f, n[f] }' >"$T/perf"
for how in --timeline --stack-size=0; do
	bb profile --freq 997 "$how" -F folded -o "$T/folded" -- "$T/spin"
	sed -n 's/^.*;\(most\|some\|few\) \([0-9]*\)$/\1 \2/p' "$T/folded" >"$T/bbtrace"
	# two samples of one distribution: four deviations of their difference
	is "$(awk 'NR == FNR { x[$1] += $2; nx += $2; next } { y[$1] += $2; ny += $2 }
		END {
			if (nx < 2000 || ny < 2000) print "only", nx + 0, ny + 0
			else for (f in x) {
				p = (x[f] + y[f]) / (nx + ny); off = x[f] / nx - y[f] / ny
				if (off * off > 16 * p * (1 - p) * (1 / nx + 1 / ny)) print f, x[f], y[f]
			}
		}' "$T/perf" "$T/bbtrace")" '' "$how: as perf has it"
done
done_testing
