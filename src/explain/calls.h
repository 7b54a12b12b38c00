/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls: what is kept of the calls that run, and what is told of one that has ended: which branch
 * chose its result. Private to src/explain.
 */
#ifndef BBTRACE_EXPLAIN_CALLS_H
#define BBTRACE_EXPLAIN_CALLS_H

#include "explain/code.h"
#include "trace/trace.h"

/* A system call that failed. */
struct failure {
	uint64_t number;
	int64_t result; /* -errno; 0: none failed */
};

struct verdict;
typedef VEC(struct verdict *) verdict_vec;

/* A branch that was executed, and what happened up to the next one of its call. */
struct item {
	uint32_t site;
	bool taken, to_known;
	bool enters; /* a traced function */
	struct location to;
	struct tested tested;
	struct failure failed; /* the last system call */
	verdict_vec results;   /* of the traced calls that returned an error, or what may be one */
};

struct call {
	uint64_t id;
	uint32_t function;
	bool kernel;
	bool outermost;	 /* no call of its side has made it */
	const char *cut; /* why earlier branches aren't known; NULL: they are */
	VEC(struct item) items;
	uint64_t args[EVENT_ARGS]; /* of a system call */
	unsigned nargs;
};
#define CALL_ITEMS   4096 /* kept of each */
#define CALL_RESULTS 8	  /* of each item */

/* How a value came about. */
enum made_kind {
	MADE_UNKNOWN,  /* .why */
	MADE_CONST,    /* by an instruction that has it */
	MADE_FLAGS,    /* by an instruction that makes it of flags */
	MADE_CODE,     /* by another one */
	MADE_LOAD,     /* from memory */
	MADE_CALL,     /* by the call of an item, or a jump out of the function */
	MADE_ARGUMENT, /* the caller passed it in .place */
	MADE_NONE,     /* no value is asked for, only that control came there */
};

/* A choice between two values, by an instruction that doesn't branch. */
struct choice {
	uint64_t vaddr; /* 0: there was none */
	size_t at;	/* index into the path */
	bool differs;	/* the other one would have been another value */
};

struct made {
	enum made_kind kind;
	size_t at; /* index into the path */
	uint64_t vaddr;
	int64_t value;	  /* CONST */
	uint16_t mangled; /* it was changed by constants behind that: mangle() of these */
	place_t place;
	const char *why;
	const char *assumed;
	struct choice choice;
};

struct verdict {
	uint32_t function;
	uint64_t value; /* of the result */
	struct made made;
	uint32_t call_site;	/* MADE_CALL */
	struct location callee; /* its target, if to_known */
	bool callee_known;
	bool callee_traced;
	struct verdict *inner;	   /* how the callee made it; owned; NULL: it isn't known */
	bool decided;		   /* by this branch: */
	struct item branch;	   /* without results */
	uint64_t choice;	   /* or this instruction that chooses without one; 0: none */
	uint32_t block;		   /* the block of that */
	struct failure failed;	   /* a system call whose result the branch tested */
	struct location failed_in; /* the function that was called for it */
	struct verdict *cause;	   /* how the value was made that the branch tested; owned */
	const char *unsure;	   /* why no branch is named, or NULL */
};
void verdict__free(struct verdict *v);

/* The blocks that a call has executed. */
struct step_of_path {
	uint32_t block;
	int32_t item; /* the branch that ends it; -1: none does */
};
typedef VEC(struct step_of_path) path_vec;

/* NULL, or why they aren't known. With the rest: also those behind the last branch, up to the
 * next. */
const char *path__of(const struct plan *p, const struct call *c, bool rest, path_vec *out);

/* How a value came to a place, at the end of the path's last block (n: in front of its n-th
 * instruction; SIZE_MAX: at the end). wanted: its 32 bits, if has_wanted. track: by index into the
 * path, where it was at the end of that block; caller frees. */
struct tracked {
	place_t place; /* PLACE_NONE: it wasn't made yet */
	uint16_t mangled;
};
struct slicing {
	struct code *code;
	const struct call *call;
	const path_vec *path;
	bool has_wanted;
	uint32_t wanted;
	unsigned depth;
};
struct made slice__of(struct slicing *s, size_t from, size_t n, struct tracked from_place,
		      struct tracked *track);

/* The call has returned this value. */
struct verdict *judge__result(struct code *code, const struct call *c, uint64_t value);
/* The call has come to its end by its last branch, a call, or, with the fault, behind it. place: an
 * argument of that call whose value matters; PLACE_NONE. at: where the fault was; 0: not known. */
struct verdict *judge__end(struct code *code, const struct call *c, bool fault, uint64_t at,
			   place_t place, bool has_wanted, uint32_t wanted);

/* Is it an error, or may it be one? */
bool value__is_error(uint64_t value);

#endif
