/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of src/object/search share. No file calls one that comes later here: holes.c,
 * starts.c, addresses.c, explore.c, claims.c, entries.c, search.c. */
#ifndef BBTRACE_OBJECT_SEARCH_SEARCH_PRIVATE_H
#define BBTRACE_OBJECT_SEARCH_SEARCH_PRIVATE_H

#include "arch/arch.h"
#include "object/elf/elf_file.h"
#include "object/lookup/lookup.h"
#include "object/tables/readers.h"
#include "object/tables/tables.h"
#include "search.h"

/* ---- holes.c: code that no symbol and no FDE covers ---- */

struct hole {
	uint64_t start, end;
};
typedef VEC(struct hole) hole_vec;
/* Appends them without padding at both ends, ascending. */
void holes__find(const struct object *o, hole_vec *out);
/* Returns the hole that contains addr; NULL if none does. */
const struct hole *holes__at(const hole_vec *holes, uint64_t addr);
/* Returns true if an instruction that fills space, or a zero, starts at addr; sets its length. */
bool holes__is_padding(const struct object *o, uint64_t addr, uint64_t end, unsigned *len);

/* ---- the search ---- */

/* What is known of a byte of a hole. */
enum mark {
	MARK_START = 1, /* an instruction of a function that was found starts here */
	MARK_BODY = 2,	/* it is within such an instruction */
	MARK_SEEN = 4,	/* the same for the function that is being explored */
	MARK_INSIDE = 8,
	MARK_DATA = 16,	     /* known code reads it */
	MARK_FUNCTION = 32,  /* a function or a part starts here */
	MARK_CLAIMED = 64,   /* a pointer or a constant leads here */
	MARK_SWITCHES = 128, /* of a function's start: it has an indirect jump to labels that are
				not known, which pointers may lead to */
};

typedef VEC(uint64_t) start_vec;

struct search {
	struct object *o;
	const struct arch *arch;
	hole_vec holes;
	uint8_t **marks;	/* by hole, by byte */
	start_vec certain;	/* starts that are proved, to be explored */
	start_vec parts;	/* code that is jumped to with a frame set up, likewise */
	start_vec claims;	/* where pointers and constants lead */
	start_vec functions;	/* all that were found */
	struct map64 is_part;	/* those of functions that are parts */
	struct map64 is_called; /* where the loader's and known code's calls lead */
	size_t marked;		/* the number of holes that have marks */
	uint64_t budget;	/* instructions that may still be decoded */
};

/* ---- starts.c ---- */

/* Returns the marks of addr; NULL if it is in no hole. */
uint8_t *search__mark(struct search *s, uint64_t addr);
/* Returns where a function at start has to end: before the next byte with one of these marks. */
uint64_t search__limit(struct search *s, uint64_t start, uint8_t ends);
/* Adds a start that is the target of a jump, or of a call. */
void search__add_jumped(struct search *s, uint64_t addr);
void search__add_called(struct search *s, uint64_t addr);
/* Adds what the loader and the C library's start code call. */
void starts__add_loaded(struct search *s);
/* Compares two, for vec__sort(). */
int starts__by_value(const void *a, const void *b);

/* ---- addresses.c ---- */

/* Sets the address that the instruction makes. Returns false if it makes none; a constant in
 * position-independent code is none. */
bool search__address(const struct search *s, const uint8_t *bytes, const struct insn *insn,
		     uint64_t *out);

/* Returns true if the instruction sets the first argument of a call to a constant. */
bool search__sets_argument(const struct search *s, const uint8_t *bytes, const struct insn *insn);
/* Returns true if it calls the C library's start code, whose first argument is main. */
bool search__runs_main(const struct search *s, const struct insn *insn);

/* ---- explore.c: what direct control flow reaches from a start ---- */

struct reached_insn {
	uint64_t addr;
	uint8_t len;
};
struct jump_out {
	uint64_t target;
	/* It may be a part of this function: the stack pointer isn't that of a function's entry, or
	 * not known; or the target is not beyond another function. */
	bool part;
	bool tail; /* as a tail call: always taken, at the stack pointer of an entry */
};
struct exploration {
	uint64_t start, limit;
	uint64_t end;	   /* the end of the last instruction */
	bool clean;	   /* all of it is decoded, and nothing contradicts it */
	bool switches;	   /* it has an indirect jump that may be a switch */
	bool odd_stack;	   /* it leaves with another stack pointer than a function would */
	unsigned evidence; /* references that data would not have by chance */
	VEC(struct reached_insn) insns;
	VEC(uint64_t) calls;
	VEC(struct jump_out) outs;
	VEC(uint64_t) constants; /* addresses of code that it makes */
	VEC(struct hole) reads;	 /* what it reads of holes */
};
/* limit: the start of the next function, or the end of the hole. part: start isn't a function's
 * entry. To be freed by exploration__free(). */
void search__explore(struct search *s, uint64_t start, uint64_t limit, bool part,
		     struct exploration *out);
void exploration__free(struct exploration *e);

/* ---- claims.c: pointers to code ---- */

/* Adds what data and relocations lead to. */
void claims__of_data(struct search *s);
/* Adds what a constant leads to. */
void claims__add(struct search *s, uint64_t addr);
/* Returns true if it is certainly code. */
bool claims__is_code(struct search *s, const struct exploration *e);

/* ---- entries.c ---- */

/* Adds the functions to the object's frames, and notes whose starts are proved to be entries. */
void entries__make_frames(struct search *s);

#endif
