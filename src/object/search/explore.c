// SPDX-License-Identifier: BSD-2-Clause
/*
 * What direct control flow reaches from a start, within one hole and up to the next function. Code
 * after a jump that nothing fills belongs to another function, or is a part of this one.
 */
#include <stdlib.h>
#include "search_private.h"

#define INSNS_MOST 200000
#define TABLE_MOST 4096
#define UNKNOWN	   INT32_MIN

/* The stack and frame pointer, relative to the stack pointer at the start. */
struct stack {
	int32_t sp, fp;
};

struct place {
	uint64_t addr;
	struct stack stack;
	bool after_call, conditional;
};

#define ALIGNED 16 /* where compilers let functions begin */

struct explorer {
	struct search *s;
	struct exploration *e;
	VEC(struct place) work, later; /* later: beyond the end that is known */
	bool stopped;
	uint64_t main; /* a constant that is the first argument of the next call; 0: none */
};

static int32_t sum(int32_t a, int32_t b)
{
	return a == UNKNOWN ? UNKNOWN : a + b;
}

static void move_stack(const struct insn *insn, struct stack *k)
{
	switch (insn->sp_effect) {
	case SP_ADD:
		k->sp = sum(k->sp, insn->sp_value);
		break;
	case SP_FROM_FP:
		k->sp = sum(k->fp, insn->sp_value);
		break;
	case SP_FP_FROM_SP:
		k->fp = sum(k->sp, insn->sp_value);
		break;
	case SP_LEAVE:
		k->sp = sum(k->fp, insn->sp_value);
		k->fp = UNKNOWN;
		break;
	case SP_FP_LOST:
		k->fp = UNKNOWN;
		k->sp = sum(k->sp, insn->sp_value);
		break;
	case SP_SAME:
		break;
	default:
		k->sp = UNKNOWN;
	}
}

static void doubt(struct explorer *x)
{
	x->e->clean = false;
}

/* ---- references ---- */

static bool is_data(const struct object *o, uint64_t addr)
{
	const struct segment *s = object__segment_at(o, addr);

	return s && !s->exec;
}

static bool is_known_start(struct search *s, uint64_t addr)
{
	const uint8_t *mark = search__mark(s, addr);

	if (mark)
		return *mark & (MARK_FUNCTION | MARK_CLAIMED);
	return object__symbols_from(s->o, addr) < s->o->symbols.len ||
	       (object__frame_at(s->o, addr) && object__frame_at(s->o, addr)->vaddr == addr);
}

static void see_memory(struct explorer *x, const struct insn *insn)
{
	uint64_t addr = insn->addr + insn->len + insn->operand.disp;
	struct search *s = x->s;

	if (insn->operand.base != REG_IP)
		return;
	if (object__slot_at(s->o, addr))
		x->e->evidence += 2;
	else if (is_data(s->o, addr))
		x->e->evidence++;
	else if (search__mark(s, addr))
		vec__push(&x->e->reads, (struct hole){addr, addr + max_of(insn->operand.size, 1)});
}

static void see_constant(struct explorer *x, const struct insn *insn, const uint8_t *bytes)
{
	const struct search *s = x->s;
	uint64_t value;

	if (insn->flow != FLOW_NEXT || !search__address(s, bytes, insn, &value))
		return;
	if (is_data(s->o, value))
		x->e->evidence++;
	if (!object__is_code(s->o, value))
		return;
	vec__push(&x->e->constants, value);
	if (search__sets_argument(s, bytes, insn))
		x->main = value;
}

/* The C library's call of main: its first argument is a function. */
static void see_run(struct explorer *x, const struct insn *insn)
{
	if (x->main && search__runs_main(x->s, insn))
		vec__push(&x->e->calls, x->main);
	x->main = 0;
}

static void see_call(struct explorer *x, const struct insn *insn)
{
	const struct object *o = x->s->o;

	see_run(x, insn);
	if (is_known_start(x->s, insn->target))
		x->e->evidence += 2;
	if (!object__is_code(o, insn->target))
		doubt(x);
	else if (insn->target != insn->addr + insn->len)
		vec__push(&x->e->calls, insn->target);
}

static void see_slot(struct explorer *x, const struct insn *insn)
{
	see_run(x, insn);
	see_memory(x, insn);
}

/* ---- flow ---- */

static void leave(struct explorer *x, uint64_t target, const struct stack *k, bool conditional)
{
	bool within = target >= x->e->start && target < x->e->limit;
	bool unclear = target % ALIGNED || (within && conditional);

	if (is_known_start(x->s, target))
		x->e->evidence += 2;
	if (!object__is_code(x->s->o, target))
		doubt(x);
	else
		vec__push(&x->e->outs,
			  (struct jump_out){target, k->sp != 0 || unclear,
					    !k->sp && !conditional && target % ALIGNED == 0});
}

