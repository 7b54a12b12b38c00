#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A busy program for an hour (SOAK_SECONDS), recorded to /dev/null: bbtrace's memory doesn't grow after the first
# tenth.
# shellcheck disable=SC2154,SC2034 # lib.sh sets them
. "$(dirname "$0")/../e2e/lib.sh"
needs root uprobes
seconds=${SOAK_SECONDS:-3600}

source_program busy c -pthread <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static __thread jmp_buf back;

NOINLINE int deep(int n, int left)
{
	if (n == left)
		longjmp(back, 1);
	return n ? deep(n - 1, left) + 1 : 0;
}

NOINLINE int attempt(int n, int left)
{
	return setjmp(back) ? -1 : deep(n, left);
}

static void *member(void *arg)
{
	for (int i = 0; i < 50; i++)
		attempt(i % 30, i & 1 ? 3 : -1);
	return arg;
}

/* Threads and processes come and go, calls are left, all the time. */
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atol(argv[1]);
	pthread_t threads[4];
	long rounds = 0;

	for (; time(NULL) < end; rounds++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, member, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		if (rounds % 16 == 0 && !fork()) {
			member(NULL);
			_exit(0);
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	printf("%ld\n", rounds);
	return 0;
}
END
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$tracer/status"; }

"$BBTRACE" user "$T/busy" deep attempt -f -o /dev/null -- "$T/busy" "$seconds" >"$T/out" 2>"$T/err" </dev/null &
tracer=$!
at_end "kill $tracer 2>/dev/null; wait $tracer 2>/dev/null"
most=0
for ((i = 1; i <= 20; i++)); do
	perl -e 'select undef, undef, undef, $ARGV[0] / 21' "$seconds"
	now=$(resident)
	((i == 2)) && first=$now
	((i > 2 && now > most)) && most=$now
	diag "after $((seconds * i / 21)) s: ${now:-gone} kB"
done
wait $tracer
status=$?
exits 0 "a busy program is traced for $seconds seconds"
isnt "$(summary events)" 0 "$(summary events) events are traced, $(summary lost) lost, in $(<"$T/out") rounds"
((most <= first + first / 10 + 1024))
ok $? "bbtrace takes at most $most kB, $first kB after a tenth of the time"
done_testing
