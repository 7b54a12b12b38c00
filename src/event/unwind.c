// SPDX-License-Identifier: BSD-2-Clause
/*
 * unwind: the callers of a thread, by its registers, a copy of its stack and the rules of the code
 * (object/rules.h; DWARF 5, 2.5 and 6.4). Everything is untrusted: the rules are of the program's
 * files, the stack is what it left there.
 */
#include <dwarf.h>
#include <errno.h>
#include "arch/arch.h"
#include "event/event.h"
#include "object/object.h"

#define VALUES_MAX 32 /* on the stack of an expression */

struct frame_state {
	uint64_t regs[RULE_REGS]; /* by DWARF number */
	uint64_t known;		  /* one bit each */
	uint64_t pc;
	bool exact; /* the pc is that of the next instruction, not of the one after a call */
};

struct walk {
	const struct arch_dwarf *layout;
	uint8_t word; /* bytes of an address */
	const struct stack_copy *copy;
	struct frame_state now;
	enum stack_end end; /* why a value isn't known */
};

/* ---- expressions ---- */

struct values {
	uint64_t at[VALUES_MAX];
	unsigned n;
	bool bad;
};

static void push(struct values *v, uint64_t value)
{
	if (v->n == VALUES_MAX)
		v->bad = true;
	else
		v->at[v->n++] = value;
}

static uint64_t pop(struct values *v)
{
	if (!v->n) {
		v->bad = true;
		return 0;
	}
	return v->at[--v->n];
}

static void pick(struct values *v, uint64_t index)
{
	if (index < v->n)
		push(v, v->at[v->n - 1 - index]);
	else
		v->bad = true;
}

/* Loads a word of the stack. Returns false if it isn't in the copy; w->end says why. */
static bool load(struct walk *w, uint64_t addr, uint64_t *value)
{
	const struct stack_copy *c = w->copy;

	*value = 0;
	if (addr - c->start <= c->len && c->len - (addr - c->start) >= w->word) {
		memcpy(value, c->bytes + (addr - c->start), w->word);
		return true;
	}
	if (addr - c->other.start <= c->other.len &&
	    c->other.len - (addr - c->other.start) >= w->word) {
		memcpy(value, c->bytes + c->other.at + (addr - c->other.start), w->word);
		return true;
	}
	w->end = c->cut || addr < c->start || addr - c->start > c->len ? STACK_CUT
								       : STACK_UNREADABLE;
	return false;
}

static void push_register(struct walk *w, struct values *v, uint64_t reg, uint64_t offset)
{
	if (reg < RULE_REGS && w->now.known >> reg & 1)
		push(v, w->now.regs[reg] + offset);
	else
		v->bad = true;
}

static uint64_t binary(struct values *v, uint8_t atom, uint64_t a, uint64_t b)
{
	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (uint64_t)((int64_t)a >> min_of(b, 63u));
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_ge:
		return (int64_t)a >= (int64_t)b;
	case DW_OP_gt:
		return (int64_t)a > (int64_t)b;
	case DW_OP_le:
		return (int64_t)a <= (int64_t)b;
	case DW_OP_lt:
		return (int64_t)a < (int64_t)b;
	}
	v->bad = true;
	return 0;
}

static void run_other(struct walk *w, struct values *v, const struct rule_op *op)
{
	uint64_t a, b, word = 0;

	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(w, v, op->a, op->b);
	case DW_OP_regx:
		return push_register(w, v, op->a, 0);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(v, op->a);
	case DW_OP_deref:
		v->bad |= !load(w, pop(v), &word);
		return push(v, word);
	case DW_OP_dup:
		return pick(v, 0);
	case DW_OP_over:
		return pick(v, 1);
	case DW_OP_pick:
		return pick(v, op->a);
	case DW_OP_drop:
		pop(v);
		return;
	case DW_OP_swap:
		b = pop(v);
		a = pop(v);
		push(v, b);
		return push(v, a);
	case DW_OP_neg:
		return push(v, -pop(v));
	case DW_OP_not:
		return push(v, ~pop(v));
	case DW_OP_plus_uconst:
		return push(v, pop(v) + op->a);
	case DW_OP_nop:
	case DW_OP_stack_value:
		return;
	}
	b = pop(v);
	a = pop(v);
	push(v, binary(v, op->atom, a, b));
}

