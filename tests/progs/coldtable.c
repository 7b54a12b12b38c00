// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jumps and calls through tables that were never touched: each is in 64 KiB of the file of its own,
 * so that its first use faults in the page. A child has page tables of its own; it starts with the
 * jump, the program with the call.
 */
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>
#include "prog.h"

#define APART 65536 /* what one fault brings in at most (mm/memory.c, fault_around_pages) */

typedef int (*fn)(int);

static NOINLINE int twice(int n)
{
	return touch(n) * 2;
}
static NOINLINE int less(int n)
{
	return touch(n) - 1;
}

__attribute__((aligned(APART))) static const struct {
	fn calls[2];
	char apart[APART - 2 * sizeof(fn)];
} called = {{twice, less}, ""};

NOINLINE int through(int n)
{
	__attribute__((aligned(APART))) static const struct {
		void *places[3];
		char apart[APART - 3 * sizeof(void *)];
	} jumped = {{&&one, &&two, &&three}, ""};

	goto *jumped.places[n % 3];
one:
	return touch(n) + 10;
two:
	return touch(n) ^ 3;
three:
	return touch(n) * 7;
}

NOINLINE int apply(int n)
{
	return called.calls[n & 1](n) + 1;
}

static int run(bool calls_first)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum = calls_first ? apply(i) - through(i) + sum * 3
				  : through(i) - apply(i) + sum * 3;
	return sum;
}

int main(void)
{
	pid_t child = fork();

	if (!child) {
		run(false);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("%d\n", run(true));
	return 0;
}
