/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeper: a process that keeps the capability to open trace events, so that bbtrace itself can drop
 * it: a process that loses its perf events by an exec gets new ones. All that it does is to open
 * the one event of this trace for a thread. It ends with bbtrace.
 */
#ifndef BBTRACE_PROBE_KEEPER_H
#define BBTRACE_PROBE_KEEPER_H

#include "session.h"

/* Forks it, with these capabilities alone. False: it can't be. */
bool keeper__start(struct probe *p, uint64_t capabilities);
/* A perf event of the trace event for this thread, or -errno with errno set; -EPIPE: the keeper was
 * killed. */
int keeper__open_event(const struct keeper *k, pid_t tid);
/* Waits for its end. */
void keeper__end(struct keeper *k);

#endif
