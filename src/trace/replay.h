/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the replay, shared by the files of src/trace. */
#ifndef BBTRACE_TRACE_REPLAY_H
#define BBTRACE_TRACE_REPLAY_H

#include "trace/cost/price.h"
#include "trace.h"

/* The state of a call between two events. */
enum call_state {
	CALL_AT,   /* about to run .block from its start; after a call instruction: once the callee
		      returns */
	CALL_TAIL, /* left by a tail jump: ends when what it jumped to returns */
	CALL_LOST, /* not known */
};

/* What tracing has cost a thread, or a goroutine: the price of its hits. */
struct account {
	uint64_t id;		/* unique; 0: not used yet */
	uint64_t spent, spread; /* ns: at their usual price, and what they may have cost more */
	uint32_t unpriced[HIT_KINDS + 1]; /* hits before their kind had a price */
	uint32_t holes;			  /* how often hits are missing */
	uint32_t era;			  /* how often any were missing, or not priced */
	uint64_t off;			  /* ns that it was on no CPU (-e sched) */
};

/* When a thread was on no CPU; 0: never. */
struct absence {
	uint64_t from, to;
	uint64_t earlier; /* the end of the one before */
};

/* A hit, and where the thread was behind it: about to run block from its start, or from its entry
 * or witness. call 0: not known. */
struct last_hit {
	uint64_t time, call;
	uint32_t block;
	uint8_t kind; /* enum hit_kind */
	struct price charged;
	uint64_t account; /* to this one; 0: not charged */
};

/* A call of a traced function that has not returned yet. */
struct call {
	uint64_t id;	       /* its number, from 1 */
	uint64_t sp;	       /* stack pointer at its entry: the address of the return address */
	uint64_t time;	       /* of its entry */
	bool untimed;	       /* that isn't known */
	struct account before; /* the thread's, when it began */
	uint32_t function;
	uint32_t block;	  /* CALL_AT; CALL_TAIL: the target, NO_BLOCK: outside of the plan */
	uint64_t caller;  /* its return address; 0: not known */
	uint8_t state;	  /* enum call_state */
	uint32_t left_by; /* CALL_TAIL: the site of the jump */
	bool direct;	  /* CALL_TAIL: by a direct jump */
	uint32_t signals; /* thread.signals at its last event */
	bool doubted;	  /* CALL_LOST: even of a function where all branches are probed */
	bool told;	  /* CALL_LOST: UNKNOWN was already emitted for it */
	bool resumed;  /* CALL_LOST: calls that it made have ended since: what it does behind them
			  is not told */
	bool strayed;  /* CALL_LOST: only since it ran code that was not decoded */
	bool replaced; /* perhaps: by a call in the same place, whose entry was lost */
	bool holed;    /* the same, by any number of them: its duration isn't known */
	bool in_call;  /* it made a call, and has had no event since */
	bool made;  /* the next outer call called it directly: its return ends that one's in_call */
	bool past;  /* CALL_AT: the block's entry or witness has had its event */
	bool fresh; /* no branch since its entry */
	bool early; /* a signal found the thread between the first instruction and the entry's
		       probe, which it has not hit yet */
	bool at_end;  /* its ret has had its event, its return probe not yet */
	bool returns; /* a return probe's event will tell its return */
	uint32_t
		instances; /* with return probes: those that its entry, and jumps back to it, set */
	bool seen_entry;   /* false: the trace began, or lost events, during the call */
	bool implied;	   /* its entry has no probe: a later event implies it */
	bool off_known;	   /* how long the thread had been on no CPU at its entry */
	uint32_t dormant_run; /* dormant: so many follow each other from here outward */
	bool hidden;	      /* by the conditions of the plan: itself, or one that it is in */
	bool dormant; /* left for good (longjmp, exception), or on a stack that was switched away
			 from */
};

