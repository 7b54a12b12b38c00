/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doubt: where a thread's log doesn't tell all. While handlers of faults run, the supervisor has
 * restored the originals of some functions (uncover.c), which log nothing. What the thread did in
 * front of and behind that is kept apart by gaps; if it has logged something of such a function
 * meanwhile, from its copy, nobody knows what followed, and each event has a gap before it. Private
 * to src/source/inline.
 */
#ifndef BBTRACE_INLINE_DOUBT_H
#define BBTRACE_INLINE_DOUBT_H

#include "source/inline/supervisor/supervisor.h"
#include "event/event.h"

struct doubt_turn {
	uint64_t position;
	uint32_t object, function; /* NO_FUNCTION: all of the object */
	bool covered, within;	   /* else it is uncovered; it may be in its copy */
	bool entries;		   /* it logs these; what follows an entry isn't known */
};

struct doubt {
	VEC(struct doubt_turn) turns; /* in order; */
	size_t passed;		      /* so many of them are done with */
	VEC(struct doubt_turn) open;  /* what is uncovered */
	bool all;		      /* before each event */
	uint64_t inside;	      /* up to this stack pointer; 0: nowhere */
};

/* UNCOVERED or COVERED. */
void doubt__hear(struct doubt *d, const struct say *say);
/* Something that was logged at this position is next, or UINT64_MAX: nothing. True: a gap is before
 * that. */
bool doubt__at(struct doubt *d, uint64_t position);
/* This event is next. True: a gap is before it, since the thread was in a function that logs its
 * entries only. */
bool doubt__within(struct doubt *d, const struct event *e);
/* An event of a site was passed on. */
void doubt__see(struct doubt *d, const struct plan *plan, const struct event *e);
/* Is nothing uncovered, where the log is read? */
bool doubt__is_over(const struct doubt *d);
/* Up to this position nothing changes. */
uint64_t doubt__next(const struct doubt *d);
void doubt__free(struct doubt *d);

#endif
