// SPDX-License-Identifier: BSD-2-Clause
/* A handler on a stack of its own: it lies above or below the other, the calls nest all the same.
 */
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
