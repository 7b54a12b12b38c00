/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build: shared by the files that build a plan. Private to src/plan.
 */
#ifndef BBTRACE_PLAN_PLAN_PRIVATE_H
#define BBTRACE_PLAN_PLAN_PRIVATE_H

#include "code/code.h"
#include "plan/graph/flow.h"
#include "plan.h"

/* Compares two link-time addresses. */
static inline int vaddr__order(uint32_t object, uint64_t vaddr, uint32_t than_object,
			       uint64_t than_vaddr)
{
	if (object != than_object)
		return object < than_object ? -1 : 1;
	return vaddr < than_vaddr ? -1 : vaddr > than_vaddr;
}

/* Returns the traps that a hit on this instruction takes; 0 if not known. */
static inline uint8_t insn__traps(const struct insn *insn, bool kernel)
{
	if (kernel)
		return 1;
	return insn->varies ? 0 : insn->emulated ? 1 : 2;
}

/* An instruction that the probe's program executes itself counts as emulated (executed.c). function
 * is that of the plan that it is in; NO_FUNCTION for none. */
void insn__settle(const struct plan *p, uint32_t object, uint32_t function, struct insn *insn);

/*
 * Returns true if the program may read the instruction: data or code holds its address, as a
 * handler of faults does that finds the instruction in a table, to skip it, or to emulate it. So a
 * probe that may be elsewhere is not put there, where it would be a breakpoint. What can't fault is
 * no such instruction.
 */
static inline bool insn__may_be_read(const struct plan_block *b, uint64_t vaddr,
				     const struct insn *insn)
{
	return b->abnormal == ABNORMAL_ADDRESS && vaddr == b->start && !insn->padding;
}

/* Returns why this instruction can't carry a probe (refusal.c). */
enum probe_refusal insn__refusal(const struct arch *arch, const struct object *o, bool kernel,
				 const struct insn *insn);

void plan__free_named(struct plan *p);
void plan__free_values(struct plan *p);

/* An instruction's bytes, and its text, which is the same wherever it is. */
struct encoding {
	uint8_t bytes[15], len;
	const char *text;
};

/* The texts of instructions, each once. */
struct texts {
	VEC(char *) all;    /* owned */
	struct map64 known; /* hash → 1 + index */
	VEC(struct encoding) encodings;
	struct map64 encoded; /* hash → 1 + index */
};
void texts__free(struct texts *t);

/* struct plan.priv */
struct plan_data {
	/* owns the names and ranges that plan->functions points to */
	VEC(struct function) functions;
	struct texts compares;	  /* plan_site.compare */
	VEC(struct test *) tests; /* plan_site.test; owned */
};

/* ---- follow.c ---- */

/* Which functions of an object are followed together. */
struct following {
	struct graph *g;
	const function_vec *functions;
	uint64_t most;	  /* bytes of code in a batch of several functions; 0 for no limit */
	uint64_t size;	  /* of the batch that is being filled */
	uint32_t batches; /* their number */
};
/* Adds those functions to the graph that are of its object. */
void following__init(struct following *w, struct graph *g, const function_vec *functions,
		     uint64_t most);
/* Follows one batch; the graph forgets the batch before. */
int following__follow(struct following *w, uint32_t batch);
/*
 * After all batches: puts functions that have to be followed in one batch, and were not, into
 * further batches, and sets these in again, by index in the plan. Returns false if there are none.
 */
bool following__repeat(struct following *w, bool *again);

/* ---- bound.c ---- */

/* By block: it has no branch, and control may enter it in other ways than by a branch of the plan,
 * so only a probe in it shows that. The caller frees it. */
bool *plan__unseen_blocks(const struct plan *p);

/* ---- build/batches.c ---- */

/* After all batches: drops the rows of functions that have to be followed again, in further
 * batches. */
/* undecoded.c: adds what the graph's batch has; sorts it when the plan is indexed. */
void plan__take_undecoded(struct plan *p, struct graph *g, uint32_t object);
void plan__settle_undecoded(struct plan *p);
void batches__reopen(struct plan *p, struct following *w);
/* Removes the edges of blocks from this one on. */
void batches__drop_edges(struct plan *p, size_t first);

/* ---- sites/, placement/ ---- */

