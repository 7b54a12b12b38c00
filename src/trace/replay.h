/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the replay, shared by the files of src/trace: the state of threads and calls, and
 * the functions of each file. */
#ifndef BBTRACE_TRACE_REPLAY_H
#define BBTRACE_TRACE_REPLAY_H

#include "trace/cost/price.h"
#include "trace.h"

/* The state of a call between two events. */
enum call_state {
	CALL_AT,   /* The call is about to run .block from its start. After a call instruction, this
		      holds once the callee returns. */
	CALL_TAIL, /* A tail jump left the call, which ends when the jump's target returns. */
	CALL_LOST, /* The position is not known. */
};

/* What tracing has cost a thread or a goroutine: the price of its hits. */
struct account {
	uint64_t id; /* unique; 0 if not used yet */
	uint64_t spent,
		spread; /* ns: the usual price of its hits, and what they may cost beyond it */
	uint32_t unpriced[HIT_KINDS + 1]; /* hits recorded before their kind had a price */
	uint32_t holes;			  /* how often hits were missing */
	uint32_t era;			  /* how often hits were missing or had no price */
	uint64_t off;			  /* ns that the thread was on no CPU (-e sched) */
};

/* The last time that a thread was on no CPU; 0 means never. */
struct absence {
	uint64_t from, to;
	uint64_t earlier; /* the end of the absence before this one */
};

/* A hit, and the thread's position after it: about to run block from its start, or from its entry
 * or witness. call is 0 if the position is not known. */
struct last_hit {
	uint64_t time, call;
	uint32_t block;
	uint8_t kind; /* enum hit_kind */
	struct price charged;
	uint64_t account; /* the account that was charged; 0 if none was */
};

/* A call of a traced function that has not returned yet. */
struct call {
	uint64_t id;   /* its number, from 1 on */
	uint64_t sp;   /* the stack pointer at its entry: the address of the return address */
	uint64_t time; /* the time of its entry */
	bool untimed;  /* The time of its entry is not known. */
	struct account before; /* the thread's account when the call began */
	uint32_t function;
	/* CALL_AT: the block that is about to run. CALL_TAIL: the target; NO_BLOCK if outside of
	 * the plan. */
	uint32_t block;
	uint64_t caller;  /* its return address; 0 if not known */
	uint8_t state;	  /* enum call_state */
	uint32_t left_by; /* CALL_TAIL: the site of the jump that left it */
	bool direct;	  /* CALL_TAIL: the jump was direct */
	uint32_t signals; /* thread.signals at its last event */
	/* CALL_LOST: branches may be missing, even of a function with a probe at each branch. */
	bool uncertain;
	bool marked; /* CALL_LOST: an UNKNOWN was emitted for it */
	/* CALL_LOST: calls that it made have returned since. What it did after them has no UNKNOWN
	 * yet. */
	bool resumed;
	bool in_undecoded; /* CALL_LOST: the only cause is that it ran code that was not decoded */
	bool replaced;	   /* A call whose entry was lost may have taken its stack slot. */
	bool holed;   /* Any number of calls may have taken its stack slot, so its duration isn't
			 known. */
	bool in_call; /* It made a call, and has had no event since. */
	/* The next outer call called it without code between them, so its return clears that call's
	 * in_call. */
	bool called_directly;
	bool past;  /* CALL_AT: the block's entry or witness has had its event */
	bool fresh; /* It has had no branch since its entry. */
	/* A signal found the thread between the first instruction and the entry's probe, which was
	 * not hit yet. */
	bool early;
	bool at_end;  /* Its ret has had its event, but its return probe has not. */
	bool returns; /* A return probe's event will report its return. */
	/* With return probes: how many its entry, and jumps back to its entry, have set. */
	uint32_t instances;
	bool seen_entry;      /* false if the trace began, or lost events, during the call */
	bool implied;	      /* Its entry has no probe; a later event implied it. */
	bool off_known;	      /* It is known how long the thread had been on no CPU at its entry. */
	uint32_t dormant_run; /* dormant: how many dormant calls follow each other from this one
				 outward */
	bool hidden; /* The plan's conditions leave out this call, or a call that encloses it. */
	/* The call was left for good (longjmp, exception), or its stack was switched away from. */
	bool dormant;
};

