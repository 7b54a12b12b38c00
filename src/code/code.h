/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code: the control flow of one object's functions, from their entries on. Front door of src/code.
 * Pure: no system call, no BPF, no /proc, no exit.
 *
 * Every decoded instruction is a node, one per address whatever function it belongs to; code that
 * branches into an instruction gives two nodes that overlap. Nodes are referred to by index, 0 is
 * none.
 */
#ifndef BBTRACE_CODE_H
#define BBTRACE_CODE_H

#include "arch/arch.h"
#include "object/object.h"

enum node_flags {
	NODE_REACHED =
		1,	 /* flow from an entry gets here: it is an instruction of the traced code */
	NODE_LEADER = 2, /* starts a block */
	NODE_ROOT =
		4, /* entered from elsewhere as well: an entry, a landing pad, a range's start */
	NODE_LANDING_PAD = 8, /* landing pad */
	NODE_NORETURN = 16,   /* a call that does not come back */
	NODE_DETAILED = 32,   /* writes is filled in */
	NODE_UNKNOWN_SP =
		64, /* entered with a stack that isn't known: called, but no function's entry */
	NODE_SWEPT = 128, /* the linear sweep agrees that it is an instruction */
	NODE_CERTAIN =
		256, /* direct branches alone lead here from a symbol or the start of an FDE */
	NODE_DOUBTFUL = 512, /* something says that no instruction starts here (guard.c) */
	NODE_RESUMED = 1024, /* behind the end of a way, and nothing else leads here: it does go on
				there */
};

struct node {
	uint64_t addr;
	uint32_t pred;	 /* the one predecessor, or PRED_LIST | index of the first into edges */
	uint32_t stamp;	 /* search that was here last */
	uint32_t block;	 /* of the first node of a block: 1 + its index (graph__leaders()) */
	uint32_t branch; /* index into branches, 0: goes on to the next instruction */
	int32_t sp_value;
	uint32_t writes; /* registers, one bit each */
	uint16_t flags;
	uint8_t len, sp_effect, flow, padding;
};
#define PRED_LIST (1u << 31)

struct edge {
	uint32_t from, next;
};

/* A stretch of addresses and the function that it belongs to. */
struct owned_extent {
	uint64_t start, end;
	uint32_t function;
};

/* An indirect jump whose targets were found in a table. */
struct jump_table {
	uint32_t node;
	uint32_t first, count; /* into targets: ascending, each once */
	uint64_t vaddr;	       /* where the table lies */
	bool proved;	       /* by a bound check in front of it */
};

/* A function as it is traced: internal flags above those of enum function_flags. */
#define FUNCTION_HIDDEN 0x100 /* encloses a range: gives it proved instructions and no site */
struct graph_function {
	struct function f; /* owns name, raw, ranges */
	uint32_t plan;	   /* index in the plan, NO_FUNCTION while it has none */
	size_t seeded;	   /* ranges whose landing pads were started */
	bool started;
};

/* A handler that code installs: pushes its address at an instruction behind at. */
struct handler {
	uint32_t at; /* node: the stack is as deep as in the handler */
	uint64_t target;
};

struct graph {
	const struct object *object;
	const struct object *kernel_object;
	const struct arch *arch;
	bool kernel;
	uint32_t ***at; /* by segment, by page: node at each byte of it, NULL until needed */
	VEC(struct node) nodes;
	VEC(struct insn) branches;
	VEC(struct edge) edges;
	VEC(struct graph_function) functions;
	VEC(struct owned_extent) extents; /* ascending, not overlapping */
	VEC(uint32_t) work;		  /* reached, not yet followed */
	VEC(uint32_t) jumps;		  /* indirect jumps */
	size_t jumps_seen;		  /* of those, whose tables are in table_starts */
	VEC(uint32_t) outs;		  /* direct jumps that leave what is known */
	VEC(uint32_t) ends;		  /* instructions behind which it ends */
	VEC(struct jump_table) tables;
	VEC(uint64_t) targets;
	struct map64 table_of;	   /* node → index into tables + 1 */
	struct map64 table_starts; /* where tables begin, believed or not */
	struct map64 returns;	   /* callee → what noreturn.c knows */
	struct map64 thunks;	   /* target → what thunk.c made of it */
	struct map64 parts;	   /* FDEs that became ranges */
	VEC(uint64_t) pads;	   /* landing pads that were not started yet */
	VEC(struct handler) handlers;
	bool claims; /* what is reached now is reached by more than direct branches */
	uint32_t stamp, budget;
	const struct segment *segment; /* the last one looked at */
	size_t piece;		       /* the last one looked at */
};

