/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_model: predicts the next event. Writer and reader of event blocks keep the same model of
 * the block so far, so that only deviations from the prediction take space. Each block starts with
 * an empty model and can be read without those before it. Private to src/file.
 */
#ifndef BBTRACE_FILE_EVENT_MODEL_H
#define BBTRACE_FILE_EVENT_MODEL_H

#include "file/file.h"

/* The type of a record, which also determines its size. */
enum record_kind {
	RECORD_BRANCH,
	RECORD_VALUE,
	RECORD_ENTRY,
	RECORD_LOST,
	RECORD_STACK, /* an entry with its call stack */
	RECORD_SIGNAL,
	RECORD_GOROUTINE,
	RECORD_RETURN,
	RECORD_NAMED,
	RECORDS
};

/* An event as it is stored in a block. */
struct record {
	uint32_t site; /* the plan's number of sites: none */
	uint32_t kind; /* enum record_kind */
	uint32_t pid, tid;
	uint64_t time, sp;
	uint32_t cpu;
	uint32_t state;	   /* enum record_state */
	bool taken;	   /* of a conditional branch */
	uint64_t value[2]; /* target and value; LOST: count and hits; GOROUTINE: its number */
	/* entries only */
	uint64_t caller;
	char comm[16];
	uint64_t regs[EVENT_REGS], args[EVENT_ARGS];
	uint64_t user[2]; /* kernel, in a plan with programs: user_ip, user_sp */
	/* STACK */
	uint64_t frames, stack[STACK_FRAMES], stack_end;
	/* NAMED; it points to named_stack, to comm, and while a block is read into that */
	struct event_named named;
	uint64_t named_stack[NAMED_FRAMES];
};

/* Missing fields and flags of a record. */
enum record_state {
	RECORD_NO_TARGET = 1,
	RECORD_NO_VALUE = 2,
	RECORD_NO_CALLER = 4,
	RECORD_NO_ARGS = 8,
	RECORD_PENDING = 16,
	RECORD_NO_REGS = 32,
	RECORD_INTERRUPT_SHIFT = 6, /* enum event_interrupt, three bits */
	RECORD_UNTIMED = 512,	    /* struct event */
	RECORD_TESTED_SHIFT = 10,   /* enum tested_flags, TESTED_BITS; if they aren't 0 the values
				       are its values */
};

static inline bool has_values(enum record_kind kind)
{
	return kind != RECORD_BRANCH && kind != RECORD_SIGNAL && kind != RECORD_NAMED;
}

#define CALLERS_KEPT	  32
#define FOLLOWERS	  (1u << 14)
#define MODEL_THREADS_MAX 4096 /* in a block */

/* What the last visit of a site was like. */
struct site_state {
	uint32_t epoch;
	uint8_t kind;
	bool taken;
	uint32_t state;
	uint64_t value[2], caller, ip;
};

/* What followed the same branch with the same outcome last time. */
struct follower {
	uint32_t epoch, site;
	bool taken;
	uint64_t sp_change;
	uint64_t took[2]; /* ns, the last two times, newest first */
	uint64_t takes;	  /* the median of the last three */
};

struct thread_state {
	uint32_t pid, tid;
	uint16_t cpu;
	uint64_t sp;
	uint64_t time;	  /* of its last record in this block; 0: none */
	uint64_t context; /* hash of the previous branch and its outcome */
	char comm[16];
	uint64_t regs[EVENT_REGS], args[EVENT_ARGS], user[2];
	struct {
		uint64_t sp, caller;
	} callers[CALLERS_KEPT]; /* return addresses by stack slot */
	uint64_t frames;
	uint64_t stack[STACK_FRAMES];
};

struct event_model {
	const struct plan *plan;
	bool has_programs; /* plan__has_programs() */
	uint32_t epoch;	   /* number of the block: state of another epoch counts as empty */
	uint64_t time;
	struct site_state *sites; /* by site, and one more for records without a site */
	size_t nsites;
	struct follower *followers;
	VEC(struct thread_state *) threads; /* the first nthreads are of this block */
	size_t nthreads;
};

void event_model__init(struct event_model *m, const struct plan *plan);
void event_model__free(struct event_model *m);
/* Starts a new block. */
void event_model__reset(struct event_model *m);
struct thread_state *event_model__add_thread(struct event_model *m, uint32_t pid, uint32_t tid);
/* Returns true if the site is a conditional branch. */
bool event_model__is_conditional(const struct event_model *m, uint32_t site);
struct site_state *event_model__site(struct event_model *m, uint32_t site);
/* The prediction for the thread. It is valid only if its epoch is the model's. */
struct follower *event_model__follower(struct event_model *m, const struct thread_state *th);
/* The predicted time of the thread's next record; f: its follower, NULL: no prediction. */
uint64_t event_model__time(const struct event_model *m, const struct thread_state *th,
			   const struct follower *f);
/* Returns the return address last seen in this stack slot; 0 if there was none. */
uint64_t thread_state__caller(const struct thread_state *th, uint64_t sp);
/* Updates the model with a complete record; f: the prediction for it. */
void event_model__take(struct event_model *m, struct thread_state *th, struct follower *f,
		       const struct record *x);

#endif
