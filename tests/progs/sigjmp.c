// SPDX-License-Identifier: BSD-2-Clause
/* siglongjmp out of a handler, from a fault in the middle of a traced function. */
#include <setjmp.h>
#include <signal.h>
#include "prog.h"

static sigjmp_buf back;

NOINLINE void handler(int sig)
{
	siglongjmp(back, sig);
}

NOINLINE int poke(volatile int *where, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += touch(i);
		if (i == 3)
			*where = i;
	}
	return sum;
}

NOINLINE int attempt(volatile int *where, int n)
{
	if (sigsetjmp(back, 1))
		return -1;
	return poke(where, n);
}

int main(void)
{
	int good = 0, sum = 0;

	signal(SIGSEGV, handler);
	for (int i = 2; i < 7; i++)
		sum = sum * 3 + attempt(i & 1 ? &good : NULL, i);
	printf("%d\n", sum);
	return 0;
}
