/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run: a trace as the browser needs it: the steps of each thread in their order, and an index of
 * the calls in them. Steps and calls are in spilled memory; what is in ours grows with the code,
 * the threads and the depth of calls, not with the length of the trace.
 */
#ifndef BBTRACE_TUI_MODEL_RUN_H
#define BBTRACE_TUI_MODEL_RUN_H

#include "record.h"
#include "spill.h"

enum call_flags {
	CALL_RETURNED = 1,
	CALL_TIMED = 2,	    /* duration is known */
	CALL_NO_ENTRY = 4,  /* its entry was not seen */
	CALL_CUT = 8,	    /* it was left without a return that was seen */
	CALL_UNCERTAIN = 16 /* events are missing in it: its path is not all it did */
};

struct call {
	uint64_t begin, end; /* positions of its first step, and after its last one */
	uint64_t last;	     /* the position of its return; 0: there is none */
	uint64_t time;	     /* of its first step, ns */
	uint64_t duration;   /* ns */
	uint64_t branches;   /* its own */
	uint64_t path;	     /* equal for calls that took the same branches in the same order,
				however often loops repeated them */
	uint32_t function, thread;
	uint32_t next;	/* 1 + the next call of the same function; 0: none */
	uint32_t outer; /* 1 + the call that it is in; 0: none is known */
	uint32_t depth;
	uint32_t flags; /* enum call_flags */
};

struct calls_of {
	uint32_t first, last; /* 1 + number; 0: none */
	uint32_t entries;     /* those whose entry was seen */
	uint32_t n;
	uint64_t branches, missing; /* of its calls; the number of uncertain ones */
};

struct open_call;
struct thread {
	uint64_t key;		 /* step__thread_key(); 0: steps of no thread */
	uint32_t task;		 /* the last one */
	uint64_t first, at, end; /* positions: of its first step, of the next one, of its part */
	uint64_t steps, calls, missing; /* missing: gaps */
	uint64_t started;		/* the time of its first step */
	VEC(struct open_call *) open;	/* outermost first */
};

struct run {
	const char *name; /* of the file */
	const struct plan *plan;
	struct names names;
	struct spill steps, calls;
	uint32_t ncalls;
	VEC(struct thread) threads;
	struct map64 thread_of; /* key -> 1 + number */
	VEC(struct calls_of) functions;
	struct map64 outcomes; /* those that any call had (run__outcome()) -> count */
	struct str bytes;      /* room for a record */
	uint64_t start, total; /* the time that others are relative to; number of steps */
};

/* Returns 0, or -errno with a message. */
int run__init(struct run *r, const char *name, const struct plan *plan, uint64_t start);
void run__free(struct run *r);
/* Takes the next step. Returns 0, or -errno with a message. */
int run__step(struct run *r, const struct step *s);
/* Calls that have not ended end here. */
void run__end(struct run *r);

static inline struct call *run__call(const struct run *r, uint32_t i)
{
	return &((struct call *)r->calls.base)[i];
}

/* What a branch did: its site, direction, and where an indirect one led. */
uint64_t run__outcome(const struct step *s);

/* Returns the record at *at, and moves *at to the next one; NULL at `to`, where a thread's or a
 * call's steps end. */
const uint8_t *run__next(const struct run *r, uint64_t *at, uint64_t to, size_t *len);

#endif
