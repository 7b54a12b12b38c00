// SPDX-License-Identifier: BSD-2-Clause
/* Functions that take some nanoseconds, called often, and one that takes 50 ms in a system call. */
#include <time.h>
#include "prog.h"

NOINLINE static int leaf(int x)
{
	return 3 * touch(x) + 1;
}

NOINLINE static int choose(int x)
{
	return touch(x) & 4 ? leaf(x) + 1 : x + 2;
}

NOINLINE static int waits(int x)
{
	const struct timespec time = {.tv_nsec = 50000000};

	if (touch(x) > 2)
		nanosleep(&time, NULL);
	return x > 5 ? choose(x) : 2;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 600, sum = 0;

	for (int i = 0; i < n; i++)
		sum += choose(i);
	return sum + waits(argc + 3) == 0;
}