/* Returns true if an UNKNOWN covers all that a CALL_LOST has done up to now. */
static inline bool call__is_marked(const struct call *c)
{
	return c->marked && !c->resumed;
}
static inline void call__mark(struct call *c)
{
	c->marked = true;
	c->resumed = false;
}

/* A thread, or a goroutine: a goroutine has its own calls and moves between threads. */
struct thread {
	uint32_t pid, tid;	    /* of a goroutine: those of the thread that ran it last */
	uint64_t goroutine;	    /* 0 for a thread; as in struct event */
	struct thread *kernel_side; /* its calls in the kernel, which has another stack; NULL if
				       there were none */
	struct thread *user_side;   /* of a kernel side: the thread that it belongs to; else NULL */
	/* Of a thread: the goroutine that it runs. Of a goroutine: the thread that runs it. NULL if
	 * none. */
	struct thread *other;
	uint64_t key; /* its key in trace.threads */
	char comm[16];
	uint32_t signals; /* the number of recorded signal handlers */
	/* Where a signal interrupted the thread, if the last event was such a signal: one that the
	 * instruction didn't cause, and for which a handler was about to run. Else 0. */
	uint64_t interrupted_at;
	bool seen;	      /* The thread has had an event. */
	bool stopped;	      /* Recording has stopped since the thread's last event. */
	uint64_t returned_sp; /* the stack pointer of the last call that a return probe reported; 0
				 after other events */
	uint32_t returned_from; /* the function of that call */
	bool ended;		/* kernel: the thread is exiting */
	uint64_t off_since; /* when the thread left its CPU; 0 if it is on one, or if that is not
			       known */
	struct absence absence; /* the last absence */
	VEC(struct call) calls; /* outermost first */
	size_t ndormant; /* how many calls are dormant; usually 0, which saves searching them */
	uint64_t dormant_low, dormant_high; /* bounds of the dormant calls' stack pointers */
	struct map64 entered;		    /* function -> time of its last entry by this thread */
	struct live_filter *filter;
	struct account account;
	struct last_hit last_hit; /* not used by a kernel side or a goroutine */
};

/* The thread, or the goroutine that it runs, whose steps these are. th may be a kernel side. */
static inline struct thread *thread__shown(struct thread *th)
{
	if (!th->user_side)
		return th;
	return th->user_side->other ? th->user_side->other : th->user_side;
}
/* The process whose memory the thread's addresses are in; 0 for the kernel. */
static inline uint32_t thread__space(const struct thread *th)
{
	return th->user_side ? 0 : th->pid;
}
static inline void thread__set_comm(struct thread *th, const char *comm)
{
	th = thread__shown(th);
	snprintf(th->comm, sizeof(th->comm), "%s", comm);
}

/* The locations of a site, looked up once. */
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
	bool counts;			     /* Steps are only counted. */
	bool switches;			     /* The plan has NAMED_ON_CPU. */
	bool judges_entries, judges_returns; /* The plan has conditions of arguments, of results. */
	size_t held;		 /* the number of steps that are held back until a call returns */
	bool has_kernel;	 /* plan__has_kernel() */
	struct thread *last;	 /* the thread of the last record; NULL if it has ended */
	struct map64 threads;	 /* tid (idle threads: 1 << 32 | cpu) -> struct thread * */
	struct map64 goroutines; /* goroutine__key() -> struct thread * */
	struct map64 processes;	 /* pid -> number of its threads << 1 | the main thread has ended */
	uint32_t ended[ENDED];	 /* kernel: a ring of the threads that ended last */
	size_t nended;
	struct map64 inner; /* pid -> the PID in the process's own PID namespace */
	struct map64
		/* pid << 32 | object -> the load bias: running address - link-time address; the
		 * valid bit is in known. */
		biases;
	struct site_places *places;
	struct trace_totals totals;
	uint64_t stopped; /* when recording stopped; 0 while it continues */
	/* block -> 2 if a landing pad leads to the block without an event, 1 if none does
	 * (undecoded.c). */
	struct map64 landings;
	uint64_t last_call;    /* the last number that was given to a call */
	uint64_t last_account; /* the last number that was given to an account */
	struct prices prices;
	struct map64 returning; /* kernel functions whose return probe was hit */
	struct {
		uint64_t hits, spent; /* hits with a price, and what they cost in ns */
		uint64_t unpriced[HIT_KINDS + 1];
	} charged; /* the hits of all threads */
	/* with trace_options.account: */
	struct map64 by_process; /* pid -> index into costs + 1 */
	VEC(struct process_cost) costs;
	uint32_t *site_hits; /* the hits by site; nsites elements */
	size_t nsites;
	enum {
		PER_EVENT_UNKNOWN,
		PER_EVENT_YES,
		/* plan__has_record_per_event() */
		PER_EVENT_NO
	} record_per_event;
	struct walk *walk;
	struct ways *ways; /* NULL until there is a run */
	/* By function, if any_changing: its probes are being attached or removed. NULL until that
	 * first happens. */
	bool *changing;
	bool any_changing;
};

