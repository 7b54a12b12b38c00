/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code: what the instructions of a plan's blocks do to registers and to the call's own stack, as
 * far as it tells where a value is from; and what a function may return from each of its blocks.
 * Private to src/explain.
 */
#ifndef BBTRACE_EXPLAIN_CODE_H
#define BBTRACE_EXPLAIN_CODE_H

#include "plan/plan.h"

/* Where a value is: a register by number, or a slot of the call's stack, by its offset from the
 * stack pointer at the entry. */
typedef uint32_t place_t;
#define PLACE_NONE  UINT32_MAX
#define PLACE_SLOT  0x80000000u
#define SLOT_OFFSET 0x00800000 /* offsets may be negative */

enum op_kind {
	OP_OTHER,  /* dst becomes something else */
	OP_CONST,  /* imm */
	OP_COPY,   /* what is in src */
	OP_CHOICE, /* what is in src, or stays, by the flags */
	OP_FLAGS,  /* something that the flags tell */
	OP_SELF,   /* by its value and constants */
	OP_AND,	   /* &= src */
	OP_OR,	   /* |= src */
	OP_LOAD,   /* from memory that isn't the call's own */
};

/* An instruction. */
struct op {
	uint64_t vaddr;
	int64_t imm;
	uint8_t kind, len;
	bool sets_flags;
	place_t dst, src; /* PLACE_NONE: none that is known */
	place_t spoils;	  /* a slot that it writes in another way */
	place_t address;  /* the slot whose address it takes */
	uint32_t writes;  /* all registers, one bit each */
};

struct block_ops {
	bool made, known; /* known: each instruction of the block could be decoded */
	struct op *ops;
	size_t n;
};

/* What a call may end with, seen from a place in its function. */
enum origin_kind {
	FROM_PLACE,	/* what is in this place now */
	FROM_CONST,	/* 32 bits */
	FROM_CALL,	/* what the call at this site leaves */
	FROM_TAIL,	/* what the function returns that this site jumps to */
	FROM_CODE,	/* what the instruction at this address makes */
	FROM_ELSEWHERE, /* control leaves in another way */
	FROM_END,	/* control comes to the end that is asked for, no value is */
};
#define ORIGIN_KIND	   56
#define ORIGIN_MANGLED	   (1ull << 54) /* changed by constants on the way: CALL and what follows */
#define ORIGIN_CHAIN	   32		/* PLACE, CONST: which ones, mangle() of them */
#define ORIGIN_ANDED	   (1ull << 53) /* of no consequence where the other one is 0 */
#define ORIGIN_DATA	   ((1ull << 48) - 1)
#define ORIGIN(kind, data) ((uint64_t)(kind) << ORIGIN_KIND | ((uint64_t)(data)&ORIGIN_DATA))
typedef VEC(uint64_t) origin_vec; /* ascending, unique */

/* Names the instructions that change a value by constants, from the last one back: at most three, a
 * loop would go on. 0: it is one more. */
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

/* The end that is asked for: the function's return with its result, or a site, with an argument. */
struct ending {
	uint32_t function;
	uint32_t site;	/* NO_SITE: its rets and jumps out of it */
	place_t place;	/* PLACE_NONE: only that control comes there */
	uint32_t block; /* with site NO_SITE and without place: the end of this block; NO_BLOCK */
};

struct origins; /* of an ending, by block */

struct code {
	const struct plan *plan;
	struct block_ops *blocks; /* by block */
	size_t nblocks;
	uint32_t *first, *of_function; /* blocks of function f: of_function[first[f] …) */
	uint32_t *number;	       /* by block: its index there, from first[f] on */
	uint64_t *escapes;	       /* by function: bits of the slots whose addresses it takes */
	place_t *lowest;	       /* by function: the lowest of these; PLACE_NONE */
	bool *scanned;		       /* by function: is that known? */
	VEC(struct origins *) origins;
	struct map64 known; /* hash of an ending -> 1 + its index */
};

void code__init(struct code *c, const struct plan *p);
void code__free(struct code *c);
const struct block_ops *code__ops(struct code *c, uint32_t block);
/* The registers that a callee may change: those that calls leave a value in. */
bool code__clobbers(struct code *c, uint32_t function, place_t place);
/* May a callee reach it by the address of a slot below, as a part of the same object? */
bool code__may_reach(struct code *c, uint32_t function, place_t place);
/* The place that a call's result, or its first argument, is in. */
place_t code__result(const struct code *c);
place_t code__argument(const struct code *c);
/* The origins of an ending at the start of a block; NULL: the code isn't known. */
const origin_vec *code__origins(struct code *c, const struct ending *e, uint32_t block);
/* Where a function's result may be from, by its entry: sites of calls and jumps out of it. */
void code__callees(struct code *c, uint32_t function, id_vec *sites);
/* The instruction of a block that sets the flags which the one at vaddr reads; 0: not known. */
uint64_t code__setter(struct code *c, uint32_t block, uint64_t vaddr);
/* The text of an instruction; false: not known. */
bool code__text(const struct plan *p, uint32_t object, uint64_t vaddr, char *out, size_t size);

#endif
