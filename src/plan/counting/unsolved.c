// SPDX-License-Identifier: BSD-2-Clause
/* Placement count: the counts that don't follow from what is counted. */
#include <stdlib.h>
#include "circulation_private.h"

/* Where code is both a function's and a helper's, its blocks are the helper's, which aren't
 * counted. */
static bool is_left_out(const struct circulation *c, const struct plan_site *s)
{
	return c->start[s->block] == OUTSIDE &&
	       !(c->plan->functions.data[s->function].flags & FUNCTION_HELPER);
}

void counting__find_unsolved(struct plan *p)
{
	struct circulation c;
	struct forest forest;
	struct plan_function *f;
	autofree bool *known = NULL;

	vec__each (f, &p->functions)
		f->skipped = 0;
	p->skipped = 0;
	circulation__init(&c, p);
	known = circulation__known(&c);
	forest__init(&forest, &c, known);
	for (uint32_t i = 0; i < p->sites.len; i++) {
		struct plan_site *s = &p->sites.data[i];
		uint32_t from, to;

		circulation__counted(&c, i, &from, &to);
		s->unsolved = is_left_out(&c, s);
		if (p->entries_only && s->role == ROLE_BRANCH && !s->entry)
			continue;
		for (; from < to && s->role != ROLE_WITNESS; from++)
			s->unsolved |= !known[from] && !forest.bridge[from];
		p->skipped += s->unsolved;
		p->functions.data[s->function].skipped += s->unsolved && s->role == ROLE_BRANCH;
	}
	forest__free(&forest);
	circulation__free(&c);
}
