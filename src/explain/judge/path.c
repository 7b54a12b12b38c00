// SPDX-License-Identifier: BSD-2-Clause
/* The path that a call took, and where on it a value came about. */
#include <stdlib.h>
#include "explain/judge/calls.h"
#include "plan/graph/meet.h"

/* ---- blocks ---- */

/* Adds the blocks that fall through, from block on, up to the one that the site ends. */
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

static struct value_origin at_op(enum value_origin_kind kind, size_t at, const struct op *op,
				 uint16_t mangled)
{
	return (struct value_origin){.kind = kind,
				     .at = at,
				     .vaddr = op->vaddr,
				     .value = op->kind == OP_CONST ? op->imm : 0,
				     .mangled = mangled};
}

/* Whether this may be the wanted value: 2 if it is, 1 if it may be, 0 if it isn't. */
static unsigned fits(const struct slicing *s, const struct value_origin *m)
{
	const struct item *it;
	struct verdict *const *v;

	if (!s->has_wanted || m->mangled)
		return 1;
	if (m->kind == VALUE_CONST)
		return (uint32_t)m->value == s->wanted ? 2 : 0;
	if (m->kind != VALUE_CALL || s->path->data[m->at].item < 0)
		return 1;
	it = &s->call->items.data[s->path->data[m->at].item];
	vec__each (v, &it->results)
		if ((uint32_t)(*v)->value == s->wanted)
			return 2;
	/* the errors of traced functions are known */
	return it->enters && value__is_error((int32_t)s->wanted) ? 0 : 1;
}

/* chain: how the value was changed after this */
static bool is_const(const struct value_origin *m, bool zero, uint16_t chain)
{
	return m->kind == VALUE_CONST && m->mangled == chain && !(uint32_t)m->value == zero;
}

static bool is_same(const struct value_origin *a, const struct value_origin *b)
{
	if (a->kind != b->kind || a->mangled != b->mangled)
		return false;
	if (a->kind == VALUE_CONST)
		return (uint32_t)a->value == (uint32_t)b->value;
	return a->at == b->at && a->vaddr == b->vaddr && a->place == b->place;
}

/* The value is one of two: continues with the one that fits. */
static struct value_origin choose(struct slicing *s, size_t at, size_t n, const struct op *op,
				  uint16_t mangled, struct tracked *track)
{
	size_t size = (at + 1) * sizeof(*track);
	autofree struct tracked *others = xmalloc(size);
	struct value_origin a, b;
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
		return at_op(VALUE_CODE, at, op, mangled);
	}
	fa = fits(s, &a);
	fb = fits(s, &b);
	if (fa == fb && is_same(&a, &b))
		return a;
	if (fa == fb) {
		struct value_origin m = at_op(VALUE_UNKNOWN, at, op, mangled);

		m.why = "an instruction chose between two values, and which one isn't known";
		m.choice = (struct choice){op->vaddr, at, true};
		return m;
	}
	if (fb > fa)
		goto other;
	a.choice = a.choice.vaddr ? a.choice : (struct choice){op->vaddr, at, true};
	a.assumed = fb ? "the value is the one that the code has" : a.assumed;
	return a;
other:
	/* a function returned it whatever the instruction chose between */
	if (op->kind == OP_CHOICE && !b.choice.vaddr && !(b.kind == VALUE_CALL && fits(s, &b) == 2))
		b.choice = (struct choice){op->vaddr, at, true};
	if (op->kind == OP_CHOICE && fits(s, &a))
		b.assumed = "the value is the one that the code has";
	memcpy(track, others, size);
	return b;
}

