// SPDX-License-Identifier: BSD-2-Clause
/* The names in the source of the operands that conditionals test, from the objects' debug
 * information. */
#include <stdlib.h>
#include "plan/plan_private.h"

/* A place, and the operand that is there. */
struct asked {
	struct operand_place place;
	uint32_t site;
	bool b;
};
typedef VEC(struct asked) asked_vec;

static int by_vaddr(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	if (x->place.vaddr != y->place.vaddr)
		return x->place.vaddr < y->place.vaddr ? -1 : 1;
	return x->site != y->site ? (x->site < y->site ? -1 : 1) : x->b - y->b;
}

/* Asks for the operands that have not changed since before the instruction. */
static void ask(asked_vec *v, const struct plan_site *s, uint32_t site)
{
	for (unsigned i = 0; i < s->test->n && !s->test->result; i++) {
		const struct test_operand *o = &s->test->operand[i];
		struct asked a = {
			{s->test->vaddr, o->kind, o->at.base, s->test->bits / 8, 0}, site, i};

		if (o->kind == OPERAND_NONE || o->shift ||
		    (o->kind == OPERAND_MEM && o->at.index != REG_NONE))
			continue;
		if (o->kind == OPERAND_MEM)
			a.place.disp = o->at.disp;
		if (o->at.base == REG_IP) {
			a.place.base = REG_NONE;
			a.place.disp += s->vaddr;
		}
		vec__push(v, a);
	}
}

static void take(struct plan *p, const struct asked *a, const struct variable *found)
{
	struct plan_site *s = &p->sites.data[a->site];

	if (!found->name)
		return;
	if (a->b)
		s->variable_b = found->name;
	else
		s->variable_a = found->name;
	s->variable_types |= found->type << (a->b ? 4 : 0);
}

void variables__read_of(struct plan *p, uint32_t object)
{
	const struct object *o = p->objects.data[object].object;
	VEC(struct operand_place) places = {0};
	asked_vec asked = {0};
	struct variable *found;
	struct asked *a;

	for (uint32_t i = 0; i < p->sites.len; i++)
		if (p->sites.data[i].object == object && p->sites.data[i].test)
			ask(&asked, &p->sites.data[i], i);
	vec__sort(&asked, by_vaddr);
	vec__each (a, &asked)
		vec__push(&places, a->place);
	found = xcalloc(asked.len + 1, sizeof(*found));
	if (o)
		object__variables(o, places.data, places.len, found);
	for (size_t i = 0; i < asked.len; i++)
		take(p, &asked.data[i], &found[i]);
	free(found);
	vec__free(&places);
	vec__free(&asked);
}

void plan__variables(struct plan *p)
{
	for (uint32_t i = 0; i < p->objects.len; i++)
		variables__read_of(p, i);
}
