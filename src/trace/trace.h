/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace: the replay. Public header of src/trace. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Its input are events, in order per thread. The replay walks the plan's control-flow graph, pairs
 * entries with returns, adds branches that the path implies, marks what is lost or unknown, and
 * emits steps.
 */
#ifndef BBTRACE_TRACE_H
#define BBTRACE_TRACE_H

#include "event/event.h"
#include "plan/counting/counting.h"
#include "plan/plan.h"

enum step_type {
	STEP_ENTRY,
	STEP_BRANCH,
	STEP_RETURN,
	STEP_LOST, /* count events of this thread are missing here, or at least as many (at_least)
		    */
	STEP_UNKNOWN, /* this thread's path between the previous step and the next one is unknown */
	STEP_FORK,
	STEP_EXEC,
	STEP_EXIT,
	STEP_STOP, /* recording stopped; what any thread does up to START isn't known */
	STEP_START,
	STEP_MARK,    /* text, of a thread, or of none */
	STEP_NAMED,   /* one of the plan's named events (plan/named.h) */
	STEP_OMITTED, /* the report filter leaves out count events here, of any thread */
	STEP_TYPES
};

/* A resolved address. The strings belong to the plan or the resolver and live as long as these. */
struct location {
	uint64_t addr;	    /* running address */
	const char *object; /* path; NULL: anonymous memory, then only addr is known */
	const char *symbol; /* display name; NULL: no symbol covers it */
	uint64_t offset;    /* from the symbol's start; without symbol: 0 */
	uint64_t vaddr;	    /* link-time address in object */
	/* The functions that its code was inlined from (object__inlined_at()); NULL: none, or it
	 * isn't known. Of a caller: that of its call. */
	const char *inlined;
};

bool location__same(const struct location *a, const struct location *b);

/* Counts of edges, instead of steps. */
struct counted_target {
	uint32_t site;
	struct location to;
	uint32_t object; /* of the plan, that it is in; UINT32_MAX: none */
	uint64_t count;
};
struct edge_counts {
	const struct plan_counts *edges;      /* solved, or bounds */
	const struct counted_target *targets; /* where indirect branches went, in any order */
	size_t ntargets;
};

struct step {
	enum step_type type;
	bool timed;	   /* time was measured, and so was cpu if it is known */
	bool implied;	   /* implied by the path, not recorded by a probe */
	uint64_t time;	   /* ns, CLOCK_MONOTONIC */
	uint32_t cpu;	   /* implied: of the event that implies it; EVENT_NO_CPU: not known */
	uint8_t interrupt; /* kernel: enum event_interrupt; implied: as cpu */
	uint32_t run;	   /* the trace that it is of, if there are several; else 0 */
	uint32_t pid, tid;
	uint64_t goroutine; /* its goid, or GOROUTINE_AT | the address of its g; 0: none */
	uint32_t ns_pid;    /* the PID in its own namespace; 0: the same as pid */
	const char *comm;   /* never NULL; "" if unknown */
	unsigned depth;	    /* among the traced functions, from 0 */
	uint64_t call;	    /* the call of this step, which ENTRY begins and RETURN ends: a unique
			     * number, shared with its copy in a forked process; 0: unknown
			     */
	uint64_t caller;    /* ENTRY: the outer call, 0: none */
	const struct plan *plan;
	uint32_t site;	    /* ENTRY, BRANCH, RETURN; else NO_SITE */
	uint32_t function;  /* the function of the call */
	struct location at; /* ENTRY, BRANCH: the site; RETURN: the function's start; NAMED: where
			       the thread was, if has_at */
	bool has_at;

	/* BRANCH: kind, mnemonic: plan->sites.data[site] */
	bool taken; /* JCC, LOOP */
	bool to_known;
	struct location to;   /* the fall-through when not taken */
	struct tested tested; /* JCC, LOOP: what it tested */

	/* ENTRY */
	const uint64_t *regs; /* by register number, EVENT_REGS of them; NULL: not recorded */
	bool has_since;
	uint64_t since_entry;	      /* ns since this thread last entered this function */
	const uint64_t *syscall_args; /* or NULL */
	unsigned nsyscall_args;
	const struct location *stack; /* -k, NAMED: innermost first; NULL: not requested */
	size_t nstack;
	enum stack_end stack_end; /* why there are no more frames */

	/* ENTRY, RETURN: nfetched, for plan__values(); NULL: none were loaded */
	const struct fetched *fetched;
	unsigned nfetched;
	bool untyped; /* of several files: the plan's values aren't those of this file's function */