/* ---- nodes (node.c) ---- */

struct graph *graph__new(const struct object *object, const struct object *kernel_object,
			 bool kernel);
void graph__free(struct graph *g);
/* The instruction at addr, decoded now if it wasn't; 0: none. Pointers to nodes end here. */
uint32_t graph__node(struct graph *g, uint64_t addr);
/* The one known at addr; 0: none was decoded. */
uint32_t graph__known(struct graph *g, uint64_t addr);
/* Next reached instruction in [*addr, end), to which *addr is set; 0: none. */
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
bool graph__detail(struct graph *g, uint32_t node, struct insn_detail *out);
/* Registers that the instruction changes, by bit. */
uint32_t graph__writes(struct graph *g, uint32_t node);

/* ---- ranges (range.c) ---- */

/* Takes over f (its name, raw and ranges); its index. */
uint32_t graph__add_function(struct graph *g, struct function *f);
void graph__add_range(struct graph *g, uint32_t function, uint64_t vaddr, uint64_t size);
void graph__index_ranges(struct graph *g);
/* Whose range holds addr: NO_FUNCTION if none's. */
uint32_t graph__owner(struct graph *g, uint64_t addr);
bool graph__holds(const struct graph *g, uint32_t function, uint64_t addr);

/* ---- following (graph.c) ---- */

/* Starts at addr: an entry, a landing pad. False: no instruction there. */
bool graph__root(struct graph *g, uint64_t addr, unsigned flags);
/* Starts at the entries and landing pads of functions that were added since. */
void graph__start(struct graph *g);
/* The FDE of a part that was split off some function, and holds addr; NULL: none. */
const struct frame *graph__part_at(struct graph *g, uint64_t addr);
/* Is addr in a part that was split off the function at from? Then it will be a range of it. */
bool graph__take_part(struct graph *g, uint64_t from, uint64_t addr);
/* Control gets from a node to addr by a jump. */
void graph__jump(struct graph *g, uint32_t from, uint64_t addr);
/* Follows all that was started, jump tables included. */
void graph__follow(struct graph *g);
/* Is this where a traced function begins? */
bool graph__is_entry(struct graph *g, uint64_t addr);

/* ---- handlers that code installs (handler.c) ---- */

/* The handler that the push installs, whose address the instruction at before it has loaded; 0:
 * none. Pointers to nodes end here. */
uint64_t handler__installed(struct graph *g, uint32_t at, uint32_t push);
/* Takes note of it, if there is one: it is a landing pad. Pointers to nodes end here. */
void handler__see(struct graph *g, uint32_t at, uint32_t push);

/* ---- calls that don't return (noreturn.c), names that say so (names.c) ---- */

bool graph__call_returns(struct graph *g, const struct insn *call);
/* Does what is at addr return twice, as setjmp(3) does? By name. */
bool names__returns_twice(const struct object *o, uint64_t addr);
bool names__noreturn(const struct object *o, uint64_t addr, bool kernel);

/* ---- thunks of the kernel (thunk.c) ---- */

/* A direct branch to a thunk becomes what it stands for. */
void graph__see_thunk(struct graph *g, struct insn *insn);

/* ---- values and tables (slice.c, jumptable.c) ---- */

#define VALUES_MAX 64
struct values {
	uint64_t v[VALUES_MAX];
	unsigned n;
	bool unknown; /* there may be others */
};
/* Two operands of insn_detail, with their imm: the same memory while no register changes? */
bool slice__same_memory(const struct operand *a, int64_t ai, const struct operand *b, int64_t bi);
/* What reg can hold just before node runs. */
void slice__values(struct graph *g, uint32_t node, uint8_t reg, struct values *out);
/* The instructions that set reg, as seen just before node; -1: not all of them are known. */
#define DEFS_MAX 16
int slice__defs(struct graph *g, uint32_t node, uint8_t reg, uint32_t defs[DEFS_MAX]);
/* The instructions that stored what the one at node loads from the stack, as far as they name its
 * place: what other pointers lead there isn't known. -1: it loads from elsewhere, or not all of
 * them are known. */