/* cfa is NULL if it is what is computed. Returns false if the value is not known. */
static bool evaluate(struct walk *w, const struct rule_op *ops, unsigned n, const uint64_t *cfa,
		     uint64_t *value)
{
	struct values v = {.n = 0};

	w->end = STACK_NO_RULES;
	for (const struct rule_op *op = ops; op < ops + n && !v.bad; op++) {
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
			push(&v, op->atom - DW_OP_lit0);
		else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
			push_register(w, &v, op->atom - DW_OP_breg0, op->a);
		else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
			push_register(w, &v, op->atom - DW_OP_reg0, 0);
		else if (op->atom == DW_OP_call_frame_cfa && cfa)
			push(&v, *cfa);
		else
			run_other(w, &v, op);
	}
	*value = pop(&v);
	return !v.bad;
}

/* ---- a frame's caller ---- */

static bool is_value(const struct rule_op *last)
{
	return last->atom == DW_OP_stack_value || last->atom == DW_OP_regx ||
	       (last->atom >= DW_OP_reg0 && last->atom <= DW_OP_reg31);
}

static bool find_register(struct walk *w, const struct rule_row *row, unsigned reg, uint64_t cfa,
			  uint64_t *value)
{
	const struct rule *rule = &row->set->regs[reg];
	const struct rule_op *ops = row->ops + rule->first;
	uint64_t at;

	if (rule->kind == RULE_SAME) {
		*value = w->now.regs[reg];
		return w->now.known >> reg & 1;
	}
	if (rule->kind != RULE_OPS_LEAD || !rule->n || !evaluate(w, ops, rule->n, &cfa, &at))
		return false;
	*value = at;
	return is_value(&ops[rule->n - 1]) || load(w, at, value);
}

/* The pc becomes the return address, without a signature: those of the kernel's half keep the upper
 * bits. */
static void go_back(struct walk *w)
{
	const struct arch_dwarf *l = w->layout;
	uint64_t pc = w->now.regs[l->return_reg];

	if (l->address_bits && !(pc >> 55 & 1))
		pc &= (1ull << l->address_bits) - 1;
	w->now.pc = w->now.regs[l->return_reg] = pc;
}

/* Returns false if there is no caller; w->end says why. */
static bool step_by_rules(struct walk *w, const struct rule_row *row)
{
	const struct arch_dwarf *l = w->layout;
	const struct rule *rule = &row->set->cfa;
	struct frame_state next = {.exact = row->signal};
	uint64_t cfa;

	if (row->set->regs[l->return_reg].kind == RULE_UNDEFINED) {
		w->end = STACK_WHOLE;
		return false;
	}
	if (!rule->n || !evaluate(w, row->ops + rule->first, rule->n, NULL, &cfa)) {
		w->end = rule->n ? w->end : STACK_NO_RULES;
		return false;
	}
	/* the return address last: w->end is about it */
	for (unsigned i = 0; i < l->nregs; i++)
		if (find_register(w, row, i, cfa, &next.regs[i]))
			next.known |= 1ull << i;
	if (!(next.known >> l->return_reg & 1))
		return false;
	w->now = next;
	go_back(w);
	return true;
}

/* By the frame pointer: it points to the caller's, which the return address follows. */
static bool step_by_pointer(struct walk *w)
{
	const struct arch_dwarf *l = w->layout;
	uint64_t cfa = w->now.regs[l->fp] + l->cfa;
	struct frame_state next = {.known = 1ull << l->fp | 1ull << l->entry_reg |
					    1ull << l->return_reg};

	w->end = STACK_NO_RULES;
	if (!(w->now.known >> l->fp & 1) || !load(w, cfa + l->fp_at, &next.regs[l->fp]) ||
	    !load(w, cfa + l->return_at, &next.regs[l->return_reg]))
		return false;
	next.regs[l->entry_reg] = cfa;
	w->now = next;
	go_back(w);
	return true;
}