	/* NAMED; stack has the kernel's frames, then the program's. named.stack has them, too, as
	 * addresses */
	const struct event_named *named;

	/* RETURN */
	bool has_value;
	uint64_t value;	   /* the return register */
	bool has_duration; /* the entry was seen */
	uint64_t duration; /* ns */
	/* NAMED_ON_CPU, and of duration: on no CPU, ns (-e sched) */
	bool has_off;
	uint64_t off;
	/* what tracing took of it, and what it may have taken more than that, ns */
	bool has_tracing;
	uint64_t tracing, noise;

	/* What tracing has taken of the thread so far, and what it may have taken more, ns: from
	 * one step to another of the same era; 0: not known */
	uint64_t era, spent, spread;

	const char *text; /* MARK; STOP, START: what asked for it, NULL: somebody */
	uint64_t count;	  /* LOST; START: so many ns after that was asked for, with a text;
			     MARK of a thread: its number, int64_t */
	bool at_least;	  /* LOST: count is a lower bound */
};

/* Is it of no thread? Then it has no pid, tid, comm and cpu. */
static inline bool step__is_global(const struct step *s)
{
	return (s->type == STEP_STOP || s->type == STEP_START || s->type == STEP_MARK) && !s->pid;
}

static inline uint64_t goroutine__key(uint32_t pid, uint64_t goroutine)
{
	return 1ull << 63 | (uint64_t)pid << 41 | (goroutine & ((1ull << 41) - 1));
}

/* Key of what runs the steps sequentially: a thread, a CPU's idle task (these all have tid 0), or a
 * goroutine. */
static inline uint64_t step__thread_key_in_run(const struct step *s)
{
	if (s->goroutine)
		return goroutine__key(s->pid, s->goroutine);
	return s->tid ? s->tid : 1ull << 32 | s->cpu;
}

/* The same, of several runs. */
static inline uint64_t step__thread_key(const struct step *s)
{
	return step__thread_key_in_run(s) ^ ((uint64_t)s->run << 33 & ~(1ull << 63));
}

/* A call's duration without what tracing took of it: not known; below what that varies by; known.
 */
enum net { NET_UNKNOWN, NET_NOISE, NET_KNOWN };
enum net net__of(uint64_t duration, uint64_t tracing, uint64_t noise, uint64_t *ns);
enum net step__net(const struct step *s, uint64_t *ns);

/* Counters of a run; rows of a table so that summary, text and JSON say the same. */
struct trace_totals {
	uint64_t functions, probes, skipped; /* of the plan. Helper functions don't count as
						functions, but their probes do */
	uint64_t events;		     /* printed: entry, branch and return steps */
	uint64_t lost;			     /* events of the traced threads that never arrived */
	uint64_t at_least;		     /* 1: lost is a lower bound */
	uint64_t missed; /* hits that the probes missed, in all processes, traced or not */
	uint64_t unmatched_returns; /* frames that ended unseen, and rets whose entry wasn't seen */
	uint64_t open_calls;	    /* calls that ran when the trace ended */
	uint64_t named;		    /* named events, each as often as it counts */
	uint64_t unseen_tail_returns; /* calls that ended in a jump to code whose return can't be
					 seen */
	uint64_t unknown;	      /* number of STEP_UNKNOWN */
	uint64_t hits, tracing; /* of probes, by the traced threads, and what they took of these,
				   ns */
	uint64_t unpriced;	/* further hits, whose cost is not known */
	/* counted in the kernel: by how much the counts contradict each other; threads that
	 * counting may have cut in two, each of which may leave a count open */
	uint64_t residue, cut;
	uint64_t stops, stopped_ms; /* how often recording stopped; for how long, until it started
				       again */
	uint64_t undecoded, code; /* the functions' bytes that were not decoded; all their bytes */
	/* of --if: invocations that are left out, since it doesn't hold; by the kernel, which
	 * counts only those that aren't in others; since a value is not known, or they were not
	 * seen to return, or to begin; that are passed on, since what they do would not fit in
	 * memory */
	uint64_t unmet, muted, unjudged, undecided;
	uint64_t muted_hits; /* in what the kernel has left out */
	uint64_t untraced;   /* processes of which something could not be traced */
};

/* Sets what a plan tells: functions, probes, bytes. */
void totals__of_plan(struct trace_totals *t, const struct plan *p);
/* Adds the counters of another run. */
void totals__add(struct trace_totals *sum, const struct trace_totals *t);

/* Resolves a running address of a process (0: the kernel) at a given time. Always sets
 * out->addr. */