/* An event, with what was looked up for it. */
struct event_context {
	struct trace *t;
	struct thread *th;
	const struct event *e;
	const struct event_entry *entry; /* NULL if the event is no entry */
	uint64_t bias; /* entry: running address - link-time address of its object */
	uint32_t site;
	const struct plan_site *s;
	const struct plan_block *block;
	struct last_hit *last_hit; /* the last hit of the thread */
	bool quick;		   /* The thread has run only quick code since that hit. */
	bool early;		   /* entry: a signal shows it; its probe was not hit yet */
	uint64_t runs_in;     /* the call that the thread is in after the event; 0 if not known */
	uint64_t returned_to; /* the return address of the call that ended last; 0 if not known */
};

/* ---- tasks.c: the life of threads and processes ---- */

/* Returns the thread, which is created if it is unknown. cpu identifies idle tasks, which all have
 * tid 0. */
struct thread *tasks__thread(struct trace *t, uint32_t pid, uint32_t tid, uint32_t cpu);
/* The thread runs this goroutine from now on; 0 means none. */
void goroutines__run(struct trace *t, struct thread *th, uint64_t goroutine);
/* The thread has ended: it runs no goroutine any more. */
void goroutines__leave(struct trace *t, struct thread *th);
/* Ends all goroutines of a process. */
void goroutines__end(struct trace *t, uint32_t pid);
/* Closes the calls of all threads and goroutines at the end of the trace; they count as open. */
void tasks__leave_all(struct trace *t);
/* Abandons the open calls of all threads, and forgets their names and the load biases of their
 * objects. */
void tasks__forget_all(struct trace *t);
void tasks__free(struct trace *t);

/* ---- thread_end.c ---- */

/* Abandons the open calls of one side of a thread. */
void thread__abandon_side(struct trace *t, struct thread *th);
/* Abandons all open calls of a thread. */
void tasks__abandon(struct trace *t, struct thread *th);
void thread__free(struct thread *th);

/* ---- kernel_side.c: a thread's calls in the kernel ---- */

/* Returns the side of the thread that an event of this site belongs to: the kernel side, the thread
 * itself, or its goroutine. */
struct thread *kernel_side__of(struct trace *t, struct thread *th, uint32_t site);
/* Returns the kernel side, or NULL if it has had no event. th may be a goroutine or a
 * kernel side. */
struct thread *kernel_side__if_any(struct thread *th);
/* Returns the side that has the innermost call. */
struct thread *kernel_side__innermost(struct thread *th);
/* Moves the calls in the kernel to another thread: after an exec in a thread that isn't the main
 * one. */
void kernel_side__move(struct thread *to, struct thread *from);
/* ---- kernel_entry.c ---- */

/* At an entry in the kernel: advances the program's calls to where the thread entered
 * the kernel. */
int kernel_side__enter(struct event_context *n);

/* ---- steps.c: emits steps; 0, or what the step function returned ---- */

/* Emits LOST (with count) or UNKNOWN. */
int step__mark(struct event_context *n, enum step_type type, uint64_t count);
/* Emits a step that belongs to no event. th is NULL for a step of no thread. */
int step__note(struct trace *t, struct thread *th, enum step_type type, uint64_t time,
	       uint64_t count, const char *text);
