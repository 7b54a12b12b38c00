// SPDX-License-Identifier: BSD-2-Clause
/* longjmp over traced frames, after which the same stack is used again. */
#include <setjmp.h>
#include "prog.h"

static jmp_buf back;

NOINLINE int dive(int n)
{
	if (n == 0)
		longjmp(back, 5);
	return dive(n - 1) + touch(1);
}

NOINLINE int calm(int n)
{
	return n < 1 ? touch(0) : calm(n - 1) + 1;
}

NOINLINE int attempt(int n)
{
	volatile int times = 0;
	int got = setjmp(back);

	if (got) {
		times++;
		return got + times + calm(n + 2);
	}
	return dive(n);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum = sum * 3 + attempt(i) + calm(i);
	printf("%d\n", sum);
	return 0;
}
