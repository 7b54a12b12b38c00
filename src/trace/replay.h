/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay from the inside, shared by the files of src/trace. */
#ifndef BBTRACE_TRACE_REPLAY_H
#define BBTRACE_TRACE_REPLAY_H

#include "trace.h"

/* Where a call stands between two events. */
enum call_state {
	CALL_AT, /* about to run .block from its start (behind a call: once the call comes back) */
	CALL_TAIL, /* left by a tail jump: ends with the return of what it jumped to */
	CALL_LOST, /* not known */
};

/* A call of a traced function that has not returned yet. */
struct call {
	uint64_t id;   /* its number, from 1 */
	uint64_t sp;   /* stack pointer at its entry: where the return address lies */
	uint64_t time; /* of its entry */
	uint32_t function;
	uint32_t block;	 /* CALL_AT; CALL_TAIL: where it jumped to, NO_BLOCK: outside of the plan */
	uint64_t caller; /* its return address; 0: not known */
	uint8_t state;	 /* enum call_state */
	uint32_t left_by; /* CALL_TAIL: the site of the jump */
	bool direct;	  /* CALL_TAIL: the jump itself names its target */
	uint32_t signals; /* thread.signals at its last event */
	bool told;	  /* CALL_LOST: the stream says so already */
	bool in_call;	  /* it made a call, and nothing was heard of it since */
	bool made;   /* by the call below it, directly: its return takes that one out of its call */
	bool past;   /* CALL_AT: the block's entry or witness was heard already */
	bool fresh;  /* no branch since its entry */
	bool at_end; /* its ret was heard, its return probe wasn't yet */
	bool seen_entry; /* false: the trace began, or lost events, inside of it */
	bool implied;	 /* its entry has no probe, what came behind tells it */
	bool dormant; /* out of reach at the moment: left for good (longjmp, exception) or another
			stack's */
};

/* A thread; or a goroutine, which has calls of its own and goes from thread to thread. */
struct thread {
	uint32_t pid, tid;    /* goroutine: of the thread that it was last seen on */
	uint64_t goroutine;   /* 0: a thread; as in struct event */
	struct thread *other; /* the goroutine that the thread runs, the thread that runs the
				 goroutine; NULL: none */
	uint64_t key;	      /* of trace.threads */
	char comm[16];
	uint32_t signals;	/* handlers that ran, as far as they are recorded */
	bool seen;		/* it had an event */
	uint64_t returned_sp;	/* of the call that a return probe told last; 0: none since */
	uint32_t returned_from; /* and its function */
	bool ended;		/* kernel: it is about to be no more */
	VEC(struct call) calls; /* outermost first */
	size_t ndormant;	/* of them: mostly none, and then nobody looks for them */
	struct map64 entered;	/* function -> time of its last entry */
	struct live_filter *filter;
};

/* The places of a site, resolved once. */
struct site_places {
	bool known;
	struct location at, taken, next;
	struct location entry; /* of an entry: where its function begins */
};

#define ENDED 1024

struct trace {
	const struct plan *plan;
	struct trace_options options;
	const struct resolver *resolver;
	step_fn fn;
	void *ctx;
	bool counts;		 /* steps are only counted */
	struct thread *last;	 /* whose record was the last one; NULL: it is gone */
	struct map64 threads;	 /* tid (idle threads: 1 << 32 | cpu) -> struct thread * */
	struct map64 goroutines; /* goroutine__key() -> struct thread * */
	struct map64 processes; /* pid -> threads in the map above << 1 | the first one has ended */
	uint32_t ended[ENDED];	/* the last threads to end, kernel: a ring */
	size_t nended;
	struct map64 inner; /* pid -> its number in a PID namespace of its own */
	struct map64
		biases; /* pid << 32 | object -> running - link-time address, valid bit in known */
	struct site_places *places;
	struct trace_totals totals;
	struct map64 landings; /* block -> undecoded.c: 2 is entered from a landing pad, 1 not */
	uint64_t last_call;    /* the number given out last */
	enum {
		PER_EVENT_UNKNOWN,
		PER_EVENT_YES,
		PER_EVENT_NO
	} record_per_event; /* plan__has_record_per_event() */
	struct walk *walk;
};

/* What one event brings, taken apart. */
struct event_context {
	struct trace *t;
	struct thread *th;
	const struct event *e;
	const struct event_entry *entry; /* NULL: not an entry */
	uint64_t bias;			 /* entry: running - link-time addresses of its object */
	uint32_t site;
	const struct plan_site *s;
	const struct plan_block *block;
};

/* ---- tasks.c: threads and processes come and go ---- */

/* The thread, made where it wasn't known; cpu tells idle threads apart. */
struct thread *tasks__thread(struct trace *t, uint32_t pid, uint32_t tid, uint32_t cpu);
/* From here on the thread runs this goroutine; 0: none. */
void goroutines__run(struct trace *t, struct thread *th, uint64_t goroutine);
/* The thread is no more. */
void goroutines__leave(struct trace *t, struct thread *th);
/* Ends all of a process. */
void goroutines__end(struct trace *t, uint32_t pid);
/* The open calls of a thread ended unseen. */
void tasks__abandon(struct trace *t, struct thread *th);
void thread__free(struct thread *th);
void tasks__free(struct trace *t);

/* ---- steps.c: what is given out; 0, or what the step function returned ---- */

