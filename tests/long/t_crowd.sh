#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ten thousand sites and a thousand threads at once.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
threads=1000 functions=1300

{
	echo '#include <pthread.h>
#include <stdio.h>
#define F(n) __attribute__((noinline, noclone)) int f##n(volatile int *p) { int s = n; \
	if (*p > 1) S; if (*p > n) S; if (*p & 2) S; if (*p & 1) S; if (*p & 4) S; if (*p > 7) S; return s; }
#define S { s += *p; __asm__ volatile("" : "+r"(s)); }'
	for ((i = 0; i < functions; i++)); do echo "F($i)"; done
	echo 'static int (*const all[])(volatile int *) = {'
	for ((i = 0; i < functions; i++)); do echo "f$i,"; done
	echo "};
static pthread_barrier_t here;
static void *member(void *arg)
{
	volatile int n = (long)arg;
	long sum = 0;
	pthread_barrier_wait(&here); /* all of them are alive */
	for (int i = 0; i < 26; i++)
		sum += all[(n * 7 + i * 50) % $functions](&n);
	pthread_barrier_wait(&here);
	return (void *)sum;
}
int main(void)
{
	static pthread_t t[$threads];
	pthread_attr_t small;
	long sum = 0;
	void *got;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&here, NULL, $threads);
	for (long i = 0; i < $threads; i++)
		if (pthread_create(&t[i], &small, member, (void *)i))
			return 1;
	for (int i = 0; i < $threads; i++) {
		pthread_join(t[i], &got);
		sum += (long)got;
	}
	printf(\"%ld\\n\", sum);
	return 0;
}"
} | source_program crowd c -pthread
"$T/crowd" >"$T/plain"
for placement in full witness; do
	bb user "$T/crowd" 'f[0-9]*' --placement $placement -F json -o "$T/json" -- "$T/crowd"
	exits 0 "$placement: $threads threads are traced with $(summary probes) probes"
	same "$T/out" "$T/plain" "$placement: a program of $threads threads prints what it always does"
	[[ $(summary probes) -ge 10000 || $placement != full ]]
	ok $? "$placement: ten thousand sites have probes if each has one"
	is "$(json "$T/json" '$e->{event} eq "entry"') $(json "$T/json" '$e->{event} eq "return"')" "$((threads * 26)) $((threads * 26))" \
		"$placement: each call of $threads threads is shown, and returns"
	is "$(summary lost) $(summary unmatched)" '0 0' "$placement: nothing of $threads threads is lost or unmatched"
done
done_testing
