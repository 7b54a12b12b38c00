/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats: what the aggregating formats count, built from steps. Private to src/output; pure.
 *
 * Four views of one run, each by the plan's indices: functions, sites, stacks (a tree of calls per
 * thread) and calls (who called whom, from which site). They contain only what was observed: a call
 * whose entry or return was not seen counts, but has no time. stats__missing() reports what is
 * missing.
 *
 *	stats__init(&p, plan);
 *	stats__step(&p, step);	for each step
 *	stats__end(&p);		once: the stacks' values are added up
 *	…				read
 *	stats__free(&p);
 */
#ifndef BBTRACE_OUTPUT_STATS_STATS_H
#define BBTRACE_OUTPUT_STATS_STATS_H

#include "output/output.h"

/* The most stacks; calls in others are counted under a root "[other stacks]". */
#define STATS_NODES (1u << 18)
/* Calls deeper than this are counted together under "[deeper calls]". */
#define STATS_DEPTH 1024
/* The most targets of a site; branches to others are only counted (stats_site.more). */
#define STATS_TARGETS 256

/* ---- durations: buckets that are exact below 128 ns, then at most 1/64 of the value wide ---- */

#define HISTOGRAM_SUB 6 /* bits below a value's highest one that select its bucket */

struct histogram {
	struct map64 buckets;	   /* histogram__bucket() -> count */
	uint64_t n, sum, min, max; /* exact; sum stops at UINT64_MAX */
};
void histogram__add(struct histogram *h, uint64_t value);
/*
 * The nearest-rank quantile: of n sorted values, the one at n * permille / 1000, rounded up.
 * Returns its bucket's lowest value, but at least min: at most 1/64 too small, never too large.
 */
uint64_t histogram__quantile(const struct histogram *h, unsigned permille);
/* How many values lie in [2^i, 2^(i+1)), i = 0 … 63 (0 itself counts in the first). */
void histogram__log2(const struct histogram *h, uint64_t counts[64]);

/* ---- time without tracing, of the calls of which that is known ---- */

struct stats_net {
	uint64_t ns, tracing, noise; /* as in struct step, added up */
	uint64_t calls;		     /* their number */
	uint64_t off, off_calls; /* the time on no CPU, ns, and the number of calls that it is of
				    (-e sched) */
};
/* sign: 1, -1 */
void stats_net__add(struct stats_net *to, const struct stats_net *n, int sign);
enum net stats_net__state(const struct stats_net *n, uint64_t *ns);
/* Puts it as text, with something before and after a known time; else "noise" or "-". */
void put_net_time(struct str *s, const struct stats_net *n, const char *before, const char *after);

/* ---- functions: index as plan->functions ---- */

struct stats_function {
	uint64_t calls;	      /* entries; COUNT_UNKNOWN if not known (stats__count()) */
	uint64_t branches;    /* executed in its code, in any function's call */
	uint64_t conditional; /* of these: jcc, loop */
	uint64_t taken;	      /* of these: taken */
	uint64_t unseen;      /* returns of calls whose entry was not seen: no duration */
	uint64_t open;	      /* calls that have not returned */
	uint64_t total;	      /* ns from entry to return; time within another timed call of it isn't
				 counted twice */
	uint64_t self;	      /* ns without those of traced callees */
	uint64_t self_off;    /* of self: on no CPU (-e sched) */
	struct stats_net net; /* of total */
	struct histogram time; /* of each call that returned: time.n may be less than calls */
};

/* ---- sites: index as plan->sites ---- */

struct stats_target {
	struct location to;
	uint64_t count;
};

struct stats_site {
	uint64_t taken;		 /* unconditional: executed. COUNT_UNKNOWN if not known */
	uint64_t not_taken;	 /* conditional */
	uint64_t unknown_target; /* of taken: unknown target */
	uint64_t ns;		 /* by_site: its share of its function's self */
	uint64_t more;		 /* of taken: to targets beyond the first STATS_TARGETS */
	/* Indirect branches and rets, in the order first seen; direct ones have none. */
	VEC(struct stats_target) targets;
	uint8_t low; /* enum count_low */
};

