// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tests/long/t_loads.sh traces: functions with branches and arguments, in threads and
 * children, with a handler, a variable that changes, markers of bbtrace.h, and a failed call.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../include/bbtrace.h"

volatile int counter;

__attribute__((noipa)) int leaf(int n, const char *name)
{
	counter++;
	return n & 1 ? n * 3 : n + *name;
}

__attribute__((noipa)) int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += leaf(i, "leaf");
	return sum;
}

__attribute__((noipa)) int fails(int n)
{
	return n > 100 ? 0 : -ENOENT;
}

static void handle(int sig)
{
	work(sig ? 2 : 0);
}

static void *run(void *sum)
{
	*(int *)sum = work(5);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int sum;

	signal(SIGUSR1, handle);
	BBTRACE_START();
	BBTRACE_MARK("works", work(10));
	raise(SIGUSR1);
	if (!pthread_create(&thread, NULL, run, &sum))
		pthread_join(thread, NULL);
	if (!fork())
		_exit(work(3) == 0);
	wait(NULL);
	fails(1);
	BBTRACE_STOP();
	puts("done");
	return 0;
}
