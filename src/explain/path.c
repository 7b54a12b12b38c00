// SPDX-License-Identifier: BSD-2-Clause
/* The way that a call went, and where a value came from on it. */
#include <stdlib.h>
#include "explain/calls.h"
#include "plan/graph/meet.h"

/* ---- blocks ---- */

/* Those that fall through, from block on, up to the one that the site ends. */
static bool fall_through(const struct plan *p, uint32_t block, uint32_t site, path_vec *out)
{
	for (size_t n = 0; block != NO_BLOCK && n <= p->blocks.len; n++) {
		const struct plan_block *b = &p->blocks.data[block];

		if (b->site != NO_SITE) {
			vec__push(out, (struct step_of_path){block, -1});
			return b->site == site || site == NO_SITE;
		}
		vec__push(out, (struct step_of_path){block, -1});
		block = b->next;
	}
	return site == NO_SITE;
}

const char *path__of(const struct plan *p, const struct call *c, bool rest, path_vec *out)
{
	uint32_t block = c->cut ? NO_BLOCK : p->functions.data[c->function].entry_block;

	for (size_t i = 0; i < c->items.len; i++) {
		const struct item *it = &c->items.data[i];

		if (block == NO_BLOCK && i)
			return "control came to a place by a way that isn't known";
		if (block == NO_BLOCK)
			block = p->sites.data[it->site].block;
		if (!fall_through(p, block, it->site, out))
			return "branches are missing on its way";
		vec__last(out)->item = (int32_t)i;
		block = plan__block_after(p, it->site, it->taken, it->to.vaddr);
	}
	if (rest && !fall_through(p, block, NO_SITE, out))
		return "the way to its end isn't known";
	return out->len ? NULL : c->cut ? c->cut : "none of its branches was seen";
}

/* ---- one value, backwards ---- */

static struct made at_op(enum made_kind kind, size_t at, const struct op *op, uint16_t mangled)
{
	return (struct made){.kind = kind,
			     .at = at,
			     .vaddr = op->vaddr,
			     .value = op->kind == OP_CONST ? op->imm : 0,
			     .mangled = mangled};
}

/* Could this be what was wanted? 2: it is; 1: it may be; 0: no. */
static unsigned fits(const struct slicing *s, const struct made *m)
{
	const struct item *it;
	struct verdict *const *v;

	if (!s->has_wanted || m->mangled)
		return 1;
	if (m->kind == MADE_CONST)
		return (uint32_t)m->value == s->wanted ? 2 : 0;
	if (m->kind != MADE_CALL || s->path->data[m->at].item < 0)
		return 1;
	it = &s->call->items.data[s->path->data[m->at].item];
	vec__each (v, &it->results)
		if ((uint32_t)(*v)->value == s->wanted)
			return 2;
	/* of a traced function errors are kept */
	return it->enters && value__is_error((int32_t)s->wanted) ? 0 : 1;
}

/* chain: how it was changed behind this. */
static bool is_const(const struct made *m, bool zero, uint16_t chain)
{
	return m->kind == MADE_CONST && m->mangled == chain && !(uint32_t)m->value == zero;
}

static bool is_same(const struct made *a, const struct made *b)
{
	if (a->kind != b->kind || a->mangled != b->mangled)
		return false;
	if (a->kind == MADE_CONST)
		return (uint32_t)a->value == (uint32_t)b->value;
	return a->at == b->at && a->vaddr == b->vaddr && a->place == b->place;
}

/* The value is one of two: goes on with that which it was. */
static struct made choose(struct slicing *s, size_t at, size_t n, const struct op *op,
			  uint16_t mangled, struct tracked *track)
{
	size_t size = (at + 1) * sizeof(*track);
	autofree struct tracked *others = xmalloc(size);
	struct made a, b;
	unsigned fa, fb;

	memcpy(others, track, size);
	a = slice__of(s, at, n, (struct tracked){op->src, mangled}, track);
	b = slice__of(s, at, n, (struct tracked){op->dst, mangled}, others);
	if (op->kind == OP_AND || op->kind == OP_OR) {
		bool zero = op->kind == OP_AND;

		if (is_const(&b, zero, mangled) ||
		    (!is_const(&a, zero, mangled) && is_const(&a, !zero, mangled)))
			goto other;
		if (is_const(&a, zero, mangled) || is_const(&b, !zero, mangled))
			return a;
		return at_op(MADE_CODE, at, op, mangled);
	}
	fa = fits(s, &a);
	fb = fits(s, &b);
	if (fa == fb && is_same(&a, &b))
		return a;
	if (fa == fb) {
		struct made m = at_op(MADE_UNKNOWN, at, op, mangled);

		m.why = "an instruction chose between two values, and which one isn't known";
		m.choice = (struct choice){op->vaddr, at, true};
		return m;
	}
	if (fb > fa)
		goto other;
	a.choice = a.choice.vaddr ? a.choice : (struct choice){op->vaddr, at, true};
	a.assumed = fb ? "the value is taken for the one that the code has" : a.assumed;
	return a;
other:
	if (op->kind == OP_CHOICE && !b.choice.vaddr)
		b.choice = (struct choice){op->vaddr, at, true};
	if (op->kind == OP_CHOICE && fits(s, &a))
		b.assumed = "the value is taken for the one that the code has";
	memcpy(track, others, size);
	return b;
}