/* Is what a CALL_LOST has done up to now covered by an UNKNOWN? */
static inline bool call__is_told(const struct call *c)
{
	return c->told && !c->resumed;
}
static inline void call__tell(struct call *c)
{
	c->told = true;
	c->resumed = false;
}

/* A thread, or a goroutine, which has its own calls and moves between threads. */
struct thread {
	uint32_t pid, tid;	    /* goroutine: those of the thread that it last ran on */
	uint64_t goroutine;	    /* 0: a thread; as in struct event */
	struct thread *kernel_side; /* its calls in the kernel, which has another stack; NULL: none
				       yet */
	struct thread *user_side;   /* a kernel side: the thread that it belongs to; else NULL */
	struct thread *other;	    /* a thread: the goroutine that it runs; a goroutine: the thread
				       that runs it; NULL: none */
	uint64_t key;		    /* of trace.threads */
	char comm[16];
	uint32_t signals;	 /* number of recorded signal handlers */
	uint64_t interrupted_at; /* the last event was a signal here that the instruction didn't
				    cause, and a handler was about to run; 0: it was not */
	bool seen;		 /* it has had an event */
	bool stopped;		 /* recording stopped since */
	uint64_t returned_sp;	 /* of the last call that a return probe reported; 0: none since */
	uint32_t returned_from;	 /* its function */
	bool ended;		 /* kernel: it is exiting */
	uint64_t off_since;	 /* it is on no CPU; 0: it is, or that is not known */
	struct absence absence;	 /* the last one */
	VEC(struct call) calls;	 /* outermost first */
	size_t ndormant;	 /* of calls; usually 0, which saves searching them */
	uint64_t dormant_low, dormant_high; /* their stack pointers are within these */
	struct map64 entered;		    /* function -> time of its last entry */
	struct live_filter *filter;
	struct account account;
	struct last_hit last_hit; /* not of a kernel side or a goroutine */
};

/* Whose steps they are shown as: the goroutine that the thread runs, or else the thread. th may be
 * a kernel side. */
static inline struct thread *thread__shown(struct thread *th)
{
	if (!th->user_side)
		return th;
	return th->user_side->other ? th->user_side->other : th->user_side;
}
/* The process in whose memory its addresses are; 0: the kernel. */
static inline uint32_t thread__space(const struct thread *th)
{
	return th->user_side ? 0 : th->pid;
}
static inline void thread__set_comm(struct thread *th, const char *comm)
{
	th = thread__shown(th);
	snprintf(th->comm, sizeof(th->comm), "%s", comm);
}

/* The locations of a site, resolved once. */
struct site_places {
	bool known;
	struct location at, taken, next;
	struct location entry; /* entries: the start of the function */
};

/* What tracing cost a process. */
struct process_cost {
	uint32_t pid;
	uint64_t ns;
};

#define ENDED 1024

