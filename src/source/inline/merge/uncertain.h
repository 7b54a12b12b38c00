/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uncertain: where a thread's log doesn't show everything. While handlers of faults run, the
 * supervisor has restored the originals of some functions (restore.c), which log nothing. Gaps
 * separate what the thread did before and after that. If it has logged something of such a function
 * meanwhile, from its copy, it is unknown what followed, and each event has a gap before it.
 * Private to src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_UNCERTAIN_H
#define BBTRACE_SOURCE_INLINE_MERGE_UNCERTAIN_H

#include "source/inline/supervisor/supervisor.h"
#include "event/event.h"

struct uncertain_turn {
	uint64_t position;
	uint32_t object, function; /* NO_FUNCTION: all of the object */
	bool logged, within;	   /* else it is restored; it may be in its copy */
	bool entries;		   /* it logs entries; what follows an entry isn't known */
};

struct uncertain {
	VEC(struct uncertain_turn) turns; /* in order; */
	size_t passed;			  /* how many of them are done */
	VEC(struct uncertain_turn) open;  /* what is restored */
	bool all;			  /* before each event */
	uint64_t inside;		  /* up to this stack pointer; 0: nowhere */
};

/* UNLOGGED or LOGGED. */
void uncertain__receive(struct uncertain *d, const struct notice *notice);
/* Something that was logged at this position is next; UINT64_MAX: nothing is. Returns true if a gap
 * is before it. */
bool uncertain__at(struct uncertain *d, uint64_t position);
/* This event is next. True: a gap is before it, since the thread was in a function that logs its
 * entries only. */
bool uncertain__within(struct uncertain *d, const struct event *e);
/* An event of a site was passed on. */
void uncertain__see(struct uncertain *d, const struct plan *plan, const struct event *e);
/* Returns true if nothing is restored, at the point where the log is read. */
bool uncertain__is_over(const struct uncertain *d);
/* Up to this position nothing changes. */
uint64_t uncertain__next(const struct uncertain *d);
void uncertain__free(struct uncertain *d);

#endif
