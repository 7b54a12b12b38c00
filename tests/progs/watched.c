// SPDX-License-Identifier: BSD-2-Clause
/*
 * Accesses of variables, a known number of each kind: watched WHAT N. once: N stores of 1 to N by
 * one thread; threads: N additions by each of eight; read: N reads of 8 bytes from /dev/zero; rep:
 * N copies by rep movs; same: N stores of 7; fork: N children that store 1 to 10; wait: stores
 * until it is killed; called: N calls of store_it().
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile unsigned long counter;
volatile unsigned int other[2];
unsigned long buffer[8], source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__thread volatile int own;
static long n;

__attribute__((constructor)) static void construct(void)
{
	counter = 0x51;
}

__attribute__((noinline)) void store_it(long i)
{
	counter = i;
}

static void *add(void *arg)
{
	for (long i = 0; i < n; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void threads(void)
{
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void read_it(void)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (long i = 0; i < n; i++)
		if (read(fd, buffer, 8) != 8)
			exit(1);
}

static void copy(void)
{
	for (long i = 0; i < n; i++) {
		void *to = buffer, *from = source;
		unsigned long words = 8;

		asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	}
}

static void children(void)
{
	for (long i = 0; i < n; i++) {
		if (!fork()) {
			for (int j = 1; j <= 10; j++)
				counter = j;
			_exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	static volatile unsigned int calls;
	const char *what = argc > 2 ? argv[1] : "";

	n = argc > 2 ? atol(argv[2]) : 0;
	calls = 3;
	own = 4;
	if (!strcmp(what, "once"))
		for (long i = 1; i <= n; i++)
			counter = i;
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "read"))
		read_it();
	else if (!strcmp(what, "rep"))
		copy();
	else if (!strcmp(what, "fork"))
		children();
	for (long i = 0; !strcmp(what, "same") && i < n; i++)
		other[1] = 7;
	for (long i = 1; !strcmp(what, "called") && i <= n; i++)
		store_it(i);
	for (long i = 0; !strcmp(what, "wait"); i++, usleep(1000))
		counter = i;
	return 0;
}
