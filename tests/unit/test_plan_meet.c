// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where all ways lead: against the definition, on random graphs. A block lies on all ways from
 * another one to the end if the end can't be come to without it.
 */
#include "plan/graph/meet.h"
#include "graph_fixture.h"
#include "tap.h"

static bool leaves(uint32_t i)
{
	const struct plan_block *b = &blocks[i];

	return sites[i].kind == BRANCH_RET || b->unresolved ||
	       (sites[i].kind == BRANCH_JCC && b->taken == NO_BLOCK);
}

/* Can the end be come to from a block without passing through another one? */
static bool ends(uint32_t from, uint32_t without, uint32_t *seen)
{
	const struct plan_block *b = &blocks[from];

	if (from == without || *seen >> from & 1)
		return false;
	*seen |= 1u << from;
	if (leaves(from))
		return true;
	for (uint32_t k = 0; k < b->ntable; k++)
		if (ends(table[b->table + k], without, seen))
			return true;
	return (b->taken != NO_BLOCK && ends(b->taken, without, seen)) ||
	       (b->next != NO_BLOCK && ends(b->next, without, seen));
}

static bool is_on_all_ways(uint32_t block, uint32_t from)
{
	uint32_t seen = 0;

	return !ends(from, block, &seen);
}

static bool has_an_end(uint32_t from)
{
	uint32_t seen = 0;

	return ends(from, NO_BLOCK, &seen);
}

/* Of those on all ways from both, the one that all others are behind. */
static uint32_t by_definition(uint32_t n, uint32_t a, uint32_t b)
{
	if (!has_an_end(a) || !has_an_end(b))
		return NO_SITE;
	for (uint32_t c = 0; c < n; c++) {
		bool nearest = has_an_end(c) && is_on_all_ways(c, a) && is_on_all_ways(c, b);

		for (uint32_t d = 0; nearest && d < n; d++)
			if (has_an_end(d) && is_on_all_ways(d, a) && is_on_all_ways(d, b))
				nearest = is_on_all_ways(d, c);
		if (nearest)
			return c;
	}
	return NO_SITE;
}

int main(void)
{
	uint32_t pairs = 0, wrong = 0, found = 0;

	for (unsigned round = 0; round < 3000; round++) {
		uint32_t n = 2 + any(MOST - 1);
		struct plan_meets *m;

		make(n);
		m = plan_meets__new(&p);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++) {
				uint32_t site = plan_meets__site(m, a, b);

				pairs++;
				found += site != NO_SITE;
				wrong += site != by_definition(n, a, b);
			}
		plan_meets__free(m);
	}
	is(wrong, 0, "the nearest block on all ways from two, of %u pairs", pairs);
	ok(found > pairs / 10 && found < pairs, "there is one for some of them: %u", found);

	make(3);
	for (uint32_t i = 0; i < 3; i++)
		sites[i] = (struct plan_site){
			.vaddr = 0x10 + i * 4, .len = 4, .block = i, .role = ROLE_BRANCH};
	sites[0].kind = BRANCH_JCC;
	blocks[0].taken = 2;
	blocks[0].next = 1;
	is(plan__block_after(&p, 0, true, 0), 2, "the block behind a conditional that is taken");
	is(plan__block_after(&p, 0, false, 0), 1, "and one that is not");
	sites[1].kind = BRANCH_CALL;
	blocks[1].next = 2;
	is(plan__block_after(&p, 1, true, 0), 2, "after a call comes the block behind it");
	sites[2].kind = BRANCH_RET;
	is(plan__block_after(&p, 2, true, 0), NO_BLOCK, "after a ret, none of the function");
	return tap__done();
}
