/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_calls: the open calls of each thread, and the path that each is on. Private to
 * src/output/paths.
 */
#ifndef BBTRACE_OUTPUT_PATHS_CALLS_H
#define BBTRACE_OUTPUT_PATHS_CALLS_H

#include "paths.h"

/* When something was: known, or at the thread's next event. */
struct moment {
	enum { NEVER, AT_NEXT, AT } state;
	bool near; /* that of the next event */
	uint64_t time, era, spent, spread;
};

/* A call that has not returned. */
struct path_call {
	uint64_t call;
	uint32_t function;
	uint32_t block; /* that control is in */
	uint32_t node;	/* NO_NODE: the path isn't known */
	uint8_t apart;	/* enum apart: why the path doesn't count */
	enum {
		NOWHERE, /* the block isn't known */
		WITHIN,
		AFTER_CALL, /* the block ends in a call, which was made */
		RETURNING,
		JUMPED /* to another function, which returns in its place */
	} at : 8;
	bool entered;	 /* its entry was seen */
	bool timed;	 /* and when that was */
	bool from_entry; /* the path began there */
	bool again;	 /* but that was not the call's beginning */
	bool dormant;
	struct moment began;
};

/* A path that ended where there was no event. */
struct path_ended {
	uint32_t row;
	struct moment began;
};

struct path_thread {
	VEC(struct path_call) calls; /* the one that ran last is the last one */
	VEC(struct path_ended) ended;
	VEC(uint64_t) beginning; /* calls whose paths began where there was no event */
	unsigned unmeasured;	 /* how often that was since the last event: at most 2 */
	size_t dormant;
};

/* ---- rows.c: where paths begin and end, and what they took ---- */

/* The path begins at this block, at this step. */
void path__begin(struct path_counts *p, struct path_thread *th, struct path_call *c, uint32_t block,
		 const struct step *s);
/* The path has taken one of several edges. */
void path__choose(struct path_counts *p, struct path_call *c, uint32_t way);
/* The path ends, at this step. */
void path__end(struct path_counts *p, struct path_thread *th, struct path_call *c,
	       const struct step *s);
/* The path doesn't count, for this reason unless there already is one. */
void path__set_apart(struct path_call *c, enum apart why);
/* Nothing more comes of it. */
void path__give_up(struct path_counts *p, struct path_call *c);
/* At a timed step of the thread: assigns times to paths that began and ended since the last one. */
void path__settle(struct path_counts *p, struct path_thread *th, const struct step *s);
/*
 * A path begins or ends without an event. If that is the only one up to the next event, its time is
 * taken; else it isn't known which of them took the time.
 */
void path__miss_event(struct path_thread *th);

/* ---- threads.c: the calls of a thread ---- */

struct path_thread *path_calls__of(struct path_counts *p, const struct step *s);
struct path_call *path_calls__find(const struct path_thread *th, uint64_t call);
/* Makes the call the last one. Those after it have been left, for now or for good. Returns NULL if
 * it isn't known. */
struct path_call *path_calls__current(struct path_counts *p, struct path_thread *th, uint64_t call);
void path_calls__pop(struct path_thread *th);
/* The thread ends; all of them do. */
void path_calls__end(struct path_counts *p, const struct step *s);
void path_calls__end_all(struct path_counts *p);

#endif