int slice__stores(struct graph *g, uint32_t node, uint32_t found[DEFS_MAX]);
/* Largest unsigned value of reg just before node, by the checks that every path to it has passed.
 */
bool slice__bound(struct graph *g, uint32_t node, uint8_t reg, uint64_t *max);

/* Tries the indirect jumps that have no table yet; guess: also without a proved bound. True: found
 * new code. */
bool graph__resolve_jumps(struct graph *g, bool guess);
const struct jump_table *graph__table_of(const struct graph *g, uint32_t node);
/* A jump through a register or memory that is no switch. */
bool graph__is_tail_jump(struct graph *g, uint32_t node);

/* ---- the linear sweep (sweep.c) ---- */

/* Do sweep and flow agree that an instruction starts at addr, in this function? before, after: the
 * nearest starts. */
bool sweep__is_start(struct graph *g, uint32_t function, uint64_t addr, uint64_t *before,
		     uint64_t *after);
/* In a range that may be no function's yet. */
bool sweep__is_start_in(struct graph *g, const struct range *r, uint64_t addr, uint64_t *before,
			uint64_t *after);
/* Two instructions that overlap: is inner outer without a prefix? Code branches past a lock. */
bool sweep__is_past_prefix(struct graph *g, uint32_t outer, uint32_t inner);
/* What of [start, end) flow never reaches, padding aside. */
struct gap {
	uint64_t start, end;
};
typedef VEC(struct gap) gap_vec;
void sweep__gaps(struct graph *g, uint64_t start, uint64_t end, gap_vec *out);

/* ---- what is probed after all (guard.c) ---- */

/* Marks, once all is followed, as NODE_DOUBTFUL what may be no instruction. */
void guard__mark(struct graph *g);

/* ---- functions (function.c) ---- */

void function__copy(struct function *to, const struct function *from);
void function__free(struct function *f);
/* The function that holds addr, else the rest of the FDE from addr on. False: nothing bounds it. */
bool function__around(const struct object *o, uint64_t addr, struct function *out);

/* ---- what IFUNC resolvers return (ifunc.c) ---- */

/* Replaces FUNCTION_IFUNC members by what their resolvers can return; *unknown counts those that
 * may return more. */
int ifunc__replace(const function_vec *in, const struct object *kernel, bool in_kernel,
		   function_vec *out, uint32_t *unknown);

/* ---- blocks and the stack (stack.c) ---- */

/* A register behind a block: what one of them held before it, plus bytes. */
enum source { FROM_SP, FROM_FP, FROM_UNKNOWN, FROM_MEMORY };
struct term {
	int32_t bytes;
	uint8_t source;
};
/* What a block does to the stack pointer and the frame pointer. */
struct effect {
	struct term sp, fp;
};
void effect__add(struct effect *e, struct graph *g, uint32_t node);

/* A block. next and taken: 1 + the leader that control goes to, calls passed over; 0: none, or not
 * followed. */
struct leader {
	uint32_t first, last; /* nodes */
	uint32_t next, taken;
	const struct jump_table *table; /* of the indirect jump that ends it */
	uint32_t handler; /* 1 + the leader of the handler that it installs, which gets the stack as
			     it is at first; 0: none */
	struct effect effect;
};
/* The blocks, by address; node.block of a first node is 1 + the index here. */
typedef VEC(struct leader) leader_vec;
void graph__leaders(struct graph *g, leader_vec *out);
/* The next node of the same block; 0: it ends. */
uint32_t graph__in_block(struct graph *g, uint32_t node);
/* sp_delta just before each branch, by index into branches, or SP_SWITCHED; caller frees. */
#define SP_SWITCHED (INT32_MIN + 1)
int32_t *stack__deltas(struct graph *g, const leader_vec *leaders);

/* ---- silent helpers (silent.c) ---- */

#define HELPERS_MAX 64
/* Adds, and follows, what the traced functions leave for by a jump. */
void helpers__add(struct graph *g);

/* ---- frames of Go (prologue.c) ---- */

/* As object__frame_link(), by the code of a Go function, which has no .eh_frame (prologue.c). */
enum frame_link prologue__frame_link(const struct object *o, uint64_t vaddr);

#endif
