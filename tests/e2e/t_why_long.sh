#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bbtrace why: of a program that executes many branches only the last ones before its messages and its end are examined,
# and these as those of a short program. A store before what isn't examined is no reason.
# shellcheck disable=SC2154 # lib.sh sets status
export ENGINE=auto
. "$(dirname "$0")/lib.sh"
needs root uprobes
cd "$T" || exit 2

cat >long.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline))
static int early, late;
static volatile long sum;
KEPT int odd(int i)
{
	return i & 1 ? i * 3 : i;
}
KEPT void run(long n)
{
	for (long i = 0; i < n; i++)
		sum += odd(i);
}
KEPT void begin(int argc)
{
	if (argc > 1) /* early */
		early = 5;
}
KEPT void warn(long n)
{
	if (n > 0) /* warned */
		fprintf(stderr, "long: something is odd\n");
}
KEPT void end(int argc)
{
	if (argc == 3) /* late */
		late = 6;
}
static void *thread(void *n)
{
	run(*(long *)n);
	return n;
}
int main(int argc, char **argv)
{
	long n = atol(argv[1]);
	pthread_t other;

	begin(argc);
	pthread_create(&other, NULL, thread, &n);
	run(n);
	warn(n);
	run(n);
	pthread_join(other, NULL);
	if (argc > 2)
		end(argc);
	return argc > 2 ? late : early;
}
END
gcc -g -O1 -pthread -o long long.c || exit 2
line() { grep -n "/\* $1 \*/" long.c | cut -d: -f1; }

for n in 10 1000000; do
	bb why -o "$T/said" -- "$T/long" $n x
	exits 6 "$n: ends as untraced"
	like "$T/said" "because .*long\.c:$(line warned)\$" "$n: why it wrote the message"
	like "$T/said" "(because|decided by) .*long\.c:$(line late)\$" "$n: and why it ended so" || diag "$(cat "$T/said" "$T/err")"
	cp "$T/err" "$T/err.$n"
	bb why -o "$T/said" -- "$T/long" $n
	exits 5 "$n, an early store: ends as untraced"
	cp "$T/said" "$T/said.$n"
done
like "$T/said.10" "(because|decided by) .*long\.c:$(line early)\$" 'of a short program, what it stored early is known'
unlike "$T/said.1000000" "long\.c:$(line early)\$" 'of a long one, it is not'
unlike "$T/err.10" 'left out' 'of a short one nothing is left out'
like "$T/err.1000000" 'of the log were left out: .*only the last branches before messages' 'of a long one much is, and that is said'

# a passing run of which not all is known isn't compared
bb why --pass "$T/long 1000000 x y z" -o "$T/said" -- "$T/long" 10 x
exits 6 'a long run that passes'
like "$T/err" 'executed more branches than can be kept, or lost some' 'is not compared, since not all of it is known'
unlike "$T/said" 'passing run' 'and nothing is said of it'
done_testing
