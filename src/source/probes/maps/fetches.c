// SPDX-License-Identifier: BSD-2-Clause
/* The map of what the BPF program loads when functions are entered or return (plan->values). */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "fetches.h"
#include "filters.h"
#include "bbtrace.skel.h"

_Static_assert(VALUE_STEPS < WIRE_FETCH_STEPS, "one more leads from the stack pointer");

/* The stack's words are above the stack pointer. */
struct wire_fetch fetch__of(const struct plan *plan, const struct plan_value *v)
{
	bool on_stack = v->from == FROM_STACK;
	struct wire_fetch f = {.from = v->from == FROM_SYSCALL ? FETCH_ARGUMENT : FETCH_REGISTER,
			       .reg = on_stack ? plan->arch->sp_reg : v->reg,
			       .nsteps = v->nsteps + on_stack,
			       .text = v->kind == KIND_TEXT && !v->array,
			       .size = v->chunk ? v->chunk : v->size};

	if (on_stack)
		f.steps[0] = (int64_t)v->reg * plan->arch->word;
	for (unsigned i = 0; i < v->nsteps; i++)
		f.steps[i + on_stack] = v->steps[i];
	return f;
}

static void list_of(const struct plan *plan, uint32_t function, bool of_return,
		    struct wire_fetches *out)
{
	size_t n;
	const struct plan_value *v = plan__values(plan, function, &n);

	*out = (struct wire_fetches){0};
	for (size_t i = 0; i < n; i++, v++) {
		if (v->of_return != of_return || !v->fetched)
			continue;
		out->of[v->fetched - 1] = fetch__of(plan, v);
		out->n = max_of(out->n, (uint32_t)v->fetched);
	}
}

static int put(struct probe *p, uint32_t key, const struct wire_fetches *l)
{
	if (bpf_map__update_elem(p->skel->maps.fetches, &key, sizeof(key), l, sizeof(*l), BPF_ANY))
		return err__set(errno, "cannot fill the table of values: %s", strerror(errno));
	return 0;
}

void fetches__size(struct probe *p)
{
	size_t n = 0;

	if (plan__most_fetched(p->plan))
		for (uint32_t i = 0; i < p->plan->sites.len; i++)
			n += plan__site_fetched(p->plan, i, false) ||
			     plan__site_fetched(p->plan, i, true);
	map__set_most(p->skel->maps.fetches, 2 * n);
}

static int fill_site(struct probe *p, uint32_t site)
{
	const struct plan_site *s = &p->plan->sites.data[site];
	struct wire_fetches l;
	int err = 0;

	if (s->entry && plan__site_fetched(p->plan, site, false)) {
		list_of(p->plan, s->function, false, &l);
		err = put(p, site, &l);
	}
	if (err || !plan__site_fetched(p->plan, site, true))
		return err;
	list_of(p->plan, s->function, true, &l);
	return put(p, s->entry ? site | COOKIE_RETURN : site, &l);
}

int fetches__fill(struct probe *p)
{
	int err = 0;

	if (!plan__most_fetched(p->plan))
		return 0;
	for (uint32_t i = 0; !err && i < p->plan->sites.len; i++)
		err = fill_site(p, i);
	return err;
}
