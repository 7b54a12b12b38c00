/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code: the control flow of one object's functions, from their entries on. Public header of
 * src/code. Pure: no system call, no BPF, no /proc, no exit.
 *
 * Every decoded instruction is a node, one per address, whatever function it belongs to. A branch
 * into an instruction gives two nodes that overlap. Nodes are referred to by index; 0 is none.
 */
#ifndef BBTRACE_CODE_CODE_H
#define BBTRACE_CODE_CODE_H

#include "arch/arch.h"
#include "code/access.h"
#include "object/dwarf/dwarf.h"
#include "object/lookup/lookup.h"

enum node_flags {
	NODE_REACHED = 1, /* reached from an entry: an instruction of the traced code */
	NODE_LEADER = 2,  /* starts a block */
	NODE_ROOT = 4,	  /* a starting point of flow: an entry, a landing pad, a range's start */
	NODE_LANDING_PAD = 8, /* landing pad */
	NODE_NORETURN = 16,   /* a call that does not return */
	NODE_DETAILED = 32,   /* writes is filled in */
	NODE_UNKNOWN_SP =
		64, /* entered with an unknown stack depth: called, but not a function's entry */
	NODE_SWEPT = 128, /* the linear sweep agrees that it is an instruction */
	NODE_CERTAIN =
		256, /* reached from a symbol or the start of an FDE by direct branches only */
	NODE_UNCERTAIN = 512, /* there is evidence that no instruction starts here (guard.c) */
	/* It follows the end of a path, and nothing else leads to it: flow is assumed to
	 * continue. */
	NODE_RESUMED = 1024,
	NODE_SLOW = 2048,      /* insn.slow, or it enters the kernel */
	NODE_EXCLUSIVE = 4096, /* one of a pair of load- and store-exclusive, or between them */
	NODE_PAIRED = 8192,    /* a load-exclusive whose store was found */
	NODE_TAKEN = 16384, /* code of its function makes its address, or data holds it (taken.c) */
};

struct node {
	uint64_t addr;
	uint32_t pred;	 /* the one predecessor, or PRED_LIST | index of the first into edges */
	uint32_t stamp;	 /* the last search that visited it */
	uint32_t block;	 /* first node of a block: 1 + the block's index (graph__leaders()) */
	uint32_t branch; /* index into branches, 0: falls through */
	int32_t sp_value;
	uint32_t writes; /* registers, one bit each */
	uint16_t flags;
	uint8_t len, sp_effect, flow, padding, exclusive;
};
#define PRED_LIST (1u << 31)

struct edge {
	uint32_t from, next;
};

/* A range of addresses and the function that it belongs to. */
struct owned_extent {
	uint64_t start, end;
	uint32_t function;
};

/* An indirect jump whose targets were found in a table. */
struct jump_table {
	uint32_t node;
	uint32_t first, count; /* into targets: ascending, unique */
	uint64_t vaddr;	       /* address of the table */
	bool proved;	       /* by a bound check before the jump */
};

/* A function in the graph. Internal flags are above those of enum function_flags. */
#define FUNCTION_HIDDEN                                                                            \
	0x10000 /* encloses a requested range: decoded to prove instruction starts, without sites  \
		 */
struct graph_function {
	struct function f; /* owns name, raw, ranges */
	uint32_t plan;	   /* index in the plan; NO_FUNCTION until it is known */
	size_t given;	   /* the number of its own ranges; flow found the others */
	size_t seeded;	   /* number of ranges whose landing pads were added */
	bool started;
	bool inner;	/* its start needs a proof */
	bool dormant;	/* it doesn't take part until that is proved */
	bool keeps_sp;	/* it stores its stack pointer (taken.c) */
	uint32_t batch; /* the batch in which its code is followed */
	uint32_t group; /* another function of its group; itself if it stands for the group */
};

/* An exception handler whose address code pushes, after node at. */
struct handler {
	uint32_t at; /* node where the stack is as deep as in the handler */
	uint64_t target;
};

