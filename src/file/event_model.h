/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_model: what is expected next. Writer and reader of event blocks keep the same model of what
 * was seen so far in a block, so that only what is not as expected takes room. A block starts with
 * an empty model: it can be read without those before it. Private to src/file.
 */
#ifndef BBTRACE_FILE_EVENT_MODEL_H
#define BBTRACE_FILE_EVENT_MODEL_H

#include "file/file.h"

/* What a record is, its size included. */
enum record_kind {
	RECORD_BRANCH,
	RECORD_VALUE,
	RECORD_ENTRY,
	RECORD_LOST,
	RECORD_STACK, /* an entry with its call stack */
	RECORD_SIGNAL,
	RECORD_GOROUTINE,
	RECORD_RETURN,
	RECORDS
};

static inline bool has_values(enum record_kind kind)
{
	return kind != RECORD_BRANCH && kind != RECORD_SIGNAL;
}

#define FLAGS_KEPT	  4
#define CALLERS_KEPT	  32
#define FOLLOWERS	  (1u << 14)
#define MODEL_THREADS_MAX 4096 /* in a block */

/* The last time at a site. */
struct site_state {
	uint32_t epoch;
	uint8_t kind, missing;
	uint16_t flags[FLAGS_KEPT]; /* the flags registers seen there, the youngest first */
	uint64_t value[2], caller, ip;
};

/* What came last time after the same branch with the same outcome. */
struct follower {
	uint32_t epoch, site;
	uint64_t sp_change;
	uint64_t took[2]; /* ns, the last two times, the younger one first */
	uint64_t takes;	  /* the middle one of the last three */
};

struct thread_state {
	uint32_t pid, tid;
	uint16_t cpu, flags;
	uint64_t sp;
	uint64_t time;	  /* of its last record in this block; 0: it has none */
	uint64_t context; /* hash of the branch before and its outcome */
	char comm[16];
	uint64_t regs[WIRE_REGS], syscall_args[WIRE_ARGS];
	struct {
		uint64_t sp, caller;
	} callers[CALLERS_KEPT]; /* return addresses, by where on the stack they lie */
	uint64_t frames;
	uint64_t stack[WIRE_STACK];
};

struct event_model {
	const struct plan *plan;
	bool foretells_time; /* files of format 1: only what time it was */
	uint32_t epoch;	     /* number of the block: what is of another one is empty */
	uint64_t time;
	struct site_state *sites; /* one more than the plan has: of records without site */
	struct follower *followers;
	VEC(struct thread_state *) threads; /* nthreads are of this block */
	size_t nthreads;
};

/* foretells_time: see above. */
void event_model__init(struct event_model *m, const struct plan *plan, bool foretells_time);
void event_model__free(struct event_model *m);
/* A new block. */
void event_model__reset(struct event_model *m);
struct thread_state *event_model__add_thread(struct event_model *m, uint32_t pid, uint32_t tid);
struct site_state *event_model__site(struct event_model *m, uint32_t site);
/* What is expected of the thread; only if its epoch is the model's is there any expectation. */
struct follower *event_model__follower(struct event_model *m, const struct thread_state *th);
/* When the thread's next record is expected; f: its follower, NULL: there is no expectation. */
uint64_t event_model__time(const struct event_model *m, const struct thread_state *th,
			   const struct follower *f);
/* The return address that was seen at this place of the stack; 0: none. */
uint64_t thread_state__caller(const struct thread_state *th, uint64_t sp);
/* Takes a record over once it is known whole; f: what was expected. */
void event_model__take(struct event_model *m, struct thread_state *th, struct follower *f,
		       uint32_t site, enum record_kind kind, const struct wire_entry_stack *r);

#endif
