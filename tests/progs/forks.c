// SPDX-License-Identifier: BSD-2-Clause
/* fork within a traced call: two processes return from it. */
#include <sys/wait.h>
#include <unistd.h>
#include "prog.h"

NOINLINE int sum_to(int n)
{
	int sum = 0;

	while (n > 0)
		sum += touch(n--);
	return sum;
}

NOINLINE int split(int n)
{
	pid_t pid = fork();

	return pid ? sum_to(n) : -sum_to(n + 5);
}

int main(void)
{
	int got = split(4), status;

	if (got < 0)
		_exit(-got);
	wait(&status);
	printf("%d %d\n", got, WEXITSTATUS(status));
	return 0;
}