#define CODE_PAGE 4096 /* bytes of code */
/* What is known of the bytes of a page; NULL until one is. */
struct code_page {
	uint32_t *nodes;   /* the node that starts at each byte; 0: none */
	uint64_t *reached; /* a bit for each: NODE_REACHED */
};

struct graph {
	/* progress: this many more instructions were followed; NULL: nobody asks */
	void (*followed)(void *ctx, uint64_t instructions);
	void *followed_ctx;
	uint64_t nfollowed;
	const struct object *object;
	const struct object *kernel_object;
	const struct arch *arch;
	bool kernel;
	struct code_page **pages; /* by segment, by page; NULL until needed */
	VEC(struct node) nodes;
	VEC(struct insn) branches;
	VEC(struct edge) edges;
	VEC(struct graph_function) functions;
	VEC(struct owned_extent) extents; /* ascending, not overlapping */
	bool indexed;			  /* extents are those of functions */
	VEC(uint32_t) work;		  /* reached nodes that are not followed yet */
	VEC(uint32_t) jumps;		  /* indirect jumps */
	size_t jumps_seen;		  /* number of them whose tables are in table_starts */
	VEC(uint32_t) outs;		  /* direct jumps out of all known ranges */
	VEC(uint32_t) ends;		  /* instructions after which flow ends */
	VEC(uint64_t) undecodable; /* addresses that control reaches, but no instruction starts */
	VEC(uint64_t) stops; /* addresses of the ends of paths without followed code after them */
	VEC(struct jump_table) tables;
	VEC(uint64_t) targets;
	struct map64 table_of;	   /* node → index into tables + 1 */
	struct map64 table_starts; /* start addresses of tables, also of rejected ones */
	struct map64 returns;	   /* callee → what noreturn.c found */
	struct map64 thunks;	   /* target → what thunk.c made of it */
	struct map64 parts;	   /* FDEs that became ranges */
	VEC(uint64_t) pads;	   /* landing pads that are not roots yet */
	struct map64 labels;	   /* addresses of code that data holds (taken.c) */
	bool labels_read;
	VEC(struct handler) handlers;
	uint32_t batch;	   /* the batch that is being followed (batch.c) */
	bool batched;	   /* there are several */
	struct map64 data; /* what the code reads of itself, in units (pool.c); value 0: nothing */
	struct map64 shared; /* address → 1 + a function that depends on what is there */
	bool exclusives;     /* a node is a load- or store-exclusive */
	bool claims;	     /* the current flow is not only by direct branches */
	uint32_t stamp, budget;
	const struct segment *segment; /* the segment that was used last */
	size_t piece;		       /* the piece that was used last */
};

/* ---- data among code (pool.c) ---- */

/* For an object without symbols that mark data: notes the constants that reached code reads, and
 * the tables of its jumps. Where data isn't usual among the code, only tables, and none where code
 * was reached. */
void pool__note_load(struct graph *g, uint32_t node);
void pool__note_table(struct graph *g, uint64_t vaddr, uint64_t size, bool proved);
/* Takes back what was noted of a table that turned out to be none, where data isn't usual. */
void pool__forget_table(struct graph *g, uint64_t vaddr, uint64_t size);
bool pool__holds(const struct graph *g, uint64_t addr);
/* Returns the first address from addr on that isn't such data; at most end. */
uint64_t pool__after(const struct graph *g, uint64_t addr, uint64_t end);
/* The same for data of proved tables alone. */
uint64_t pool__after_proved(const struct graph *g, uint64_t addr, uint64_t end);

/* ---- nodes (node.c) ---- */

struct graph *graph__new(const struct object *object, const struct object *kernel_object,
			 bool kernel);
void graph__free(struct graph *g);
/* Forgets all instructions, but not what is known about functions. */
void graph__forget(struct graph *g);
/* plain.c: notes an instruction of g->segment, and finds what nodes keep of it. */
void plain__note(const struct graph *g, const struct insn *insn);
bool plain__find(const struct graph *g, uint64_t addr, struct insn *out);
/* Returns the instruction at addr, which is decoded if necessary; 0 if there is none. Invalidates
 * pointers to nodes. */
