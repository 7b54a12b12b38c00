// SPDX-License-Identifier: BSD-2-Clause
/* Ten thousand levels of recursion. */
#include "prog.h"

NOINLINE int deep(int n)
{
	return n ? deep(n - 1) + touch(1) : 0;
}

int main(void)
{
	printf("%d\n", deep(10000));
	return 0;
}
