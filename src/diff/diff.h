/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff: where runs of a program part. Public header of src/diff. Pure: no system call, no BPF, no
 * /proc, no exit; what doesn't fit into memory is written to a file of util's (scratch.h).
 *
 * Steps of several runs, all of one joined plan, become outcomes: what a step is, without its time,
 * thread and addresses that differ from run to run. A thread's path is the sequence of its
 * outcomes. Two paths are aligned call by call: they part where their outcomes differ, and meet
 * again where all paths of that call lead (plan_meets, the nearest common post-dominator), or where
 * the same outcomes follow.
 */
#ifndef BBTRACE_DIFF_DIFF_H
#define BBTRACE_DIFF_DIFF_H

#include "output/output.h"

struct scratch;

/* ---- outcomes (outcomes.c) ---- */

enum outcome_type {
	OUTCOME_ENTRY,
	OUTCOME_BRANCH,
	OUTCOME_RETURN,
	OUTCOME_GAP, /* the path between the outcome before and the next one is not known */
};

/* The target of an indirect branch or a ret. Strings are the joined plan's, compared by address. */
struct outcome_target {
	const char *object, *symbol; /* symbol NULL: none is known */
	uint64_t offset;	     /* from the symbol, or the link-time address without one */
	uint64_t vaddr;		     /* the link-time address */
};
#define NO_TARGET 0u /* it follows from the site, or isn't known */

struct outcome {
	uint32_t type;	   /* enum outcome_type */
	uint32_t function; /* NO_FUNCTION: not known */
	uint32_t site;	   /* BRANCH; else NO_SITE */
	uint32_t taken;	   /* 1: a conditional was taken */
	uint32_t target;   /* index into outcomes.targets */
};

struct outcomes {
	const struct plan *plan;
	VEC(struct outcome) rows;
	VEC(struct outcome_target) targets; /* [NO_TARGET] is none */
	struct map64 by_row, by_target;
	VEC(uint32_t) by_site; /* of direct branches: 1 + the number, by 2 * site + taken */
	/* by function of the plan: the first one of its name, if another build's code of it differs
	 * so that their branches don't correspond; else itself. outcomes__settle() */
	uint32_t *same;
	bool *changed; /* by function: it differs in such a way */
	size_t nfunctions;
	uint32_t *first; /* by outcome: the first one that is the same */
	size_t nfirst;
	/* The name of a file, and that of the one that it stands for; NULL. Set before
	 * outcomes__settle(). */
	const char *renamed, *was;
};
void outcomes__init(struct outcomes *o, const struct plan *joined);
void outcomes__free(struct outcomes *o);
/* Returns the number of a step's outcome, which is new if there is none; NO_OUTCOME if the step is
 * none of a path. The step is one of the joined plan. */
uint32_t outcomes__of(struct outcomes *o, const struct step *s);
#define NO_OUTCOME UINT32_MAX
/* The number of that branch's outcome, for counts. */
uint32_t outcomes__branch(struct outcomes *o, uint32_t site, bool taken, const struct location *to);
uint32_t outcomes__entry(struct outcomes *o, uint32_t function);
/* Objects of which there may be several builds: there, a place is known only by its symbol. */
enum outcome_builds { BUILDS_OF_PLAN = 1, BUILDS_OF_OTHERS = 2 };
/* After the last file: finds what is the same, and the functions whose code differs. */
void outcomes__settle(struct outcomes *o, enum outcome_builds builds);
/* Returns true if its code differs between the builds, so that its branches have no
 * counterparts. */
static inline bool outcomes__is_changed(const struct outcomes *o, uint32_t function)
{
	return function < o->nfunctions && o->changed[function];
}
/* The first function that is the same. */
static inline uint32_t outcomes__function(const struct outcomes *o, uint32_t function)
{
	return function < o->nfunctions ? o->same[function] : function;
}
/* Returns the one that stands for all that are the same. */
uint32_t outcome__first(const struct outcomes *o, uint32_t outcome);
/* Returns true if they are the same. What isn't known of one doesn't distinguish them. */
bool outcome__same(const struct outcomes *o, uint32_t a, uint32_t b);