static void jump(struct explorer *x, const struct insn *insn, const struct stack *k)
{
	const uint64_t target = insn->target;
	const struct place p = {target, *k, false, insn->kind != BRANCH_JMP};

	if (target < x->e->start || target >= x->e->limit)
		leave(x, target, k, p.conditional);
	else if (target <= x->e->end)
		vec__push(&x->work, p);
	else
		vec__push(&x->later, p);
}

/* Follows the labels of a switch in a table of addresses. Returns false if it is none. */
static bool take_table(struct explorer *x, const struct insn *insn, const struct stack *k)
{
	const struct search *s = x->s;
	const struct elf_file *f = elf__of(s->o);
	const unsigned word = s->arch->word;
	uint64_t at = (uint64_t)(int64_t)insn->operand.disp, value;

	if (insn->operand.base != REG_NONE || insn->operand.scale != word || !is_data(s->o, at))
		return false;
	for (unsigned i = 0; i < TABLE_MOST; i++, at += word)
		if (!elf__word(s->o, f, at, &value) || value < x->e->start || value >= x->e->limit)
			return i;
		else
			vec__push(&x->work, (struct place){value, *k, false, false});
	return true;
}

static void check_leave(struct explorer *x, const struct stack *k)
{
	if (k->sp != UNKNOWN && k->sp != 0)
		x->e->odd_stack = true;
}

/* Returns true if control reaches the next instruction. */
static bool follow_branch(struct explorer *x, const struct insn *insn, const struct stack *k)
{
	switch (insn->kind) {
	case BRANCH_RET:
		check_leave(x, k);
		return insn->conditional;
	case BRANCH_IJMP:
		if (insn->operand.index == REG_NONE)
			see_memory(x, insn);
		if (!take_table(x, insn, k))
			x->e->switches |= insn->operand.kind == OPERAND_REG ||
					  insn->operand.index != REG_NONE;
		return insn->conditional;
	case BRANCH_JMP:
		jump(x, insn, k);
		return false;
	case BRANCH_CALL:
		see_call(x, insn);
		return true;
	case BRANCH_ICALL:
		see_slot(x, insn);
		return true;
	default:
		jump(x, insn, k);
		return true;
	}
}

/* Marks an instruction as seen. Returns false if it was, or if it overlaps another one. */
static bool see(struct explorer *x, const struct insn *insn)
{
	uint8_t *mark = search__mark(x->s, insn->addr);

	if (*mark & (MARK_INSIDE | MARK_BODY | MARK_DATA)) {
		doubt(x);
		return false;
	}
	for (unsigned i = 1; i < insn->len; i++) {
		if (mark[i] & (MARK_SEEN | MARK_START | MARK_DATA)) {
			doubt(x);
			return false;
		}
	}
	*mark |= MARK_SEEN;
	for (unsigned i = 1; i < insn->len; i++)
		mark[i] |= MARK_INSIDE;
	vec__push(&x->e->insns, (struct reached_insn){insn->addr, insn->len});
	x->e->end = max_of(x->e->end, insn->addr + insn->len);
	return true;
}

/* Returns the instruction's bytes; NULL if there is none, or not all of it is before the limit. */
static const uint8_t *decode(struct explorer *x, uint64_t addr, struct insn *insn)
{
	size_t avail;
	const uint8_t *bytes = object__bytes(x->s->o, addr, &avail);

	avail = min_of((uint64_t)avail, x->e->limit - addr);
	return bytes && !x->s->arch->decode(bytes, avail, addr, false, insn) ? bytes : NULL;
}

/* Zeros decode as additions to memory. */
static bool is_likely(const struct insn *insn, const uint8_t *bytes)
{
	return insn->flow != FLOW_UNSUPPORTED && (bytes[0] || bytes[1]);
}

static void follow(struct explorer *x, struct place p)
{
	const uint8_t *bytes;
	struct insn insn;

	while (p.addr < x->e->limit) {
		const uint8_t *mark = search__mark(x->s, p.addr);

		if (!mark || *mark & MARK_SEEN)
			return;
		if (x->e->insns.len > INSNS_MOST || !x->s->budget) {
			x->stopped = true;
			return;
		}
		x->s->budget--;
		bytes = decode(x, p.addr, &insn);
		if (!bytes || !is_likely(&insn, bytes)) {
			x->e->clean &= p.after_call;
			return;
		}
		if (!see(x, &insn))
			return;
		see_constant(x, &insn, bytes);
		if (insn.is_plain && (insn.loads || insn.stores))
			see_memory(x, &insn);
		if (insn.flow == FLOW_STOP)
			return;
		p.after_call = insn.kind == BRANCH_CALL || insn.kind == BRANCH_ICALL ||
			       (p.after_call && insn.padding) || insn.enters_kernel;
		if (insn.flow == FLOW_BRANCH && !follow_branch(x, &insn, &p.stack))
			return;
		move_stack(&insn, &p.stack);
		x->e->odd_stack |= p.stack.sp != UNKNOWN && p.stack.sp > 0;
		p.addr += insn.len;
	}
	/* compilers let nothing run into the next function but what doesn't return */
	if (!p.after_call)
		doubt(x);
}

