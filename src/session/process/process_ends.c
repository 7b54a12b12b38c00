// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "util/util.h"
#include "process_ends.h"

#define WAKEUP UINT64_MAX /* other events have their index in pidfds */

static int add(struct process_ends *w, int fd, uint64_t data)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = data};

	return fd < 0 ? -1 : epoll_ctl(w->fd, EPOLL_CTL_ADD, fd, &e);
}

struct process_ends process_ends__open(const uint32_t *pids, size_t n)
{
	struct process_ends w = {.fd = epoll_create1(EPOLL_CLOEXEC),
				 .wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				 .pidfds = xcalloc(n, sizeof(*w.pidfds)),
				 .n = n};

	add(&w, w.wakeup, WAKEUP);
	for (size_t i = 0; i < n; i++) {
		w.pidfds[i] = syscall(SYS_pidfd_open, pids[i], 0);
		w.ended += w.pidfds[i] < 0 && errno == ESRCH;
		add(&w, w.pidfds[i], i);
	}
	return w;
}

void process_ends__also(struct process_ends *w, int fd)
{
	add(w, fd, WAKEUP);
}

/* Counts the end, and removes the pidfd, which would keep fd readable. Closing it isn't enough:
 * a child may have a copy. */
static void count_end(struct process_ends *w, int *pidfd)
{
	epoll_ctl(w->fd, EPOLL_CTL_DEL, *pidfd, NULL);
	close(*pidfd);
	*pidfd = -1;
	w->ended++;
}

bool process_ends__all_ended(struct process_ends *w)
{
	struct epoll_event e[16];
	int n = epoll_wait(w->fd, e, ARRAY_SIZE(e), 0);

	for (int i = 0; i < n; i++)
		if (e[i].data.u64 != WAKEUP)
			count_end(w, &w->pidfds[e[i].data.u64]);
	return w->n && w->ended == w->n;
}

void process_ends__wake(int wakeup)
{
	const uint64_t one = 1;

	(void)!write(wakeup, &one, sizeof(one));
}

void process_ends__rest(struct process_ends *w)
{
	uint64_t times;

	(void)!read(w->wakeup, &times, sizeof(times));
}

void process_ends__close(struct process_ends *w)
{
	for (size_t i = 0; i < w->n; i++)
		util__close(&w->pidfds[i]);
	free(w->pidfds);
	util__close(&w->wakeup);
	util__close(&w->fd);
}