struct trace {
	const struct plan *plan;
	struct trace_options options;
	const struct resolver *resolver;
	step_fn fn;
	void *ctx;
	bool counts;			     /* steps are only counted */
	bool switches;			     /* the plan has NAMED_ON_CPU */
	bool judges_entries, judges_returns; /* it has conditions of arguments, of results */
	size_t held;			     /* steps that are held back until a call returns */
	bool has_kernel;		     /* plan__has_kernel() */
	struct thread *last;		     /* of the last record; NULL: it has ended */
	struct map64 threads;	 /* tid (idle threads: 1 << 32 | cpu) -> struct thread * */
	struct map64 goroutines; /* goroutine__key() -> struct thread * */
	struct map64 processes;	 /* pid -> number of its threads << 1 | the main thread has ended */
	uint32_t ended[ENDED];	 /* kernel: ring of the last threads to end */
	size_t nended;
	struct map64 inner; /* pid -> the PID in its own PID namespace */
	struct map64
		biases; /* pid << 32 | object -> running - link-time address, valid bit in known */
	struct site_places *places;
	struct trace_totals totals;
	uint64_t stopped;      /* when recording stopped; 0: it goes on */
	struct map64 landings; /* block -> 2: a landing pad leads to it without an event, 1: none
				  does (undecoded.c) */
	uint64_t last_call;    /* the last number used */
	uint64_t last_account; /* likewise */
	struct prices prices;
	struct map64 returning; /* functions of the kernel whose return probe was hit */
	struct {
		uint64_t hits, spent; /* those with a price, and what they cost, ns */
		uint64_t unpriced[HIT_KINDS + 1];
	} charged; /* all threads' hits */
	/* with trace_options.account */
	struct map64 by_process; /* pid -> index into costs + 1 */
	VEC(struct process_cost) costs;
	uint32_t *site_hits; /* by site: nsites of them */
	size_t nsites;
	enum {
		PER_EVENT_UNKNOWN,
		PER_EVENT_YES,
		PER_EVENT_NO
	} record_per_event; /* plan__has_record_per_event() */
	struct walk *walk;
	struct ways *ways; /* NULL: there was no run */
	bool *changing;	   /* any_changing, by function: probes of it are being attached or removed.
			      NULL: none ever were */
	bool any_changing;
};

/* An event with what is looked up for it. */
struct event_context {
	struct trace *t;
	struct thread *th;
	const struct event *e;
	const struct event_entry *entry; /* NULL: not an entry */
	uint64_t bias;			 /* entry: running - link-time addresses of its object */
	uint32_t site;
	const struct plan_site *s;
	const struct plan_block *block;
	struct last_hit *last_hit; /* the thread's */
	bool quick;		   /* the thread ran quick code alone since then */
	bool early;		   /* entry: a signal shows it, its probe was not hit yet */
	uint64_t runs_in;     /* the call that the thread is in behind the event; 0: not known */
	uint64_t returned_to; /* the return address of the call that ended last; 0: not known */
};

/* ---- tasks.c: the life of threads and processes ---- */

/* The thread, created if unknown. cpu identifies idle tasks, which all have tid 0. */
struct thread *tasks__thread(struct trace *t, uint32_t pid, uint32_t tid, uint32_t cpu);
/* From here on the thread runs this goroutine; 0: none. */
void goroutines__run(struct trace *t, struct thread *th, uint64_t goroutine);
/* The thread has ended. */
void goroutines__leave(struct trace *t, struct thread *th);
/* Ends all goroutines of a process. */
void goroutines__end(struct trace *t, uint32_t pid);
/* Leaves the open calls of all threads and goroutines: they count as open. */
void tasks__leave_all(struct trace *t);
/* Abandons the open calls of all, and forgets their names and where their objects are. */
void tasks__forget_all(struct trace *t);
void tasks__free(struct trace *t);

/* ---- thread_end.c ---- */

/* Abandons the open calls of one side of a thread. */
void thread__abandon_side(struct trace *t, struct thread *th);
/* Abandons all open calls of a thread. */
void tasks__abandon(struct trace *t, struct thread *th);
void thread__free(struct thread *th);

/* ---- kernel_side.c: a thread's calls in the kernel ---- */

/* The side that an event of this site belongs to: the kernel side, the thread, or its goroutine. */
struct thread *kernel_side__of(struct trace *t, struct thread *th, uint32_t site);
/* The kernel side; NULL: it has had no event. th may be a goroutine or a kernel side. */
struct thread *kernel_side__if_any(struct thread *th);
/* The side with the innermost call. */
struct thread *kernel_side__innermost(struct thread *th);
/* An exec in another thread than the main one: its calls in the kernel continue in to. */
void kernel_side__move(struct thread *to, struct thread *from);
/* ---- kernel_entry.c ---- */

/* At an entry in the kernel: advances the program's calls to where the thread entered the kernel.
 */
int kernel_side__enter(struct event_context *n);

/* ---- steps.c: emits steps; 0, or what the step function returned ---- */