static void drain(struct explorer *x)
{
	while (x->work.len && !x->stopped)
		follow(x, x->work.data[--x->work.len]);
}

/* ---- jumps ahead ---- */

/* Follows what is in between, now that the end is known. */
static void drain_later(struct explorer *x)
{
	bool again = true;

	while (again && !x->stopped) {
		size_t n = 0;

		drain(x);
		again = false;
		for (size_t i = 0; i < x->later.len; i++) {
			if (x->later.data[i].addr < x->e->end) {
				vec__push(&x->work, x->later.data[i]);
				again = true;
			} else {
				x->later.data[n++] = x->later.data[i];
			}
		}
		x->later.len = n;
	}
}

/* Returns true if all of [from, to) is seen or padding. */
static bool is_filled(struct explorer *x, uint64_t from, uint64_t to)
{
	unsigned len;

	while (from < to) {
		const uint8_t *mark = search__mark(x->s, from);

		if (mark && *mark & (MARK_SEEN | MARK_INSIDE))
			from++;
		else if (holes__is_padding(x->s->o, from, to, &len))
			from += len;
		else
			return false;
	}
	return true;
}

static void unmark(struct search *s, const struct reached_insn *i)
{
	uint8_t *mark = search__mark(s, i->addr);

	for (unsigned k = 0; k < i->len; k++)
		mark[k] &= ~(MARK_SEEN | MARK_INSIDE);
}

static void forget(struct explorer *x, size_t insns, uint64_t end)
{
	while (x->e->insns.len > insns)
		unmark(x->s, &x->e->insns.data[--x->e->insns.len]);
	x->e->end = end;
}

static size_t nearest(const struct explorer *x)
{
	size_t best = 0;

	for (size_t i = 1; i < x->later.len; i++)
		if (x->later.data[i].addr < x->later.data[best].addr)
			best = i;
	return best;
}

/* Takes the nearest jump beyond the end for a jump within the function, if what it leads to fills
 * the space between; else for one out of it. */
static void try_nearest(struct explorer *x)
{
	size_t best = nearest(x), insns = x->e->insns.len, calls = x->e->calls.len;
	size_t outs = x->e->outs.len, constants = x->e->constants.len, reads = x->e->reads.len;
	const struct place p = x->later.data[best];
	uint64_t end = x->e->end;
	unsigned evidence = x->e->evidence;
	bool clean = x->e->clean, odd = x->e->odd_stack;
	VEC(struct place) others = {0};
	struct place *other;

	x->later.data[best] = *vec__last(&x->later);
	x->later.len--;
	vec__each (other, &x->later)
		vec__push(&others, *other);
	vec__push(&x->work, p);
	drain_later(x);
	if (x->stopped || is_filled(x, end, p.addr)) {
		vec__free(&others);
		return;
	}
	forget(x, insns, end);
	x->e->calls.len = calls;
	x->e->outs.len = outs;
	x->e->constants.len = constants;
	x->e->reads.len = reads;
	x->e->evidence = evidence;
	x->e->clean = clean;
	x->e->odd_stack = odd;
	x->work.len = x->later.len = 0;
	vec__each (other, &others)
		if (other->addr != p.addr)
			vec__push(&x->later, *other);
	vec__free(&others);
	leave(x, p.addr, &p.stack, p.conditional);
}

void search__explore(struct search *s, uint64_t start, uint64_t limit, bool part,
		     struct exploration *out)
{
	struct explorer x = {.s = s, .e = out};
	const struct reached_insn *i;

	*out = (struct exploration){.start = start, .limit = limit, .end = start, .clean = true};
	vec__push(&x.work, (struct place){start, {part ? UNKNOWN : 0, UNKNOWN}, false, false});
	drain_later(&x);
	while (x.later.len && !x.stopped)
		try_nearest(&x);
	out->clean &= !x.stopped && out->insns.len;
	vec__each (i, &out->insns)
		unmark(s, i);
	vec__free(&x.work);
	vec__free(&x.later);
}

void exploration__free(struct exploration *e)
{
	vec__free(&e->insns);
	vec__free(&e->calls);
	vec__free(&e->outs);
	vec__free(&e->constants);
	vec__free(&e->reads);
}
