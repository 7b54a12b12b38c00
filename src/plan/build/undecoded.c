// SPDX-License-Identifier: BSD-2-Clause
/* Where control reaches bytes that are no known instruction: plan.undecoded. */
#include <stdlib.h>
#include "plan/plan_private.h"

void plan__take_undecoded(struct plan *p, struct graph *g, uint32_t object)
{
	const uint64_t *at;

	vec__each (at, &g->undecodable)
		vec__push(&p->undecoded, (struct plan_place){object, *at});
}

static int by_place(const void *a, const void *b)
{
	const struct plan_place *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Several branches may lead there; and a function may have been followed in several batches. */
void plan__settle_undecoded(struct plan *p)
{
	struct plan_place *v = p->undecoded.data;
	size_t n = 0;

	vec__sort(&p->undecoded, by_place);
	for (size_t i = 0; i < p->undecoded.len; i++)
		if (plan__is_undecoded(p, v[i].object, v[i].vaddr) &&
		    (!n || by_place(&v[n - 1], &v[i])))
			v[n++] = v[i];
	p->undecoded.len = n;
}
