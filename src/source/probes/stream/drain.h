/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drain: takes records out of the ring buffer while earlier ones are being rendered, so that the
 * ring stays nearly empty. After drain__start() a dedicated thread does so; before, drain__take()
 * does it itself.
 */
#ifndef BBTRACE_SOURCE_PROBES_STREAM_DRAIN_H
#define BBTRACE_SOURCE_PROBES_STREAM_DRAIN_H

#include "util/util.h"

/* Records, each preceded by its uint64_t size. */
struct batch {
	struct batch *next;
	size_t len; /* bytes in records */
	char records[];
};

struct drain;
/* map_fd is the BPF ring buffer, losses_fd another one (-1: none), whose records don't wake the
 * reader. At most max bytes of records are queued, at least a batch; then the rings fill. Errors:
 * -errno, with a message. */
int drain__open(int map_fd, int losses_fd, size_t max, struct drain **out);
/* Starts the thread unless it runs already. It has the caller's capabilities and blocks all
 * signals. Errors: -errno, with a message. */
int drain__start(struct drain *d);
/*
 * Waits at most timeout_ms for records; a signal ends the wait, and so does fd (-1: none) if it is
 * readable. *out: the queued batches, oldest first, or NULL; return them with drain__give_back().
 * *until, CLOCK_MONOTONIC ns: all records reserved before it have been returned. Errors: -errno,
 * with a message, once the records before it have been returned.
 */
int drain__take(struct drain *d, int timeout_ms, int fd, struct batch **out, uint64_t *until);
/* Has the thread look into the ring now, even if there is little in it. */
void drain__look(struct drain *d);
void drain__give_back(struct drain *d, struct batch *list);
/* Ends the thread, if any, when the ring is empty; drain__take() returns what it took. */
void drain__stop(struct drain *d);
void drain__close(struct drain *d);

#endif
