/* SPDX-License-Identifier: BSD-2-Clause */
/* The open calls of threads. See stack.c. */
#ifndef BBTRACE_OUTPUT_STATS_STACK_H
#define BBTRACE_OUTPUT_STATS_STACK_H

#include "stats.h"

/* A call's own time at its sites. */
struct site_time {
	uint32_t site;
	uint64_t ns;
};
struct self_time {
	uint64_t since;	    /* the time of its last event; 0: none yet */
	uint32_t charged;   /* the call or jump to untraced code in progress; NO_SITE */
	struct map64 index; /* site -> 1 + index into sites */
	VEC(struct site_time) sites;
};

/* What calls took, ns, and their branches. */
struct share {
	uint64_t ns, branches;
	uint64_t tracing, noise; /* as in struct step */
	uint64_t unpriced;	 /* of ns: of calls of which that is not known */
	uint64_t off;		 /* on no CPU, as far as known */
};

/* A call that has not returned yet. */
struct open_call {
	uint64_t id;	 /* step.call */
	uint64_t caller; /* step.caller */
	uint32_t node, function;
	uint32_t edge;	    /* index into stats.calls, NO_EDGE */
	uint32_t last_site; /* of its last branch with a known target; NO_SITE */
	struct location last_to;
	bool seen;	    /* its entry was seen */
	bool recursive;	    /* its function may be among its callers */
	struct share inner; /* of its finished callees; branches: its own, too */
	struct share given; /* of these: what was added to its caller when it became dormant */
	struct self_time self_time; /* stats.by_site */
};
#define NO_EDGE UINT32_MAX

/*
 * Time that is already counted, of calls within an open call of the same function, which takes it
 * back if it is timed when it returns.
 */
struct credit {
	uint64_t within; /* that call's id */
	uint32_t function;
	uint32_t edge; /* the call edge, NO_EDGE: unknown */
	uint64_t ns, branches;
	struct stats_net net;
};

struct stack {
	uint32_t thread;	    /* index into stats.threads, of the live calls */
	uint64_t newest;	    /* the highest id of a call so far */
	VEC(struct open_call) live; /* outermost first */
	/* left, maybe for good: longjmp, another stack */
	VEC(struct open_call) dormant;
	VEC(struct credit) credits; /* by .within, ascending */
};

struct stats_priv {
	struct map64 stacks;	  /* tid (idle threads: 1 << 32 | cpu) -> struct stack * */
	struct map64 threads;	  /* hash of pid, tid, name -> index + 1 into stats.threads */
	struct map64 nodes;	  /* parent << 32 | function -> node */
	struct map64 edges;	  /* hash of caller, site, callee -> index + 1 into stats.calls */
	struct map64 full_names;  /* function -> char *, its readable name; "": it has none */
	struct map64 targets;	  /* hash of site and address -> index + 1 into its targets */
	struct map64 marks;	  /* hash of a text -> 1 + its index */
	struct map64 cpus;	  /* CPU -> 1 + index into stats.cpus */
	struct map64 on_cpu;	  /* CPU << 32 | function -> 1 + index into stats.on_cpu */
	struct map64 name_hashes; /* hash of a sampled function's name -> 1 + index into names */
	VEC(char *) names;
	uint32_t other;		 /* the thread of "[other stacks]"; NO_NODE: none yet */
	uint64_t seen, returned; /* calls whose entry was seen; of these: that returned */
};

/* A hash for keys whose lookups compare the contents. */
uint64_t stats__hash(uint64_t a, uint64_t b, uint64_t c);

/* ---- a call's own time, by site (self_time.c) ---- */

/* An event of the call itself, at this site or NO_SITE. */
void self_time__event(struct stats *p, struct open_call *c, const struct step *s, uint32_t site);
/* A callee starts or returns. */
void self_time__inner(struct stats *p, struct open_call *c, const struct step *s);
/* The call has returned; self is its own time. Adds the shares to p->sites, or to the nodes of
 * these; returns what the nodes have. */
uint64_t self_time__take(struct stats *p, struct open_call *c, uint64_t self);
void self_time__free(struct self_time *s);

/* The node of this thread, and of a function called at a node. */
uint32_t stack__thread_node(struct stats *p, const struct step *s);
uint32_t stack__node_below(struct stats *p, uint32_t node, uint32_t function);

/* ---- samples.c ---- */

void samples__add(struct stats *p, const struct step *s);
const char *samples__name(const struct stats *p, uint32_t function);
void samples__free(struct stats *p);

void stack__entry(struct stats *p, const struct step *step);
void stack__branch(struct stats *p, const struct step *step);
void stack__run(struct stats *p, const struct passed_run *run);
void stack__return(struct stats *p, const struct step *step);
void stack__free_all(struct stats_priv *priv);

/* ---- inclusive.c: time from entry to return, counted once ---- */

/* c took ns, and net: adds them to its function, ns to its call edge, too. */
void inclusive__add(struct stats *p, struct stack *st, const struct open_call *c, uint64_t ns,
		    const struct stats_net *net);
/* c can't be timed: passes its credits on to the next outer call of its function. */
void inclusive__hand_on(struct stack *st, const struct open_call *c);

#endif
