// SPDX-License-Identifier: BSD-2-Clause
/* A signal ends the program in the middle of a loop. */
#include <signal.h>
#include "prog.h"

NOINLINE int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += touch(i);
		if (i == 5)
			raise(SIGTERM);
	}
	return sum;
}

int main(void)
{
	printf("before\n");
	fflush(stdout);
	return work(10);
}
