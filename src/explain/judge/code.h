/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code: what the instructions of a plan's blocks do to registers and to the call's own stack, as
 * far as this shows where a value is from; and what a function may return from each of its blocks.
 * Private to src/explain.
 */
#ifndef BBTRACE_EXPLAIN_JUDGE_CODE_H
#define BBTRACE_EXPLAIN_JUDGE_CODE_H

#include "plan/plan.h"

/* A place of a value: a register by number, or a slot of the call's stack, by its offset from the
 * stack pointer at the entry. */
typedef uint32_t place_t;
#define PLACE_NONE  UINT32_MAX
#define PLACE_SLOT  0x80000000u
#define SLOT_OFFSET 0x00800000 /* offsets may be negative */

enum op_kind {
	OP_OTHER,  /* dst becomes something else */
	OP_CONST,  /* dst becomes imm */
	OP_COPY,   /* dst becomes src */
	OP_CHOICE, /* dst becomes src, or stays, depending on the flags */
	OP_FLAGS,  /* dst becomes a value that the flags determine */
	OP_CHANGE, /* dst becomes a function of src, which may be dst, and constants */
	OP_AND,	   /* dst &= src */
	OP_OR,	   /* dst |= src */
	OP_LOAD,   /* dst is loaded from memory that isn't the call's own */
};

/* An instruction. */
struct op {
	uint64_t vaddr;
	int64_t imm;
	uint8_t kind, len;
	bool sets_flags;
	place_t dst, src; /* PLACE_NONE if none, or not known */
	place_t spoils;	  /* a slot that it writes in another way */
	place_t address;  /* the slot whose address it takes */
	place_t tests;	  /* the slot that it reads to set the flags */
	uint32_t writes;  /* all registers that it writes, one bit each */
};

struct block_ops {
	bool decoded, known; /* known: each instruction of the block could be decoded */
	struct op *ops;
	size_t n;
};

/* What a call may end with, seen from a point in its function. */
enum origin_kind {
	FROM_PLACE,	/* the present value of this place */
	FROM_CONST,	/* a constant of 32 bits */
	FROM_CALL,	/* what the call at this site returns */
	FROM_TAIL,	/* what the function returns that this site jumps to */
	FROM_CODE,	/* the value that the instruction at this address computes */
	FROM_ELSEWHERE, /* control leaves in another way */
	FROM_END,	/* control reaches the end in question, for which no value matters */
};
#define ORIGIN_KIND 56
#define ORIGIN_MANGLED                                                                             \
	(1ull << 54)	      /* constants changed it on the way; of CALL and the kinds after it */
#define ORIGIN_CHAIN	   32 /* PLACE, CONST: mangle() of the instructions that changed it */
#define ORIGIN_ANDED	   (1ull << 53) /* it doesn't matter if the other operand is 0 */
#define ORIGIN_DATA	   ((1ull << 48) - 1)
#define ORIGIN(kind, data) ((uint64_t)(kind) << ORIGIN_KIND | ((uint64_t)(data)&ORIGIN_DATA))
typedef VEC(uint64_t) origin_vec; /* ascending, unique */

/* Identifies the instructions that change a value by constants, from the last one backward: at most
 * three, since a loop has no end. Returns 0 beyond that. */
static inline uint16_t mangle(uint16_t chain, uint64_t vaddr)
{
	uint64_t h = (chain * 31 + vaddr) * 0x9e3779b97f4a7c15ull >> 50;
	unsigned n = chain >> 14;

	return n == 3 ? 0 : (n + 1) << 14 | h;
}

static inline uint16_t origin__chain(uint64_t o)
{
	return o >> ORIGIN_CHAIN;
}

static inline enum origin_kind origin__kind(uint64_t o)
{
	return o >> ORIGIN_KIND;
}

/* The end in question: the function's return with its result, or a site with an argument. */
struct ending {
	uint32_t function;
	uint32_t site; /* NO_SITE: the function's rets, and jumps out of it */
	place_t place; /* PLACE_NONE: only that control reaches the end */
	/* The end is that of this block, with site NO_SITE and place PLACE_NONE; else NO_BLOCK. */
	uint32_t block;
};

struct origins; /* of an ending, by block */

struct code {
	const struct plan *plan;
	struct block_ops *blocks; /* by block */
	size_t nblocks;
	uint32_t *first, *of_function; /* the blocks of function f: of_function[first[f] ...) */
	uint32_t *number;	       /* by block: its index in of_function, less first[f] */
	uint64_t *escapes;	       /* by function: a bit for each slot whose address it takes */
	place_t *lowest;     /* by function: the lowest of these slots; PLACE_NONE if none */
	uint8_t *error_exit; /* by block: 2 if it ends in error(3) that doesn't return, 1 if not, 0:
				not known */
	int32_t *frame;	     /* by function: the depth of its frame pointer; if framed is set */
	bool *framed;
	bool *scanned; /* by function: escapes and lowest are known */
	VEC(struct origins *) origins;
	struct map64 known;   /* hash of an ending -> 1 + its index */
	unsigned nested;      /* judgements within one, of what its branch has tested */
	struct loops **loops; /* by function; NULL until they are asked for (loops.c) */
};

void code__init(struct code *c, const struct plan *p);
void code__free(struct code *c);
const struct block_ops *code__ops(struct code *c, uint32_t block);
/* Sets what the instruction at setter tests, by its code. Returns false if that isn't known, also
 * if setter is 0. */
bool code__test(const struct code *c, uint32_t object, uint64_t setter, struct test *out);
/* Returns true if a callee may change the place: a register in which calls leave a value. */
bool code__clobbers(struct code *c, uint32_t function, place_t place);
/* Returns true if a callee may reach the place by the address of a lower slot, as a part of the
 * same object. */
bool code__may_reach(struct code *c, uint32_t function, place_t place);
/* The places of a call's result, and of its first argument. */
place_t code__result(const struct code *c);
place_t code__argument(const struct code *c);
/* Returns the origins of an ending at the start of a block; NULL if the code isn't known. */
const origin_vec *code__origins(struct code *c, const struct ending *e, uint32_t block);
/* Adds the sites of calls, and of jumps out of the function, that its result may be from. */
void code__callees(struct code *c, uint32_t function, id_vec *sites);
/* Returns the instruction of a block that sets the flags which the one at vaddr reads; 0 if not
 * known. */
uint64_t code__setter(struct code *c, uint32_t block, uint64_t vaddr);
/* Sets the operand by which an instruction accesses memory. Returns false if it has none, or more
 * than one register in it. */
bool code__memory(const struct code *c, uint32_t object, uint64_t vaddr, struct operand *out);
/* Sets the text of an instruction. Returns false if not known. */
bool code__text(const struct plan *p, uint32_t object, uint64_t vaddr, char *out, size_t size);

#endif