/* Counts lost events and emits LOST, or UNKNOWN if their number is not known. */
int step__lost(struct event_context *n, uint64_t count);
/* Emits a branch without a probe, which the path implies. to_block is the target of an indirect
 * jump, or NO_BLOCK. */
int step__implied(struct event_context *n, uint32_t site, bool taken, uint32_t to_block);
int step__implied_entry(struct event_context *n, uint32_t site);
/* Emits a ret without a probe. to is the running address of its target; 0 if not known. */
int step__implied_ret(struct event_context *n, uint32_t site, uint64_t to);
/* Emit the event's own branch or entry, and the return of c that the event reports. */
int step__branch(struct event_context *n, bool taken);
int step__entry(struct event_context *n);
int step__named(struct event_context *n);
int step__return(struct event_context *n, const struct call *c);

/* Emit an entry and a return of a log for which no event is made: the thread's innermost call,
 * entered at this site; c, which returns at it. */
int step__logged_entry(struct trace *t, struct thread *th, uint32_t site, uint64_t time);
int step__logged_return(struct trace *t, struct thread *th, const struct call *c, uint32_t site,
			uint64_t time, uint64_t value);

/* ---- replay.c: from one event of a thread to the next ---- */

int replay__branch(struct event_context *n);
/* A witness is a probe at the start of a block: its event shows that the thread is there. */
int replay__witness(struct event_context *n);

/* Emits the event's own branch and moves the call to where the branch leads. c is NULL for a branch
 * of a range. */
int replay__own_branch(struct event_context *n, struct call *c);
/* Advances the call from its position to the end of block to or, if the event is at the block's
 * start (starts), to that start. */
int replay__walk_to(struct event_context *n, struct call *c, uint32_t to, bool starts);
/* Returns the call that the event belongs to, by its function and stack pointer; that call runs
 * now. */
struct call *replay__call_of_event(struct event_context *n, int *err);
/* Emits the implied branches of a path. */
struct path;
int replay__path(struct event_context *n, const struct path *path);
/* Adds a call that is in progress and whose entry was not seen. */
struct call *replay__unseen(struct event_context *n, uint64_t sp);
struct call *replay__unseen_in(struct event_context *n, uint64_t sp, uint32_t function);
/* Returns true if the call ended in a jump to this function, or to one outside of the plan, which
 * may jump on. */
bool replay__leads_to(struct trace *t, const struct call *c, uint32_t function);
/* Returns true if the call ended in a jump through a PLT stub to a function of the plan. */
bool replay__left_through_stub(const struct trace *t, const struct call *c);

/* ---- replay_entry.c: the entry of a function ---- */

int replay__entry(struct event_context *n);

/* ---- replay_return.c: how calls end ---- */

/* Handles a return that a return probe recorded. */
int replay__return(struct event_context *n);
/* The same, for a function whose other returns are recorded at its rets. */
int replay__tail_return(struct event_context *n);
/* Handles a ret of a helper function, which ends the call that jumped there. */
int replay__helper_ret(struct event_context *n);

/* Ends c, which returned, and with it the calls that ended in a tail call of it. */
int replay__end_calls(struct event_context *n, struct call *c);
/* Ends c if only an unprobed ret can have ended it, and sets *ended if so. */
int replay__end_unprobed(struct event_context *n, struct call *c, bool *ended);
/* Ends the innermost calls that only an unprobed ret can have ended, down to down_to, which stays;
 * NULL ends all. */
int replay__end_idle(struct event_context *n, const struct call *down_to);
/* Ends those of the calls deeper on the stack than sp that only an unprobed ret can have ended. */
int replay__end_below(struct event_context *n, uint64_t sp);
/* Removes c, which has returned. */
void replay__pop(struct event_context *n, struct call *c);

/* ---- replay_loss.c: events of a thread are missing ---- */

int replay__lost(struct event_context *n);
/* Probes of functions are being attached or removed: what the thread has done since its last event,
 * and does next, may lack events. */
