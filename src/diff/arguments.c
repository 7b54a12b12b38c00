// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of a call in both runs. */
#include "diff/view.h"

static bool shows(const struct diff_view *v, const struct step_pair *steps, int side)
{
	const struct step *s = steps->of[side];

	return s && s->type == STEP_ENTRY && v->options[side].show_regs;
}

static void add(struct arguments *out, const char *name, const uint64_t *a, const uint64_t *b)
{
	if (out->n < ARRAY_SIZE(out->at))
		out->at[out->n++] = (struct argument){name, {a, b}};
}

bool argument__is_same(const struct argument *a)
{
	const uint64_t *x = a->of[SIDE_A], *y = a->of[SIDE_B];

	return x && y && *x == *y;
}

/* Of entries of system calls, if both are such. */
static bool add_words(const struct step *a, const struct step *b, struct arguments *out)
{
	unsigned n;

	if ((a && !a->syscall_args) || (b && !b->syscall_args))
		return false;
	n = a && b ? max_of(a->nsyscall_args, b->nsyscall_args)
	    : a	   ? a->nsyscall_args
		   : b->nsyscall_args;
	for (unsigned i = 0; i < n; i++)
		add(out, NULL, a && i < a->nsyscall_args ? &a->syscall_args[i] : NULL,
		    b && i < b->nsyscall_args ? &b->syscall_args[i] : NULL);
	return true;
}

static const uint64_t *value(const struct step *s, unsigned reg)
{
	return s && s->regs ? &s->regs[reg] : NULL;
}

static void add_register(const struct arch *arch, unsigned reg, const struct step *a,
			 const struct step *b, struct arguments *out)
{
	if (reg < EVENT_REGS && reg < arch->nregs && arch->reg_names[reg])
		add(out, arch->reg_names[reg], value(a, reg), value(b, reg));
}

/* Those of the calling convention, or those that were asked for. */
static void add_registers(const struct diff_view *v, const struct step *a, const struct step *b,
			  struct arguments *out)
{
	const struct plan *p = v->d->outcomes->plan;
	const struct step *one = a ? a : b;
	unsigned flags =
		one->function < p->functions.len ? p->functions.data[one->function].flags : 0;
	const struct convention *c =
		&p->arch->conventions[flags & FUNCTION_GO_ARGS ? CONVENTION_GO : CONVENTION_C];
	uint64_t asked = (a ? v->options[SIDE_A].regs : 0) | (b ? v->options[SIDE_B].regs : 0);

	out->known = value(a, 0) || value(b, 0);
	if (!out->known)
		return;
	for (unsigned r = 0; asked && r < EVENT_REGS; r++)
		if (asked >> r & 1)
			add_register(p->arch, r, a, b, out);
	out->known = asked || !(flags & FUNCTION_NO_ARGS);
	for (unsigned i = 0; !asked && out->known && i < c->nargs; i++)
		add_register(p->arch, c->args[i], a, b, out);
}

struct arguments arguments__of(const struct diff_view *v, const struct step_pair *steps)
{
	struct arguments out = {0};
	const struct step *a = shows(v, steps, SIDE_A) ? steps->of[SIDE_A] : NULL,
			  *b = shows(v, steps, SIDE_B) ? steps->of[SIDE_B] : NULL;

	if (!a && !b)
		return out;
	out.known = add_words(a, b, &out);
	if (!out.known && v->d->outcomes->plan->arch)
		add_registers(v, a, b, &out);
	return out;
}

static void put_one(const uint64_t *value, struct str *s)
{
	if (value)
		str__hex(s, *value);
	else
		str__putc(s, '?');
}

static void put_value(const struct step_pair *steps, const struct argument *a, struct str *s)
{
	if (steps->of[SIDE_A])
		put_one(a->of[SIDE_A], s);
	if (steps->of[SIDE_A] && steps->of[SIDE_B] && argument__is_same(a))
		return;
	if (steps->of[SIDE_A] && steps->of[SIDE_B])
		str__putc(s, '|');
	if (steps->of[SIDE_B])
		put_one(a->of[SIDE_B], s);
}

void line__arguments(const struct diff_view *v, const struct step_pair *steps, struct str *s)
{
	struct arguments of = arguments__of(v, steps);

	if (!of.known)
		return;
	str__putc(s, '(');
	for (unsigned i = 0; i < of.n; i++) {
		const struct argument *a = &of.at[i];

		str__printf(s, "%s%s%s", i ? ", " : "", a->name ? a->name : "", a->name ? "=" : "");
		put_value(steps, a, s);
	}
	str__putc(s, ')');
}
