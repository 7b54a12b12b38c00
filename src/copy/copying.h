/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copying: shared by the files that copy functions. Private to src/copy.
 *
 * The functions of an object are followed in one graph, as the plan did. First, what other code
 * leads to is found (claims.c). Then each function is copied by itself: its instructions are
 * gathered and checked (body.c), its points get springboards (springs.c), and its code is emitted
 * (emit.c), with registers that are dead (live.c). A function that can't be copied leaves no trace
 * in the image.
 */
#ifndef BBTRACE_COPY_COPYING_H
#define BBTRACE_COPY_COPYING_H

#include "code/code.h"
#include "copy/copy.h"

enum claim {
	CLAIM_WEAK = 1,	  /* from bytes that may be a branch or a pointer */
	CLAIM_STRONG = 2, /* from an instruction that was followed */
};

/* The copies of one object while they are made. */
struct copying {
	struct plan *plan;
	struct copies *copies;
	const struct log_options *options;
	const struct arch *arch;
	uint32_t object;
	struct graph *g;
	struct copy_image *image;
	struct code_buffer code;
	/*
	 * Where control or a pointer leads, from address first on: a byte of enum claim for each
	 * address. Without what leads there from within the same function, except for calls and
	 * jump tables.
	 */
	uint8_t *claims;
	uint64_t first, last;
	uint32_t *extent_of;	      /* by function of the graph: 1 + its first extent */
	uint32_t *extent_after;	      /* by extent: 1 + the next extent of the same function */
	struct map64 uses_return;     /* callee → 1 + whether it uses its return address */
	VEC(uint32_t) label_of;	      /* by node: 1 + the label of its address */
	struct map64 other_labels;    /* the same by address, where no node is */
	VEC(uint64_t) addresses;      /* by label: the address; 0 for a label of a log */
	VEC(struct copy_pc) cold_pcs; /* with offsets in the cold part */
	/* Bytes of copied functions that nothing needs, ascending: a second round uses them for the
	 * islands of functions that have too few. */
	VEC(struct copy_extent) spare;
	bool uses_spare;
	size_t later;	   /* the index, in the image, of the first function of that round */
	uint8_t *refusals; /* those of the copies, by function of the plan */
	/* In Go's runtime: a function, and an address in one; 0 if there is none. */
	uint64_t deferreturn, goexit;
	struct rooms *rooms; /* NULL if it is not a Go program */
};

/* Returns a label of the copy of the instruction at vaddr. If the instruction gets no copy, the
 * label is the original's address. */
uint32_t copying__label(struct copying *c, uint64_t vaddr);

/* For each extent of a function of the graph. */
#define copying__each_extent(p, c, function)                                                       \
	for (uint32_t e_ = (c)->extent_of[function]; e_ && ((p) = &(c)->g->extents.data[e_ - 1]);  \
	     e_ = (c)->extent_after[e_ - 1])

/* ---- claims.c ---- */

void copying__find_claims(struct copying *c);
/* Returns true if everything was found that Go's runtime transfers control to by itself. */
bool copying__knows_go(const struct copying *c);
static inline unsigned copying__claims(const struct copying *c, uint64_t vaddr)
{
	return vaddr - c->first < c->last - c->first ? c->claims[vaddr - c->first] : 0;
}

/* ---- room.c: the stacks of Go programs ---- */

struct rooms;
void copying__find_rooms(struct copying *c);
/* Returns true if the stack has room for what a copy of this function needs (arch_copier.below). */
bool copying__has_room(const struct copying *c, uint64_t entry);
void copying__free_rooms(struct copying *c);

/* ---- the instructions of a function (body.c) ---- */

enum item_flags {
	ITEM_LEADER = 1,
	ITEM_POINT = 2,	    /* control may come here from the original */
	ITEM_KEPT = 4,	    /* executed in the original */
	ITEM_CALL = 8,	    /* a call, direct or indirect */
	ITEM_EMULATED = 16, /* a call that the copy replaces by a push and a jump */
	ITEM_FALLS =
		32, /* control may fall to the next instruction; a call's return doesn't count */
	ITEM_ALIAS = 64,    /* a landing instruction, whose sites are logged at the next item */
	ITEM_VIA = 128,	    /* its copy jumps to a springboard in the original, which is a call */
	ITEM_LANDING = 256, /* a landing instruction */
	/* A call that returns, or an instruction that enters the kernel: the next one is a
	 * point. */
	ITEM_RETURNS = 512,
	ITEM_ENTRY = 1024,
	ITEM_SHOWN = 2048, /* before its log, all registers and flags are the original's */
};
struct item {
	uint64_t addr;
	uint32_t node;
	uint16_t flags;
	uint8_t len;
	uint8_t nsites;
	uint32_t site; /* its sites: the first index into plan->sites_by_address */
	/* The items at the address after it, and at a direct branch's target: 1 + the index; 0:
	 * there is none. */
	uint32_t next, target;
	uint64_t live; /* what is live after its log: a bit for each register, and LIVE_FLAGS */
};
#define LIVE_FLAGS (1ull << 32)
#define LIVE_ALL   UINT64_MAX

/* What a byte of the original may be used for. */
enum byte_flags {
	BYTE_FREE = 1,	/* never executed in the original once the springboards are in place */
	BYTE_USED = 2,	/* taken by a patch */
	BYTE_POINT = 4, /* the address of a point */
};
/* Consecutive bytes of a function, with the padding after them. */
struct zone {
	uint64_t start, end;
	uint8_t *bytes;
};

