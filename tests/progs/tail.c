// SPDX-License-Identifier: BSD-2-Clause
/* Tail calls: direct, conditional, through a pointer, to itself; into functions that aren't traced
 * (plain, hidden). */
#include "prog.h"

NOINLINE int plain(int n)
{
	return touch(n) + 1;
}

NOINLINE int hidden(int n)
{
	return n > 5 ? touch(n) * 2 : plain(n + 1);
}

int (*volatile pointer)(int) = plain;

NOINLINE int direct(int n)
{
	if (n > 3)
		return plain(n);
	return hidden(n * 4);
}

NOINLINE int indirect(int n)
{
	return pointer(n ^ 1);
}

NOINLINE int chain(int n)
{
	if (touch(n) & 1)
		return indirect(n + 2);
	return direct(n);
}

NOINLINE int down(int n, int sum)
{
	return n ? down(n - 1, touch(sum) + n) : chain(sum);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum = sum * 3 + chain(i) + down(i, 0);
	pointer = direct;
	printf("%d %d\n", sum, indirect(9));
	return 0;
}