/* ---- stacks: a tree ---- */

/* Special values of stats_node.function. */
enum {
	STATS_THREAD = UINT32_MAX,     /* a root: .thread */
	STATS_UNSEEN = UINT32_MAX - 1, /* a call whose entry was not seen, of an unknown function */
	STATS_DEEPER = UINT32_MAX - 2, /* see STATS_DEPTH */
	STATS_SAMPLED = 1u << 31,      /* + the number of a name (samples.c) */
	STATS_OFF_CPU = UINT32_MAX - 3, /* below a function: its time on no CPU */
	STATS_SITE = 1u << 30, /* + a site, below its function (stats.site_nodes): the calls made
				  there, and what it took itself */
};
#define NO_NODE UINT32_MAX

/* Calls of one function with the same chain of callers. A node follows its parent in the array. */
struct stats_node {
	uint32_t function;
	uint32_t parent; /* NO_NODE: a root */
	uint32_t thread; /* index into threads */
	uint32_t depth;	 /* of a root 0 */
	bool recursive;	 /* the same function is among its callers */
	uint64_t calls;	 /* entries */
	uint64_t timed;	 /* of these: returned, seen from entry to return */
	uint64_t self;	 /* ns of the timed ones, without those of traced callees */
	uint64_t time;	 /* ns of the timed, from entry to return */
	struct stats_net self_net;
	/* by stats__end(): */
	uint64_t ns;	/* self, and that of all nodes below: a flame graph's width */
	uint64_t net;	/* likewise without tracing: where that is known and above the noise */
	uint64_t count; /* calls, and those of all nodes below */
};

typedef VEC(struct stats_node) stats_nodes;

/* A thread under one name; after exec it is another one. "[other stacks]" has pid and tid 0. */
struct stats_thread {
	uint32_t pid, tid;
	char comm[16];
	uint32_t root; /* its node */
};

/* ---- calls: who called whom ---- */

struct stats_call {
	uint32_t caller; /* function */
	uint32_t site;	 /* the caller's last branch before, if a call or a jump; else NO_SITE */
	uint32_t callee; /* function */
	uint64_t calls;
	uint64_t ns, branches; /* of callee and all that it called; not counted twice within another
				  timed call of it */
	uint64_t off;	       /* of ns: on no CPU */
};

/* ---- marks of one text ---- */

struct stats_mark {
	char *text;
	uint64_t count, numbered; /* those that have a number */
	int64_t least, most;	  /* of these */
};

/* ---- samples, of traces without functions ---- */

/* A CPU on which samples were taken. */
struct stats_cpu {
	uint32_t cpu;
	uint64_t samples;
	uint64_t last;		    /* the time of the last one, ns */
	struct histogram intervals; /* from one to the next, ns */
};

/* A function in the stacks of a CPU's samples. */
struct stats_on_cpu {
	uint32_t function, cpu; /* as in stats_node; the CPU's number */
	uint64_t self, total;	/* samples: it is the innermost one; it is in the stack */
};

struct stats {
	const struct plan *plan;
	bool no_returns; /* they were not recorded: no call is missing one */
	bool by_site;	 /* also attribute self time to sites; set before the first step */
	bool site_nodes; /* by_site, and stacks have nodes of sites */
	struct stats_function *functions; /* plan->functions.len */
	struct stats_site *sites;	  /* plan->sites.len */
	size_t nfunctions, nsites;
	uint64_t *named; /* by plan->named: how many */
	size_t nnamed;
	VEC(struct stats_mark) marks;
	stats_nodes nodes;
	VEC(struct stats_thread) threads;
	VEC(struct stats_call) calls;

