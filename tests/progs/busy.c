// SPDX-License-Identifier: BSD-2-Clause
/*
 * busy [N]: 16 threads that call, jump, throw away and compute until the file that "busy until
 * FILE" names is there, or N rounds each; each checks every result of its own. Prints "right" and
 * the rounds, or what was wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <unistd.h>
#include "prog.h"

#define THREADS 16

static const char *until;
static unsigned long rounds;
static unsigned wrong;

static NOINLINE unsigned step(unsigned x, unsigned kind)
{
	switch (kind) {
	case 0:
		return x * 3 + 1;
	case 1:
		return x ^ x >> 7;
	case 2:
		return x & 1 ? x / 2 : x + 5;
	case 3:
		return x << 3 | x >> 29;
	case 4:
		return x - 77;
	case 5:
		return (unsigned)((double)x * 0.5) + 3;
	default:
		return x * 1103515245 + 12345;
	}
}

static NOINLINE int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static NOINLINE unsigned recurse(unsigned n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

static NOINLINE void leave(jmp_buf to, unsigned depth)
{
	if (!depth)
		longjmp(to, 7);
	leave(to, depth - 1);
}

static NOINLINE unsigned jump(unsigned depth)
{
	jmp_buf to;
	int how = setjmp(to);

	if (!how)
		leave(to, depth);
	return (unsigned)how;
}

static NOINLINE unsigned work(unsigned seed)
{
	unsigned (*volatile through)(unsigned) = recurse;
	unsigned values[64], sum = 0;
	char text[32];

	for (unsigned i = 0; i < COUNT(values); i++)
		values[i] = seed = step(seed, i % 7);
	qsort(values, COUNT(values), sizeof(*values), compare);
	for (unsigned i = 0; i < COUNT(values); i++)
		sum = sum * 31 + values[i];
	snprintf(text, sizeof(text), "%u", sum);
	return sum + through(8) + jump(sum % 5) + (unsigned)strlen(text);
}

static void *thread(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg, first = work(seed);
	unsigned long n = 0;

	while (until ? access(until, F_OK) : n < rounds) {
		for (int i = 0; i < 20; i++)
			if (work(seed) != first)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		n++;
	}
	return (void *)n;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned long all = 0;
	void *n;

	if (argc > 2)
		until = argv[2];
	else
		rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(uintptr_t)(i * 977 + 1));
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &n);
		all += (unsigned long)n;
	}
	if (wrong)
		printf("%u of them wrong\n", wrong);
	else
		printf("right\n");
	fprintf(stderr, "%lu rounds\n", all);
	return wrong != 0;
}