struct resolver {
	void *ctx;
	void (*resolve)(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
			struct location *out);
};

/* A step's pointers are valid during the call. Non-zero stops: -errno, or 1 for enough. */
typedef int (*step_fn)(void *ctx, const struct step *step);

/* A step with copies of its data; the plan's and the resolver's strings are shared. */
struct kept_step {
	struct step step;
	char comm[16];
	uint64_t regs[EVENT_REGS], syscall_args[EVENT_ARGS];
	struct location *stack;
	struct fetched *fetched;
	char *text;
	struct event_named named;
	uint8_t *data; /* of named */
};
void kept__take(struct kept_step *k, const struct step *s);
const struct step *kept__step(struct kept_step *k);
void kept__free(struct kept_step *k);

/* The last branches of each thread, with the steps between them. */
struct last;
struct last *last__new(size_t branches);
int last__step(struct last *l, const struct step *s);
int last__give(struct last *l, bool newest_first, step_fn fn, void *ctx);
/* Those of the thread that s is of, oldest first, which are then forgotten. */
int last__give_to(struct last *l, const struct step *s, step_fn fn, void *ctx);
/* Those of a process; first the thread that was killed. */
int last__give_process(struct last *l, const struct plan *plan, uint32_t pid, bool newest_first,
		       step_fn fn, void *ctx);
/* Those of a thread, and of goroutines that it ran at last; 1 of fn ends it. */
int last__give_thread(struct last *l, uint32_t pid, uint32_t tid, bool newest_first, step_fn fn,
		      void *ctx);
/* The thread's newest step, if it is a branch at the place of s: that was not executed. */
void last__take_back(struct last *l, const struct step *s);
void last__forget_process(struct last *l, uint32_t pid);
/* The thread has ended. Of many of these the first are forgotten: last__dropped() of them. */
void last__end(struct last *l, uint32_t pid, uint32_t tid);
uint64_t last__dropped(const struct last *l);
void last__free(struct last *l);

struct trace_options {
	unsigned events;    /* enum plan_events: the kinds of steps to pass on */
	unsigned max_depth; /* --depth: deeper steps are dropped; 0: no limit */
	uint64_t
		min_duration; /* --min-duration, ns: shorter calls and their branches are dropped */
	bool account;	      /* keep what tracing cost each process, and the hits of each site */
};

struct trace;
/* If fn is NULL, steps are only counted. */
struct trace *trace__new(const struct plan *plan, const struct trace_options *options,
			 const struct resolver *resolver, step_fn fn, void *ctx);
void trace__free(struct trace *t);
/* The plan was extended. What runs have passed was told before. */
void trace__plan_extended(struct trace *t);
/* 0; -EINVAL: the event doesn't belong to this plan, or is EVENT_END or EVENT_RESUME, which say
 * nothing of a path; or what fn returned. */
int trace__feed(struct trace *t, const struct event *e);
/* Branches that a run has passed, of one call, one after the other. */
struct passed_run {
	uint32_t pid, tid, ns_pid;
	uint64_t goroutine;
	const char *comm;
	uint64_t call; /* as of a step, and so are those: */
	unsigned depth;
	uint32_t function;
	uint64_t branches;	   /* their number */
	uint32_t site;		   /* of the last one */
	const struct location *to; /* where that went; NULL: not known. Lives as long as a step's */
};
/* Who takes what runs pass. */
struct run_sink {
	void *ctx;
	void (*branches)(void *ctx, const struct passed_run *run); /* or NULL */
	/* The records, in order; NULL: nobody keeps them. Non-zero stops. */
	int (*words)(void *ctx, const struct logged_branches *b);
	int (*event)(void *ctx, const struct event *e);
};
struct run_taken {
	size_t words;
	uint64_t records;
	bool full; /* it is time for trace__each_branch() */
};
/*
 * Replays the first words of what a thread has logged, up to where only an event can tell what
 * follows: taken->words of them; the rest is to be fed as events. Entries and returns are steps;
 * branches are only added up, and told by sink and trace__each_branch(). Without max_depth and
 * min_duration alone; otherwise it takes none. 0, or what fn or sink returned.
 */
int trace__feed_run(struct trace *t, const struct event_run *run, const struct run_sink *sink,
		    struct run_taken *taken);
/* The branches that runs have passed since the last time, added up: a site may come several times.
 * to: the target of an indirect branch or a ret; NULL: it isn't known, or follows from the site. */
