// SPDX-License-Identifier: BSD-2-Clause
/* Threads that come and go, sixteen at a time: 80, or the number in the first argument. With a
 * second argument every third one ends within its calls. */
#include <pthread.h>
#include "prog.h"

static int leaving;

NOINLINE long triangle(long n)
{
	if (!n && leaving)
		pthread_exit((void *)1l);
	return n ? triangle(n - 1) + touch(1) * n : 0;
}

NOINLINE void *member(void *arg)
{
	long n = (long)arg;

	if (leaving && n % 3)
		return (void *)n;
	return (void *)(n & 1 ? triangle(n % 7) : -triangle(n % 5));
}

int main(int argc, char **argv)
{
	long all = argc > 1 ? atol(argv[1]) : 80, sum = 0;
	pthread_t threads[16];
	void *got;

	leaving = argc > 2;
	for (long i = 0; i < all; i += COUNT(threads)) {
		for (size_t j = 0; j < COUNT(threads); j++)
			if (pthread_create(&threads[j], NULL, member, (void *)(i + (long)j)))
				return 1;
		for (size_t j = 0; j < COUNT(threads); j++) {
			pthread_join(threads[j], &got);
			sum += (long)got;
		}
	}
	printf("%ld\n", sum);
	return 0;
}
