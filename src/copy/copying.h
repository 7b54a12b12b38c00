/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copying: shared by the files that copy functions. Private to src/copy.
 *
 * One object's functions are followed in one graph, as the plan did. What other code leads to is
 * noted first (claims.c). Then each function is copied by itself: its instructions are gathered and
 * checked (body.c), its points get springboards (springs.c), its code is emitted (emit.c),
 * with registers that are dead (live.c). A function that can't be copied leaves nothing behind.
 */
#ifndef BBTRACE_COPYING_H
#define BBTRACE_COPYING_H

#include "code/code.h"
#include "copy/copy.h"

/* The number of elements that satisfy the condition on i_, which the first ones do. */
#define COUNT(n, condition)                                                                        \
	({                                                                                         \
		size_t lo_ = 0, hi_ = (n), i_;                                                     \
		while (lo_ < hi_) {                                                                \
			i_ = (lo_ + hi_) / 2;                                                      \
			if (condition)                                                             \
				lo_ = i_ + 1;                                                      \
			else                                                                       \
				hi_ = i_;                                                          \
		}                                                                                  \
		lo_;                                                                               \
	})

enum claim {
	CLAIM_WEAK = 1,	  /* by bytes that may be a branch or a pointer */
	CLAIM_STRONG = 2, /* by an instruction that was followed */
};

/* One object's copies in the making. */
struct copying {
	struct plan *plan;
	struct copies *copies;
	const struct log_options *options;
	const struct arch *arch;
	uint32_t object;
	struct graph *g;
	struct copy_image *image;
	struct code_buffer code;
	/* What leads to the addresses from first on: enum claim, a byte each. Not what leads there
	 * from within the same function, calls and jump tables apart. */
	uint8_t *claims;
	uint64_t first, last;
	uint32_t *extent_of;	      /* by function of the graph: 1 + its first extent */
	uint32_t *extent_after;	      /* by extent: 1 + the next one of the same function */
	struct map64 label_of;	      /* address of the original → 1 + label */
	VEC(uint64_t) addresses;      /* by label: the reverse; 0: a label of a log */
	VEC(struct copy_pc) cold_pcs; /* offsets are those in the cold part */
	/* Bytes of copied functions that nothing needs, for islands of those that have too few: in
	 * a second round, ascending. */
	VEC(struct copy_extent) spare;
	bool uses_spare;
	size_t later;	   /* the first function of that round, in the image */
	uint8_t *refusals; /* of the copies, by function of the plan */
	/* of Go's runtime: a function, and an address in one; 0: none */
	uint64_t deferreturn, goexit;
	struct rooms *rooms; /* NULL: not a Go program */
};

/* A label of the copy of the instruction at vaddr. If there is none in the end, it is the
 * original's address. */
uint32_t copying__label(struct copying *c, uint64_t vaddr);

/* For each extent of a function of the graph. */
#define copying__each_extent(p, c, function)                                                       \
	for (uint32_t e_ = (c)->extent_of[function]; e_ && ((p) = &(c)->g->extents.data[e_ - 1]);  \
	     e_ = (c)->extent_after[e_ - 1])

/* ---- claims.c ---- */

void copying__find_claims(struct copying *c);
/* Was everything found that Go's runtime goes to by itself? */
bool copying__knows_go(const struct copying *c);
static inline unsigned copying__claims(const struct copying *c, uint64_t vaddr)
{
	return vaddr - c->first < c->last - c->first ? c->claims[vaddr - c->first] : 0;
}

/* ---- room.c: the stacks of Go programs ---- */

struct rooms;
void copying__find_rooms(struct copying *c);
/* Has the stack room for what a copy of this function needs (arch_copier.below)? */
bool copying__has_room(const struct copying *c, uint64_t entry);
void copying__free_rooms(struct copying *c);

/* ---- the instructions of a function (body.c) ---- */

enum item_flags {
	ITEM_LEADER = 1,
	ITEM_POINT = 2,	    /* control may come here from the original */
	ITEM_KEPT = 4,	    /* executed in the original */
	ITEM_CALL = 8,	    /* a call, direct or indirect */
	ITEM_EMULATED = 16, /* a call that the copy replaces by a push and a jump */
	ITEM_FALLS = 32,    /* control may go to the next instruction, not counting returns */
	ITEM_ALIAS = 64,    /* a landing instruction, whose sites are logged at the next item */
	ITEM_VIA = 128,	    /* its copy jumps to the original: a springboard that calls */
	ITEM_LANDING = 256, /* a landing instruction */
	ITEM_RETURNS =
		512, /* a call that returns, or what enters the kernel: what follows is a point */
	ITEM_ENTRY = 1024,
	ITEM_SHOWN = 2048, /* before its log all registers and flags are the original's */
};
struct item {
	uint64_t addr;
	uint32_t node;
	uint16_t flags;
	uint8_t len;
	uint8_t nsites;
	uint32_t site; /* its sites: index into plan->sites_by_address */
	uint64_t live; /* behind its log: registers, a bit each, and LIVE_FLAGS */
};
#define LIVE_FLAGS (1ull << 32)
#define LIVE_ALL   UINT64_MAX

