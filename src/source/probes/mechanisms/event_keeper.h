/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_keeper: a process that keeps the capability to open trace events (util/keeper.h), so that
 * bbtrace itself can drop it: a process that loses its perf events by an exec gets new ones. All
 * that it does is to open the one event of this trace for a thread.
 */
#ifndef BBTRACE_SOURCE_PROBES_MECHANISMS_EVENT_KEEPER_H
#define BBTRACE_SOURCE_PROBES_MECHANISMS_EVENT_KEEPER_H

#include "source/probes/session.h"

/* Forks p->keeper, with these capabilities alone. 0, or -errno with a message. */
int event_keeper__start(struct probe *p, uint64_t capabilities);
/* A perf event of the trace event for this thread, or -errno, also in errno; -EPIPE: the keeper was
 * killed. */
int event_keeper__open(const struct probe *p, pid_t tid);

#endif