/* Emits LOST (with count) or UNKNOWN. */
int step__mark(struct event_context *n, enum step_type type, uint64_t count);
/* Emits a step that is of no event; th NULL: of no thread. */
int step__note(struct trace *t, struct thread *th, enum step_type type, uint64_t time,
	       uint64_t count, const char *text);
/* Counts lost events and emits LOST; UNKNOWN if their number is unknown. */
int step__lost(struct event_context *n, uint64_t count);
/* A branch without probe that the path implies; to_block: the target of an indirect jump, or
 * NO_BLOCK. */
int step__implied(struct event_context *n, uint32_t site, bool taken, uint32_t to_block);
int step__implied_entry(struct event_context *n, uint32_t site);
/* A ret without probe; to: the running address that it went to, 0: not known. */
int step__implied_ret(struct event_context *n, uint32_t site, uint64_t to);
/* The event's own branch or entry, and the return of c at it. */
int step__branch(struct event_context *n, bool taken);
int step__entry(struct event_context *n);
int step__named(struct event_context *n);
int step__return(struct event_context *n, const struct call *c);

/* The same of an entry and a return that are in a log, of which no event is made: the thread's
 * innermost call, entered at this site; c, which returns at it. */
int step__logged_entry(struct trace *t, struct thread *th, uint32_t site, uint64_t time);
int step__logged_return(struct trace *t, struct thread *th, const struct call *c, uint32_t site,
			uint64_t time, uint64_t value);

/* ---- ways.c, run.c: many events at once ---- */

void ways__free(struct ways *w);
void ways__forget_addresses(struct ways *w);

/* ---- replay.c: from one event of a thread to the next ---- */

int replay__branch(struct event_context *n);
/* A witness: a probe at the start of a block, which shows that the thread is there. */
int replay__witness(struct event_context *n);

/* The event's own branch, and where it leaves the call. c: NULL: a branch of a range. */
int replay__own_branch(struct event_context *n, struct call *c);
/* Brings the call from where it stands to the end of block to, or, where the event is one at the
 * block's start (starts), to there. */
int replay__walk_to(struct event_context *n, struct call *c, uint32_t to, bool starts);
/* The call that an event of this function at this place of the stack is of, which runs now. */
struct call *replay__call_of_event(struct event_context *n, int *err);
/* The implied branches of a path. */
struct path;
int replay__path(struct event_context *n, const struct path *path);
/* Adds a call that is in progress and whose entry was not seen. */
struct call *replay__unseen(struct event_context *n, uint64_t sp);
/* Did the call end in a jump to this function, or to one outside of the plan, which may jump on? */
bool replay__leads_to(struct trace *t, const struct call *c, uint32_t function);
/* Did the call end in a jump through a PLT stub to a function of the plan? */
bool replay__left_through_stub(const struct trace *t, const struct call *c);

/* ---- replay_entry.c: the entry of a function ---- */

int replay__entry(struct event_context *n);

/* ---- replay_return.c: how calls end ---- */

/* A return that a return probe recorded. */
int replay__return(struct event_context *n);
/* The same for a function whose other returns are recorded at its rets. */
int replay__tail_return(struct event_context *n);
/* A ret of a helper function: ends the call that jumped there. */
int replay__helper_ret(struct event_context *n);

/* c returned, and with it the calls that ended in a tail call of it. */
int replay__end_calls(struct event_context *n, struct call *c);
/* Ends c if only an unprobed ret can have ended it. *ended: it did. */
int replay__end_unprobed(struct event_context *n, struct call *c, bool *ended);
/* Does so with the innermost calls, down to this one, which stays; NULL: with all. */
int replay__end_idle(struct event_context *n, const struct call *down_to);
/* Does so with the calls deeper on the stack than sp. */
int replay__end_below(struct event_context *n, uint64_t sp);
/* c has returned. */
void replay__pop(struct event_context *n, struct call *c);

/* ---- replay_loss.c: events of a thread are missing ---- */

