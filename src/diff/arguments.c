// SPDX-License-Identifier: BSD-2-Clause
/* The arguments of a call in both runs. */
#include <stdlib.h>
#include "diff/view.h"

static bool shows(const struct diff_view *v, const struct step_pair *steps, int side)
{
	const struct step *s = steps->of[side];

	return s && s->type == STEP_ENTRY && v->options[side].show_regs;
}

void arguments__free(struct arguments *a)
{
	struct argument *at;

	vec__each (at, &a->at)
		for (int side = 0; side < SIDES; side++)
			free(at->of[side]);
	vec__free(&a->at);
}

bool argument__is_same(const struct argument *a)
{
	return a->of[SIDE_A] && a->of[SIDE_B] && !strcmp(a->of[SIDE_A], a->of[SIDE_B]);
}

/* ---- by their types ---- */

static struct output output_of(const struct diff_view *v)
{
	const struct plan *p = v->d->outcomes->plan;

	return (struct output){.plan = p,
			       .hides_addresses = v->hide_addresses && plan__has_kernel(p)};
}

struct taking {
	struct arguments *out;
	int side;
};

static void take(void *ctx, const char *name, const char *text)
{
	struct taking *t = ctx;
	struct argument *a;

	vec__each (a, &t->out->at)
		if (!strcmp(a->name, name) && !a->of[t->side])
			break;
	if (a == vec__end(&t->out->at)) {
		a = vec__add(&t->out->at);
		a->name = name;
	}
	a->of[t->side] = xstrdup(text);
}

/* Of both sides, or of none: nothing can be compared with the other's registers. */
static bool add_typed(const struct diff_view *v, const struct step_pair *steps,
		      struct arguments *out)
{
	struct output o = output_of(v);

	for (int side = 0; side < SIDES; side++)
		if (shows(v, steps, side) && !values__has_args(&o, steps->of[side]))
			return false;
	for (int side = 0; side < SIDES; side++) {
		struct taking t = {out, side};

		if (shows(v, steps, side))
			values__each_arg(&o, steps->of[side], take, &t);
	}
	return true;
}

void arguments__put_json(const struct diff_view *v, const struct step_pair *steps, int side,
			 struct json *j)
{
	struct output o = output_of(v);

	if (!shows(v, steps, side) || !values__has_args(&o, steps->of[side]))
		return;
	json__key(j, "args");
	values__put_json(&o, j, steps->of[side]);
}

/* ---- registers ---- */

static char *hex(const uint64_t *value)
{
	struct str s = {0};

	if (!value)
		return NULL;
	str__hex(&s, *value);
	return s.data;
}

static void add(struct arguments *out, const char *name, const uint64_t *a, const uint64_t *b)
{
	vec__push(&out->at, (struct argument){name, {hex(a), hex(b)}});
}

/* For entries of system calls, if both are such. */
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

/* Adds those of the calling convention, or those that were asked for. */
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

struct arguments arguments__registers(const struct diff_view *v, const struct step_pair *steps)
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

struct arguments arguments__of(const struct diff_view *v, const struct step_pair *steps)
{
	struct arguments out = {0};

	if (!shows(v, steps, SIDE_A) && !shows(v, steps, SIDE_B))
		return out;
	out.known = add_typed(v, steps, &out);
	return out.known ? out : arguments__registers(v, steps);
}

/* ---- as text ---- */

static void put_value(const struct step_pair *steps, const struct argument *a, struct str *s)
{
	const char *x = a->of[SIDE_A] ? a->of[SIDE_A] : "?",
		   *y = a->of[SIDE_B] ? a->of[SIDE_B] : "?";

	if (steps->of[SIDE_A])
		str__puts(s, x);
	if (steps->of[SIDE_A] && steps->of[SIDE_B] && argument__is_same(a))
		return;
	if (steps->of[SIDE_A] && steps->of[SIDE_B])
		str__putc(s, '|');
	if (steps->of[SIDE_B])
		str__puts(s, y);
}

void line__arguments(const struct diff_view *v, const struct step_pair *steps, struct str *s)
{
	CLEANUP(arguments__free) struct arguments of = arguments__of(v, steps);
	const struct argument *a;

	if (!of.known)
		return;
	str__putc(s, '(');
	vec__each (a, &of.at) {
		str__puts(s, a > of.at.data ? ", " : "");
		if (a->name)
			str__shown(s, a->name);
		str__puts(s, a->name ? "=" : "");
		put_value(steps, a, s);
	}
	str__putc(s, ')');
}
