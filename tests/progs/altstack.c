// SPDX-License-Identifier: BSD-2-Clause
/* A signal handler on an alternate stack, which may be above or below the main one: the calls nest
 * in both cases. */
#include <signal.h>
#include "prog.h"

static char stack[65536];
static volatile int busy;

NOINLINE int count(int n)
{
	if (n == 2 && !busy)
		raise(SIGUSR2);
	return n ? count(n - 1) + touch(1) : 0;
}

NOINLINE void handler(int sig)
{
	busy = 1;
	printf("%d on the other stack\n", count(5) + sig - SIGUSR2);
	busy = 0;
}

int main(void)
{
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	printf("%d\n", count(4));
	return 0;
}