/* An object's graph while the plan is built. */
struct emit {
	struct graph *g;
	struct plan *plan;
	const struct plan_options *options;
	uint32_t object;
	leader_vec leaders;
	uint32_t *block_of; /* by leader: the block of the plan, or NO_BLOCK */
	int32_t *deltas;    /* by branch; NULL if not known */
	int32_t *starts;    /* likewise, by leader */
	/* A bit for each address, from first_target on, that a branch anywhere in the object may
	 * lead to; NULL until it is needed. */
	uint8_t *targets;
	uint64_t first_target, last_target;
};

/* Sets .compare and .test of the conditional at the end of a block of the graph (condition.c). */
void condition__find(struct emit *e, uint32_t first, uint32_t last, struct plan_site *s);
/* Returns true if the text of an instruction may name an address. Then it differs elsewhere. */
bool condition__names_address(const char *text);

/* Appends the blocks and sites of one object to the plan, which already has its functions. */
void plan__emit(struct plan *p, uint32_t object, struct graph *g,
		const struct plan_options *options);

/* Returns true if the site should carry a probe, provided that every site that can does. */
bool site__is_wanted(const struct plan *p, const struct plan_site *s,
		     const struct plan_options *options);
/* Adds witnesses for branches that can't carry a probe (witness.c). */
void witness__place(struct plan *p);
/* Starts with a probe on every site that can carry one. Removes those that the requested placement
 * doesn't need, and adds witnesses for branches that would be unknown otherwise (placement.c). */
void placement__place(struct plan *p, const struct plan_options *options);
/* The same for placement count: all probes count (counting.c). */
void counting__place(struct plan *p, const struct plan_options *options);
/* Keeps the probes of before, and what the kernel refused of it (keep.c): these sites are .kept,
 * and have a probe in each placement. */
void keep__probes(struct plan *p, const struct plan *before);
/* Finds the counts that don't follow from those of the probes. */
void counting__find_unsolved(struct plan *p);
/* Sets plan_function.unprobed of all functions. */
void placement__count_unprobed(struct plan *p);

/* Returns -ENOENT: the plan has no probe, and the message says why (no_probes.c). */
int plan__report_no_probes(const struct plan *p);

/* Frees what plan__free() frees but p and p->priv (plan.c). */
void plan__free_tables(struct plan *p);

/* Compares plan_extents, or plan_gaps, by object and start (increment.c). */
int extent__order(const void *a, const void *b);
/* Sorts the lines by object and address; of two at the same address, the later one stays. */
void lines__sort(struct plan *p);
/* plan__scopes(), with a function that reads the scopes of an object. */
typedef void (*scopes_fn)(const struct object *o, const struct range *ranges, size_t n,
			  const struct scope_calls *calls, void *ctx);
void scopes__read(struct plan *p, scopes_fn read);
void scopes__sort(struct plan *p);
/* Of one object. */
void scopes__read_of(struct plan *p, uint32_t object);
void variables__read_of(struct plan *p, uint32_t object);
/* Returns the number of a source file in the plan, which is new if no file has this name. numbers
 * is begun with the plan, and then used for all names; map64__free(). */
void line_files__begin(const struct plan *p, struct map64 *numbers);
uint32_t line_files__number(struct plan *p, struct map64 *numbers, const char *name);

/* Finds the functions whose entries can't carry a return probe (returns.c). */
void irregular__find(struct plan *p);
void returns__check(struct plan *p);
/* By block, which the caller frees: a call may end there whose return no return probe records. */
bool *returns__unseen_ends(const struct plan_flow *flow);

/* Returns the rows of a table whose key, a member, ascends: *n of them; NULL if there are none. */
#define rows_of(v, member, key, n)                                                                 \
	({                                                                                         \
		size_t lo_ = 0, hi_ = (v)->len;                                                    \
                                                                                                   \
		while (lo_ < hi_) {                                                                \
			size_t mid_ = (lo_ + hi_) / 2;                                             \
                                                                                                   \
			if ((v)->data[mid_].member < (key))                                        \
				lo_ = mid_ + 1;                                                    \
			else                                                                       \
				hi_ = mid_;                                                        \
		}                                                                                  \
		*(n) = 0;                                                                          \
		while (lo_ + *(n) < (v)->len && (v)->data[lo_ + *(n)].member == (key))             \
			++*(n);                                                                    \
		*(n) ? &(v)->data[lo_] : NULL;                                                     \
	})

#endif