/* False: not changed by this instruction. */
static bool step_back(struct slicing *s, size_t at, size_t n, const struct op *op, place_t *place,
		      uint16_t *mangled, struct tracked *track, struct made *out)
{
	bool hit = *place == op->dst;

	if (!hit && !((*place & PLACE_SLOT) ? *place == op->spoils : op->writes >> *place & 1))
		return false;
	if (!hit) {
		*out = at_op(MADE_CODE, at, op, *mangled);
		return true;
	}
	switch (op->kind) {
	case OP_CONST:
		*out = at_op(MADE_CONST, at, op, *mangled);
		return true;
	case OP_COPY:
		*place = op->src;
		if (*place != PLACE_NONE)
			return false;
		*out = at_op(MADE_CODE, at, op, *mangled);
		return true;
	case OP_SELF:
		if (mangle(*mangled, op->vaddr)) {
			*mangled = mangle(*mangled, op->vaddr);
			return false;
		}
		*out = at_op(MADE_CODE, at, op, *mangled);
		return true;
	case OP_CHOICE:
	case OP_AND:
	case OP_OR:
		*out = s->depth++ > 12 ? at_op(MADE_CODE, at, op, *mangled)
				       : choose(s, at, n, op, *mangled, track);
		return true;
	default:
		*out = at_op(op->kind == OP_FLAGS  ? MADE_FLAGS
			     : op->kind == OP_LOAD ? MADE_LOAD
						   : MADE_CODE,
			     at, op, *mangled);
		return true;
	}
}

static bool is_call(const struct plan *p, uint32_t site)
{
	uint8_t kind = site == NO_SITE ? BRANCH_NONE : p->sites.data[site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL;
}

static struct made unknown(const char *why)
{
	return (struct made){.kind = MADE_UNKNOWN, .why = why};
}

struct made slice__of(struct slicing *s, size_t from, size_t n, struct tracked from_place,
		      struct tracked *track)
{
	place_t place = from_place.place;
	uint16_t mangled = from_place.mangled;
	const struct plan *p = s->code->plan;
	bool reached = false;
	struct made out;

	for (size_t at = from + 1; at-- > 0; n = SIZE_MAX) {
		uint32_t block = s->path->data[at].block;
		const struct block_ops *ops = code__ops(s->code, block);

		if (!ops->known)
			return unknown("its code can't be read");
		if (n == SIZE_MAX) {
			track[at] = (struct tracked){place, mangled};
			n = ops->n;
			if (is_call(p, p->blocks.data[block].site) &&
			    code__clobbers(s->code, s->call->function, place))
				return (struct made){.kind = MADE_CALL,
						     .at = at,
						     .place = place,
						     .mangled = mangled};
			reached |= is_call(p, p->blocks.data[block].site) &&
				   code__may_reach(s->code, s->call->function, place);
		}
		while (n-- > 0)
			if (step_back(s, at, n, &ops->ops[n], &place, &mangled, track, &out)) {
				if (reached && !out.assumed && out.kind == MADE_CONST)
					out.assumed =
						"no function that was called has stored it by "
						"a pointer to something below it on the stack";
				return out;
			}
	}
	if (s->call->cut)
		return unknown(s->call->cut);
	/* its own part of the stack, which no caller has filled */
	if (place != PLACE_NONE && place & PLACE_SLOT && place < (PLACE_SLOT | SLOT_OFFSET))
		return unknown("it was stored there in a way that isn't followed");
	return (struct made){.kind = MADE_ARGUMENT, .place = place, .mangled = mangled};
}