	/* what is missing, in addition to struct trace_totals */
	uint64_t unseen;  /* calls whose entry was not seen */
	uint64_t open;	  /* calls whose return was not seen, by stats__end() */
	uint64_t samples; /* if there are no functions, nodes are of their frames; else 0 */
	VEC(struct stats_cpu) cpus;
	VEC(struct stats_on_cpu) on_cpu;
	bool added_up;		/* samples stand for several: when each was taken is not known */
	uint64_t period;	/* of each sample; 0: they differ, or it is not known */
	uint64_t deeper, other; /* calls counted under STATS_DEEPER, under "[other stacks]" */

	/* by stats__count(): how often each block was entered; borrowed. NULL if counted from
	 * steps */
	const uint64_t *blocks;

	/* By function: it may have run unobserved, so that its 0 is COUNT_UNKNOWN from stats__end()
	 * on (untraced.c); NULL if none may. */
	bool *untraced;

	uint64_t first, last; /* ns, CLOCK_MONOTONIC, of the timed steps; 0: none */

	struct stats_priv *priv;
};

void stats__init(struct stats *p, const struct plan *plan);
/* The plan was extended. */
void stats__plan_extended(struct stats *p);
/* Cheap: a few lookups, no text. */
void stats__step(struct stats *p, const struct step *step);
/* Instead of steps (output_format.branch, .run). */
void stats__branch(struct stats *p, uint32_t site, bool taken, const struct location *to,
		   uint64_t n);
void stats__run(struct stats *p, const struct passed_run *run);
void stats__end(struct stats *p);
/* Before stats__end(). untraced may be NULL; all: events of any function may be missing. */
void stats__set_untraced(struct stats *p, const untraced_vec *untraced, bool all);
void stats__forget_zeros(struct stats *p);
/* "12+ calls, 345+ branches" */
void stats__put_counts(struct str *s, const struct stats_function *f, const char *more);
/* Instead of steps: sets functions and sites by the counts of edges, which must live as long. */
void stats__count(struct stats *p, const struct edge_counts *c);
/* Sets functions that are not among these, by index, to 0. */
void stats__leave_out(struct stats *p, const bool *functions);
void stats__free(struct stats *p);

/* The stacks with threads of the same name merged; .thread is then the first of them. Call it after
 * stats__end(); the caller frees *out. */
void stats__by_name(const struct stats *p, stats_nodes *out);

/* Returns true for a node of a site. */
static inline bool stats__is_site(const struct stats_node *node)
{
	return node->function >= STATS_SITE && node->function < STATS_SAMPLED;
}

/* The name of a node's function, "[deeper calls]", …; of a root its thread's name. */
const char *stats__name(const struct stats *p, const struct stats_node *node);
/* Tables of the functions in samples: of all, by thread, by CPU; and when they were taken. */
void samples__put_tables(struct output *o);
/* Puts "12 events lost, 3 calls without return (not timed)" into s. Returns false if nothing is
 * missing. */
bool stats__missing(const struct stats *p, const struct trace_totals *t, struct str *s);

/* ---- a row of output_formats whose state begins with stats (aggregate.c) ---- */

int aggregate__begin(struct output *o);
void aggregate__plan_extended(struct output *o);
int aggregate__step(struct output *o, const struct step *step);
void aggregate__branch(struct output *o, uint32_t site, bool taken, const struct location *to,
		       uint64_t n);
void aggregate__run(struct output *o, const struct passed_run *run);
void aggregate__count(struct output *o, const struct edge_counts *c);
void aggregate__free(struct output *o);
#define AGGREGATES                                                                                 \
	.at_end = true, .begin = aggregate__begin, .plan_extended = aggregate__plan_extended,      \
	.step = aggregate__step, .free = aggregate__free
/* For formats that show neither the order of branches nor their times. */
#define ADDS_UP .branch = aggregate__branch, .run = aggregate__run
/* What separates sets of counts as text: the time since the start. */
void put_elapsed(struct output *o, uint64_t time, const struct trace_totals *t);
/* Writes the rendered text when the buffer is full. */
int aggregate__flush_full(struct output *o);

#endif
