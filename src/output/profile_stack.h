/* SPDX-License-Identifier: BSD-2-Clause */
/* The open calls of a profile's threads. See profile_stack.c. */
#ifndef BBTRACE_PROFILE_STACK_H
#define BBTRACE_PROFILE_STACK_H

#include "output/profile.h"

/* What a call has spent at its sites. */
struct spent_at {
	uint32_t site;
	uint64_t ns;
};
struct spent {
	uint64_t since;	    /* the time of its last event; 0: none yet */
	uint32_t charged;   /* a call or jump that control is away for; NO_SITE */
	struct map64 index; /* site -> 1 + index into sites */
	VEC(struct spent_at) sites;
};

/* A call that has not returned yet. */
struct open_call {
	uint64_t id;	 /* step.call */
	uint64_t caller; /* step.caller */
	uint32_t node, function;
	uint32_t edge;	    /* index into profile.calls, NO_EDGE */
	uint32_t last_site; /* of its last branch, where that goes to a known place; NO_SITE */
	struct location last_to;
	bool seen;	/* its entry was */
	bool recursive; /* its function may be among its callers */
	/* ns and branches of the calls that it made and that are over; branches: its own as well */
	uint64_t inner_ns, branches;
	/* of these: what its caller has got already, as it fell out of reach */
	uint64_t given_ns, given_branches;
	struct spent spent; /* profile.by_site */
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
	uint32_t thread;	    /* index into profile.threads, of the live calls */
	uint64_t newest;	    /* the highest id of a call so far */
	VEC(struct open_call) live; /* outermost first */
	VEC(struct open_call)
	dormant;		    /* out of reach, perhaps for good: longjmp, another stack's */
	VEC(struct credit) credits; /* by .within, ascending */
};

struct profile_priv {
	struct map64 stacks;	 /* tid (idle threads: 1 << 32 | cpu) -> struct stack * */
	struct map64 threads;	 /* hash of pid, tid, name -> index + 1 into profile.threads */
	struct map64 nodes;	 /* parent << 32 | function -> node */
	struct map64 edges;	 /* hash of caller, site, callee -> index + 1 into profile.calls */
	struct map64 targets;	 /* hash of site and address -> index + 1 into its targets */
	uint32_t other;		 /* the thread of "[other stacks]"; NO_NODE: none yet */
	uint64_t seen, returned; /* calls whose entry was seen; of these: that returned */
};

/* Of well mixed words, for keys whose owner compares what it finds. */
uint64_t profile__hash(uint64_t a, uint64_t b, uint64_t c);

/* ---- a call's own time, by site (profile_spent.c) ---- */

/* An event of the call itself, at this site or NO_SITE. */
void spent__event(struct profile *p, struct open_call *c, const struct step *s, uint32_t site);
/* A call that it made begins or is over. */
void spent__inner(struct profile *p, struct open_call *c, const struct step *s);
/* The call is over, and self is its own time: p->sites get their shares. */
void spent__take(struct profile *p, struct open_call *c, uint64_t self);
void spent__free(struct spent *s);

void stack__entry(struct profile *p, const struct step *step);
void stack__branch(struct profile *p, const struct step *step);
void stack__return(struct profile *p, const struct step *step);
void stack__free_all(struct profile_priv *priv);

/* ---- profile_inclusive.c: time from entry to return, nothing of it twice ---- */

/* c took ns: counts them for its function and for the edge that it was called by. */
void inclusive__add(struct profile *p, struct stack *st, const struct open_call *c, uint64_t ns);
/* c is never timed: what it would have taken back goes to a call of its function outside of it. */
void inclusive__hand_on(struct stack *st, const struct open_call *c);

#endif
