/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace: the replay. Public header of src/trace. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Its input is events, in order for each thread. The replay walks the plan's control-flow graph,
 * pairs entries with returns, adds branches that the path implies, marks what is lost or unknown,
 * and emits steps.
 */
#ifndef BBTRACE_TRACE_TRACE_H
#define BBTRACE_TRACE_TRACE_H

#include "event/event.h"
#include "plan/counting/counting.h"
#include "plan/plan.h"

enum step_type {
	STEP_ENTRY,
	STEP_BRANCH,
	STEP_RETURN,
	/* Events of this thread are missing here: count of them, or at least count (at_least). */
	STEP_LOST,
	STEP_UNKNOWN, /* this thread's path between the previous step and the next one is unknown */
	STEP_FORK,
	STEP_EXEC,
	STEP_EXIT,
	STEP_STOP, /* recording stopped; what any thread does up to START isn't known */
	STEP_START,
	STEP_MARK,    /* a note, with text, of a thread or of none */
	STEP_NAMED,   /* one of the plan's named events (plan/named.h) */
	STEP_OMITTED, /* the report filter leaves out count events here, of any thread */
	STEP_TYPES
};

/* A resolved address. The strings belong to the plan or the resolver, and live as long as that. */
struct location {
	uint64_t addr;	    /* running address */
	const char *object; /* path; NULL for anonymous memory, of which only addr is known */
	const char *symbol; /* display name; NULL if no symbol covers it */
	uint64_t offset;    /* from the symbol's start; 0 without a symbol */
	uint64_t vaddr;	    /* link-time address in object */
	/* The functions that its code was inlined from (object__inlined_at()); NULL if there are
	 * none, or they aren't known. Of a caller: those of its call. */
	const char *inlined;
};

bool location__same(const struct location *a, const struct location *b);
/* Returns the one of these names that the place's symbol has, without a version or @plt; else NULL.
 */
const char *location__among(const struct location *l, const char *const *names, size_t n);

/* Counts of edges, instead of steps. */
struct counted_target {
	uint32_t site;
	struct location to;
	uint32_t object; /* the plan's object that it is in; UINT32_MAX if in none */
	uint64_t count;
};
struct edge_counts {
	const struct plan_counts *edges;      /* solved, or bounds */
	const struct counted_target *targets; /* the targets of indirect branches, in any order */
	size_t ntargets;
};

struct step {
	enum step_type type;
	bool timed;    /* the time was measured; and so was cpu, if it is known */
	bool implied;  /* implied by the path, not recorded by a probe */
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t cpu;  /* of an implied step: the CPU of the event that implies it; EVENT_NO_CPU if
			  not known */
	uint8_t interrupt; /* kernel: enum event_interrupt; of an implied step: as cpu */
	uint32_t run;	   /* the number of the trace, if there are several; else 0 */
	uint32_t pid, tid;
	uint64_t goroutine; /* its goid, or GOROUTINE_AT | the address of its g; 0 for none */
	uint32_t ns_pid;    /* the PID in its own namespace; 0 if equal to pid */
	const char *comm;   /* never NULL; "" if unknown */
	unsigned depth;	    /* among the traced functions, from 0 */
	/* The number of the call, which ENTRY begins and RETURN ends. It is unique, but a forked
	 * process has copies of calls with the same numbers. 0 if unknown. */
	uint64_t call;
	uint64_t caller; /* ENTRY: the outer call; 0 if none */
	const struct plan *plan;
	uint32_t site;	   /* ENTRY, BRANCH, RETURN; else NO_SITE */
	uint32_t function; /* the function of the call */
	/* ENTRY, BRANCH: the site. RETURN: the function's start. NAMED: where the thread was, if
	 * has_at. */
	struct location at;
	bool has_at;

	/* BRANCH: kind, mnemonic: plan->sites.data[site] */
	bool taken; /* JCC, LOOP */
	bool to_known;
	struct location to;   /* the fall-through when not taken */
	struct tested tested; /* JCC, LOOP: the values that it tested */

	/* ENTRY */
	const uint64_t *regs; /* by register number, EVENT_REGS of them; NULL if not recorded */
	bool has_since;
	uint64_t since_entry;	      /* ns since this thread last entered this function */
	const uint64_t *syscall_args; /* NULL if not recorded */
	unsigned nsyscall_args;
	const struct location *stack; /* -k, NAMED: innermost frame first; NULL if not requested */
	size_t nstack;
	enum stack_end stack_end; /* why there are no more frames */

	/* ENTRY, RETURN: nfetched values for plan__values(); NULL if none were loaded */
	const struct fetched *fetched;
	unsigned nfetched;
	/* Of several files: the plan's values aren't those of this file's function. */
	bool untyped;

	/* NAMED: stack has the kernel's frames, then the program's. named.stack has the same frames
	 * as addresses. */
	const struct event_named *named;

