// SPDX-License-Identifier: BSD-2-Clause
/* clone() without CLONE_THREAD: another process in the same memory, on a stack of its own, running
 * concurrently. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "prog.h"

static char stacks[2][65536] __attribute__((aligned(16)));
static volatile int sums[2];

NOINLINE int sum_to(int n)
{
	return n ? sum_to(n - 1) + touch(n) : 0;
}

NOINLINE int child(void *arg)
{
	int i = (int)(long)arg;

	sums[i] = sum_to(5 + i);
	return i + 1;
}

/* The first child in memory of its own, the second in its parent's. */
NOINLINE int parent(void)
{
	int status, sum = 0;
	pid_t pid;

	for (long i = 0; i < 2; i++) {
		pid = clone(child, stacks[i] + sizeof(stacks[i]), (i ? CLONE_VM : 0) | SIGCHLD,
			    (void *)i);
		sum += sum_to(3);
		waitpid(pid, &status, 0);
		sum = sum * 10 + WEXITSTATUS(status);
	}
	return sum;
}

int main(void)
{
	int got = parent();

	printf("%d %d %d\n", got, sums[0], sums[1]);
	return 0;
}
