#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A profile as pprof: go's own reader shows as many samples in each function as folded has, and the time that they stand for.
. "$(dirname "$0")/../e2e/lib.sh"
needs root cmd:go cmd:gcc

cat >"$T/spin.c" <<'END'
	volatile long sink;
	__attribute__((noinline, noclone)) void one(long n) { for (long i = 0; i < n; i++) sink += i; }
	__attribute__((noinline, noclone)) void two(long n) { one(n), one(n); sink++; }
	int main(void) { for (int i = 0; i < 200; i++) two(400000), one(100000); return 0; }
END
gcc -O2 -g -o "$T/spin" "$T/spin.c" || exit 2
# go tool pprof: its "flat" of a function, in its smallest unit
flat() {
	PPROF_TMPDIR=$T HOME=$T go tool pprof -top -nodefraction=0 -unit="$2" -sample_index="$1" "$T/pprof" 2>"$T/go.err" |
		awk '$NF == "one" { sub(/[a-z]*$/, "", $1); print $1 }'
}
for how in --timeline --stack-size=0; do
	bb profile --freq 997 "$how" --record "$T/trace" -F pprof -o "$T/pprof" -- "$T/spin"
	bb report "$T/trace" -F folded -o "$T/folded"
	samples=$(awk '!/^#/ && /;one [0-9]*$/ { n += $NF } END { print n + 0 }' "$T/folded")
	period=$(bb report "$T/trace" -F json >/dev/null; json_lines "$T/out" '$e->{args}{period}' | sort -u)
	is "$(flat samples count)" "$samples" "$how: as many samples in a function"
	is "$(flat cpu ns)" "$((samples * period))" "$how: and ns, a period each"
done
done_testing
