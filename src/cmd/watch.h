/* SPDX-License-Identifier: BSD-2-Clause */
/* What ends a run from outside, as one descriptor to wait on: the end of the traced processes
 * (those of -p, or CMD), and a signal. */
#ifndef BBTRACE_CMD_WATCH_H
#define BBTRACE_CMD_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch {
	int fd;	     /* readable: a process has ended since watch__all_ended(), or watch__wake() */
	int wakeup;  /* eventfd */
	int *pidfds; /* become readable when the process has ended; then closed, -1 */
	size_t n, ended;
};
/* A process that isn't there has ended. Processes that can't be watched (pidfd_open(2) fails), or
 * all of them (fd is -1), never end here. */
struct watch watch__open(const uint32_t *pids, size_t n);
/* Makes the watch's fd readable while this one is, too; -1: none. */
void watch__also(struct watch *w, int fd);
/* False without processes. */
bool watch__all_ended(struct watch *w);
/* Makes fd readable, until watch__rest(). wakeup is that of the watch; -1: none. Async-signal-safe.
 */
void watch__wake(int wakeup);
void watch__rest(struct watch *w);
void watch__close(struct watch *w);

#endif
