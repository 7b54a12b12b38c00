/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held: samples in generated code that has no name yet. Programs write the names of their code into
 * a buffer first, so they are in the file later, often only when the process ends. The samples of a
 * process are held until then, in their order, up to a limit.
 */
#ifndef BBTRACE_SESSION_HELD_H
#define BBTRACE_SESSION_HELD_H

#include "event/event.h"
#include "util/util.h"

struct held_sample;
struct held {
	struct held_sample *first, **end;
	size_t n;
	struct map64 of_process; /* PID -> how many */
};
/* Returns true if samples of this process are held. */
bool held__has(const struct held *h, uint32_t pid);
/* Holds a copy of a named event, whose stack is made. */
void held__put(struct held *h, const struct event *e);
/* Returns true if no more can be held: the oldest have to be passed on. */
bool held__is_full(const struct held *h);
/*
 * Passes on the samples of a process, or of all (pid 0), in their order. ready: returns false for a
 * sample that is to be held on, with all that follow it of its process; NULL: none is. Returns what
 * pass returns.
 */
int held__pass(struct held *h, uint32_t pid, bool (*ready)(void *ctx, const struct event *e),
	       int (*pass)(void *ctx, const struct event *e), void *ctx);
void held__free(struct held *h);

#endif