	/* RETURN */
	bool has_value;
	uint64_t value;	   /* the return register */
	bool has_duration; /* set if the entry was seen */
	uint64_t duration; /* ns */
	/* Of NAMED_ON_CPU, and of duration: the part on no CPU, ns (-e sched). */
	bool has_off;
	uint64_t off;
	/* What tracing took of it, and what it may have taken beyond that, ns. */
	bool has_tracing;
	uint64_t tracing, noise;

	/* What tracing has taken of the thread so far, and what it may have taken beyond that, ns.
	 * Differences hold between steps of the same era; 0 if not known. */
	uint64_t era, spent, spread;

	/* MARK: the note. STOP, START: what asked for it; NULL if that is not known. */
	const char *text;
	/* LOST: the number of events. START with a text: the ns between the request and the start.
	 * MARK of a thread: its number, an int64_t. */
	uint64_t count;
	bool at_least; /* LOST: count is a lower bound */
};

/* Returns true if the step belongs to no thread: then it has no pid, tid, comm and cpu. */
static inline bool step__is_global(const struct step *s)
{
	return (s->type == STEP_STOP || s->type == STEP_START || s->type == STEP_MARK) && !s->pid;
}

static inline uint64_t goroutine__key(uint32_t pid, uint64_t goroutine)
{
	return 1ull << 63 | (uint64_t)pid << 41 | (goroutine & ((1ull << 41) - 1));
}

/* Returns the key of what runs the steps sequentially: a thread, a CPU's idle task (these all have
 * tid 0), or a goroutine. */
static inline uint64_t step__thread_key_in_run(const struct step *s)
{
	if (s->goroutine)
		return goroutine__key(s->pid, s->goroutine);
	return s->tid ? s->tid : 1ull << 32 | s->cpu;
}

/* The same where there are several runs. */
static inline uint64_t step__thread_key(const struct step *s)
{
	return step__thread_key_in_run(s) ^ ((uint64_t)s->run << 33 & ~(1ull << 63));
}

/* Whether a call's duration without what tracing took of it is not known, is below the noise of
 * that, or is known. */
enum net { NET_UNKNOWN, NET_NOISE, NET_KNOWN };
enum net net__of(uint64_t duration, uint64_t tracing, uint64_t noise, uint64_t *ns);
enum net step__net(const struct step *s, uint64_t *ns);

/* Counters of a run; rows of a table so that summary, text and JSON say the same. */
struct trace_totals {
	/* Of the plan. Helper functions don't count as functions, but their probes count. */
	uint64_t functions, probes, skipped;
	uint64_t events;   /* printed: entry, branch and return steps */
	uint64_t lost;	   /* events of the traced threads that never arrived */
	uint64_t at_least; /* 1: lost is a lower bound */
	uint64_t missed;   /* hits that the probes missed, in all processes, traced or not */
	/* Calls that ended unseen, and rets whose entry wasn't seen. */
	uint64_t unmatched_returns;
	uint64_t open_calls; /* calls that were running when the trace ended */
	/* Calls in which their thread ended, or executed another program: all that can end them is
	 * recorded, so none returned. */
	uint64_t ended_calls;
	uint64_t named; /* named events, with the number of times that each counts */
	/* Calls that ended in a jump to code whose return can't be seen. */
	uint64_t unseen_tail_returns;
	uint64_t unknown; /* number of STEP_UNKNOWN */
	/* Hits of probes by the traced threads, and what they took of these, ns. */
	uint64_t hits, tracing;
	uint64_t unpriced; /* hits that are not in these, since their cost is not known */
	/* Counted in the kernel: by how much the counts contradict each other; and the threads that
	 * counting may have cut in two, each of which may leave a count open. */
	uint64_t residue, cut;
	/* How often recording stopped, and for how long, until it started again. */
	uint64_t stops, stopped_ms;
	uint64_t undecoded, code; /* the functions' bytes that were not decoded; all their bytes */
	/* If all functions were requested: bytes of code that belong to no known function, and the
	 * size of the sections where they are. */
	uint64_t unknown_code, all_code;
	/*
	 * Invocations with --if. unmet: left out, since the condition doesn't hold. muted: left out
	 * by the kernel, which counts only those that aren't within others. unjudged: left out,
	 * since a value is not known, or since they were not seen to return or to begin. undecided:
	 * passed on, since their steps would not fit in memory.
	 */
	uint64_t unmet, muted, unjudged, undecided;
	uint64_t muted_hits; /* hits in what the kernel left out */
	uint64_t untraced;   /* processes of which a part could not be traced */
};

/* Sets what the plan has: functions, probes, bytes. */
void totals__of_plan(struct trace_totals *t, const struct plan *p);
/* Adds the counters of another run. */
void totals__add(struct trace_totals *sum, const struct trace_totals *t);

