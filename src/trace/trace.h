/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace: what happened. Front door of src/trace. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Events of the kernel side go in, thread by thread in order; the replay walks the plan's
 * control-flow graph, pairs entry with return, fills in what the path implies, says what is lost or
 * unknown, and gives out steps.
 */
#ifndef BBTRACE_TRACE_H
#define BBTRACE_TRACE_H

#include "event/event.h"
#include "plan/plan.h"

enum step_type {
	STEP_ENTRY,
	STEP_BRANCH,
	STEP_RETURN,
	STEP_LOST,    /* count events of this thread are missing here, or more (at_least) */
	STEP_UNKNOWN, /* the path of this thread between the step before and the one after can't be
			 told */
	STEP_FORK,
	STEP_EXEC,
	STEP_EXIT,
	STEP_TYPES
};

/* An address, resolved. Strings belong to the plan or the resolver and live as long as they. */
struct location {
	uint64_t addr;	    /* running address */
	const char *object; /* path; NULL: anonymous memory, then only addr is known */
	const char *symbol; /* shown name; NULL: none covers it */
	uint64_t offset;    /* from the symbol's start; without symbol: 0 */
	uint64_t vaddr;	    /* link-time address in object */
};

struct step {
	enum step_type type;
	bool timed;	   /* time and cpu were measured */
	bool implied;	   /* the path, not a probe, tells it */
	uint64_t time;	   /* ns, CLOCK_MONOTONIC */
	uint32_t cpu;	   /* implied: of the event that tells it */
	uint8_t interrupt; /* kernel, enum event_interrupt: what it ran in; as cpu */
	uint32_t pid, tid;
	uint64_t goroutine; /* its number, or with GOROUTINE_AT the address of its g; 0: none */
	uint32_t ns_pid;    /* as the process sees itself; 0: the same as pid */
	const char *comm;   /* never NULL; "" where not known */
	unsigned depth;	    /* among the traced functions, from 0 */
	uint64_t
		call;	 /* the call that this happens in (ENTRY: begins, RETURN: ends): a number of
			    its   own, the same in a forked process's copy of it; 0: none that is known
			  */
	uint64_t caller; /* ENTRY: the call outside of it, 0: none */
	const struct plan *plan;
	uint32_t site;	    /* ENTRY, BRANCH, RETURN; else NO_SITE */
	uint32_t function;  /* whose call this is (RETURN: that ends) */
	struct location at; /* ENTRY, BRANCH: the site; RETURN: the function's start */

	/* BRANCH: kind, mnemonic: plan->sites.data[site] */
	bool taken; /* JCC, LOOP */
	bool to_known;
	struct location to; /* the fall-through when not taken */

	/* ENTRY */
	const uint64_t *regs; /* by register number, EVENT_REGS of them; NULL: not recorded */
	bool has_since;
	uint64_t since_entry;	      /* ns since this thread last entered this function */
	const uint64_t *syscall_args; /* or NULL */
	unsigned nsyscall_args;
	const struct location *stack; /* -k: innermost first; NULL: not asked for */
	size_t nstack;
	enum stack_end stack_end; /* why there are no more */

	/* RETURN */
	bool has_value;
	uint64_t value;	   /* the return register */
	bool has_duration; /* the entry was seen */
	uint64_t duration; /* ns */

	uint64_t count; /* LOST */
	bool at_least;	/* LOST: perhaps more */
};

static inline uint64_t goroutine__key(uint32_t pid, uint64_t goroutine)
{
	return 1ull << 63 | (uint64_t)pid << 41 | (goroutine & ((1ull << 41) - 1));
}

/* What runs here, one step after the other: a thread, a CPU's idle thread (they all have the number
 * 0), a goroutine. */
static inline uint64_t step__thread_key(const struct step *s)
{
	if (s->goroutine)
		return goroutine__key(s->pid, s->goroutine);
	return s->tid ? s->tid : 1ull << 32 | s->cpu;
}

/* Counters of a run; rows of a table so that summary, text and JSON say the same. */
struct trace_totals {
	uint64_t functions, probes,
		skipped;   /* of the plan; silent helpers are no functions, their probes count */
	uint64_t events;   /* printed: entry, branch and return steps */
	uint64_t lost;	   /* events of what is traced that never arrived */
	uint64_t at_least; /* 1: that many are known, there may be more */
	uint64_t missed;   /* hits that the probes missed, of all processes, traced or not */
	uint64_t unmatched_returns; /* frames that ended unseen, and rets whose entry wasn't seen */
	uint64_t unseen_tail_returns; /* calls that ended in a jump to code whose end nobody sees */
	uint64_t unknown;	      /* STEP_UNKNOWN given out */
	uint64_t undecoded, code; /* bytes of the functions that were not decoded; all of them */
};