uint32_t graph__node(struct graph *g, uint64_t addr);
/* Control reaches addr in that state (struct arch_modes): what was decoded there, but isn't reached
 * yet, is decoded again. */
void graph__set_state(struct graph *g, uint64_t addr, uint8_t state);
/* Returns the decoded instruction at addr; 0 if there is none. */
uint32_t graph__known(struct graph *g, uint64_t addr);
/* Notes that control reaches a node. */
void graph__mark_reached(struct graph *g, struct node *n);
/* Returns the next reached instruction in [*addr, end), and sets *addr to it; 0 if there is
 * none. */
uint32_t graph__next_reached(struct graph *g, uint64_t *addr, uint64_t end);
static inline const struct insn *graph__branch(const struct graph *g, const struct node *n)
{
	return &g->branches.data[n->branch];
}
static inline uint64_t node__next(const struct node *n)
{
	return n->addr + n->len;
}
void graph__add_edge(struct graph *g, uint32_t from, uint32_t to);
/* Predecessors: for (it = graph__preds(g, n); (p = preds__next(g, &it));) */
struct preds {
	uint32_t one, list;
};
struct preds graph__preds(const struct graph *g, uint32_t node);
uint32_t preds__next(const struct graph *g, struct preds *it);
/* Returns true if it concerns all of a register's bits. */
static inline bool graph__is_whole(const struct graph *g, const struct insn_detail *d)
{
	return d->bits == 8 * g->arch->word;
}
bool graph__detail(struct graph *g, uint32_t node, struct insn_detail *out);
/* Returns a bit mask of the registers that the instruction writes. */
uint32_t graph__writes(struct graph *g, uint32_t node);

/* ---- ranges (range.c) ---- */

/* Takes ownership of f's name, raw and ranges; returns its index. */
uint32_t graph__add_function(struct graph *g, struct function *f);
void graph__add_range(struct graph *g, uint32_t function, uint64_t vaddr, uint64_t size);
void graph__index_ranges(struct graph *g);
/* Returns the function whose range contains addr; NO_FUNCTION if none does. */
uint32_t graph__owner(struct graph *g, uint64_t addr);
bool graph__holds(const struct graph *g, uint32_t function, uint64_t addr);

/* ---- following (graph.c) ---- */

/* Makes addr a root: an entry, a landing pad. Returns false if there is no instruction. */
bool graph__root(struct graph *g, uint64_t addr, unsigned flags);
/* Adds roots for the entries and landing pads of newly added functions. */
void graph__start(struct graph *g);
/* Returns the FDE of a cold part that contains addr; NULL if there is none. */
const struct frame *graph__part_at(struct graph *g, uint64_t addr);
/* Returns true if addr is in a cold part of the function at from, and adds the part as a range of
 * it. */
bool graph__take_part(struct graph *g, uint64_t from, uint64_t addr);
/* Adds a jump from a node to addr. */
void graph__jump(struct graph *g, uint32_t from, uint64_t addr);
/* Follows flow from all roots, including jump tables. */
void graph__follow(struct graph *g);
/* Returns true if a traced function starts at addr. */
bool graph__is_entry(struct graph *g, uint64_t addr);

/* ---- batches (batch.c) ---- */

/*
 * To bound memory, the functions of an object may be followed in batches: the graph knows all of
 * them, but has the instructions of one batch. This forgets those of the last batch and begins
 * another.
 */
void graph__begin_batch(struct graph *g, uint32_t batch);
static inline bool graph__in_batch(const struct graph *g, uint32_t function)
{
	return g->functions.data[function].batch == g->batch;
}
static inline bool graph__follows(const struct graph *g, uint32_t function)
{
	return graph__in_batch(g, function) && !g->functions.data[function].dormant;
}
/*
 * Functions of one group have to be followed in one batch: control leads from one into the middle
 * of the other, they overlap, they may share a cold part, or one's jump table ends where the
 * other's begins. The group's number is that of one of its functions.
 */
