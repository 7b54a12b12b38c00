// SPDX-License-Identifier: BSD-2-Clause
/* Textbook recursion: fib(10) makes 177 calls. Also linked static, static-PIE, at a fixed address,
 * and stripped. */
#include "prog.h"

NOINLINE int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	printf("%d\n", fib(10));
	return 3;
}
