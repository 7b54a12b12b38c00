// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pointers to code: words of data, relative relocations, constants in code. Such a claim proves
 * nothing: it may lead to a table among the code, or to a label. It is taken for a function if all
 * that control reaches from there is decoded without contradiction, leaves with the stack pointer
 * of a function, and refers to what data would not refer to by chance: calls and jumps that hit the
 * start of a function (one of 2^32 values does), slots of the GOT, addresses of data; and if what
 * is before it ends there.
 */
#include "search_private.h"

/* ---- what is before a start ---- */

#define SPACE	  64 /* bytes: between functions is less padding than this */
#define LONGEST	  15 /* the bytes of an instruction */
#define SMALL_END 7  /* bytes before the code of a closure, the zeros of a small number end */
#define ZEROS	  3

/* Returns true if there is only padding from the last known instruction, or the hole's start, on.
 */
static bool follows_known(struct search *s, uint64_t start)
{
	const struct hole *h = holes__at(&s->holes, start);
	const uint8_t *mark = search__mark(s, start);
	uint64_t at = start;
	unsigned len;

	while (at > h->start && start - at < SPACE &&
	       !(mark[(int64_t)(at - start) - 1] & (MARK_START | MARK_BODY)))
		at--;
	while (at < start && holes__is_padding(s->o, at, start, &len))
		at += len;
	return at == start;
}

/* Returns true if an instruction after which no code follows, or padding, may end there. */
static bool follows_end(const struct search *s, uint64_t start, uint64_t first)
{
	struct insn insn;
	size_t avail;

	for (unsigned len = 1; len <= LONGEST && len <= start - first; len++) {
		const uint8_t *bytes = object__bytes(s->o, start - len, &avail);

		if (!bytes || avail < len ||
		    s->arch->decode(bytes, len, start - len, false, &insn) || insn.len != len)
			continue;
		if (insn.padding || insn.flow == FLOW_STOP || insn.kind == BRANCH_RET ||
		    insn.kind == BRANCH_JMP || insn.kind == BRANCH_IJMP || insn.kind == BRANCH_CALL)
			return true;
	}
	return false;
}

/* Returns true if GHC's table of a closure may end there, whose last word begins with a small
 * number. */
static bool follows_table(const struct search *s, uint64_t start, uint64_t first)
{
	static const uint8_t zeros[ZEROS];
	size_t avail;
	const uint8_t *bytes =
		start - first < SMALL_END ? NULL : object__bytes(s->o, start - SMALL_END, &avail);

	return bytes && avail >= ZEROS && !memcmp(bytes, zeros, ZEROS);
}

/* Returns true if a function may start there. A pointer that is none may lead to the middle of an
 * instruction, after which the rest of its function is decoded as it should. */
static bool can_start(struct search *s, uint64_t start)
{
	const uint64_t first = holes__at(&s->holes, start)->start;

	return follows_known(s, start) || follows_end(s, start, first) ||
	       (start % 8 == 0 && follows_table(s, start, first));
}

/* ---- evidence ---- */

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
	return e->clean && !e->odd_stack && e->evidence >= enough(e->start) && !is_read(s, e) &&
	       can_start(s, e->start);
}