int replay__lost(struct event_context *n);
/* What the thread does next, and has done since its last event, may have events or not: probes of
 * the functions are being attached or removed. */
void replay__doubt(struct trace *t, struct thread *th);
/* At an event: emits UNKNOWN if the innermost call is in doubt. */
int replay__mark_doubt(struct event_context *n);
/* Events of the thread are missing, in its program and in the kernel. */
void replay__forget(struct trace *t, struct thread *th);
/* As replay__lost(), but their number is unknown. */
int replay__gap(struct event_context *n);

/* ---- replay_stack.c: where the stack pointer isn't the call's own ---- */

/* Did an exception unwind c from its last call instruction to the landing pad at block to? Then it
 * took no branch since. */
bool replay__is_unwound(struct event_context *n, const struct call *c, uint32_t to);
/* The call of a branch that follows a load of the stack pointer: the innermost one of this
 * function, if it can have come here; else NULL. */
struct call *replay__switching(struct event_context *n);
/*
 * A ret of c elsewhere on the stack, or on another stack: makes c dormant. Returns the call that
 * the ret ends, which has the same function and the return address that the ret goes to (a switch
 * back to a coroutine). NULL: none, an exception was raised to a handler.
 */
struct call *replay__leave_stack(struct event_context *n, struct call *c);

/* ---- stop.c: recording stops and starts again, or a part of it is lost ---- */

/* At an event: emits UNKNOWN if recording stopped since the thread's last one. */
int stop__mark(struct event_context *n);

/* ---- account.c: what tracing has cost ---- */

/* An event of a site was replayed. */
void account__hit(struct event_context *n);
/* c ran these blocks, up to the event. */
struct path;
void account__walked(struct event_context *n, const struct call *c, const struct path *path);
/* Without events of branches: c ran from the last hit to this one, by a path that isn't known. */
void account__passed(struct event_context *n, const struct call *c);
/* Hits of the thread are missing. */
void account__miss(struct trace *t, struct thread *th);
/* c is about to be added. */
void account__open_call(struct trace *t, struct thread *th, struct call *c);
/* What tracing took of c, which returns at this event, and what it may have taken more, ns; false:
 * not known. */
/* It leaves its CPU, or is back on one (*off: for how long it was on none; false: not known). */
void account__off_cpu(struct thread *th, uint64_t time);
bool account__on_cpu(struct trace *t, struct thread *th, uint64_t time, uint64_t *off);
/* How long the call, which returned at this time, was on no CPU. False: not known. */
bool account__off_of_call(struct event_context *n, const struct call *c, uint64_t time,
			  uint64_t *off);
bool account__of_call(struct event_context *n, const struct call *c, uint64_t *tracing,
		      uint64_t *noise);
/* A forked process continues with copies of the calls, which were added. */
void account__copy(struct trace *t, struct thread *to, const struct thread *from);
void account__total(const struct trace *t, struct trace_totals *totals);

/* ---- walk.c: the path between two events ---- */

/* The blocks from one to another along unprobed branches: the first is from, the last one is to.
 * Valid until the next walk. */
struct path {
	const uint32_t *blocks;
	size_t len;
};
enum walk_result { WALK_FOUND, WALK_NONE, WALK_AMBIGUOUS };
struct walk *walk__new(const struct plan *plan);
void walk__free(struct walk *w);
/* The block that ends at this link-time address of an object in an unprobed call; NO_BLOCK:
 * none. */
uint32_t walk__call_ending(const struct walk *w, uint32_t object, uint64_t end);
/* May a call of this function continue in the middle of another one? */
bool walk__may_leave(const struct walk *w, uint32_t function);
/* Does a probe at its start tell that control enters the block? */
bool walk__is_marked(const struct walk *w, uint32_t b);
/* Adds the functions from which control flow, other than a call, leads to those. */
void walk__close_backward(const struct walk *w, bool *functions);
/* The path to an unprobed ret. */
enum walk_result walk__find_ret(struct walk *w, uint32_t from, const struct path **path);
/* May a thread at the start of block b take an unprobed branch before its next event? returns: a
 * ret has one, of a return probe. */