/* ---- paths of a run (paths.c) ---- */

/* A thread's path. Threads are numbered in the order in which they began, as far as that is known.
 */
struct path;
struct path_wants {
	VEC(uint64_t) indices;
};
#define PATH_SLOTS 8
struct paths {
	struct outcomes *outcomes;
	struct scratch *scratch; /* NULL: paths aren't kept, only counts and threads */
	VEC(struct path *) threads;
	struct map64 by_key;
	struct path *last;
	size_t buffered;      /* bytes that aren't in scratch yet */
	VEC(uint64_t) counts; /* by outcome; there may be more outcomes */
	VEC(uint64_t) first;  /* by outcome: the number of steps before the first one, + 1 */
	uint64_t steps, gaps;
	/* chunks that cursors read */
	struct path_slot {
		const struct path *path;
		size_t chunk, len;
		uint64_t used;
		uint8_t *data;
	} slots[PATH_SLOTS];
	uint64_t uses;
	int error; /* of reading the scratch file */
	/* for a second reading of the same run: steps that are asked for */
	VEC(struct path_wants) wants; /* by thread */
	uint64_t wanted;	      /* the number of those that are still to come */
	int (*captured)(void *ctx, size_t thread, uint64_t index, const struct step *s);
	void *ctx;
};
/* outcomes and scratch are borrowed. */
void paths__init(struct paths *p, struct outcomes *o, struct scratch *scratch);
void paths__free(struct paths *p);
/* Returns 0; 1 if all steps that were asked for have come; or an error. */
int paths__step(struct paths *p, const struct step *s);
/* A thread was made, by another one: of these keys (step__thread_key_in_run()). */
void paths__fork(struct paths *p, uint64_t key, uint64_t parent);
/* An outcome was counted n times; its place among others isn't known. */
void paths__count(struct paths *p, uint32_t outcome, uint64_t n);
/* After the last step. */
int paths__end(struct paths *p);
/* Before a second reading: asks for a step. A thread's are in ascending order. */
void paths__want(struct paths *p, size_t thread, uint64_t index);

struct path_thread {
	uint32_t pid, tid;
	char comm[16];
	size_t parent;	   /* SIZE_MAX: not known */
	uint32_t function; /* of its first step; NO_FUNCTION: none */
	uint64_t steps;
};
const struct path_thread *paths__thread(const struct paths *p, size_t thread);
/* Returns the CLOCK_MONOTONIC of about that step, ns; 0 if not known. */
uint64_t paths__time(const struct paths *p, size_t thread, uint64_t index);
/* Reads a path. May be copied. */
struct path_item {
	uint32_t outcome;
	uint32_t depth;
	uint64_t index; /* in the path, from 0 */
};
struct path_cursor {
	struct paths *paths;
	const struct path *path;
	size_t chunk, at; /* of the next item */
	uint32_t slot;	  /* where the chunk was last */
	uint32_t expected;
	bool has; /* item was peeked at */
	struct path_item item;
};
void path_cursor__init(struct path_cursor *c, struct paths *p, size_t thread);
/* Returns the next one, which stays the next; NULL at the end, or with paths.error. */
const struct path_item *path_cursor__peek(struct path_cursor *c);
void path_cursor__skip(struct path_cursor *c);

/* ---- which threads are the same (threads.c) ---- */

struct thread_pair {
	size_t a, b; /* SIZE_MAX: there is none */
};
typedef VEC(struct thread_pair) thread_pairs;
/* By the thread that made them, the function of their first step, and their order. Threads without
 * steps are left out. */
void threads__match(const struct paths *a, const struct paths *b, thread_pairs *out);

/* ---- two runs (align.c) ---- */

enum { SIDE_A, SIDE_B, SIDES };

struct diff_frame {
	uint32_t function;
	uint64_t entry[SIDES]; /* index of its entry; UINT64_MAX: it began before the trace */
};

typedef VEC(struct diff_frame) diff_frames;

/* How two paths part. */
enum part_kind {
	PART_BRANCH, /* one branch, two outcomes */
	PART_PLACE,  /* they come to two places: what decided it isn't traced */
	PART_END,    /* one has ended */
	PART_THREAD, /* a thread that the other run has not */
};

