// SPDX-License-Identifier: BSD-2-Clause
/* Tests of a program: each argument runs another part of it. BUILD=2: one function is another one,
 * and all are elsewhere. */
#include <stdlib.h>
#include "prog.h"

#if BUILD == 2
NOINLINE int moves(int n)
{
	return n * 3;
}
#endif

NOINLINE int even(int n)
{
	if (n % 2)
		return 0;
	return n > 10 ? 2 : 1;
}

NOINLINE int odd(int n)
{
	int sum = 0;

#if BUILD == 2
	if (n == 7)
		return 7;
#endif
	for (int i = 0; i < n; i++)
		sum += i & 1;
	return sum;
}

NOINLINE int choose(int n)
{
	switch (n) {
	case 0:
		return odd(1);
	case 1:
		return even(4);
	case 2:
		return even(5) + 3;
	case 3:
		return even(12);
	case 4:
		return odd(8) - 9;
	case 5:
		return 77;
	default:
		return -1;
	}
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 1; i < argc; i++)
		sum += choose(atoi(argv[i]));
	return sum == 1000;
}
