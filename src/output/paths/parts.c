// SPDX-License-Identifier: BSD-2-Clause
/* The parts of a path, which follow from its first block and the edge that it took at each
 * choice. */
#include "paths.h"

static void find_ways(const struct path_counts *p, uint32_t node, id_vec *ways)
{
	for (; p->nodes.data[node].parent != NO_NODE; node = p->nodes.data[node].parent)
		vec__push(ways, p->nodes.data[node].way);
	for (size_t i = 0; i < ways->len / 2; i++) {
		uint32_t way = ways->data[i];

		ways->data[i] = ways->data[ways->len - 1 - i];
		ways->data[ways->len - 1 - i] = way;
	}
}

/* Returns the edge out of a block; *i is the next choice. */
static uint32_t way_of(const struct plan *p, uint32_t block, const id_vec *ways, size_t *i)
{
	uint32_t site = p->blocks.data[block].site;
	const struct plan_site *s = site == NO_SITE ? NULL : &p->sites.data[site];

	if (s && (plan_site__is_conditional(s) || s->kind == BRANCH_IJMP))
		return *i < ways->len ? ways->data[(*i)++] : WAY_OUT;
	return s && s->kind == BRANCH_JMP ? WAY_TAKEN : WAY_NOT_TAKEN;
}

static uint32_t target_of(const struct plan *p, uint32_t block, uint32_t way)
{
	const struct plan_block *b = &p->blocks.data[block];
	uint8_t kind = b->site == NO_SITE ? BRANCH_NONE : p->sites.data[b->site].kind;

	if (kind == BRANCH_RET || way == WAY_OUT)
		return NO_BLOCK;
	if (kind == BRANCH_IJMP)
		return WAY_BLOCK(way);
	return way == WAY_TAKEN ? b->taken : b->next;
}

static bool is_part(const struct plan_site *s)
{
	return plan_site__is_conditional(s) || s->kind == BRANCH_IJMP || s->kind == BRANCH_CALL ||
	       s->kind == BRANCH_ICALL;
}

void path__parts(struct path_counts *p, const struct path_row *row, path_parts *parts,
		 struct path_end *end)
{
	uint32_t block = row->start, unused;
	id_vec ways = {0};
	size_t i = 0;

	find_ways(p, row->node, &ways);
	do {
		uint32_t site = p->plan->blocks.data[block].site;
		uint32_t way = way_of(p->plan, block, &ways, &i);

		if (site != NO_SITE && is_part(&p->plan->sites.data[site]))
			vec__push(parts, (struct path_part){site, way});
		*end = (struct path_end){PATH_NO_EDGE, block, site, target_of(p->plan, block, way)};
		end->edge = acyclic__leave(p->ways, row->function, block, way == WAY_TAKEN, end->to,
					   &unused);
		block = end->to;
	} while (end->edge == PATH_GOES_ON);
	vec__free(&ways);
}

uint64_t path__number(struct path_counts *p, const struct path_row *row)
{
	uint64_t number = row->is_entry ? acyclic__at_entry(p->ways, row->function)
					: acyclic__at_loop(p->ways, row->function, row->start);
	path_parts parts = {0};
	const struct path_part *part;
	struct path_end end;

	path__parts(p, row, &parts, &end);
	vec__each (part, &parts) {
		const struct plan_site *s = &p->plan->sites.data[part->site];
		uint64_t value = acyclic__value(p->ways, row->function, s->block, part->way);

		if (number == PATHS_MANY || value == PATHS_MANY ||
		    __builtin_add_overflow(number, value, &number))
			number = PATHS_MANY;
	}
	vec__free(&parts);
	return number == PATHS_MANY ? 0 : number;
}
