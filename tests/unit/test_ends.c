// SPDX-License-Identifier: BSD-2-Clause
/* The descriptor that tells of the end of processes, and of a signal. The processes are children
 * that wait for the end of a pipe. */
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session/process/process_ends.h"
#include "util/util.h"
#include "tap.h"

#define PATIENCE_MS (600 * 1000) /* only ends a hang */

static bool is_readable(const struct process_ends *w, int timeout_ms)
{
	struct pollfd fd = {.fd = w->fd, .events = POLLIN};

	return poll(&fd, 1, timeout_ms) == 1;
}

static uint32_t start(void)
{
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (!pid)
		for (;;)
			pause();
	return (uint32_t)pid;
}

/* It isn't reaped: it has ended all the same. */
static void end(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
}

static void reap(uint32_t pid)
{
	waitpid((pid_t)pid, NULL, 0);
}

static void test_two(void)
{
	uint32_t a = start(), b = start(), copy;
	struct process_ends w = process_ends__open((uint32_t[]){a, b}, 2);

	ok(!process_ends__all_ended(&w) && !is_readable(&w, 0), "two processes: none has ended");
	copy = start(); /* keeps the descriptors open, as a sandbox does */
	end(b);
	ok(is_readable(&w, PATIENCE_MS), "one ends: the descriptor tells");
	ok(!process_ends__all_ended(&w), "one of two isn't all");
	ok(!is_readable(&w, 0), "it is told once: who waits doesn't spin");
	reap(b);
	ok(!process_ends__all_ended(&w), "one of two isn't all, once it is reaped either");
	end(copy);
	reap(copy);
	end(a);
	ok(is_readable(&w, PATIENCE_MS), "the other ends: the descriptor tells");
	ok(process_ends__all_ended(&w), "now all have ended");
	reap(a);
	process_ends__close(&w);

	w = process_ends__open((uint32_t[]){a, b}, 2);
	ok(process_ends__all_ended(&w), "processes that aren't there have ended");
	process_ends__close(&w);
}

static void test_signal(void)
{
	struct process_ends w = process_ends__open(NULL, 0);

	ok(!is_readable(&w, 0), "no processes: nothing to tell");
	process_ends__wake(w.wakeup);
	ok(is_readable(&w, PATIENCE_MS), "a signal: the descriptor tells");
	ok(!process_ends__all_ended(&w), "no process has ended by it");
	ok(is_readable(&w, 0), "it stays told");
	process_ends__rest(&w);
	ok(!is_readable(&w, 0), "until it is answered");
	process_ends__close(&w);
	process_ends__wake(-1);
}

/* As if pidfd_open(2) had been refused. */
static void test_unwatched(void)
{
	uint32_t p = start();
	struct process_ends w = process_ends__open(&p, 1);

	close(w.pidfds[0]);
	w.pidfds[0] = -1;
	end(p);
	reap(p);
	ok(!process_ends__all_ended(&w), "the end of a process that isn't watched isn't made up");
	process_ends__close(&w);
}

int main(void)
{
	test_two();
	test_signal();
	test_unwatched();
	return tap__done();
}
