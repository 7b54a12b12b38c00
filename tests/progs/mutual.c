// SPDX-License-Identifier: BSD-2-Clause
/* Mutual recursion, and a function that calls itself through another. */
#include "prog.h"

int is_odd(int n);
NOINLINE int is_even(int n)
{
	return n == 0 ? 1 : is_odd(n - 1) ^ touch(0);
}

NOINLINE int is_odd(int n)
{
	return n == 0 ? 0 : is_even(n - 1) ^ touch(0);
}

NOINLINE int ackermann(int m, int n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1) + touch(0);
	return ackermann(m - 1, ackermann(m, n - 1)) + touch(0);
}

int main(void)
{
	printf("%d %d %d\n", is_even(30), is_odd(30), ackermann(2, 3));
	return 0;
}
