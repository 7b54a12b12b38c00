// SPDX-License-Identifier: BSD-2-Clause
/*
 * What guest_named.sh traces, whose doing it knows:
 *
 * - random SECONDS: three quarters of its CPU time in getrandom, the rest in a loop; prints the
 *   share of getrandom in percent, as the thread's clock says
 *
 * - ask: for each byte on stdin, prints the semaphore of its static probe, which it passes if it is
 *   set
 *
 * - fork N: N children, one after the other, which end at once; prints "fork PID CHILD" of each
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "sdt.h"

SEMAPHORE ask_semaphore;
static char data[1 << 14];
static volatile long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

__attribute__((noinline, noclone)) static void reads(void)
{
	/* glibc may do it in the vDSO, without the system call */
	if (syscall(SYS_getrandom, data, sizeof(data), 0) < 0)
		exit(1);
	sink += data[0];
}

__attribute__((noinline, noclone)) static void spins(void)
{
	for (int i = 0; i < 20000; i++)
		sink += i;
}

static void random_for(double seconds)
{
	double begin = now(), at = begin, in_reads = 0;

	while (at - begin < seconds) {
		int is_read = in_reads <= (at - begin) * 0.75;
		double before = at;

		if (is_read)
			reads();
		else
			spins();
		at = now();
		in_reads += is_read ? at - before : 0;
	}
	printf("%.0f\n", 100 * in_reads / (at - begin));
}

__attribute__((noinline, noclone)) static void ask(int n)
{
	uint16_t semaphore = ask_semaphore;
	register int a asm("edi") = n;

	if (semaphore)
		asm volatile(NOTE("ask", "ask_semaphore", "-4@%%edi") : : "r"(a));
	printf("%d %d\n", n, semaphore);
	fflush(stdout);
}

static void fork_times(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		printf("fork %d %d\n", getpid(), child);
		waitpid(child, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char c;

	if (!strcmp(what, "random") && argc > 2)
		random_for(atof(argv[2]));
	else if (!strcmp(what, "fork") && argc > 2)
		fork_times(atoi(argv[2]));
	else if (!strcmp(what, "ask"))
		for (int n = -1; read(0, &c, 1) == 1; n++)
			ask(n);
	else
		return 2;
	return 0;
}
