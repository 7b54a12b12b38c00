// SPDX-License-Identifier: BSD-2-Clause
/* Waits for the end of processes by their descriptors. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/util.h"
#include "watch.h"

struct watch watch__open(const uint32_t *pids, size_t n)
{
	struct watch w = {xcalloc(n, sizeof(*w.fds)), n};

	for (size_t i = 0; i < n; i++)
		w.fds[i] = (struct pollfd){syscall(SYS_pidfd_open, pids[i], 0), POLLIN, 0};
	return w;
}

bool watch__all_ended(struct watch *w)
{
	size_t ended = 0;

	for (size_t i = 0; i < w->n; i++)
		ended += w->fds[i].fd < 0 || poll(&w->fds[i], 1, 0) > 0;
	return w->n && ended == w->n;
}

void watch__close(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		util__close(&w->fds[i].fd);
	free(w->fds);
}
