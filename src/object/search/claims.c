// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pointers to code: words of data, relative relocations, constants in code. Such a claim proves
 * nothing: it may lead to a table among the code, or to a label. It is taken for a function if all
 * that control reaches from there is decoded without contradiction, leaves with the stack pointer
 * of a function, and refers to what data would not refer to by chance: calls and jumps that hit the
 * start of a function (one of 2^32 values does), slots of the GOT, addresses of data.
 */
#include "search_private.h"

/* How much is needed, by alignment: most functions begin at a multiple of 16, GHC's of 8. */
static unsigned enough(uint64_t addr)
{
	return addr % 16 == 0 ? 2 : addr % 8 == 0 ? 3 : 6;
}

static void claim(void *ctx, uint64_t value)
{
	struct search *s = ctx;
	uint8_t *mark = search__mark(s, value);

	if (!mark || *mark & MARK_CLAIMED)
		return;
	*mark |= MARK_CLAIMED;
	vec__push(&s->claims, value);
}

void claims__add(struct search *s, uint64_t addr)
{
	claim(s, addr);
}

void claims__of_data(struct search *s)
{
	object__pointers(s->o, claim, s);
}

static bool is_read(struct search *s, const struct exploration *e)
{
	const struct reached_insn *i;

	vec__each (i, &e->insns) {
		const uint8_t *mark = search__mark(s, i->addr);

		for (unsigned k = 0; k < i->len; k++)
			if (mark[k] & MARK_DATA)
				return true;
	}
	return false;
}

bool claims__is_code(struct search *s, const struct exploration *e)
{
	return e->clean && !e->odd_stack && e->evidence >= enough(e->start) && !is_read(s, e);
}