/* Returns false if the instruction doesn't change the value. */
static bool step_back(struct slicing *s, size_t at, size_t n, const struct op *op, place_t *place,
		      uint16_t *mangled, struct tracked *track, struct value_origin *out)
{
	bool hit = *place == op->dst;

	if (!hit && !((*place & PLACE_SLOT) ? *place == op->spoils : op->writes >> *place & 1))
		return false;
	if (!hit) {
		*out = at_op(VALUE_CODE, at, op, *mangled);
		return true;
	}
	switch (op->kind) {
	case OP_CONST:
		*out = at_op(VALUE_CONST, at, op, *mangled);
		return true;
	case OP_COPY:
		*place = op->src;
		if (*place != PLACE_NONE)
			return false;
		*out = at_op(VALUE_CODE, at, op, *mangled);
		return true;
	case OP_CHANGE:
		if (mangle(*mangled, op->vaddr)) {
			*mangled = mangle(*mangled, op->vaddr);
			*place = op->src;
			return false;
		}
		*out = at_op(VALUE_CODE, at, op, *mangled);
		return true;
	case OP_CHOICE:
	case OP_AND:
	case OP_OR:
		*out = s->depth++ > 12 ? at_op(VALUE_CODE, at, op, *mangled)
				       : choose(s, at, n, op, *mangled, track);
		return true;
	default:
		*out = at_op(op->kind == OP_FLAGS  ? VALUE_FLAGS
			     : op->kind == OP_LOAD ? VALUE_LOAD
						   : VALUE_CODE,
			     at, op, *mangled);
		return true;
	}
}

static bool is_call(const struct plan *p, uint32_t site)
{
	uint8_t kind = site == NO_SITE ? BRANCH_NONE : p->sites.data[site].kind;

	return kind == BRANCH_CALL || kind == BRANCH_ICALL;
}

static struct value_origin unknown(const char *why)
{
	return (struct value_origin){.kind = VALUE_UNKNOWN, .why = why};
}

struct value_origin slice__of(struct slicing *s, size_t from, size_t n, struct tracked from_place,
			      struct tracked *track)
{
	place_t place = from_place.place;
	uint16_t mangled = from_place.mangled;
	const struct plan *p = s->code->plan;
	bool reached = false;
	struct value_origin out;

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
				return (struct value_origin){.kind = VALUE_CALL,
							     .at = at,
							     .place = place,
							     .mangled = mangled};
			reached |= is_call(p, p->blocks.data[block].site) &&
				   code__may_reach(s->code, s->call->function, place);
		}
		while (n-- > 0)
			if (step_back(s, at, n, &ops->ops[n], &place, &mangled, track, &out)) {
				if (reached && !out.assumed && out.kind == VALUE_CONST)
					out.assumed =
						"no function that was called has stored it by "
						"a pointer to something below it on the stack";
				return out;
			}
	}
	if (s->call->cut)
		return unknown(s->call->cut);
	/* Its own part of the stack, which no caller has written. */
	if (place != PLACE_NONE && place & PLACE_SLOT && place < (PLACE_SLOT | SLOT_OFFSET))
		return (struct value_origin){
			.kind = VALUE_UNKNOWN,
			.place = place,
			.why = "it was stored there in a way that isn't followed"};
	return (struct value_origin){.kind = VALUE_ARGUMENT, .place = place, .mangled = mangled};
}

/* ---- addresses ---- */

uint64_t slice__slot_address(const struct slicing *s, place_t slot)
{
	return s->call->sp ? s->call->sp + (slot & ~PLACE_SLOT) - SLOT_OFFSET : 0;
}

uint64_t slice__address(struct slicing *s, size_t at, uint64_t vaddr)
{
	const struct convention *v = &s->code->plan->arch->conventions[CONVENTION_C];
	uint32_t block = s->path->data[at].block;
	const struct block_ops *ops = code__ops(s->code, block);
	autofree struct tracked *room = xcalloc(s->path->len, sizeof(*room));
	struct slicing any = *s;
	struct value_origin m;
	struct operand mem;
	size_t n = 0;

	while (n < ops->n && ops->ops[n].vaddr != vaddr)
		n++;
	if (n == ops->n || !s->call->nargs || s->call->cut ||
	    !code__memory(s->code, s->code->plan->blocks.data[block].object, vaddr, &mem) ||
	    mem.base >= EVENT_REGS)
		return 0;
	any.has_wanted = false;
	m = slice__of(&any, at, n, (struct tracked){mem.base, 0}, room);
	for (unsigned i = 0; m.kind == VALUE_ARGUMENT && !m.mangled && i < s->call->nargs; i++)
		if (v->args[i] == m.place && s->call->args[i])
			return s->call->args[i] + mem.disp;
	return 0;
}
