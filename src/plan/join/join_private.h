/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by join.c, join_find.c and join_values.c. */
#ifndef BBTRACE_PLAN_JOIN_JOIN_PRIVATE_H
#define BBTRACE_PLAN_JOIN_JOIN_PRIVATE_H

#include "plan/change/change.h"
#include "plan/plan_private.h"
#include "join.h"

/* A part of a block of p that is a block of its own in the joined plan, and new there. */
struct piece {
	uint32_t block;	     /* of p */
	uint64_t start, end; /* in the joined plan */
	uint32_t next;	     /* the number of the next part, unless this is the last one */
};

struct joining {
	const struct plan *all, *p;
	bool by_symbol;
	struct plan_increment *more;
	struct plan_numbers *n;
	struct map64 starts; /* key_of() -> 1 + the number of the joined plan's function */
	/* By object of p: its number in the joined plan; and that of one of another build, in which
	 * functions are looked for by their symbols. UINT32_MAX if none. */
	uint32_t *own, *namesakes;
	uint64_t *shifts;  /* by object of p: the address of .own minus its address in p */
	uint32_t nobjects; /* of the joined plan, with the new ones */
	VEC(uint32_t) new_sites, new_functions; /* their numbers in p */
	VEC(struct piece) new_blocks;
	VEC(struct plan_split) splits; /* .rest is the index of the piece */
	size_t parts;		       /* the number of parts of blocks that were found so far */
	uint32_t refused;	       /* how many of the new sites are refused */
	uint32_t *last;		       /* by block of p: the number of its last part */
	bool *differs;		       /* by site of all: p has another .compare */
	struct map64 enumerations;     /* of p -> 1 + the enumeration's number in the joined plan */
};

/* Returns true if both are equal or NULL. */
static inline bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Gives each row of p its number in the joined plan, and lists the new ones (join_find.c). Returns
 * 0 or -EXDEV. */
int joining__find(struct joining *j);
/* Returns the object of a function's code in the joined plan; and an address of it there. */
uint32_t joining__object(const struct joining *j, uint32_t function);
uint64_t joining__moved(const struct joining *j, uint32_t function, uint64_t vaddr);
/* Adds the values that the joined plan doesn't have yet (join_values.c). */
void joining__add_values(struct joining *j);

#endif