bool walk__is_unprobed_ahead(const struct walk *w, uint32_t b, bool returns);
/* May a thread at the start of block b take a ret before its next event? */
bool walk__may_return(struct walk *w, uint32_t b);
/* Does a thread at the start of block b run few instructions, all quick, up to its next hit,
 * whichever path it takes? */
bool walk__is_quick_ahead(struct walk *w, uint32_t b);
/* around: the path has at least one edge, even if from == to. */
enum walk_result walk__find(struct walk *w, uint32_t from, uint32_t to, bool around,
			    const struct path **path);

/* ---- undecoded.c: bytes that were not decoded ---- */

/* No known path leads to block to (NO_BLOCK: anywhere) from the last event of a call of this
 * function: may undecoded code have taken branches that were not recorded? */
bool undecoded__may_hide(struct event_context *n, uint32_t function, uint32_t to);
/* Control reached this running address: emits UNKNOWN if it was not decoded. */
int undecoded__arrive(struct event_context *n, uint64_t addr);
/* The same for the target of this event's branch; c: its call, NULL: of a range. */
int undecoded__behind(struct event_context *n, const struct call *c);
/* The caller of this entry's call, if it called from undecoded code, for which UNKNOWN is emitted;
 * else NULL. */
struct call *undecoded__caller(struct event_context *n, int *err);

/* ---- locate.c: names for addresses ---- */

const struct site_places *locate__site(struct trace *t, uint32_t site);
/* A running address of a process (0: of the kernel), with the names that the user gave. */
void locate__running(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		     struct location *out);
/* A link-time address of an object of the plan. */
void locate__vaddr(struct trace *t, uint32_t object, uint64_t vaddr, struct location *out);
/* The object of the plan that holds a running address, and the link-time address there; false: none
 * does. */
bool locate__in_object(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		       uint32_t *object, uint64_t *vaddr);
/* The plan's block that starts at a running address; NO_BLOCK: none. */
uint32_t locate__block(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* The same in one object, without asking the resolver. */
uint32_t locate__block_in(const struct trace *t, uint32_t pid, uint32_t object, uint64_t addr);
/* Is it in a function of the plan, decoded or not? */
bool locate__in_plan(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* The function of the plan in whose undecoded bytes a running address is; NO_FUNCTION: none. */
uint32_t locate__undecoded(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
void locate__learn_bias(struct trace *t, uint32_t pid, uint32_t object, uint64_t bias);
void locate__forget_process(struct trace *t, uint32_t pid);

/* ---- judge.c: the conditions of the plan ---- */

/* A call was added to the thread's, of which no entry was judged yet. */
void judge__open(struct trace *t, struct thread *th, struct call *c);
/* Its entry is the event: judges its arguments. */
void judge__entry(struct event_context *n, struct call *c);
/* Is what the thread does now left out? */
bool judge__hides(const struct trace *t, struct thread *th);
/* Does the return of a call meet the conditions? */
bool judge__return(struct trace *t, const struct step *s);

/* ---- live_filter.c: which steps are passed on ---- */

int live_filter__step(struct trace *t, struct thread *th, const struct step *step);
/* True: steps are only counted, and this one was. */
bool live_filter__count(struct trace *t, enum step_type type);
/* The calls of the thread, whose steps may be held back, are not followed any more. */
void live_filter__leave_calls(struct trace *t, struct thread *th);
/* A forked process goes on in the calls of its parent. */
void live_filter__copy(struct trace *t, struct thread *to, const struct thread *from);
/* Passes on a step of no thread. */
int live_filter__pass(struct trace *t, const struct step *step);
void live_filter__free(struct live_filter *s);

#endif
