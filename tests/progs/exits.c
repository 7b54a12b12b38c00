// SPDX-License-Identifier: BSD-2-Clause
/* The program ends within a traced call, four levels deep; a callee never returns. */
#include "prog.h"

NOINLINE __attribute__((noreturn)) void finish(int n)
{
	printf("%d\n", n);
	exit(n);
}

NOINLINE int work(int n)
{
	if (n > 3)
		finish(n + 5);
	return work(n + 1) + touch(1);
}

int main(void)
{
	return work(0);
}
