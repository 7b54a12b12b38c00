#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace diff --noise: where runs of the same input differ, too, is no difference; the others are as without.
# shellcheck disable=SC2154 # lib.sh sets status
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >noisy.c <<'END'
#include <stdlib.h>
#include <string.h>
#define KEPT __attribute__((noipa))
static volatile int sum;
KEPT static void help(void)
{
	sum++;
}
KEPT static void noise(int n)
{
	if (n & 1)
		help();
	if (n & 2)
		help(), help();
	if (n & 4)
		help(), help(), help();
}
KEPT static void work(int n)
{
	for (int i = 0; i < n; i++)
		if (i > 4)
			sum += i;
}
int main(int argc, char **argv)
{
	noise(atoi(getenv("NOISE")));
	work(atoi(argv[1]));
	return 0;
}
END
cc -g -O1 -o noisy noisy.c || exit 2
record() { # FILE NOISE ARGUMENT
	NOISE=$2 bb user "$T/noisy" noise help work -o "$T/$1" -- "$T/noisy" "$3"
}
record a 5 5
record again 2 5
record same 4 5
record b 6 7

# where FILE: the functions in which the runs part, and those with other counts
where() { json_lines "$1" '$e->{event} eq "difference" ? $e->{at}{symbol} : ""' | sort -u | xargs; }
counted() { json_lines "$1" '$e->{event} =~ /^(function|edge)$/ ? $e->{symbol} : ""' | sort -u | xargs; }

bb diff "$T/a" "$T/b" -n 100 -F json
exits 1 'without it, the runs differ'
is "$(where "$T/out")" 'noise work' 'where the noise is, and where the work is'
bb diff "$T/a" "$T/b" --noise "$T/again" -n 100 -F json
exits 1 'with it, they differ'
is "$(where "$T/out")" work 'where the work is'
is "$(counted "$T/out")" work 'what the noise alone executes is left out of the counts'
is "$(json_lines "$T/out" '$e->{event} eq "summary" ? $e->{noise} > 0 && $e->{differences} > 0 : ""')" 1 'JSON: noise'
like "$T/err" 'left out, since runs of the same input differ there, too: [1-9][0-9]* differences, [1-9][0-9]* counts' 'what was left out is counted'
bb diff "$T/a" "$T/same" --noise "$T/again"
exits 0 'runs that differ in nothing else are the same'
is "$(cat "$T/out")" '' 'and nothing is shown'
bb diff "$T/a" "$T/same" --noise "$T/again" --noise "$T/b" work
exits 0 'several of them, of one function'
bb diff "$T/a" "$T/b" --noise "$T/noisy.c"
exits 2 'what is no trace file is refused'
like "$T/err" 'noisy.c: not a trace file of bbtrace; -o FILE records one' 'by name'
bb diff --pass "$T/a" --fail "$T/b" --noise "$T/again"
exits 2 'not with sets of runs'
like "$T/err" 'give runs of the same input to --pass' 'which says what to do'

# ---- noise in a loop's body: iterations stay side by side ----
cat >loopy.c <<'END'
#include <stdlib.h>
#define KEPT __attribute__((noipa))
static volatile int sum;
static unsigned seed;
KEPT static int chance(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 16 & 1;
}
KEPT static void help(int i)
{
	if (i & 1)
		sum++;
}
KEPT static void loop(int n)
{
	for (int i = 0; i < n; i++) {
		if (chance())
			help(i);
		if (chance())
			sum += i;
		sum++;
	}
}
int main(int argc, char **argv)
{
	seed = atoi(getenv("NOISE"));
	loop(atoi(argv[1]));
	return 0;
}
END
cc -g -O1 -o loopy loopy.c || exit 2
loopy() { NOISE=$2 bb user "$T/loopy" loop help -o "$T/$1" -- "$T/loopy" "$3"; } # FILE SEED ITERATIONS
loopy l 1 40
loopy l.again 8 40
END_OF_LOOP=$(grep -n 'for (int i' loopy.c | cut -d: -f1)
for seed in 2 3 4 5 6; do
	loopy l.same $seed 40
	loopy l.longer $seed 45
	bb diff "$T/l" "$T/l.same" --noise "$T/l.again"
	exits 0 "$seed: as many iterations: nothing is left"
	bb diff "$T/l" "$T/l.longer" --noise "$T/l.again" -n 100 -F json
	is "$(json_lines "$T/out" '$e->{event} eq "difference" ? "$e->{kind} $e->{src}[0]{line}" : ""')" "branch $END_OF_LOOP" \
		"$seed: more of them: the end of the loop alone"
done
done_testing