uint32_t graph__group(struct graph *g, uint32_t function);
void graph__join(struct graph *g, uint32_t a, uint32_t b);
void graph__join_overlapping(struct graph *g);
/* Joins the function with all others for which this is called with the same address. */
void graph__share(struct graph *g, uint32_t function, uint64_t addr);
/*
 * Control of a function (NO_FUNCTION: none) leads to addr: joins it with the function there, unless
 * addr is that function's entry. Returns true if addr is in another batch, so that it isn't
 * followed.
 */
bool graph__crosses(struct graph *g, uint32_t from, uint64_t addr);
/* Forgets what following found about the function, which is followed again in this batch. */
void graph__repeat(struct graph *g, uint32_t function, uint32_t batch);

/* ---- exception handlers without a table (handler.c) ---- */

/* Returns the handler that the push installs, whose address node at has loaded; 0 if it installs
 * none. Invalidates pointers to nodes. */
uint64_t handler__installed(struct graph *g, uint32_t at, uint32_t push);
/* Records such a handler, which is a landing pad. Invalidates pointers to nodes. */
void handler__note(struct graph *g, uint32_t at, uint32_t push);

/* ---- code whose address is taken (taken.c) ---- */

/* Marks what is reached already, and adds what isn't as roots. Returns true if there was such. */
bool taken__note(struct graph *g);

/* ---- calls that don't return (noreturn.c), by name (names.c) ---- */

bool graph__call_returns(struct graph *g, const struct insn *call);
/* Returns true if the function at addr returns twice, as setjmp(3) does (twice.c). */
bool twice__returns(const struct object *o, const struct arch *arch, uint64_t addr);
/* By its name alone, which may have a version, or @plt. */
bool twice__is_name(const char *name);
bool names__noreturn(const struct object *o, uint64_t addr, bool kernel);

/* ---- thunks of the kernel (thunk.c) ---- */

/* Replaces a direct branch to a thunk by its meaning. */
void graph__note_thunk(struct graph *g, struct insn *insn);

/* ---- direct branches in two instructions (far.c) ---- */

/* Makes the second half of such a branch direct. */
void graph__note_far(struct graph *g, struct insn *insn);

/* ---- values and tables (jumps/) ---- */

#define VALUES_MAX 64
struct values {
	uint64_t v[VALUES_MAX];
	unsigned n;
	bool unknown; /* further values are possible */
};
/* Returns true if two operands of insn_detail, with their imm, are the same memory as long as no
 * register changes. */
bool slice__same_memory(const struct operand *a, int64_t ai, const struct operand *b, int64_t bi);
/* Sets the possible values of reg just before node. */
void slice__values(struct graph *g, uint32_t node, uint8_t reg, struct values *out);
/* Sets the instructions that may have set reg before node. Returns -1 if not all of them are
 * known. */
#define DEFS_MAX 16
int slice__defs(struct graph *g, uint32_t node, uint8_t reg, uint32_t defs[DEFS_MAX]);
/*
 * Sets the instructions that may have stored what node loads from the stack. Stores through other
 * pointers are ignored. Returns -1 if it doesn't load from the stack, or if not all stores are
 * known.
 */
int slice__stores(struct graph *g, uint32_t node, uint32_t found[DEFS_MAX]);
/* Returns the register to which an address adds only a constant; REG_NONE if it adds more. */
uint8_t slice__only_register(const struct operand *m);
/* Sets the two registers of a sum, and the scale of the second. Returns false if it is no sum. */
bool slice__sum(const struct graph *g, const struct insn_detail *d, uint8_t *first, uint8_t *second,
		uint8_t *scale);
/* Sets the largest unsigned value of reg, extended as in struct operand, just before node, by the
 * checks on every path to it. */
bool slice__bound(struct graph *g, uint32_t node, uint8_t reg, uint8_t extend, uint64_t *max);

/* Tries to resolve the indirect jumps without a table; guess: also without a proved bound. Returns
 * true if it found new code. */
bool graph__resolve_jumps(struct graph *g, bool guess);
const struct jump_table *graph__table_of(const struct graph *g, uint32_t node);
/* Returns true if it is a jump through a register or memory that is not a switch. */
bool graph__is_tail_jump(struct graph *g, uint32_t node);

