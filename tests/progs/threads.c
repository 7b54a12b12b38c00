// SPDX-License-Identifier: BSD-2-Clause
/* Four threads in the same function concurrently. */
#include <pthread.h>
#include "prog.h"

NOINLINE long collatz(long n)
{
	long steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps += touch(1);
	}
	return steps;
}

NOINLINE void *worker(void *arg)
{
	long sum = 0;

	for (long i = 1; i <= 20; i++)
		sum += collatz(i + (long)arg);
	return (void *)sum;
}

int main(void)
{
	pthread_t threads[4];
	long sum = 0;
	void *got;

	for (long i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(i * 10));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &got);
		sum = sum * 3 + (long)got;
	}
	printf("%ld\n", sum);
	return 0;
}