/* The frame pointer leads to a record of both. Where the caller's stack pointer is isn't known. */
static bool step_by_record(struct walk *w)
{
	const struct arch_dwarf *l = w->layout;
	uint64_t fp = w->now.regs[l->fp];
	struct frame_state next = {.known = 1ull << l->fp | 1ull << l->return_reg};

	w->end = STACK_NO_RULES;
	if (!(w->now.known >> l->fp & 1) || !load(w, fp, &next.regs[l->fp]) ||
	    !load(w, fp + sizeof(fp), &next.regs[l->return_reg]))
		return false;
	w->now = next;
	go_back(w);
	return true;
}

/* Outer frames are at higher addresses, but for those on another stack. Where calls link, the
 * innermost one may have no frame. */
static bool leads_out(const struct walk *w, const struct frame_state *before)
{
	unsigned sp = w->layout->entry_reg;

	return !(w->now.known >> sp & 1) || !(before->known >> sp & 1) ||
	       w->now.regs[sp] > before->regs[sp] ||
	       (w->layout->links && before->exact && w->now.regs[sp] == before->regs[sp]);
}

/* At a function's first instruction, only what the call pushed has changed. */
static bool step_by_entry(struct walk *w)
{
	const struct arch_dwarf *l = w->layout;
	uint64_t cfa = w->now.regs[l->entry_reg] + l->entry_offset;

	if (l->links ? !w->now.exact || !(w->now.known >> l->return_reg & 1)
		     : !load(w, cfa + l->return_at, &w->now.regs[l->return_reg]))
		return false;
	w->now.exact = false;
	w->now.regs[l->entry_reg] = cfa;
	go_back(w);
	return true;
}

/* Only a jump or a call has led there. Other code, such as a ret of a wrong address, leaves no
 * return address. */
static bool step_by_call(struct walk *w, const struct unwind_lookup *lookup)
{
	struct frame_state before = w->now;

	if (step_by_entry(w) && lookup->follows_call(lookup->ctx, w->now.pc))
		return true;
	w->now = before;
	w->end = STACK_NO_RULES;
	return false;
}

static bool step_by(struct walk *w, const struct unwind_rules *r,
		    const struct unwind_lookup *lookup)
{
	if (r->no_code)
		return w->now.exact && step_by_call(w, lookup);
	if (r->known)
		return step_by_rules(w, &r->row);
	if (r->link == FRAME_POINTER)
		return w->layout->go_records ? step_by_record(w) : step_by_pointer(w);
	if (r->link == FRAME_OUTERMOST)
		w->end = STACK_WHOLE;
	return r->link != FRAME_OUTERMOST && r->entry && step_by_entry(w);
}

static bool step(struct walk *w, const struct unwind_lookup *lookup)
{
	uint64_t addr = w->now.pc - !w->now.exact;
	struct frame_state before = w->now;
	struct unwind_rules rules = {.link = FRAME_UNKNOWN};

	lookup->find(lookup->ctx, addr, &rules);
	w->end = STACK_NO_RULES;
	if (!step_by(w, &rules, lookup))
		return false;
	/* a return to 0 is the stack's end; a signal may have interrupted a call of 0 */
	if (!w->now.pc && !w->now.exact) {
		w->end = STACK_WHOLE;
		return false;
	}
	w->end = STACK_UNREADABLE;
	return w->now.exact || leads_out(w, &before);
}

void unwind__stack(const struct arch *arch, const uint64_t *regs, const struct stack_copy *copy,
		   const struct unwind_lookup *lookup, struct unwound *out)
{
	struct walk w = {
		.layout = &arch->dwarf, .word = arch->word, .copy = copy, .end = STACK_NO_RULES};

	for (unsigned i = 0; i < w.layout->nregs; i++) {
		w.now.regs[i] = regs[w.layout->regs[i]];
		w.now.known |= 1ull << i;
	}
	w.now.pc = regs[arch->ip_reg];
	w.now.exact = true;
	*out = (struct unwound){.stack = {regs[arch->ip_reg]}, .exact = 1, .n = 1};
	while (w.layout->nregs && out->n < STACK_FRAMES && step(&w, lookup)) {
		out->exact |= (uint64_t)w.now.exact << out->n;
		out->stack[out->n++] = w.now.pc;
	}
	out->end = out->n == STACK_FRAMES ? STACK_LIMIT : w.end;
}
