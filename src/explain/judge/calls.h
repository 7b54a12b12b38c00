/* SPDX-License-Identifier: BSD-2-Clause */
/* calls: what is kept of the calls that run, and the verdict on a call that has ended: which branch
 * chose its result. Private to src/explain. */
#ifndef BBTRACE_EXPLAIN_JUDGE_CALLS_H
#define BBTRACE_EXPLAIN_JUDGE_CALLS_H

#include "explain/judge/code.h"
#include "trace/trace.h"

/* A system call that failed. */
struct failure {
	uint64_t number;
	int64_t result; /* -errno; 0 if none failed */
};

struct verdict;
typedef VEC(struct verdict *) verdict_vec;

/* A branch that was executed, and what happened from it up to the next branch of its call. */
struct item {
	uint32_t site;
	bool taken, to_known;
	bool enters; /* it enters a traced function */
	struct location to;
	struct tested tested;
	struct failure failed; /* the last system call that failed */
	uint64_t stores;       /* the number of stores that were seen until then (stored.h) */
	verdict_vec results;   /* of the traced calls that returned an error, or what may be one */
};

struct call {
	uint64_t id;
	uint32_t function;
	bool kernel;
	bool outermost;	 /* no other call of its side made it */
	const char *cut; /* why earlier branches aren't known; NULL if they are */
	VEC(struct item) items;
	uint64_t args[EVENT_ARGS]; /* of a system call; of a program's function, those in registers
				    */
	unsigned nargs;
	uint64_t sp; /* the stack pointer at its entry, of a program's function; 0 if not known */
};
#define CALL_ITEMS   4096 /* kept of each call */
#define CALL_RESULTS 8	  /* kept of each item */

/* Forgets its branches; why is kept as .cut. */
void call__forget(struct call *c, const char *why);
/* Forgets the first half of them. */
void call__drop_half(struct call *c);
/* Returns a copy with its last branches, at most this many. */
struct call *call__copy(const struct call *c, size_t most);
void call__free(struct call *c);

/* How a value came about. */
enum value_origin_kind {
	VALUE_UNKNOWN,	/* it isn't known, for the reason .why */
	VALUE_CONST,	/* an instruction that has it as a constant */
	VALUE_FLAGS,	/* an instruction that computes it from flags */
	VALUE_CODE,	/* another instruction */
	VALUE_LOAD,	/* it was loaded from memory */
	VALUE_CALL,	/* the call of an item, or a jump out of the function, returned it */
	VALUE_ARGUMENT, /* the caller passed it in .place */
	VALUE_NONE,	/* no value is asked for, only that control reached the end */
};

/* A choice between two values, by an instruction that doesn't branch. */
struct choice {
	uint64_t vaddr; /* 0 if there was none */
	size_t at;	/* index into the path */
	bool differs;	/* the other value would have been different */
};

struct value_origin {
	enum value_origin_kind kind;
	size_t at; /* index into the path */
	uint64_t vaddr;
	int64_t value; /* VALUE_CONST */
	/* Constants changed the value after that: mangle() of the instructions; 0 if none did. */
	uint16_t mangled;
	place_t place;
	const char *why;
	const char *assumed;
	struct choice choice;
};

