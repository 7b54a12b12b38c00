// SPDX-License-Identifier: BSD-2-Clause
/* Steps and places as text, for the text format and the page. */
#include "diff/view.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_location(struct str *s, const struct location *l, const char *own)
{
	if (l->symbol) {
		str__shown(s, l->symbol);
		if (l->offset)
			str__printf(s, "+0x%llx", (unsigned long long)l->offset);
	} else {
		str__hex(s, l->object ? l->vaddr : l->addr);
	}
	if (!l->object || !own || strcmp(base_name(l->object), base_name(own)) != 0) {
		str__puts(s, " [");
		str__shown(s, l->object ? base_name(l->object) : "anonymous");
		str__putc(s, ']');
	}
}

struct location place__of(const struct plan *p, uint32_t object, uint64_t vaddr)
{
	const struct object *o = p->objects.data[object].object;
	struct location l = {.object = p->objects.data[object].path, .vaddr = vaddr, .addr = vaddr};
	uint32_t function = plan__function_at(p, object, vaddr);
	const struct symbol *symbol;

	if (function != NO_FUNCTION)
		l.symbol = plan__name_at(p, function, vaddr, &l.offset);
	else if (o && (symbol = object__symbol_at(o, vaddr))) {
		l.symbol = symbol->shown;
		l.offset = vaddr - symbol->vaddr;
	}
	return l;
}

static void put_branch(const struct diff_view *v, const struct outcome *o, const struct step *step,
		       struct str *s)
{
	const struct plan *p = v->d->outcomes->plan;
	const struct plan_site *site = &p->sites.data[o->site];
	const struct outcome_target *t = &v->d->outcomes->targets.data[o->target];
	struct location at = place__of(p, site->object, site->vaddr), to;

	put_location(s, &at, at.object);
	str__printf(s, "  %s", site->mnemonic ? site->mnemonic : "?");
	if (plan_site__is_conditional(site))
		str__puts(s, o->taken ? "  taken" : "  not taken");
	str__puts(s, " -> ");
	if (step && step->to_known)
		return put_location(s, &step->to, at.object);
	if (o->target != NO_TARGET) {
		to = (struct location){.object = t->object,
				       .symbol = t->symbol,
				       .offset = t->symbol ? t->offset : 0,
				       .vaddr = t->vaddr};
		return put_location(s, &to, at.object);
	}
	if (!site->target)
		return str__putc(s, '?');
	to = place__of(p, site->object,
		       plan_site__is_conditional(site) && !o->taken ? site->vaddr + site->len
								    : site->target);
	put_location(s, &to, at.object);
}

const char *function__shown(const struct plan *p, uint32_t function)
{
	return function < p->functions.len ? p->functions.data[function].name : "?";
}

void line__outcome(const struct diff_view *v, uint32_t outcome, const struct step *step,
		   struct str *s)
{
	const struct outcome *o = &v->d->outcomes->rows.data[outcome];
	const struct plan *p = v->d->outcomes->plan;

	switch (o->type) {
	case OUTCOME_BRANCH:
		put_branch(v, o, step, s);
		break;
	case OUTCOME_ENTRY:
		str__shown(s, function__shown(p, o->function));
		line__arguments(v, step, NULL, s);
		break;
	case OUTCOME_RETURN:
		str__shown(s, function__shown(p, o->function));
		str__puts(s, " returns");
		if (step && step->has_value)
			str__printf(s, " 0x%llx", (unsigned long long)step->value);
		break;
	case OUTCOME_GAP:
		str__puts(s, "-- path unknown --");
		break;
	}
}

static void put_value(struct str *s, const uint64_t *a, const uint64_t *b)
{
	if (a)
		str__hex(s, *a);
	if (a && b && *a == *b)
		return;
	if (a && b)
		str__putc(s, '|');
	if (b)
		str__hex(s, *b);
}

/* Each register with its value in A, and, behind a bar, in B where that differs. */
void line__arguments(const struct diff_view *v, const struct step *a, const struct step *b,
		     struct str *s)
{
	const struct step *one = a ? a : b;
	const struct plan *p = v->d->outcomes->plan;
	const struct convention *c = &p->arch->conventions[CONVENTION_C];
	const struct plan_function *f =
		one && one->function < p->functions.len ? &p->functions.data[one->function] : NULL;

	if (!one || one->type != STEP_ENTRY)
		return;
	if (one->syscall_args && (!b || !a || b->syscall_args)) {
		str__putc(s, '(');
		for (unsigned i = 0; i < one->nsyscall_args; i++) {
			str__puts(s, i ? ", " : "");
			put_value(s, a ? &a->syscall_args[i] : NULL,
				  b ? &b->syscall_args[i] : NULL);
		}
		str__putc(s, ')');
		return;
	}
	if (f && f->flags & FUNCTION_GO_ARGS)
		c = &p->arch->conventions[CONVENTION_GO];
	if (!one->regs || (f && f->flags & FUNCTION_NO_ARGS))
		return;
	str__putc(s, '(');
	for (unsigned i = 0; i < c->nargs; i++) {
		unsigned r = c->args[i];

		str__printf(s, "%s%s=", i ? ", " : "", p->arch->reg_names[r]);
		put_value(s, a && a->regs ? &a->regs[r] : NULL, b && b->regs ? &b->regs[r] : NULL);
	}
	str__putc(s, ')');
}

/* "p.c:42", or what was inlined there: "util.h:7 clamp, p.c:42". False: it isn't known. */
bool line__source(const struct diff_view *v, uint32_t object, uint64_t vaddr, struct str *s)
{
	struct plan_frame f;
	bool any = false;

	if (!plan__source(v->d->outcomes->plan, object, vaddr, &f))
		return false;
	do {
		if (!f.file || !f.line)
			continue;
		str__puts(s, any ? ", " : "");
		str__shown(s, base_name(f.file));
		str__printf(s, ":%u", f.line);
		if (f.scope && f.scope->parent != NO_SCOPE && f.scope->name)
			str__printf(s, " %s", f.scope->name);
		any = true;
	} while (plan__source_outer(v->d->outcomes->plan, &f));
	return any;
}

/* The text of the source line; NULL: it isn't known, or can't be shown. */
const char *line__source_text(const struct diff_view *v, uint32_t object, uint64_t vaddr)
{
	struct plan_frame f;
	const char *text;

	if (!v->source || !plan__source(v->d->outcomes->plan, object, vaddr, &f) || !f.file)
		return NULL;
	text = v->source(v->source_ctx, v->d->outcomes->plan->objects.data[object].path, f.file,
			 f.line);
	return text ? text + strspn(text, " \t") : NULL;
}

size_t parting__thread(const struct parting *p, int side)
{
	return side == SIDE_A ? p->threads.a : p->threads.b;
}

const struct step *parting__step(const struct diff_view *v, const struct parting *p, int side,
				 uint64_t index)
{
	return v->steps && index != UINT64_MAX
		       ? diff_steps__at(v->steps, side, parting__thread(p, side), index)
		       : NULL;
}
