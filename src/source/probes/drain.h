/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain: takes the records out of the ring buffer while others are still being rendered, so that
 * the ring holds no more than what a moment brings. Until drain__start() who asks takes them
 * itself; from then on a thread does, which does nothing else.
 */
#ifndef BBTRACE_PROBE_DRAIN_H
#define BBTRACE_PROBE_DRAIN_H

#include "util/util.h"

/* Records, each behind its uint64_t size. */
struct batch {
	struct batch *next;
	size_t len; /* bytes in records */
	char records[];
};

struct drain;
/* The ring is that of the BPF map map_fd. So many bytes of records wait at most, a batch at least;
 * then the ring fills. Errors: -errno, with a message. */
int drain__open(int map_fd, size_t max, struct drain **out);
/* Unless it runs already. The thread has the capabilities of who calls, and no signals. Errors:
 * -errno, with a message. */
int drain__start(struct drain *d);
/*
 * Waits at most timeout_ms for records; *out: what there is, oldest first, or NULL: drain's own, to
 * be given back. *until: a time, CLOCK_MONOTONIC ns; what had its place in the ring before it has
 * been given out. A signal ends the wait. Errors: -errno, with a message.
 */
int drain__take(struct drain *d, int timeout_ms, struct batch **out, uint64_t *until);
void drain__give_back(struct drain *d, struct batch *list);
/* Ends the thread, if there is one, with the ring empty; what it took is left to drain__take(). */
void drain__stop(struct drain *d);
void drain__close(struct drain *d);

#endif
