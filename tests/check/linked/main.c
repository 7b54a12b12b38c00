// SPDX-License-Identifier: BSD-2-Clause
/* tests/check/t_linked.sh: functions that a linker can fold, and one of another section. */
#include <stdio.h>
#include "shared.h"

#define NOINLINE __attribute__((noinline))

NOINLINE int zeta(int x)
{
	if (x > 2)
		return x + 1;
	return 0;
}

NOINLINE int alpha(int x)
{
	if (x > 2)
		return x + 1;
	return 0;
}

static NOINLINE int own(int x)
{
	if (x > 2)
		return x + 1;
	return 0;
}

NOINLINE __attribute__((section(".text.elsewhere"))) int elsewhere(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += clamp(i, 3);
	return sum;
}

static __attribute__((cold, noinline)) void complain(int n)
{
	printf("bad %d\n", n);
}

NOINLINE int check(int n)
{
	if (__builtin_expect(n > 100, 0)) {
		complain(n);
		n = 100;
	}
	return n * 2;
}

int (*volatile table[3])(int) = {zeta, alpha, own};

int main(int argc, char **argv)
{
	const struct request a = {1, "one"}, b = {7, "seven"};

	printf("%d %d\n", table[0](5), argc > 5 ? table[1](1) + table[2](2) : 0);
	printf("%d\n", used(&a, ON, "because") + used(&b, OFF, "x"));
	printf("%d\n", elsewhere(5) + check(argc));
	return 0;
}