/* Finds out where a running address of a process (0: the kernel) lies at a moment. Always fills in
 * out->addr. */
struct resolver {
	void *ctx;
	void (*resolve)(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
			struct location *out);
};

/* A step's pointers are valid during the call. Non-zero: stop (-errno, or 1: enough). */
typedef int (*step_fn)(void *ctx, const struct step *step);

/* A step with copies of what it points to; strings of the plan and the resolver are shared. */
struct kept_step {
	struct step step;
	char comm[16];
	uint64_t regs[EVENT_REGS], syscall_args[EVENT_ARGS];
	struct location *stack;
};
void kept__take(struct kept_step *k, const struct step *s);
const struct step *kept__step(struct kept_step *k);
void kept__free(struct kept_step *k);

/* The last so many branches of each thread, with what happened between them. */
struct last;
struct last *last__new(size_t branches);
int last__step(struct last *l, const struct step *s);
int last__give(struct last *l, bool newest_first, step_fn fn, void *ctx);
void last__free(struct last *l);

struct trace_options {
	unsigned events;       /* enum plan_events: which steps are given out */
	unsigned max_depth;    /* --depth: steps deeper than this are not given out; 0: no limit */
	uint64_t min_duration; /* --min-duration, ns: calls that took less are not given out, nor
				  their branches */
};

struct trace;
/* fn: NULL: the steps are only counted. */
struct trace *trace__new(const struct plan *plan, const struct trace_options *options,
			 const struct resolver *resolver, step_fn fn, void *ctx);
void trace__free(struct trace *t);
/* 0; -EINVAL: not an event of this plan; or what fn returned. */
int trace__feed(struct trace *t, const struct event *e);
/* Side events: a task was born, changed its name, ended. */
int trace__fork(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid,
		uint32_t ptid);
int trace__exec(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm);
int trace__comm(struct trace *t, uint32_t pid, uint32_t tid, const char *comm);
int trace__exit(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid);
/* Is a thread known of this process? False once its first and all known threads have ended. */
bool trace__knows(const struct trace *t, uint32_t pid);
/* All known threads but idle ones; fn may not change what is known. */
void trace__each_thread(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint32_t tid),
			void *ctx);
/* The process sees itself under another number (step.ns_pid), in a PID namespace of its own. */
void trace__inner(struct trace *t, uint32_t pid, uint32_t ns_pid);
/* That number; 0: none. */
uint32_t trace__inner_of(const struct trace *t, uint32_t pid);
/* count events of a thread (0, 0: of nobody knows which) that were lost behind everything fed so
 * far; 0: records that are no event by themselves. */
int trace__lost(struct trace *t, uint32_t pid, uint32_t tid, uint64_t count);
/* So many hits were missed by the probes; how many of them were of what is traced, nobody knows. */
void trace__missed(struct trace *t, uint64_t hits);
/* Some events of a thread were not seen here, and nobody knows how many: UNKNOWN. */
int trace__gap(struct trace *t, uint32_t pid, uint32_t tid);
/* The end: open frames are closed as unmatched. */
int trace__finish(struct trace *t);
const struct trace_totals *trace__totals(const struct trace *t);
/* The name of a thread as known so far; NULL: there is no such thread. */
const char *trace__comm_of(const struct trace *t, uint32_t tid);

/* ---- a selection of steps, for who reads a file again (pick.c) ---- */

struct report_filter_options {
	unsigned events; /* enum plan_events */
	const uint32_t *pids, *tids;
	size_t npids, ntids; /* 0: of all */
	const char *const *comms;
	size_t ncomms;
	const bool *functions; /* by the plan's function; NULL: all. Depth counts those that are
				  picked */
	unsigned max_depth;    /* as in struct trace_options, of those */
	uint64_t from, to;   /* ns, CLOCK_MONOTONIC: steps from there up to there; what has no time
				goes with   what its thread did before */
	uint64_t head, tail; /* the first and the last so many of entry, branch and return; 0: all.
				Both: those between are left out */
};
/* options and what they point to must outlive it. fn as in trace__new(). */
struct report_filter;
struct report_filter *report_filter__new(const struct plan *plan,
					 const struct report_filter_options *options, step_fn fn,
					 void *ctx);
void report_filter__free(struct report_filter *p);
int report_filter__step(struct report_filter *p, const struct step *step);
/* The end: gives out the last ones. */
int report_filter__finish(struct report_filter *p);
/* Makes the counters those of what was picked. */
void report_filter__count(const struct report_filter *p, struct trace_totals *t);

#endif