/* A springboard. */
#define HOPS_MAX    32
#define SPRING_LEFT 255 /* no springboard: the original runs up to the next kept instruction */
struct spring {
	uint64_t point;
	uint32_t item; /* the first one that it stands for */
	uint32_t call; /* PATCH_CALL: the item of the call */
	uint64_t at;   /* its address */
	/* PATCH_SHORT: it leads to the first hop, if there is one, and the last hop to the island.
	 */
	uint64_t hops[HOPS_MAX], island;
	uint8_t nhops;
	/* PATCH_SHORT: only its first byte is written. The distance is the byte after it, which is
	 * the first one of a springboard (1 + its index), or the original's (0). */
	bool punned;
	uint32_t distance_of;
	uint32_t stub; /* PATCH_CALL: the label that is called */
	uint8_t kind;  /* enum patch_kind, SPRING_LEFT */
	bool done;
};

/* What is written at once: a springboard, a hop, or the island. */
struct placed {
	uint32_t spring;
	uint8_t part; /* 0: the springboard; then its hops, and the island */
};

#define HINTS_MAX 4
/* What an attempt to place a function's springboards has shown for the next one. */
struct hints {
	uint64_t urgent[HINTS_MAX]; /* points that had no room: they are served first */
	uint64_t avoid[HINTS_MAX];  /* islands that can't be written in any order */
	unsigned nurgent, navoid;
};

struct body {
	struct copying *c;
	uint32_t function;	/* in the graph */
	VEC(struct item) items; /* by address */
	VEC(struct zone) zones; /* by address */
	VEC(struct spring) springs;
	VEC(struct placed) order; /* the order in which they are written (order.c) */
	bool keeps_below;	  /* it keeps something below the stack pointer at calls */
	bool guesses;		  /* the table of a jump may be longer than is known */
	bool far;		  /* islands may be in another page, or reached by hops */
	bool puns;		  /* some springboards are punned */
	struct hints hints;
};

/* Gathers the items of a function, and finds its points. Returns COPY_OK, or why it can't be
 * copied. */
enum copy_refusal body__gather(struct body *b);
/* Returns true if neither a symbol nor an FDE has the bounds of what is there. */
bool body__is_found(const struct object *o, uint64_t vaddr);
void body__free(struct body *b);
/* Returns the item at addr; NULL if there is none. */
struct item *body__at(const struct body *b, uint64_t addr);
static inline uint64_t item__next(const struct item *i)
{
	return i->addr + i->len;
}
/* Returns what is live before its log, which no log before it may change. */
static inline uint64_t item__live(const struct item *i)
{
	return i->flags & ITEM_SHOWN ? LIVE_ALL : i->live;
}
static inline const struct insn *body__branch(const struct body *b, const struct item *i)
{
	return graph__branch(b->c->g, &b->c->g->nodes.data[i->node]);
}
const uint8_t *body__bytes(const struct body *b, const struct item *i);
/* Returns the k-th site of an item, k < item.nsites; NULL if that has no events. */
const struct plan_site *body__site(const struct body *b, const struct item *i, unsigned k);

/* Notes that control may come from the original to addr, if an item is there. */
void body__make_point(struct body *b, uint64_t addr);
/* Sets .next and .target of all items. */
void body__link(struct body *b);
/* The item after i, and that at its target; NULL if there is none. */
static inline struct item *body__next(const struct body *b, const struct item *i)
{
	return i->next ? &b->items.data[i->next - 1] : NULL;
}
static inline struct item *body__target(const struct body *b, const struct item *i)
{
	return i->target ? &b->items.data[i->target - 1] : NULL;
}

/* ---- jump tables (tables.c) ---- */

void body__note_tables(struct body *b);

/* ---- where bytes are free (zones.c) ---- */

void body__find_zones(struct body *b);
/* Returns the flags of a byte; NULL if it is not the function's. */
uint8_t *body__byte(const struct body *b, uint64_t addr);
/* Returns true if these bytes are in one page. */
bool body__in_page(uint64_t addr, unsigned size);
/* Returns the number of free bytes from addr on up to the next point, at most most. */
unsigned body__room(const struct body *b, uint64_t addr, unsigned most);
void body__mark(struct body *b, uint64_t addr, unsigned size, uint8_t set, uint8_t clear);
static inline bool body__is_free(uint8_t byte)
{
	return (byte & (BYTE_FREE | BYTE_USED)) == BYTE_FREE;
}

/* ---- islands (islands.c) ---- */

/* Takes free bytes that are no point's for the island of a springboard that is a short jump, and
 * for hops if body.far: from the function or the spare bytes. Returns false if there are none. */
bool body__find_island(struct body *b, struct spring *s);
/* Takes free bytes at this address for the springboard's island. Returns false if they aren't. */
bool body__take_island(struct body *b, struct spring *s, uint64_t at);
/* Adds spare bytes: the padding, and what is left of the items that are not intact (bad, by item)
 * or have a springboard. */
void body__find_spare(struct body *b, const bool *bad);

/* ---- springboards (springs.c) ---- */

/* If the result is not COPY_OK, there may be new hints for another attempt. */
enum copy_refusal body__place_springs(struct body *b);
/* Appends the patches, with labels as .to, and what is live and intact. */
void body__put_patches(struct body *b);

/* ---- in which order they are written (order.c) ---- */

/* If the result is COPY_STEPS, there may be new hints. */
enum copy_refusal body__order(struct body *b);
/* Sets image->order, of all functions. */
void copying__order(struct copying *c);

/* ---- liveness (live.c) ---- */

void body__find_live(struct body *b);

/* ---- code (emit.c) ---- */

/* Emits the copy. If the result is not COPY_OK, nothing of the copy is left. */
enum copy_refusal body__emit(struct body *b);

/* ---- what remains intact (intact.c) ---- */

void body__find_intact(struct body *b);

/* ---- callees (callee.c) ---- */

/* Returns true if the function at addr uses its return address for more than to return. */
bool callee__uses_return(struct copying *c, uint64_t addr);

#endif
