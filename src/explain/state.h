/* SPDX-License-Identifier: BSD-2-Clause */
/* state: what the steps so far have shown. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_STATE_H
#define BBTRACE_EXPLAIN_STATE_H

#include "explain/calls.h"
#include "explain/explain.h"

typedef VEC(struct call *) call_vec;

struct thread {
	uint64_t key;
	uint32_t pid, tid;
	char comm[16];
	uint64_t time;	   /* of its last step */
	call_vec calls[2]; /* the calls that run, outermost first: of programs, and of the kernel */
	verdict_vec ended; /* of the outermost calls of programs that ended last */
};

/* A failure, and the verdict on it. */
struct explained {
	struct verdict *verdict;
	uint32_t pid, tid;
	char comm[16];
	uint64_t args[EVENT_ARGS];
	unsigned nargs;
	uint64_t times;
};

struct explain_state {
	struct code code;
	VEC(struct thread *) threads;
	VEC(struct explained) failures;
	/* The signal that ended CMD: */
	uint64_t killed; /* the thread's key; 0 if not known */
	bool has_killed_at, has_sender;
	uint64_t sender;
	struct location killed_at;
	uint64_t hidden; /* the number of failures beyond FAILURES_MOST */
};
#define FAILURES_MOST 1000

void state__begin(struct explain_state *s, const struct plan *p);
void state__step(struct explain_state *s, struct explaining *e, const struct step *step);
void state__free(struct explain_state *s);

/* Returns the innermost verdict of a chain: that on the function where the value came about. */
const struct verdict *verdict__innermost(const struct verdict *v);
/* Returns the innermost verdict of a chain that names a branch or a choice; NULL if none does. */
const struct verdict *verdict__deciding(const struct verdict *v);

/* How CMD ended: the verdicts on its open calls, the innermost first, up to the one that
 * decides. */
struct ending_found {
	verdict_vec chain;   /* owned */
	id_vec sites;	     /* by chain: the branch by which control continued to the end */
	const char *unknown; /* why nothing decides, unless returned; NULL if something does */
	const struct thread *thread;
	bool returned; /* chain[0] is on a function whose result became the status */
};
void ending__find(struct explain_state *s, const struct explaining *e, struct ending_found *out);
void ending__free(struct ending_found *f);

#endif