/* ---- the linear sweep (sweep.c) ---- */

/* Returns true if sweep and flow agree that an instruction of this function starts at addr. before,
 * after: the nearest starts. */
bool sweep__is_start(struct graph *g, uint32_t function, uint64_t addr, uint64_t *before,
		     uint64_t *after);
/* The same for a range that may not belong to a function yet. */
bool sweep__is_start_in(struct graph *g, const struct range *r, uint64_t addr, uint64_t *before,
			uint64_t *after);
/* Returns true if inner, of two overlapping instructions, is the same as outer without a prefix.
 * Some code branches past a lock prefix. */
bool sweep__is_past_prefix(struct graph *g, uint32_t outer, uint32_t inner);
/* The parts of [start, end) that flow doesn't reach and that are not padding. */
struct gap {
	uint64_t start, end;
};
typedef VEC(struct gap) gap_vec;
void sweep__gaps(struct graph *g, uint64_t start, uint64_t end, gap_vec *out);

/* ---- the final check of probe addresses (guard.c) ---- */

/* Marks nodes that may not be instructions as NODE_UNCERTAIN. To be called after all flow was
 * followed. */
void guard__mark(struct graph *g);

/* ---- load- and store-exclusive (exclusive.c) ---- */

/* Marks what must not carry a probe as NODE_EXCLUSIVE. To be called after all flow was followed. */
void exclusive__mark(struct graph *g);

/* ---- functions (function.c) ---- */

void function__copy(struct function *to, const struct function *from);
void function__free(struct function *f);
/* Sets the function that contains addr, else the rest of the FDE from addr on. Returns false if
 * nothing bounds it. */
bool function__around(const struct object *o, uint64_t addr, struct function *out);

/* ---- IFUNC resolvers (ifunc.c) ---- */

/* Replaces FUNCTION_IFUNC members by the functions that their resolvers can return; *unknown counts
 * resolvers that may return others. */
int ifunc__replace(const function_vec *in, const struct object *kernel, function_vec *out,
		   uint32_t *unknown);

/* ---- blocks and the stack (block.c, stack.c) ---- */

/* A register's value after a block: that of a register before it, plus bytes. */
enum term_source { FROM_SP, FROM_FP, FROM_UNKNOWN, FROM_MEMORY };
struct term {
	int32_t bytes;
	uint8_t source;
};
/* The effect of a block on the stack pointer and the frame pointer. */
struct effect {
	struct term sp, fp;
};
void effect__add(struct effect *e, struct graph *g, uint32_t node);

/* A block. next and taken are 1 + the index of the successor, stepping over calls; 0 if there is
 * none, or if it isn't followed. */
struct leader {
	uint32_t first, last; /* nodes */
	uint32_t next, taken;
	const struct jump_table *table; /* of the indirect jump at its end */
	/* 1 + the leader of the handler that it installs, which runs with the stack of the block's
	 * start; 0 if none. */
	uint32_t handler;
	struct effect effect;
};
/* The blocks by address; node.block of a first node is 1 + its index. */
typedef VEC(struct leader) leader_vec;
void graph__leaders(struct graph *g, leader_vec *out);
/* Returns the next node of the same block; 0 if the block ends. */
uint32_t graph__in_block(struct graph *g, uint32_t node);
/* Sets sp_delta just before each branch, by index into branches, or SP_SWITCHED; the caller frees
 * it. starts has the same for the start of each block, by leader. */
#define SP_SWITCHED (INT32_MIN + 1)
int32_t *stack__deltas(struct graph *g, const leader_vec *leaders, int32_t *starts);

/* ---- helper functions (helpers.c) ---- */

#define HELPERS_MAX 64
/* Adds and follows the functions that traced functions tail-call. */
void helpers__add(struct graph *g);

/* ---- Go frames (prologue.c) ---- */

/* As object__frame_link(), for a Go function, which has no .eh_frame: by its code. */
enum frame_link prologue__frame_link(const struct object *o, uint64_t vaddr);

#endif