struct parting {
	enum part_kind kind;
	struct thread_pair threads;
	uint64_t time;	       /* of A, or of B where A has none: since the run's first step, ns */
	uint64_t same;	       /* outcomes of the thread that were the same until here */
	uint64_t index[SIDES]; /* of the first outcomes that differ; UINT64_MAX: the path has ended
				*/
	uint32_t site;	       /* BRANCH: the one */
	uint32_t outcome[SIDES];
	diff_frames frames;    /* the calls that lead there, outermost first */
	uint64_t own[SIDES];   /* branches that each takes until they meet */
	uint64_t calls[SIDES]; /* and calls */
	bool meets;
	uint64_t meet[SIDES]; /* index of the first outcome that is the same again */
};

struct diff {
	struct outcomes *outcomes;
	struct paths *runs[SIDES];
	bool cut[SIDES]; /* the end of this run is missing: its paths may continue */
	/* site + 1 -> not 0: runs that should be the same part there, too. NULL: none are known */
	const struct map64 *noise;
	/* These are runs of the same input: where a conditional differs, iterations of the loop
	 * around it still correspond by their number. */
	bool same_input;
	size_t most; /* partings to keep; the earliest ones */
	VEC(struct parting) partings;
	uint64_t found;	      /* all partings ... */
	uint64_t noisy;	      /* … but those at sites of noise */
	struct map64 by_site; /* site + 1 -> how many part there; 0: elsewhere */
	uint64_t matched;     /* outcomes that were the same */
	uint64_t uncertain;   /* where a gap made it impossible to know */
	uint64_t only[SIDES]; /* threads that only this run has */
	thread_pairs pairs;
	struct plan_meets *meets;
	uint64_t start[SIDES]; /* when the first step was */
};
/* Fill in outcomes, runs and most. 0, or an error of the scratch file. */
int diff__find(struct diff *d);
void diff__free(struct diff *d);

/* ---- the steps around partings, by a second reading (steps.c) ---- */

struct diff_steps {
	struct paths again[SIDES]; /* to be passed the steps of the second reading */
	VEC(struct captured_step *) rows[SIDES];
	struct map64 by_place[SIDES];
};
/* Asks for this many steps before each parting, and of each path from there, and for the entries of
 * the calls that lead there. */
void diff_steps__ask(struct diff_steps *s, const struct diff *d, uint64_t context);
/* After the second reading. Returns NULL if it wasn't asked for. */
const struct step *diff_steps__at(const struct diff_steps *s, int side, size_t thread,
				  uint64_t index);
void diff_steps__free(struct diff_steps *s);
/* For how many calls, the innermost ones, entries are asked for. */
#define DIFF_CALLS 32

/* ---- counts of two runs (counts.c) ---- */

struct count_change {
	uint32_t outcome;
	uint64_t n[SIDES];
	double score; /* (a - b)^2 / (a + b) */
};
typedef VEC(struct count_change) count_changes;
/* Lists those that differ, the most conspicuous first: entries of functions, and branches. */
void counts__compare(const struct outcomes *o, const struct paths *a, const struct paths *b,
		     count_changes *functions, count_changes *branches);

/* ---- how it is shown ---- */

struct diff_view {
	const struct diff *d;
	const struct diff_steps *steps;
	const char *names[SIDES]; /* of the files */
	const struct trace_totals *totals[SIDES];
	uint64_t unknown_counts[SIDES]; /* counts that are not known */
	/* of the files: which registers are shown, and whether addresses of the kernel are
	 * hidden */
	struct output_options options[SIDES];
	count_changes functions, branches; /* counts__compare() */
	uint64_t context, rows;		   /* rows: of counts; 0: all */
	bool counts_only;		   /* a file has counts alone: there are no paths */
	bool color;
	bool hide_addresses;
	const char *(*source)(void *ctx, const char *object, const char *file, unsigned line);
	void *source_ctx;
};
void diff__text(const struct diff_view *v, struct str *out);
void diff__json(const struct diff_view *v, struct str *out);
void diff__html(const struct diff_view *v, struct str *out);

#include "diff/rank/rank.h"

#endif
