// SPDX-License-Identifier: BSD-2-Clause
/* A handler within a handler, both on the alternate stack: the inner one leaves both by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include "prog.h"

static char stack[65536];
static sigjmp_buf back;
static int depth;

NOINLINE int sum_to(int n)
{
	return n ? sum_to(n - 1) + touch(n) : 0;
}

NOINLINE void handler(int sig)
{
	depth += sum_to(3);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
	else if (depth > 20)
		siglongjmp(back, sum_to(2));
	depth += 100;
}

NOINLINE int attempt(int n)
{
	int got = sigsetjmp(back, 1);

	if (got)
		return -got;
	if (n)
		return attempt(n - 1) + touch(1);
	raise(SIGUSR1);
	return depth;
}

int main(void)
{
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	int sum = 0;

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (int i = 0; i < 4; i++)
		sum = sum * 3 + attempt(i);
	printf("%d %d\n", sum, depth);
	return 0;
}