void replay__make_uncertain(struct trace *t, struct thread *th);
/* At an event: emits UNKNOWN if what the innermost call did is uncertain. */
int replay__mark_uncertain(struct event_context *n);
/* Events of the thread are missing, in its program and in the kernel. */
void replay__forget(struct trace *t, struct thread *th);
/* As replay__lost(), but the number of events is not known. */
int replay__gap(struct event_context *n);

/* ---- replay_stack.c: where the stack pointer isn't the call's own ---- */

/* Returns true if an exception unwound c from its last call instruction to the landing pad at block
 * to. Then c took no branch in between. */
bool replay__is_unwound(struct event_context *n, const struct call *c, uint32_t to);
/* Returns the call of a branch that follows a load of the stack pointer: the innermost call of this
 * function, if it can have reached the branch; else NULL. */
struct call *replay__switching(struct event_context *n);
/*
 * Handles a ret of c that is elsewhere on the stack, or on another stack: c becomes dormant.
 * Returns the call that the ret ends, which has the same function and the return address that the
 * ret transfers to (a switch back to a coroutine). Returns NULL if there is none: an exception was
 * raised to a handler.
 */
struct call *replay__leave_stack(struct event_context *n, struct call *c);

/* ---- stop.c: recording stops and starts again, or a part of it is lost ---- */

/* At an event: emits UNKNOWN if recording stopped after the thread's previous event. */
int stop__mark(struct event_context *n);

/* ---- account.c: what tracing has cost ---- */

/* An event of a site was replayed: charges its hit. */
void account__hit(struct event_context *n);
/* c ran the blocks of this path, up to the event. */
struct path;
void account__walked(struct event_context *n, const struct call *c, const struct path *path);
/* Without events of branches: c ran from the last hit to this one, by a path that isn't known. */
void account__passed(struct event_context *n, const struct call *c);
/* Hits of the thread are missing. */
void account__miss(struct trace *t, struct thread *th);
/* Prepares the account of c, which is about to be added. */
void account__open_call(struct trace *t, struct thread *th, struct call *c);
/* The thread leaves its CPU, or is back on one; *off is how long it was on none. account__on_cpu()
 * returns false if that is not known. */
void account__off_cpu(struct thread *th, uint64_t time);
bool account__on_cpu(struct trace *t, struct thread *th, uint64_t time, uint64_t *off);
/* Sets how long the call, which returned at this time, was on no CPU. Returns false if that is not
 * known. */
bool account__off_of_call(struct event_context *n, const struct call *c, uint64_t time,
			  uint64_t *off);
/* Sets what tracing took of c, which returns at this event, and what it may have taken beyond that,
 * in ns. Returns false if that is not known. */
bool account__of_call(struct event_context *n, const struct call *c, uint64_t *tracing,
		      uint64_t *noise);
/* A forked process continues with copies of the calls, which were added before. */
void account__copy(struct trace *t, struct thread *to, const struct thread *from);
void account__total(const struct trace *t, struct trace_totals *totals);

/* ---- walk.c: the path between two events ---- */

/* The blocks from one to another along unprobed branches, both included. Valid until
 * the next walk. */
struct path {
	const uint32_t *blocks;
	size_t len;
};
enum walk_result { WALK_FOUND, WALK_NONE, WALK_AMBIGUOUS };
struct walk *walk__new(const struct plan *plan);
void walk__free(struct walk *w);
/* Returns the block that ends in an unprobed call at this link-time address of an object; NO_BLOCK
 * if none does. */
uint32_t walk__call_ending(const struct walk *w, uint32_t object, uint64_t end);
/* Returns true if a call of this function may continue in the middle of another function. */
bool walk__may_leave(const struct walk *w, uint32_t function);
/* Returns true if a probe at the start of the block reports that control enters it. */
bool walk__is_marked(const struct walk *w, uint32_t b);
/* Adds the functions from which control flow, other than a call, leads to those that are set. */
void walk__close_backward(const struct walk *w, bool *functions);
/* Finds the path to an unprobed ret. */
enum walk_result walk__find_ret(struct walk *w, uint32_t from, const struct path **path);
/* Returns true if a thread at the start of block b may take an unprobed branch before its next
 * event. returns: a ret has an event, that of a return probe. */
