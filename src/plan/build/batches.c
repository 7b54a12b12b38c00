// SPDX-License-Identifier: BSD-2-Clause
/* Makes the plan of an object that is followed in batches equal to that of one followed at once,
 * except that its blocks have no edges. */
#include <stdlib.h>
#include "plan/plan_private.h"

static int by_start(const void *a, const void *b)
{
	const struct plan_gap *x = a, *y = b;

	return vaddr__order(x->object, x->start, y->object, y->start);
}

static void drop_gaps(struct plan *p, const bool *again)
{
	size_t n = 0;

	for (size_t i = 0; i < p->gaps.len; i++)
		if (!again[p->gaps.data[i].function])
			p->gaps.data[n++] = p->gaps.data[i];
	p->gaps.len = n;
}

/* Drops the rows of these functions, and sets the new index of each row in to: NONE if the row is
 * dropped. */
#define DROP(rows, again, to, NONE)                                                                \
	({                                                                                         \
		uint32_t n_ = 0;                                                                   \
		for (uint32_t i_ = 0; i_ < (rows)->len; i_++) {                                    \
			(to)[i_] = (again)[(rows)->data[i_].function] ? (NONE) : n_++;             \
			if ((to)[i_] != (NONE))                                                    \
				(rows)->data[(to)[i_]] = (rows)->data[i_];                         \
		}                                                                                  \
		(rows)->len = n_;                                                                  \
	})

static void drop_blocks_and_sites(struct plan *p, const bool *again)
{
	autofree uint32_t *block = xcalloc(p->blocks.len + 1, sizeof(*block));
	autofree uint32_t *site = xcalloc(p->sites.len + 1, sizeof(*site));
	struct plan_function *f;
	struct plan_block *b;
	struct plan_site *s;

	vec__each (s, &p->sites)
		if (again[s->function])
			*(s->probe ? &p->probes : &p->skipped) -= 1;
	DROP(&p->blocks, again, block, NO_BLOCK);
	DROP(&p->sites, again, site, NO_SITE);
	vec__each (s, &p->sites)
		s->block = block[s->block];
	vec__each (b, &p->blocks)
		b->site = b->site == NO_SITE ? NO_SITE : site[b->site];
	vec__each (f, &p->functions) {
		f->entry_block = f->entry_block == NO_BLOCK ? NO_BLOCK : block[f->entry_block];
		f->entry_site = f->entry_site == NO_SITE ? NO_SITE : site[f->entry_site];
	}
}

static void drop_counts(struct plan *p, const bool *again)
{
	struct plan_function *f;

	vec__each (f, &p->functions) {
		if (!again[f - p->functions.data])
			continue;
		f->branches = f->skipped = f->unresolved = 0;
		f->unreached = 0;
	}
}

void batches__reopen(struct plan *p, struct following *w)
{
	autofree bool *again = xcalloc(p->functions.len + 1, sizeof(*again));

	if (!following__repeat(w, again)) {
		vec__sort(&p->gaps, by_start);
		return;
	}
	drop_gaps(p, again);
	drop_blocks_and_sites(p, again);
	drop_counts(p, again);
}

void batches__drop_edges(struct plan *p, size_t first)
{
	p->edgeless = true;
	for (size_t i = first; i < p->blocks.len; i++) {
		struct plan_block *b = &p->blocks.data[i];

		b->next = b->taken = NO_BLOCK;
		b->table = b->ntable = 0;
	}
}
