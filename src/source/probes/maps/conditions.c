// SPDX-License-Identifier: BSD-2-Clause
/* The map of the conditions by which the BPF program judges entries. Functions that it can't judge
 * are left to user space, which judges all of them. */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "plan/graph/flow.h"
#include "conditions.h"
#include "fetches.h"
#include "filters.h"
#include "bbtrace.skel.h"

_Static_assert((int)COMPARE_EQ == WIRE_EQ && (int)COMPARE_GE == WIRE_GE, "they are the same");

/* Threads that are in an invocation that is left out. */
#define MUTES 32768

bool conditions__judge(const struct probe *p)
{
	return plan__judges(p->plan, false) && !p->options->inlines && !action__go(p->plan) &&
	       p->plan->arch->word == 8;
}

/* By function: control comes back to its first block within a call. Such an entry may be hit again,
 * in a call that was judged. */
static bool *find_loops(const struct plan *p)
{
	bool *loops = xcalloc(p->functions.len + 1, sizeof(*loops));
	struct plan_flow flow;

	plan_flow__init(&flow, p);
	for (uint32_t b = 0; b < p->blocks.len; b++)
		for (uint32_t i = flow.out[b]; i < flow.out[b + 1]; i++) {
			uint32_t function = p->blocks.data[b].function;

			if (function != NO_FUNCTION &&
			    p->functions.data[function].entry_block == flow.successors[i])
				loops[function] = true;
		}
	plan_flow__free(&flow);
	return loops;
}

static void put_text(struct wire_condition *c, const struct plan_condition *from,
		     const struct plan_value *v)
{
	size_t len = strlen(from->text);
	/* the 0 after it, which an array that is full has not */
	size_t compared = len + (!v->array || len < v->size);

	memcpy(c->text, from->text, len);
	memset(c->mask, 0xff, min_of(compared, sizeof(c->mask)));
}

/* Returns false if the program can't. */
static bool make(const struct plan *p, const struct plan_condition *from,
		 struct wire_condition *out)
{
	const struct plan_value *v = &p->values.data[from->value];
	struct compare_type type = plan_value__compared(p, v);
	struct constant with = from->with;
	/* greater, equal, less */
	static const uint8_t orders[] = {[COMPARE_EQ] = 2, [COMPARE_NE] = 5, [COMPARE_LT] = 4,
					 [COMPARE_LE] = 6, [COMPARE_GT] = 1, [COMPARE_GE] = 3};

	if (v->second != REG_NONE || v->at || (v->kind == KIND_TEXT && !v->nsteps))
		return false;
	type = comparison__type(type, &with);
	*out = (struct wire_condition){
		.fetch = fetch__of(p, v),
		.kind = from->of_text	       ? WIRE_IS_TEXT
			: v->kind == KIND_TEXT ? WIRE_IS_NULL
					       : WIRE_IS_NUMBER,
		.how = from->how,
		.orders = orders[from->how],
		.width = plan_value__width(v),
		.bit_at = v->bits ? v->bit_at : 0,
		.is_signed = plan__is_signed(p, v),
		.wide = type.wide,
		.as_unsigned = type.is_unsigned,
		.with = with.number,
	};
	if (from->of_text)
		put_text(out, from, v);
	return out->width;
}

static bool make_all(const struct plan *p, uint32_t function, struct wire_conditions *out)
{
	size_t n;
	const struct plan_condition *c = plan__conditions(p, function, &n);

	*out = (struct wire_conditions){0};
	for (size_t i = 0; i < n; i++)
		if (!p->values.data[c[i].value].of_return &&
		    (out->n == WIRE_CONDITIONS || !make(p, &c[i], &out->of[out->n++])))
			return false;
	return out->n;
}

unsigned conditions__most(const struct probe *p)
{
	struct wire_conditions l;
	unsigned most = 1;

	if (!conditions__judge(p))
		return 0;
	if (p->options->grows) /* functions that are added may have more */
		return WIRE_CONDITIONS;
	for (uint32_t f = 0; f < p->plan->functions.len; f++)
		if (make_all(p->plan, f, &l) && l.n > most)
			most = l.n;
	return most;
}

void conditions__size(struct probe *p)
{
	bool judges = conditions__judge(p);
	size_t n = 0;

	for (uint32_t i = 0; judges && i < p->plan->sites.len; i++)
		n += p->plan->sites.data[i].entry;
	map__set_most(p->skel->maps.conditions, n);
	map__set_most(p->skel->maps.mutes, judges ? MUTES : 0);
}

static int fill_site(struct probe *p, uint32_t site)
{
	struct wire_conditions l;

	if (!make_all(p->plan, p->plan->sites.data[site].function, &l))
		return 0;
	if (bpf_map__update_elem(p->skel->maps.conditions, &site, sizeof(site), &l, sizeof(l),
				 BPF_ANY))
		return err__set(errno, "cannot fill the table of conditions: %s", strerror(errno));
	return 0;
}

int conditions__fill(struct probe *p)
{
	autofree bool *loops = NULL;
	int err = 0;

	if (!conditions__judge(p))
		return 0;
	loops = find_loops(p->plan);
	for (uint32_t i = 0; !err && i < p->plan->sites.len; i++) {
		const struct plan_site *s = &p->plan->sites.data[i];

		if (s->entry && !s->repeats && !loops[s->function] &&
		    plan__judges_function(p->plan, s->function, false))
			err = fill_site(p, i);
	}
	return err;
}

uint64_t conditions__muted(const struct probe *p, enum wire_muted what)
{
	int cpus = libbpf_num_possible_cpus();
	autofree uint64_t *counts = xcalloc(max_of(cpus, 1), sizeof(*counts));
	uint64_t sum = 0;
	uint32_t key = what;

	if (!conditions__judge(p) || cpus <= 0 ||
	    bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.muted), &key, counts))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += counts[i];
	return sum;
}