/* LOST (count) or UNKNOWN. */
int step__mark(struct event_context *n, enum step_type type, uint64_t count);
/* Counts events that are lost here and gives out LOST, if they can be counted, else UNKNOWN. */
int step__lost(struct event_context *n, uint64_t count);
/* A branch without probe that the path implies; to_block: where an indirect jump went, or NO_BLOCK.
 */
int step__implied(struct event_context *n, uint32_t site, bool taken, uint32_t to_block);
/* A ret without probe at which c ended. */
int step__implied_entry(struct event_context *n, uint32_t site);
int step__implied_ret(struct event_context *n, uint32_t site, const struct call *c);
/* The event's own branch, entry, and the return of c at it. */
int step__branch(struct event_context *n, bool taken);
int step__entry(struct event_context *n);
int step__return(struct event_context *n, const struct call *c);

/* ---- replay.c: one event of a thread ---- */

int replay__branch(struct event_context *n);
int replay__entry(struct event_context *n);
/* By a return probe. */
int replay__return(struct event_context *n);
/* By a return probe on a function whose rets tell its other returns. */
int replay__tail_return(struct event_context *n);
/* A probe in a block, which tells that the thread is there. */
int replay__witness(struct event_context *n);

/* The implied branches of a path. */
struct path;
int replay__path(struct event_context *n, const struct path *path);
/* A call that is in progress, whose entry was not heard. */
struct call *replay__unseen(struct event_context *n, uint64_t sp);
/* c returned, and with it the calls that it was the tail of. */
int replay__end_calls(struct event_context *n, struct call *c);
/* A ret of a function that nobody asked for: ends the call that jumped there. */
int replay__helper_ret(struct event_context *n);
/* c has returned. */
void replay__pop(struct event_context *n, struct call *c);

/* ---- replay_loss.c: events of a thread are missing ---- */

int replay__lost(struct event_context *n);
/* As lost, but nobody knows how many. */
int replay__gap(struct event_context *n);

/* ---- replay_stack.c: where the stack pointer isn't the call's own ---- */

/* Did the call that it was last heard of in end at the landing pad that block to is? Then it took
 * no branch since. */
bool replay__is_unwound(struct event_context *n, const struct call *c, uint32_t to);
/* The call that loaded the stack pointer anew before this branch of it: the innermost one of this
 * function, if it can have come here; NULL: it isn't. */
struct call *replay__switching(struct event_context *n);
/*
 * A ret of c elsewhere on the stack, or on another: c is out of reach from now on. The call that it
 * ends, of the same function, which returns to where the ret leads (a coroutine is gone back to);
 * NULL: none, a handler was raised to.
 */
struct call *replay__leave_stack(struct event_context *n, struct call *c);

/* ---- walk.c: the way between two events ---- */

/* The blocks from one to another along branches that carry no probe; blocks[0] is from, the last
 * one is to. Valid until the next walk. */
struct path {
	const uint32_t *blocks;
	size_t len;
};
enum walk_result { WALK_FOUND, WALK_NONE, WALK_AMBIGUOUS };
struct walk *walk__new(const struct plan *plan);
void walk__free(struct walk *w);
/* The block of an object that ends, at this link-time address, in a call without probe; NO_BLOCK:
 * none. */
uint32_t walk__call_ending(const struct walk *w, uint32_t object, uint64_t end);
/* The way to a ret that carries no probe. */
enum walk_result walk__find_ret(struct walk *w, uint32_t from, const struct path **path);
/* May a thread that stands before block b take a branch without probe before the next event? */
bool walk__is_unprobed_ahead(const struct walk *w, uint32_t b);
/* around: the way has at least one step, also where both blocks are one. */
enum walk_result walk__find(struct walk *w, uint32_t from, uint32_t to, bool around,
			    const struct path **path);

/* ---- undecoded.c: where no probe is ---- */

/* No way that is known leads to block to (NO_BLOCK: anywhere) from where a call of this function
 * was last heard of: may it have taken branches that nobody told? */
bool undecoded__may_hide(struct event_context *n, uint32_t function, uint32_t to);
/* Control has come to this running address: UNKNOWN where no code was decoded there. */
int undecoded__arrive(struct event_context *n, uint64_t addr);
/* The same where this event's branch has led; c: the call that it is of, NULL: of a range. */
int undecoded__behind(struct event_context *n, const struct call *c);
/* The call that made this entry's from code that was not decoded, which is said; NULL: none did. */
struct call *undecoded__caller(struct event_context *n, int *err);

/* ---- place.c: names for addresses ---- */

const struct site_places *locate__site(struct trace *t, uint32_t site);
/* A running address of a process, under the names that were asked for. */
void locate__running(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		     struct location *out);
/* A link-time address of an object of the plan. */
void locate__vaddr(struct trace *t, uint32_t object, uint64_t vaddr, struct location *out);
/* The plan's block that starts at a running address; NO_BLOCK: none. */
uint32_t locate__block(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* True: it lies in a function of the plan, whether or not as code that was decoded. */
bool locate__in_plan(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* The function of the plan that holds a running address in bytes that were not decoded;
 * NO_FUNCTION: none. */
uint32_t locate__undecoded(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
void locate__learn_bias(struct trace *t, uint32_t pid, uint32_t object, uint64_t bias);
void locate__forget_process(struct trace *t, uint32_t pid);

/* ---- select.c: which steps are given out ---- */

int live_filter__step(struct trace *t, struct thread *th, const struct step *step);
/* True where steps are only counted: this one was. */
bool live_filter__count(struct trace *t, enum step_type type);
void live_filter__free(struct live_filter *s);

#endif