/* Resolves a running address of a process (0: the kernel) at a given time. It always sets
 * out->addr. */
struct resolver {
	void *ctx;
	void (*resolve)(void *ctx, uint32_t pid, uint64_t time, uint64_t addr,
			struct location *out);
};

/* A step's pointers are valid during the call. A result other than 0 stops the trace: -errno, or 1
 * for enough. */
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
	uint8_t *data; /* the data of named */
};
void kept__take(struct kept_step *k, const struct step *s);
const struct step *kept__step(struct kept_step *k);
void kept__free(struct kept_step *k);

/* The last branches of each thread, with the steps between them (--last). Not whole: without those
 * that a process runs after main or exit(3), unless a signal kills it there. */
struct last;
struct last *last__new(size_t branches, bool whole);
int last__step(struct last *l, const struct step *s);
int last__give(struct last *l, bool newest_first, step_fn fn, void *ctx);
/* Passes the steps of the thread that s belongs to, oldest first, and forgets them. */
int last__give_to(struct last *l, const struct step *s, step_fn fn, void *ctx);
/* Passes the steps of a process, those of the thread that was killed first. */
int last__give_process(struct last *l, uint32_t pid, bool newest_first, step_fn fn, void *ctx);
/* Passes the steps of a thread, and of goroutines that it ran last. fn ends this by 1. */
int last__give_thread(struct last *l, uint32_t pid, uint32_t tid, bool newest_first, step_fn fn,
		      void *ctx);
/* Removes the thread's newest step, if it is a branch at the place of s, which was not executed. */
void last__take_back(struct last *l, const struct step *s);
void last__forget_process(struct last *l, uint32_t pid);
/* The thread has ended. Only the last of these are kept; last__dropped() is the number of the
 * others. */
void last__end(struct last *l, uint32_t pid, uint32_t tid);
uint64_t last__dropped(const struct last *l);
/* The branches that were left out, since processes were ending. */
uint64_t last__left_out(const struct last *l);
void last__free(struct last *l);

struct trace_options {
	unsigned events;    /* enum plan_events: the kinds of steps to pass on */
	unsigned max_depth; /* --depth: deeper steps are dropped; 0: no limit */
	/* --min-duration, ns: shorter calls and their branches are dropped */
	uint64_t min_duration;
	bool account; /* keep what tracing cost each process, and the hits of each site */
};

struct trace;
/* If fn is NULL, steps are only counted. */
struct trace *trace__new(const struct plan *plan, const struct trace_options *options,
			 const struct resolver *resolver, step_fn fn, void *ctx);
void trace__free(struct trace *t);
/* The plan was extended. The branches that runs have passed must have been reported before. */
void trace__plan_extended(struct trace *t);
/* Returns 0; what fn returned; or -EINVAL if the event doesn't belong to this plan, or is EVENT_END
 * or EVENT_RESUME, which show nothing of a path. */
int trace__feed(struct trace *t, const struct event *e);
/* Consecutive branches of one call that a run has passed. */
struct passed_run {
	uint32_t pid, tid, ns_pid;
	uint64_t goroutine;
	const char *comm;
	uint64_t call; /* as in struct step, and so are these: */
	unsigned depth;
	uint32_t function;
	uint64_t branches; /* the number of branches */
	uint32_t site;	   /* the site of the last one */
	/* The target of the last one; NULL if not known. It lives as long as a step's. */
	const struct location *to;
};
/* The receiver of what runs pass. */
struct run_sink {
	void *ctx;
	void (*branches)(void *ctx, const struct passed_run *run); /* may be NULL */
	/* Gets the words, at the end, and before that each running address that they have; NULL:
	 * nothing keeps them. */
	int (*words)(void *ctx, const struct logged_words *words);
	void (*address)(void *ctx, uint32_t pid, uint64_t addr);
};
struct run_taken {
	size_t words;
	uint64_t records;
	bool full; /* it is time for trace__each_branch() */
};
/*
 * Replays the first taken->words words of what a thread has logged; the rest has to be fed as
 * events, from where only an event's replay can find what follows. Entries and returns become
 * steps; branches are only added up, and reported by sink and trace__each_branch(). With max_depth
 * or min_duration it takes no words. Returns 0, or what fn or sink returned.
 */
int trace__feed_run(struct trace *t, const struct event_run *run, const struct run_sink *sink,
		    struct run_taken *taken);
/*
 * The branches that runs have passed since the last report, added up; a site may occur several
 * times. to is the target of an indirect branch or a ret; NULL if it isn't known, or follows from
 * the site.
 */
