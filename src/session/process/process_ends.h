/* SPDX-License-Identifier: BSD-2-Clause */
/* process_ends: what ends a run from outside, as one descriptor to wait on: the end of the
 * traced processes (those of -p, or CMD), and a signal. */
#ifndef BBTRACE_SESSION_PROCESS_PROCESS_ENDS_H
#define BBTRACE_SESSION_PROCESS_PROCESS_ENDS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_ends {
	/* readable if a process has ended since process_ends__all_ended(), or after
	 * process_ends__wake() */
	int fd;
	int wakeup;  /* eventfd */
	int *pidfds; /* readable when the process has ended; then closed and -1 */
	size_t n, ended;
};
/* A process that doesn't exist counts as ended. Processes that can't be waited for
 * (pidfd_open(2) fails), or all of them (fd is -1), never end here. */
struct process_ends process_ends__open(const uint32_t *pids, size_t n);
/* Makes fd readable while this descriptor is, too; -1: none. */
void process_ends__also(struct process_ends *w, int fd);
/* Returns true if all processes have ended; false if there are none. */
bool process_ends__all_ended(struct process_ends *w);
/* Makes fd readable until process_ends__rest(). wakeup is that of the process_ends; -1: none.
 * Async-signal-safe. */
void process_ends__wake(int wakeup);
void process_ends__rest(struct process_ends *w);
void process_ends__close(struct process_ends *w);

#endif