struct verdict {
	unsigned shared; /* how many others own it, too */
	uint32_t function;
	uint64_t value; /* the result */
	struct value_origin origin;
	uint32_t origin_block;	/* VALUE_FLAGS, VALUE_LOAD: of the instruction */
	uint64_t stores;	/* item.stores of the branch after where the value is from */
	uint32_t call_site;	/* VALUE_CALL */
	struct location callee; /* its target, if callee_known */
	bool callee_known;
	bool callee_traced;
	/* How the callee came by the value; owned; NULL if not known. */
	struct verdict *inner;
	bool passed;	    /* the value isn't known: only why control reached the end is */
	bool decided;	    /* a branch decided, which is: */
	struct item branch; /* its results are left out */
	/* else the instruction that chooses without a branch; 0 if there is none */
	uint64_t choice;
	uint32_t block;	       /* the block of the branch or instruction */
	struct failure failed; /* a system call whose result the branch tested */
	/* The function that was called for this system call, or whose result the branch tested. */
	struct location failed_in;
	uint64_t read_at;  /* where the value, or what was tested, was read; 0 if not known */
	uint64_t loaded;   /* the instruction that loaded what the branch tested; 0 if none */
	bool tests_loaded; /* the branch tested what was in memory, or was computed from that */
	bool tests_call;   /* the branch tested a function's result */
	/* What it tested was computed in a loop, which control left by this branch (.site NO_SITE:
	 * it wasn't); its results are left out. */
	struct item loop_exit;
	/* It had its value before that loop: the last branch after which the loop could no longer
	 * change it (.site NO_SITE: none); its results are left out. */
	struct item unchanged;
	struct item last_test; /* the branch ended a loop: the last one in that which could have led
				  to another end (.site NO_SITE: none); its results are left out */
	/* Why control came to set the constant that was tested; owned; NULL if that isn't known. */
	struct verdict *set;
	/* How the last traced function came by its result that is a part of what was tested, or of
	 * the value; owned; NULL if there is none. */
	struct verdict *part;
	bool tests_thread; /* or the value is what a thread returned, as pthread_join(3) stored it:
			      this */
	uint64_t joined;
	struct verdict *cause; /* how the value came about that the branch tested; owned */
	const char *unsure;    /* why no branch is named; NULL if one is */
	/* Why control came to the branch: the one before it that decided about that, and so on;
	 * owned; NULL if there is none, or if nobody asked (judge__find_way()). */
	struct verdict *way;
	/* The branch has chosen one of several constants that aren't 0: why it was none other than
	 * these; owned; NULL if that isn't known. */
	struct verdict *failing;
};
void verdict__free(struct verdict *v);
/* Returns it; both owners free it. */
struct verdict *verdict__share(struct verdict *v);

/* A block that a call has executed. */
struct step_of_path {
	uint32_t block;
	int32_t item; /* the branch that ends it; -1 if none does */
};
typedef VEC(struct step_of_path) path_vec;

static inline void path__free(path_vec *path)
{
	vec__free(path);
}

/* Sets the blocks that a call has executed. Returns NULL, or why they aren't known. rest: also
 * those after the last branch, up to the next one. */
const char *path__of(const struct plan *p, const struct call *c, bool rest, path_vec *out);

/* Where a value was at some point of the path. */
struct tracked {
	place_t place; /* PLACE_NONE before it came about */
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
/*
 * Traces a value backward over the path to its origin: the value that is in from_place at the end
 * of the path's block from (n is SIZE_MAX), or before that block's n-th instruction. If has_wanted,
 * it is known to have these 32 bits. track, by index into the path, gets the place that the value
 * had at the end of each block; the caller owns it.
 */
struct value_origin slice__of(struct slicing *s, size_t from, size_t n, struct tracked from_place,
			      struct tracked *track);

/* Returns the running address of the memory that the instruction at vaddr, in the block at this
 * index of the path, accesses by a pointer that the call got as an argument; 0 if it doesn't, or if
 * that isn't known. */
uint64_t slice__address(struct slicing *s, size_t at, uint64_t vaddr);
/* Likewise of a slot of its own. */
uint64_t slice__slot_address(const struct slicing *s, place_t slot);

/* Judges a call that has returned this value. */
struct verdict *judge__result(struct code *code, const struct call *c, uint64_t value);
/*
 * Judges a call that ended by its last branch, which is a call, or by a fault after its last
 * branch. place is an argument of that last call whose value matters, or PLACE_NONE. at is where
 * the fault was; 0 if not known.
 */
struct verdict *judge__end(struct code *code, const struct call *c, bool fault, uint64_t at,
			   place_t place, bool has_wanted, uint32_t wanted);

/* Judges why control reached the branch of item n: which branch before it could have led past
 * it. */
struct verdict *judge__reached(struct code *code, const struct call *c, size_t n);

/* Sets .way of a verdict on the call whose branch is the last one of its site before this item. */
void judge__find_way(struct code *code, const struct call *c, size_t before, struct verdict *v);

/* Returns true if the value is an error, or may be one. */
bool value__is_error(uint64_t value);

#endif
