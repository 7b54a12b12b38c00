/* SPDX-License-Identifier: BSD-2-Clause */
/* The open calls of a profile's threads. See stats_stack.c. */
#ifndef BBTRACE_STATS_STACK_H
#define BBTRACE_STATS_STACK_H

#include "output/stats.h"

/* What a call has spent at its sites. */
struct site_time {
	uint32_t site;
	uint64_t ns;
};
struct self_time {
	uint64_t since;	    /* the time of its last event; 0: none yet */
	uint32_t charged;   /* a call or jump that control is away for; NO_SITE */
	struct map64 index; /* site -> 1 + index into sites */
	VEC(struct site_time) sites;
};

/* A call that has not returned yet. */
struct open_call {
	uint64_t id;	 /* step.call */
	uint64_t caller; /* step.caller */
	uint32_t node, function;
	uint32_t edge;	    /* index into stats.calls, NO_EDGE */
	uint32_t last_site; /* of its last branch, where that goes to a known place; NO_SITE */
	struct location last_to;
	bool seen;	/* its entry was */
	bool recursive; /* its function may be among its callers */
	/* ns and branches of the calls that it made and that are over; branches: its own as well */
	uint64_t inner_ns, branches;
	/* of these: what its caller has got already, as it fell out of reach */
	uint64_t given_ns, given_branches;
	struct self_time self_time; /* stats.by_site */
};
#define NO_EDGE UINT32_MAX

/*
 * Time that counts already, of calls that ran within another call of the same function. That one is
 * still open: it may never be timed, and takes the time back if it is.
 */
struct credit {
	uint64_t within; /* that call's id */
	uint32_t function;
	uint32_t edge; /* by which they were called, NO_EDGE: not known */
	uint64_t ns, branches;
};

struct stack {
	uint32_t thread;	    /* index into stats.threads, of the live calls */
	uint64_t newest;	    /* the highest id of a call so far */
	VEC(struct open_call) live; /* outermost first */
	VEC(struct open_call)
	dormant;		    /* out of reach, perhaps for good: longjmp, another stack's */
	VEC(struct credit) credits; /* by .within, ascending */
};

struct stats_priv {
	struct map64 stacks;	 /* tid (idle threads: 1 << 32 | cpu) -> struct stack * */
	struct map64 threads;	 /* hash of pid, tid, name -> index + 1 into stats.threads */
	struct map64 nodes;	 /* parent << 32 | function -> node */
	struct map64 edges;	 /* hash of caller, site, callee -> index + 1 into stats.calls */
	struct map64 targets;	 /* hash of site and address -> index + 1 into its targets */
	uint32_t other;		 /* the thread of "[other stacks]"; NO_NODE: none yet */
	uint64_t seen, returned; /* calls whose entry was seen; of these: that returned */
};

/* Of well mixed words, for keys whose owner compares what it finds. */
uint64_t stats__hash(uint64_t a, uint64_t b, uint64_t c);

/* ---- a call's own time, by site (stats_self_time.c) ---- */

/* An event of the call itself, at this site or NO_SITE. */
void self_time__event(struct stats *p, struct open_call *c, const struct step *s, uint32_t site);
/* A call that it made begins or is over. */
void self_time__inner(struct stats *p, struct open_call *c, const struct step *s);
/* The call is over, and self is its own time: p->sites get their shares. */
void self_time__take(struct stats *p, struct open_call *c, uint64_t self);
void self_time__free(struct self_time *s);

void stack__entry(struct stats *p, const struct step *step);
void stack__branch(struct stats *p, const struct step *step);
void stack__return(struct stats *p, const struct step *step);
void stack__free_all(struct stats_priv *priv);

/* ---- stats_inclusive.c: time from entry to return, nothing of it twice ---- */

/* c took ns: counts them for its function and for the edge that it was called by. */
void inclusive__add(struct stats *p, struct stack *st, const struct open_call *c, uint64_t ns);
/* c is never timed: what it would have taken back goes to a call of its function outside of it. */
void inclusive__hand_on(struct stack *st, const struct open_call *c);

#endif
