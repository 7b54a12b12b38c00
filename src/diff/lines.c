// SPDX-License-Identifier: BSD-2-Clause
/* Steps and places as text, for the text format and the page. */
#include "diff/view.h"

const char *const side_letters[SIDES] = {"A", "B"};
const char *const side_names[SIDES] = {"a", "b"};

void line__number(struct str *s, uint64_t n, const char *one)
{
	size_t len = strlen(one);

	str__dec(s, n);
	str__putc(s, ' ');
	str__puts(s, one);
	if (n != 1)
		str__puts(s, len > 2 && !strcmp(one + len - 2, "ch") ? "es" : "s");
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
	if (!l->object || !own || strcmp(path__base_name(l->object), path__base_name(own)) != 0) {
		str__puts(s, " [");
		str__shown(s, l->object ? path__base_name(l->object) : "anonymous");
		str__putc(s, ']');
	}
}

void line__place(const struct location *at, struct str *s)
{
	put_location(s, at, at->object);
}

struct location location__of(const struct plan *p, uint32_t object, uint64_t vaddr)
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

bool outcome__to(const struct outcomes *o, uint32_t outcome, struct location *to)
{
	const struct outcome *r = &o->rows.data[outcome];
	const struct plan_site *site = &o->plan->sites.data[r->site];
	const struct outcome_target *t = &o->targets.data[r->target];

	if (r->target != NO_TARGET)
		*to = (struct location){.object = t->object,
					.symbol = t->symbol,
					.offset = t->symbol ? t->offset : 0,
					.vaddr = t->vaddr};
	else if (site->target)
		*to = location__of(o->plan, site->object,
				   plan_site__is_conditional(site) && !r->taken
					   ? site->vaddr + site->len
					   : site->target);
	return r->target != NO_TARGET || site->target;
}

/* Puts that of both, if they know it; if it is of two builds of a library, at two offsets. */
static void put_target(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		       const char *own, struct str *s)
{
	const struct step *one =
		steps ? (steps->of[SIDE_A] ? steps->of[SIDE_A] : steps->of[SIDE_B]) : NULL;
	struct location to;

	if (one && one->to_known)
		put_location(s, &one->to, own);
	else if (outcome__to(v->d->outcomes, outcome, &to))
		put_location(s, &to, own);
	else
		str__putc(s, '?');
	if (one && one == steps->of[SIDE_A] && steps->of[SIDE_B] && one->to_known &&
	    steps->of[SIDE_B]->to_known && one->to.symbol &&
	    one->to.offset != steps->of[SIDE_B]->to.offset)
		str__printf(s, "|+0x%llx", (unsigned long long)steps->of[SIDE_B]->to.offset);
}

static void put_branch(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		       struct str *s)
{
	const struct outcome *o = &v->d->outcomes->rows.data[outcome];
	const struct plan *p = v->d->outcomes->plan;
	const struct plan_site *site = &p->sites.data[o->site];
	struct location at = location__of(p, site->object, site->vaddr);

	put_location(s, &at, at.object);
	str__puts(s, "  ");
	str__shown(s, site->mnemonic ? site->mnemonic : "?");
	if (plan_site__is_conditional(site))
		str__puts(s, o->taken ? "  taken" : "  not taken");
	str__puts(s, " -> ");
	put_target(v, outcome, steps, at.object, s);
}

const char *function__shown(const struct plan *p, uint32_t function)
{
	return function < p->functions.len ? p->functions.data[function].name : "?";
}

/* Puts the value in A and, after a bar, that in B if it differs. */
static void put_returned(const struct arch *arch, const struct step_pair *steps, struct str *s)
{
	const struct step *first = NULL;

	for (int side = 0; steps && side < SIDES; side++) {
		const struct step *of = steps->of[side];

		if (!of || !of->has_value || (first && first->value == of->value))
			continue;
		str__putc(s, first ? '|' : ' ');
		put_untyped(s, arch, of->value);
		first = of;
	}
}

void line__name(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		struct str *s)
{
	const struct outcome *o = &v->d->outcomes->rows.data[outcome];
	const struct plan *p = v->d->outcomes->plan;

	switch (o->type) {
	case OUTCOME_BRANCH:
		put_branch(v, outcome, steps, s);
		break;
	case OUTCOME_ENTRY:
		str__shown(s, function__shown(p, o->function));
		break;
	case OUTCOME_RETURN:
		str__shown(s, function__shown(p, o->function));
		str__puts(s, " returns");
		put_returned(p->arch, steps, s);
		break;
	case OUTCOME_GAP:
		str__puts(s, "-- path unknown --");
		break;
	}
}

void line__outcome(const struct diff_view *v, uint32_t outcome, const struct step_pair *steps,
		   struct str *s)
{
	line__name(v, outcome, steps, s);
	if (steps)
		line__arguments(v, steps, s);
}

/* Returns the text of the source line; NULL if it isn't known, or can't be shown. */
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

uint64_t step__own_time(const struct diff_view *v, int side, const struct step *s)
{
	return s->time -
	       (s->time ? v->options[side].realtime_offset - v->options[SIDE_A].realtime_offset
			: 0);
}

/* Of the step there, or of one shortly before it that has a time. */
bool parting__time(const struct diff_view *v, const struct parting *p, uint64_t *ns)
{
	int side = p->index[SIDE_A] == UINT64_MAX ? SIDE_B : SIDE_A;
	uint64_t at = p->index[side];
	const struct step *s = parting__step(v, p, side, at);

	while (s && !s->timed && at)
		s = parting__step(v, p, side, --at);
	if (!s || !s->timed || step__own_time(v, side, s) < v->options[side].start_time)
		return false;
	*ns = step__own_time(v, side, s) - v->options[side].start_time;
	return true;
}

struct step_pair parting__call(const struct diff_view *v, const struct parting *p,
			       const struct diff_frame *f)
{
	return (struct step_pair){{parting__step(v, p, SIDE_A, f->entry[SIDE_A]),
				   parting__step(v, p, SIDE_B, f->entry[SIDE_B])}};
}

bool parting__is_call(const struct diff_view *v, const struct parting *p, const struct step *s)
{
	for (size_t i = parting__first_call(p); i < p->frames.len; i++)
		if (parting__call(v, p, &p->frames.data[i]).of[SIDE_A] == s)
			return true;
	return false;
}

size_t parting__first_call(const struct parting *p)
{
	return p->frames.len > DIFF_CALLS ? p->frames.len - DIFF_CALLS : 0;
}

void view__hide_addresses(const struct diff_view *v, struct str *out, size_t start, bool columns)
{
	struct str tail = {0};

	if (!v->hide_addresses || !plan__has_kernel(v->d->outcomes->plan))
		return;
	str__put(&tail, out->data + start, out->len - start);
	out->len = start;
	address__hide(&tail, columns);
	str__put(out, tail.data, tail.len);
	str__free(&tail);
}