struct run_counts {
	void *ctx;
	void (*branch)(void *ctx, uint32_t site, bool taken, const struct location *to, uint64_t n);
};
void trace__each_branch(struct trace *t, const struct run_counts *to);
/* What addresses of processes mean may have changed: to be called before runs go on. */
void trace__maps_changed(struct trace *t);
/* Sideband events: a task was forked, renamed, or ended. */
int trace__fork(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid,
		uint32_t ptid);
int trace__exec(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm);
int trace__comm(struct trace *t, uint32_t pid, uint32_t tid, const char *comm);
int trace__exit(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid);
/* Is any thread of this process known? False after its main thread and all other known threads have
 * ended. */
bool trace__knows(const struct trace *t, uint32_t pid);
/* Calls fn for all known threads but idle tasks; fn must not feed events. */
void trace__each_thread(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint32_t tid),
			void *ctx);
/* Sets the PID of a process in its own PID namespace (step.ns_pid). */
void trace__inner(struct trace *t, uint32_t pid, uint32_t ns_pid);
/* That PID; 0: none. */
uint32_t trace__inner_of(const struct trace *t, uint32_t pid);
/* count events of a thread (0, 0: unknown) were lost after everything fed so far; 0: only records
 * that make no event. */
int trace__lost(struct trace *t, uint32_t pid, uint32_t tid, uint64_t count);
/* The probes missed this many hits; how many of them were of traced threads is unknown. */
void trace__missed(struct trace *t, uint64_t hits);
/* The kernel has left out so many invocations, with so many hits, since the plan's conditions
 * don't hold. */
void trace__muted(struct trace *t, uint64_t invocations, uint64_t hits);
/* An unknown number of a thread's events is missing here: emits UNKNOWN. */
int trace__gap(struct trace *t, uint32_t pid, uint32_t tid);
/* Recording stops, and starts again: each thread's path in between is unknown, and UNKNOWN at its
 * next event. by: what asked for it, NULL: somebody; since: so many ns before. */
int trace__stop(struct trace *t, uint64_t time, const char *by);
int trace__start(struct trace *t, uint64_t time, uint64_t since, const char *by);
/* So many events of any threads are missing here, and other records of theirs (0: only these):
 * emits LOST of no thread, and UNKNOWN of each. forgets: sideband events are missing, so that
 * nothing is known of any task. */
int trace__hole(struct trace *t, uint64_t count, bool forgets);
/* Somebody notes text; pid 0: not of a thread, and without a number. */
int trace__mark(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint64_t number,
		const char *text);
/* Ends the trace, not the threads: the calls that they run count as open. */
int trace__finish(struct trace *t);
const struct trace_totals *trace__totals(const struct trace *t);
/* With trace_options.account. A hit whose price isn't known counts as the shortest time from one
 * like it to the thread's next one. */
void trace__each_cost(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
		      void *ctx);
uint64_t trace__site_hits(const struct trace *t, uint32_t site, uint64_t *ns);
/* What a running address of a process (0: the kernel) is at present. Returns the plan's object that
 * it is in; UINT32_MAX: none. */
uint32_t trace__locate(struct trace *t, uint32_t pid, uint64_t addr, struct location *out);
/* The thread's current name; NULL: unknown thread. */
const char *trace__comm_of(const struct trace *t, uint32_t tid);

/* ---- the report filter: a part of the steps, when replaying a file (report_filter.c) ---- */

struct report_filter_options {
	unsigned events; /* enum plan_events */
	const uint32_t *pids, *tids;
	size_t npids, ntids; /* 0: all */
	const char *const *comms;
	size_t ncomms;
	const bool *functions; /* by the plan's function; NULL: all. Depth counts only these */
	unsigned max_depth;    /* as in struct trace_options, among these functions */
	uint64_t from, to; /* ns, CLOCK_MONOTONIC: from <= time <= to; an untimed step counts as at
			      its thread's previous step */
	uint64_t head, tail; /* the number of first and last entries, branches and returns; 0: all.
				With both, the steps between are omitted */
};
/* options and what they point to must outlive the filter. fn is as in trace__new(). */
struct report_filter;
struct report_filter *report_filter__new(const struct plan *plan,
					 const struct report_filter_options *options, step_fn fn,
					 void *ctx);
void report_filter__free(struct report_filter *p);
int report_filter__step(struct report_filter *p, const struct step *step);
/* Ends the input: passes the last steps on. */
int report_filter__finish(struct report_filter *p);
/* Replaces the counters by those of the steps that passed. */
void report_filter__count(const struct report_filter *p, struct trace_totals *t);

#endif
