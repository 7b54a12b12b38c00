// SPDX-License-Identifier: BSD-2-Clause
/* An IFUNC: the resolver runs in the dynamic loader, before main. */
#include "prog.h"

NOINLINE int chosen(int n)
{
	return n > 2 ? touch(n) : -n;
}

NOINLINE int other(int n)
{
	return touch(n);
}

int (*resolver(void))(int)
{
	return touch(1) ? chosen : other;
}

int pick(int n) __attribute__((ifunc("resolver")));

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum = sum * 3 + pick(i);
	printf("%d\n", sum);
	return 0;
}