/* What a byte of the original may be used for. */
enum byte_flags {
	BYTE_FREE = 1,	/* never executed in the original once the springboards are in place */
	BYTE_USED = 2,	/* by a patch */
	BYTE_POINT = 4, /* a point is here */
};
/* Consecutive bytes of a function, with the padding behind. */
struct zone {
	uint64_t start, end;
	uint8_t *bytes;
};

/* A springboard. */
#define SPRING_LEFT 255 /* none: the original runs up to the next kept instruction */
struct spring {
	uint32_t item; /* the point */
	uint32_t call; /* PATCH_CALL: the item of the call */
	uint64_t at;   /* where it is */
	uint64_t island;
	uint32_t stub; /* PATCH_CALL: the label that is called */
	uint8_t kind;  /* enum patch_kind, SPRING_LEFT */
	bool done;
};

/* What is written: a springboard, or its island. */
struct placed {
	uint32_t spring;
	bool island;
};

struct body {
	struct copying *c;
	uint32_t function;	/* in the graph */
	VEC(struct item) items; /* by address */
	VEC(struct zone) zones; /* by address */
	VEC(struct spring) springs;
	VEC(struct placed) order; /* in which they are written (order.c) */
	bool keeps_below;	  /* something below the stack pointer at calls */
	bool guesses;		  /* a jump's table may be longer than is known */
};

/* Gathers the items of a function, and finds its points. COPY_OK, or why it can't be copied. */
enum copy_refusal body__gather(struct body *b);
void body__free(struct body *b);
/* The item at addr; NULL: none. */
struct item *body__at(const struct body *b, uint64_t addr);
static inline uint64_t item__next(const struct item *i)
{
	return i->addr + i->len;
}
/* What is live before its log: other logs leave that alone. */
static inline uint64_t item__live(const struct item *i)
{
	return i->flags & ITEM_SHOWN ? LIVE_ALL : i->live;
}
static inline const struct insn *body__branch(const struct body *b, const struct item *i)
{
	return graph__branch(b->c->g, &b->c->g->nodes.data[i->node]);
}
const uint8_t *body__bytes(const struct body *b, const struct item *i);
/* The site of an item, k < item.nsites, if it has events; NULL: it has none. */
const struct plan_site *body__site(const struct body *b, const struct item *i, unsigned k);

/* Control may come from the original to addr, if an item is there. */
void body__make_point(struct body *b, uint64_t addr);

/* ---- jump tables (tables.c) ---- */

void body__see_tables(struct body *b);

/* ---- where bytes are free (zones.c) ---- */

void body__find_zones(struct body *b);
/* The flags of a byte; NULL: it is not the function's. */
uint8_t *body__byte(const struct body *b, uint64_t addr);
/* Are these bytes in one page? */
bool body__in_page(uint64_t addr, unsigned size);
/* The number of free bytes from addr on, at most most, up to the next point. */
unsigned body__room(const struct body *b, uint64_t addr, unsigned most);
/* size free bytes that a short jump at from reaches and that are no point's, of the function or
 * spare ones; they are used then. 0: none. */
uint64_t body__island(struct body *b, uint64_t from, unsigned size);
/* Adds to what is spare: padding, and bytes of items that are not intact (by item). */
void body__find_spare(const struct body *b, const bool *bad);
void body__mark(struct body *b, uint64_t addr, unsigned size, uint8_t set, uint8_t clear);

/* ---- springboards (springs.c) ---- */

enum copy_refusal body__place_springs(struct body *b);
/* Appends the patches, with labels as .to, and what is live and intact. */
void body__put_patches(struct body *b);

/* ---- in which order they are written (order.c) ---- */

enum copy_refusal body__order(struct body *b);
/* Of all functions: image->order. */
void copying__order(struct copying *c);

/* ---- liveness (live.c) ---- */

void body__find_live(struct body *b);

/* ---- code (emit.c) ---- */

/* Emits the copy. Not COPY_OK: nothing is left of it. */
enum copy_refusal body__emit(struct body *b);

/* ---- what remains intact (intact.c) ---- */

void body__find_intact(struct body *b);

/* ---- callees (callee.c) ---- */

/* Does the function at addr use its return address for more than to return? */
bool callee__uses_return(const struct copying *c, uint64_t addr);

#endif
