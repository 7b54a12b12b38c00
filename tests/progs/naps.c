// SPDX-License-Identifier: BSD-2-Clause
/* Threads that sleep and compute by turns. With an argument it waits for a byte first. Prints what
 * the kernel has counted of each. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) int nap(int us)
{
	struct timespec t = {0, us * 1000L};
	nanosleep(&t, 0);
	return us;
}

__attribute__((noinline)) int spin(int n)
{
	volatile int i;
	for (i = 0; i < n * 1000; i++)
		;
	return i;
}

__attribute__((noinline)) int both(int n)
{
	return nap(n) + spin(n) + nap(n);
}

static void *run(void *n)
{
	for (int i = 0; i < 50; i++)
		both(100 + (long)n);
	return NULL;
}

/* What the kernel has counted, but for the thread's end. */
static void tell(void)
{
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %255s", line) == 1)
			printf("voluntary %s\n", line);
}

int main(int argc, char **argv)
{
	pthread_t threads[3];
	char c;
	if (argc > 1 && read(0, &c, 1) != 1)
		return 1;
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	run(NULL);
	tell();
	return 0;
}
