/* SPDX-License-Identifier: BSD-2-Clause */
/* state: what the steps so far have shown. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_STATE_H
#define BBTRACE_EXPLAIN_STATE_H

#include "explain/judge/calls.h"
#include "explain/explain.h"
#include "explain/made.h"
#include "explain/stored.h"

typedef VEC(struct call *) call_vec;

/* The signal that ended a process, as far as it is known. */
struct death {
	bool known, has_at, has_sender;
	uint64_t sender; /* a PID */
	struct location at;
};

struct thread {
	uint64_t key;
	uint32_t pid, tid;
	char comm[16];
	uint64_t time;	   /* of its last step */
	call_vec calls[2]; /* the calls that run, outermost first: of programs, and of the kernel */
	verdict_vec ended; /* of the outermost calls of programs that ended last */
	struct death death; /* known: the signal came to this thread */
	const char *cut;    /* why what it did up to here isn't known, if it continues; NULL */
};

/* A failure, and the verdict on it. */
struct explained {
	struct verdict *verdict;
	uint32_t pid, tid;
	char comm[16];
	uint64_t args[EVENT_ARGS];
	unsigned nargs;
	uint64_t times;
	bool shown; /* as the kernel's part of what a program did */
};

/* A system call that failed, with what its arguments point to. */
struct outcome {
	uint64_t number, times;
	uint64_t first, last; /* when */
	int64_t result;
	uint32_t pid;
	uint64_t args[EVENT_ARGS];
	char *text[2]; /* owned; NULL if not known */
	size_t len[2];
	bool starts; /* before a traced function ran: the dynamic loader's */
};
typedef VEC(struct outcome) outcome_vec;

/* A branch by which control came to a message. */
struct reached {
	struct verdict *verdict; /* owned */
	uint32_t site;		 /* where the call continued */
	unsigned frame;		 /* 0: of the innermost traced call */
	unsigned before; /* 0: the last branch that decided; 1: the one that decided about that ...
			  */
	bool made;	 /* not on the way to the message, but to where its text was made */
	int score;
};

/* What CMD wrote to the standard error stream by one system call, and how it got there. */
struct message {
	char *text; /* owned */
	size_t len;
	uint32_t pid, tid;
	char comm[16];
	VEC(struct reached) reached; /* the innermost first */
	bool cut;		     /* there is more text, which wasn't recorded */
	VEC(struct location) stack;  /* innermost first */
	/* The functions of the innermost calls: they get the text as an argument, or were called by
	 * such a one. */
	id_vec printing;
	uint64_t time;	  /* when it was written */
	bool known;	  /* its text is one whose address a function took */
	bool made;	  /* its text was made before it was written, by: */
	uint32_t made_in; /* function */
	struct taken_text made_by;
};

/* A child that failed, as its parent has learned. */
struct ended_child {
	uint32_t pid, parent, status; /* status: as wait(2) has it */
	char comm[16];
};

struct outcomes {
	VEC(struct ended_child) children;
	uint64_t more_children; /* beyond CHILDREN_MOST */
	outcome_vec all;
	uint64_t hidden;		    /* kinds of failures beyond OUTCOMES_MOST */
	struct message first, before, last; /* before: the one before last; text is NULL if there
					       is none */
	uint64_t messages;
	struct message output; /* the last one on the standard output, likewise */
	uint64_t outputs;
	struct message jump; /* the last longjmp(3) or exception: text is its function's name */
	uint64_t jumps;
	struct map64 program_of; /* by PID: 1 + its index in .programs */
	VEC(char *) programs;	 /* paths; owned */
	struct map64 places; /* pid << 32 | the plan's object -> what is added to its addresses */
};
#define CHILDREN_MOST 1000
#define OUTCOMES_MOST 2000
#define MESSAGES_MOST 200 /* are explained, the first one and the last one so far */

struct explain_state {
	struct outcomes outcomes;
	struct stores stores;
	struct all_made made;
	VEC(char *) called;	 /* the objects whose functions were called: paths; owned */
	const char *last_called; /* the trace's, of the last of them */
	struct code code;
	VEC(struct thread *) threads;
	VEC(struct explained) failures;
	unsigned results; /* SARIF: that were written */
	uint64_t hidden;  /* the number of failures beyond FAILURES_MOST */
};
#define FAILURES_MOST 1000
#define CALLED_MOST   200

void state__begin(struct explain_state *s, const struct plan *p);
void state__step(struct explain_state *s, struct explaining *e, const struct step *step);
void state__free(struct explain_state *s);
/* Of a verdict whose branch tested what pthread_join(3) stored: adds how the thread came by that,
 * if just one function of the process's other threads has returned it. */
void state__join(const struct explain_state *s, uint32_t pid, struct verdict *v);

/* Returns the innermost verdict of a chain: that on the function where the value came about. */
const struct verdict *verdict__innermost(const struct verdict *v);
/* Returns true if the value was followed to where it came about: it was neither loaded nor computed
 * there. */
bool verdict__is_followed(const struct verdict *v);
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
/* Likewise how a child ended. Returns false if it wasn't traced, was killed by another process, or
 * if its message shows why it exited; then there is nothing to free. */
bool ending__find_child(struct explain_state *s, const struct explaining *e,
			const struct ended_child *c, struct ending_found *out);
void ending__free(struct ending_found *f);
/* Returns true if this function, by its name, ends the process with its first argument as the
 * status. */
bool ending__is_exit(const struct location *to);

#endif
