// SPDX-License-Identifier: BSD-2-Clause
/* exec from within a traced call, by the main thread and by another thread. */
#include <pthread.h>
#include <unistd.h>
#include "prog.h"

extern char **environ;

NOINLINE int again(int round)
{
	char digit[2] = {(char)('0' + touch(round)), 0};
	char *argv[] = {(char *)"execs", digit, NULL};

	for (int i = 0; i < round; i++)
		touch(i);
	if (round < 3)
		execve("/proc/self/exe", argv, environ);
	return round;
}

static void *worker(void *arg)
{
	again(*(int *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int round = argc > 1 ? argv[1][0] - '0' + 1 : 1;
	pthread_t thread;

	if (round == 2) {
		pthread_create(&thread, NULL, worker, &round);
		pthread_join(thread, NULL);
		return 1;
	}
	printf("%d\n", again(round));
	return 5;
}
