/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of -p: have they all ended? */
#ifndef BBTRACE_CMD_WATCH_H
#define BBTRACE_CMD_WATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch {
	struct pollfd *fds; /* process descriptors become readable when the process has ended */
	size_t n;
};
/* A process that isn't there has ended. */
struct watch watch__open(const uint32_t *pids, size_t n);
/* False without processes. */
bool watch__all_ended(struct watch *w);
void watch__close(struct watch *w);

#endif