bool walk__is_unprobed_ahead(const struct walk *w, uint32_t b, bool returns);
/* Returns true if a thread at the start of block b may take a ret before its next event. */
bool walk__may_return(struct walk *w, uint32_t b);
/* Returns true if a thread at the start of block b runs few instructions, all of them quick, up to
 * its next hit, whichever path it takes. */
bool walk__is_quick_ahead(struct walk *w, uint32_t b);
/* Finds the path from one block to the end of another. around: the path has at least one edge, even
 * if from == to. */
enum walk_result walk__find(struct walk *w, uint32_t from, uint32_t to, bool around,
			    const struct path **path);

/* ---- undecoded.c: bytes that were not decoded ---- */

/* Returns true if undecoded code may have taken branches that were not recorded, in a call of this
 * function from whose last event no known path leads to block to (NO_BLOCK: to any). */
bool undecoded__may_hide(struct event_context *n, uint32_t function, uint32_t to);
/* Control reached this running address: emits UNKNOWN if it was not decoded. */
int undecoded__arrive(struct event_context *n, uint64_t addr);
/* The same for the target of this event's branch. c is the branch's call, NULL for a branch of a
 * range. */
int undecoded__after_branch(struct event_context *n, const struct call *c);
/* Returns the caller of this entry's call if it called from undecoded code, and emits UNKNOWN for
 * that code; else returns NULL. */
struct call *undecoded__caller(struct event_context *n, int *err);

/* ---- locate.c: names for addresses ---- */

const struct site_places *locate__site(struct trace *t, uint32_t site);
/* Sets the location of a running address of a process (0: of the kernel), with the names that the
 * user gave. */
void locate__running(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		     struct location *out);
/* Sets the location of a link-time address of an object of the plan. */
void locate__vaddr(struct trace *t, uint32_t object, uint64_t vaddr, struct location *out);
/* Sets the object of the plan that holds a running address, and the link-time address there.
 * Returns false if no object holds it. */
bool locate__in_object(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		       uint32_t *object, uint64_t *vaddr);
/* Returns the plan's block that starts at a running address; NO_BLOCK if none does. */
uint32_t locate__block(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* The same in one object, without calling the resolver. */
uint32_t locate__block_in(const struct trace *t, uint32_t pid, uint32_t object, uint64_t addr);
/* Returns true if the address is in a function of the plan, decoded or not. */
bool locate__in_plan(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* Returns the function of the plan in whose undecoded bytes a running address is; NO_FUNCTION if it
 * is in none. */
uint32_t locate__undecoded(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr);
/* Returns the plan's block whose call returns to a running address, in whichever object whose load
 * bias is known; NO_BLOCK if there is none. pid 0: the kernel. */
uint32_t locate__call(const struct trace *t, uint32_t pid, uint64_t addr);
void locate__learn_bias(struct trace *t, uint32_t pid, uint32_t object, uint64_t bias);
void locate__forget_process(struct trace *t, uint32_t pid);

/* ---- judge.c: the conditions of the plan ---- */

/* Prepares a call that was added to the thread's and none of whose entries was judged yet. */
void judge__open(struct trace *t, struct thread *th, struct call *c);
/* The event is the entry of c: judges its arguments. */
void judge__entry(struct event_context *n, struct call *c);
/* Returns true if the conditions leave out what the thread does now. */
bool judge__hides(const struct trace *t, struct thread *th);
/* Returns true if the return of a call meets the conditions. */
bool judge__return(struct trace *t, const struct step *s);

/* ---- live_filter.c: which steps are passed on ---- */

int live_filter__step(struct trace *t, struct thread *th, const struct step *step);
/* Returns true if steps are only counted, and counts this one. */
bool live_filter__count(struct trace *t, enum step_type type);
/* The calls of the thread are not followed any more: decides on the steps that are held back for
 * them. */
void live_filter__leave_calls(struct trace *t, struct thread *th);
/* A forked process continues in the calls of its parent. */
void live_filter__copy(struct trace *t, struct thread *to, const struct thread *from);
/* Passes on a step that belongs to no thread. */
int live_filter__pass(struct trace *t, const struct step *step);
void live_filter__free(struct live_filter *s);

#endif