struct run_counts {
	void *ctx;
	void (*branch)(void *ctx, uint32_t site, bool taken, const struct location *to, uint64_t n);
};
void trace__each_branch(struct trace *t, const struct run_counts *to);
/* The mappings of processes may have changed. To be called before further runs. */
void trace__maps_changed(struct trace *t);
/* Sideband events: a task was forked, renamed, or ended. */
int trace__fork(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint32_t ppid,
		uint32_t ptid);
int trace__exec(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, const char *comm);
int trace__comm(struct trace *t, uint32_t pid, uint32_t tid, const char *comm);
int trace__exit(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid);
/* Returns true if any thread of this process is known: false after its main thread and all other
 * known threads have ended. */
bool trace__knows(const struct trace *t, uint32_t pid);
/* Calls fn for all known threads but idle tasks; fn must not feed events. */
void trace__each_thread(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint32_t tid),
			void *ctx);
/* Sets the PID of a process in its own PID namespace (step.ns_pid). */
void trace__inner(struct trace *t, uint32_t pid, uint32_t ns_pid);
/* Returns that PID; 0 if there is none. */
uint32_t trace__inner_of(const struct trace *t, uint32_t pid);
/* count events of a thread (0, 0: unknown) were lost after everything fed so far; with count 0,
 * only records that make no event were. */
int trace__lost(struct trace *t, uint32_t pid, uint32_t tid, uint64_t count);
/* The probes missed this many hits; it is unknown how many of them were of traced threads. */
void trace__missed(struct trace *t, uint64_t hits);
/* The kernel has left out these numbers of invocations and of hits in them, since the plan's
 * conditions don't hold. */
void trace__muted(struct trace *t, uint64_t invocations, uint64_t hits);
/* An unknown number of a thread's events is missing here: emits UNKNOWN. */
int trace__gap(struct trace *t, uint32_t pid, uint32_t tid);
/*
 * Recording stops, and starts again: each thread's path in between is unknown, so its next event is
 * after an UNKNOWN. by is what asked for it, NULL if not known; since is the number of ns from the
 * request to the start.
 */
int trace__stop(struct trace *t, uint64_t time, const char *by);
int trace__start(struct trace *t, uint64_t time, uint64_t since, const char *by);
/*
 * count events of any threads are missing here, and perhaps other records of theirs (count 0: only
 * these). Emits LOST of no thread, and UNKNOWN of each. forgets: sideband events are missing, so
 * that nothing is known of any task.
 */
int trace__hole(struct trace *t, uint64_t count, bool forgets);
/* Emits a note with this text. pid 0: of no thread, and without a number. */
int trace__mark(struct trace *t, uint64_t time, uint32_t pid, uint32_t tid, uint64_t number,
		const char *text);
/* Ends the trace but not the threads: the calls that they run count as open. */
int trace__finish(struct trace *t);
const struct trace_totals *trace__totals(const struct trace *t);
/* Reports what tracing cost each process, with trace_options.account. A hit whose price isn't known
 * counts as the shortest time from one like it to the thread's next one. */
void trace__each_cost(const struct trace *t, void (*fn)(void *ctx, uint32_t pid, uint64_t ns),
		      void *ctx);
uint64_t trace__site_hits(const struct trace *t, uint32_t site, uint64_t *ns);
/* Sets the location of a running address of a process (0: the kernel) at present. Returns the
 * plan's object that it is in; UINT32_MAX if in none. */
uint32_t trace__locate(struct trace *t, uint32_t pid, uint64_t addr, struct location *out);
/* Returns the thread's current name; NULL if the thread is unknown. */
const char *trace__comm_of(const struct trace *t, uint32_t tid);

/* ---- the report filter: a part of the steps, when replaying a file (report_filter.c) ---- */

struct report_filter_options {
	unsigned events; /* enum plan_events */
	const uint32_t *pids, *tids;
	size_t npids, ntids; /* number of elements; 0 for all */
	const char *const *comms;
	size_t ncomms;
	/* By the plan's function; NULL for all. The depth counts only these. */
	const bool *functions;
	unsigned max_depth; /* as in struct trace_options, among these functions */
	/* ns, CLOCK_MONOTONIC: from <= time <= to. An untimed step has the time of its thread's
	 * previous step. */
	uint64_t from, to;
	/* The number of first and last entries, branches and returns; 0 for all. With both, the
	 * steps between are left out. */
	uint64_t head, tail;
};
/* options, and what they point to, must outlive the filter. fn is as in trace__new(). */
struct report_filter;
struct report_filter *report_filter__new(const struct plan *plan,
					 const struct report_filter_options *options, step_fn fn,
					 void *ctx);
void report_filter__free(struct report_filter *p);
int report_filter__step(struct report_filter *p, const struct step *step);
/* Passes the last steps on, at the end of the input. */
int report_filter__finish(struct report_filter *p);
/* Replaces the counters by those of the steps that passed. */
void report_filter__count(const struct report_filter *p, struct trace_totals *t);

#endif
