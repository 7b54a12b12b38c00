// SPDX-License-Identifier: BSD-2-Clause
/*
 * Witnesses: where a branch with several ways on can't carry a probe (notrack jmp, a hinted jcc),
 * its ways are told apart by what speaks first on each. Where two ways would say the same, a probe
 * goes into the first block of one.
 */
#include "plan/voices.h"

/* Does control come in silence from block to another one? */
static bool runs_into(struct voices *v, uint32_t block, uint32_t other)
{
	bool speaks = v->speaks[other], found = false;
	const uint32_t *voice;

	v->speaks[other] = true;
	voices__from(v, block);
	vec__each (voice, &v->heard)
		found |= *voice == (VOICE_BLOCK | other);
	v->speaks[other] = speaks;
	return found;
}

/* Of two ways that say the same, the one that runs into the other gets the witness: the other one
 * is then told by what the first did not say. */
static void tell_apart(struct voices *v, uint32_t block)
{
	autofree uint32_t *ways = NULL;
	size_t n, one, other;

	voices__ways(v->p, block, &ways, &n);
	while (n > 1 && voices__conflict(v, ways, n, &one, &other)) {
		bool first = one != other && runs_into(v, ways[one], ways[other]);

		if (!voices__add_witness(v, ways[first ? one : other], false) &&
		    !voices__add_witness(v, ways[first ? other : one], false))
			break;
	}
}

static bool is_silent(const struct plan *p, const struct plan_block *b)
{
	const struct plan_site *s = b->site == NO_SITE ? NULL : &p->sites.data[b->site];

	return s && !s->probe && b->function != NO_FUNCTION &&
	       !(p->functions.data[b->function].flags & (FUNCTION_SILENT | FUNCTION_RANGE)) &&
	       (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP || s->kind == BRANCH_IJMP);
}

void witness__place(struct plan *p)
{
	size_t before = p->sites.len;
	struct voices v;

	voices__init(&v, p);
	for (uint32_t b = 0; b < p->blocks.len; b++)
		if (is_silent(p, &p->blocks.data[b]))
			tell_apart(&v, b);
	if (p->sites.len != before)
		voices__renumber(p);
	voices__free(&v);
}
