// SPDX-License-Identifier: BSD-2-Clause
/* Four threads run the same loop, while the main thread calls function after function: what retires
 * there replaces the probes of the loop as well, which must count each execution once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4

/* The first two conditionals are never taken, and no block shows that, since both lead to the ret.
 */
long spin(long n, long a, long b);
__asm__(".text\n.type spin, @function\nspin: xor %eax, %eax\n"
	"1: inc %rax\ncmp %rsi, %rax\nje 2f\ncmp %rdx, %rax\nje 2f\ncmp %rdi, %rax\njne 1b\n"
	"2: ret\n.size spin, . - spin");

#define FUNCTION(i)                                                                                \
	__attribute__((noipa)) int f##i(int x)                                                     \
	{                                                                                          \
		if (x & 1)                                                                         \
			return x + i;                                                              \
		return x - i;                                                                      \
	}
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
static int (*const functions[])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};

static long n;
static volatile int running = THREADS;

static void *run(void *unused)
{
	spin(n, -1, -2);
	__sync_fetch_and_sub(&running, 1);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int called = 0;

	n = argc > 1 ? atol(argv[1]) : 250000;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 8 && running; i++) {
		usleep(100000);
		for (int k = 0; k < 3; k++)
			functions[i](k);
		called++;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", called);
	return 0;
}
