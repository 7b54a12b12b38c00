/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * circulation: all that control can do in a plan, as edges between points, so that control enters
 * each point as often as it leaves it (Knuth and Stevenson, "Optimal Measurement Points for Program
 * Frequency Counts", BIT 13, 1973). Private to src/plan; shared by counting.c and solve.c.
 */
#ifndef BBTRACE_PLAN_COUNTING_CIRCULATION_PRIVATE_H
#define BBTRACE_PLAN_COUNTING_CIRCULATION_PRIVATE_H

#include "plan/plan_private.h"

/* The point that stands for all code outside of the plan, and for the kernel. */
#define OUTSIDE 0

enum edge_kind {
	EDGE_INSIDE, /* instructions of a block, up to a break or to the block's end */
	EDGE_TAKEN,
	EDGE_NOT_TAKEN,
	EDGE_TABLE, /* of an indirect jump, by its table */
	EDGE_REST,  /* of an indirect jump, to where its table doesn't lead */
	EDGE_OTHER,
	EDGE_CUT, /* out minus in; may be below 0 */
};

struct flow_edge {
	uint32_t from, to; /* points */
	uint8_t kind;
};

/* By function: code that was not decoded may jump anywhere in it. Then only an instruction's own
 * probe shows how often the instruction is executed. The caller frees it. */
bool *circulation__exposed(const struct plan *p);

struct circulation {
	const struct plan *plan;
	uint32_t points;
	uint32_t *start; /* by block: the point before its first instruction; OUTSIDE for a helper's
			    block */
	/* By block: its edges are edges[first[b] ... first[b + 1]), the inside ones first, in order
	 * of address. */
	uint32_t *first;
	uint32_t *breaks; /* by block: its rows of plan->breaks are [breaks[b] ... breaks[b + 1]) */
	VEC(struct flow_edge) edges;
};
void circulation__init(struct circulation *c, const struct plan *p);
void circulation__free(struct circulation *c);

/* Returns the inside edge of a block that holds this address. */
uint32_t circulation__inside(const struct circulation *c, uint32_t block, uint64_t vaddr);
/* Sets the edges [*from ... *to) that a probe at this site counts. */
void circulation__counted(const struct circulation *c, uint32_t site, uint32_t *from, uint32_t *to);
/* Returns, by edge, which ones probes count. The caller frees it. */
bool *circulation__known(const struct circulation *c);

/*
 * A spanning forest of the unknown edges. The count of an unknown edge follows from the known ones
 * if only this edge connects its two points (a bridge): the counts of all edges that lead to one
 * side of it sum up to 0.
 */
struct forest {
	VEC(uint32_t) order; /* points; each after its parent */
	uint32_t *above;     /* by point: the edge to its parent; NO_EDGE if it has none */
	bool *bridge;	     /* by edge: it is unknown, and its count follows */
};
#define NO_EDGE UINT32_MAX
void forest__init(struct forest *f, const struct circulation *c, const bool *known);
void forest__free(struct forest *f);

#endif
