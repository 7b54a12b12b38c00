// SPDX-License-Identifier: BSD-2-Clause
/*
 * Times a program that has no clock of its own: FILE CMD ARG... executes CMD without a fork, so
 * that a tracer's PID filter matches; a child stays behind and writes "WALL CPU" in ns to FILE when
 * CMD has ended.
 */
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Counts the time on a CPU of this task and of those that it makes from exec on; it outlives them.
 */
static int open_task_clock(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The child holds none of CMD's streams: who waits for their end need not wait for it. */
static void watch(int pidfd, int cpu_clock, double start, const char *path)
{
	struct pollfd p = {pidfd, POLLIN, 0};
	uint64_t cpu = 0;
	double wall;
	FILE *out;

	for (int i = 0; i < 3; i++)
		close(i);
	while (poll(&p, 1, -1) != 1)
		;
	wall = ns() - start;
	if (read(cpu_clock, &cpu, sizeof(cpu)) != sizeof(cpu))
		cpu = wall;
	out = fopen(path, "w");
	if (!out)
		_exit(1);
	fprintf(out, "%.0f %llu\n", wall, (unsigned long long)cpu);
	fclose(out);
	_exit(0);
}

int main(int argc, char **argv)
{
	int pidfd = argc > 2 ? syscall(SYS_pidfd_open, getpid(), 0) : -1;
	int cpu_clock = open_task_clock();
	double start = ns();

	if (pidfd < 0) {
		fprintf(stderr, "usage: timed FILE CMD ARG...\n");
		return 2;
	}
	if (!fork())
		watch(pidfd, cpu_clock, start, argv[1]);
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
