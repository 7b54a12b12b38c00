// SPDX-License-Identifier: BSD-2-Clause
/* One difference as HTML: what leads there, the two paths side by side, and where they meet. All
 * text of the traces is escaped by html__text(). */
#include "diff/view.h"

#define MOST_INDENT 24u
#define OPEN_CALLS  6

struct writer {
	const struct diff_view *v;
	const struct parting *p;
	struct str *out;
	struct str text; /* of a piece that isn't escaped yet */
	uint64_t context;
	size_t calls;
};

void html__text(struct str *out, struct str *text)
{
	str__xml(out, text->data ? text->data : "");
	str__clear(text);
}

static const struct plan *plan_of(const struct writer *w)
{
	return w->v->d->outcomes->plan;
}

/* ---- lines ---- */

static void put_source(struct writer *w, uint32_t object, uint64_t vaddr)
{
	if (!src__put_line(&w->text, plan_of(w), object, vaddr))
		return;
	put(w->out, "<span class=\"at\">");
	html__text(w->out, &w->text);
	put(w->out, "</span>");
}

static void put_site_source(struct writer *w, const struct step *s)
{
	if (s->site < plan_of(w)->sites.len && s->type != STEP_RETURN)
		put_source(w, plan_of(w)->sites.data[s->site].object,
			   plan_of(w)->sites.data[s->site].vaddr);
}

static void put_value(struct writer *w, const char *value)
{
	if (value)
		str__puts(&w->text, value);
	else
		str__putc(&w->text, '?');
	html__text(w->out, &w->text);
}

/* If the two differ, both values, marked. */
static void put_argument(struct writer *w, const struct argument *a, const struct step_pair *steps)
{
	bool differs = steps->of[SIDE_A] && steps->of[SIDE_B] && !argument__is_same(a);

	if (a->name) {
		put(w->out, "<i>");
		str__shown(&w->text, a->name);
		html__text(w->out, &w->text);
		put(w->out, "=</i>");
	}
	for (int side = 0; side < SIDES; side++) {
		if (!steps->of[side] || (!differs && side && steps->of[SIDE_A]))
			continue;
		if (differs)
			str__printf(w->out, "%s<b class=\"%s\">", side ? "|" : "",
				    side_names[side]);
		put_value(w, a->of[side]);
		if (differs)
			put(w->out, "</b>");
	}
}

static void put_arguments(struct writer *w, const struct step_pair *steps)
{
	CLEANUP(arguments__free) struct arguments of = arguments__of(w->v, steps);
	const struct argument *a;

	if (!of.known)
		return;
	put(w->out, "(");
	vec__each (a, &of.at) {
		str__puts(w->out, a > of.at.data ? ", " : "");
		put_argument(w, a, steps);
	}
	put(w->out, ")");
}

static void begin_line(struct writer *w, unsigned depth)
{
	if (depth)
		str__printf(w->out, "<p style=\"--d:%u\"><code>", min_of(depth, MOST_INDENT));
	else
		put(w->out, "<p><code>");
}

static void put_call(struct writer *w, const char *name, const struct step_pair *steps)
{
	str__shown(&w->text, name);
	put(w->out, "<b class=\"name\">");
	html__text(w->out, &w->text);
	put(w->out, "</b>");
	put_arguments(w, steps);
	put(w->out, "</code>");
}

static void put_steps(struct writer *w, const struct step_pair *steps, unsigned base)
{
	const struct step *s = steps->of[SIDE_A] ? steps->of[SIDE_A] : steps->of[SIDE_B];
	uint32_t outcome = outcomes__of(w->v->d->outcomes, s);
	unsigned depth = s->depth + (s->type == STEP_BRANCH);

	begin_line(w, depth > base ? depth - base : 0);
	line__name(w->v, outcome, steps, &w->text);
	if (s->type == STEP_ENTRY) {
		struct str name = w->text;

		w->text = (struct str){0};
		put_call(w, name.data, steps);
		str__free(&name);
	} else {
		html__text(w->out, &w->text);
		put(w->out, "</code>");
	}
	put_site_source(w, s);
	put(w->out, "</p>\n");
}

static unsigned outermost(const step_pairs *steps)
{
	const struct step_pair *pair;
	unsigned base = UINT32_MAX;

	vec__each (pair, steps) {
		const struct step *s = pair->of[SIDE_A] ? pair->of[SIDE_A] : pair->of[SIDE_B];

		base = min_of(base, s->depth + (s->type == STEP_BRANCH));
	}
	return base;
}

static void put_all(struct writer *w, const step_pairs *steps)
{
	const struct step_pair *pair;
	unsigned base = outermost(steps);

	put(w->out, "<div class=\"lines\">\n");
	vec__each (pair, steps)
		put_steps(w, pair, base);
	put(w->out, "</div>\n");
}

/* ---- what leads there ---- */

static void put_frame(struct writer *w, size_t i, unsigned depth)
{
	const struct diff_frame *f = &w->p->frames.data[i];
	struct step_pair steps = parting__call(w->v, w->p, f);
	const struct step *s = steps.of[SIDE_A] ? steps.of[SIDE_A] : steps.of[SIDE_B];

	begin_line(w, depth);
	put_call(w, function__shown(plan_of(w), f->function), &steps);
	if (s)
		put_site_source(w, s);
	put(w->out, "</p>\n");
}

/* The outer ones are shown on request. */
static void put_outer(struct writer *w, size_t first, size_t open)
{
	if (first)
		str__printf(w->out, "<p class=\"rest\">%zu more around these</p>\n", first);
	if (open == first)
		return;
	str__printf(w->out, "<details><summary>%zu outer call%s</summary>\n", open - first,
		    open - first == 1 ? "" : "s");
	for (size_t i = first; i < open; i++)
		put_frame(w, i, i - first);
	put(w->out, "</details>\n");
}

static void put_calls(struct writer *w)
{
	size_t all = w->p->frames.len, first = all > w->calls ? all - w->calls : 0;
	size_t open = all - first > OPEN_CALLS ? all - OPEN_CALLS : first;

	if (!all)
		return;
	put(w->out, "<h3>The calls that lead there</h3>\n<div class=\"lines\">\n");
	put_outer(w, first, open);
	for (size_t i = open; i < all; i++)
		put_frame(w, i, i - open);
	put(w->out, "</div>\n");
}

static void put_before(struct writer *w)
{
	step_pairs before = {0}, shown = {0};
	const struct step_pair *pair;

	both__before(w->v, w->p, w->context, &before);
	vec__each (pair, &before)
		if (!parting__is_call(w->v, w->p, pair->of[SIDE_A]))
			vec__push(&shown, *pair);
	if (shown.len) {
		put(w->out, "<h3>Both, before</h3>\n");
		put_all(w, &shown);
	}
	vec__free(&before);
	vec__free(&shown);
}

/* ---- where they part ---- */

static const struct plan_site *site_of(const struct diff_view *v, const struct parting *p)
{
	return p->kind == PART_BRANCH ? &v->d->outcomes->plan->sites.data[p->site] : NULL;
}

void html__title(const struct diff_view *v, const struct parting *p, struct str *out)
{
	const struct plan *plan = v->d->outcomes->plan;
	const struct plan_site *site = site_of(v, p);

	if (site) {
		struct location at = location__of(plan, site->object, site->vaddr);

		line__place(&at, out);
		str__printf(out, "  %s", site->mnemonic ? site->mnemonic : "?");
	} else if (p->kind == PART_THREAD) {
		int side = p->threads.a == SIZE_MAX ? SIDE_B : SIDE_A;

		str__printf(out, "a thread that only %s has", side_letters[side]);
	} else {
		if (p->frames.len) {
			str__puts(out, "in ");
			str__shown(out, function__shown(plan, vec__last(&p->frames)->function));
			str__puts(out, ", ");
		}
		str__puts(out, p->kind == PART_END ? "one has ended" : "at two places");
	}
}

static void put_source_text(struct writer *w, const struct plan_site *site)
{
	const char *text = line__source_text(w->v, site->object, site->vaddr);

	if (!text)
		return;
	str__shown(&w->text, text);
	put(w->out, "<pre>");
	html__text(w->out, &w->text);
	put(w->out, "</pre>\n");
}

static void put_fork(struct writer *w)
{
	const struct plan_site *site = site_of(w->v, w->p);

	put(w->out, "<div class=\"fork\"><p><code>");
	if (!site) {
		str__puts(w->out,
			  w->p->kind == PART_END
				  ? "one of the threads has ended"
				  : "they come to two places: what decided it is not traced");
		put(w->out, "</code></p></div>\n");
		return;
	}
	html__title(w->v, w->p, &w->text);
	html__text(w->out, &w->text);
	if (site->compare) {
		put(w->out, "</code> after <code>");
		str__shown(&w->text, site->compare);
		html__text(w->out, &w->text);
	}
	put(w->out, "</code> ");
	put_source(w, site->object, site->vaddr);
	put(w->out, "</p>\n");
	put_source_text(w, site);
	put(w->out, "</div>\n");
}

/* ---- the two ways ---- */

/* "taken -> f+0x2a": what the branch did. */
static void put_outcome(struct writer *w, int side)
{
	const struct plan_site *site = site_of(w->v, w->p);
	uint32_t outcome = w->p->outcome[side];
	const struct outcome *o = &w->v->d->outcomes->rows.data[outcome];
	const struct step *s = parting__step(w->v, w->p, side, w->p->index[side]);
	struct location to;

	if (plan_site__is_conditional(site))
		str__puts(w->out, o->taken ? "taken " : "not taken ");
	if (s && s->to_known)
		to = s->to;
	else if (!outcome__to(w->v->d->outcomes, outcome, &to))
		to = (struct location){0};
	if (!to.object && !to.addr)
		return;
	put(w->out, "&rarr; <code>");
	line__place(&to, &w->text);
	html__text(w->out, &w->text);
	put(w->out, "</code>");
}

static void put_place(struct writer *w, int side)
{
	const struct step *s = parting__step(w->v, w->p, side, w->p->index[side]);

	if (!s || !s->at.object)
		return;
	put(w->out, "comes to <code>");
	line__place(&s->at, &w->text);
	html__text(w->out, &w->text);
	put(w->out, "</code>");
}

static void put_proved(struct writer *w, int side)
{
	bool taken = w->v->d->outcomes->rows.data[w->p->outcome[side]].taken;

	if (!plan__condition(plan_of(w), w->p->site, taken, &w->text))
		return;
	put(w->out, "<p class=\"proves\"><code>");
	html__text(w->out, &w->text);
	put(w->out, "</code></p>\n");
}

/* Finds its steps until they meet, as far as they are shown. Returns false if there are more. */
static bool find_way(const struct writer *w, int side, step_pairs *out)
{
	const struct parting *p = w->p;
	uint64_t from = p->index[side] + (p->kind == PART_BRANCH), at;
	uint64_t steps = paths__thread(w->v->d->runs[side], parting__thread(p, side))->steps;
	uint64_t end = min_of(p->meet[side], steps);

	for (at = from; at < end && at - p->index[side] <= w->context; at++) {
		struct step_pair pair = {0};

		pair.of[side] = parting__step(w->v, p, side, at);
		if (!pair.of[side])
			break;
		vec__push(out, pair);
	}
	return at >= end;
}

static void put_length(struct writer *w, int side)
{
	const struct parting *p = w->p;

	put(w->out, "<p class=\"facts\">");
	if (p->kind == PART_THREAD) {
		line__number(w->out, p->own[side], "step");
		put(w->out, " in all");
	} else {
		line__number(w->out, p->own[side], "branch");
		if (p->calls[side]) {
			put(w->out, " and ");
			line__number(w->out, p->calls[side], "call");
		}
		str__puts(w->out, p->meets ? " until they meet" : " to the end");
	}
	put(w->out, "</p>\n");
}

static void put_way(struct writer *w, int side)
{
	step_pairs way = {0};
	bool whole;

	str__printf(w->out, "<div class=\"way %s\"><h3><span class=\"side %s\">%s</span> ",
		    side_names[side], side_names[side], side_letters[side]);
	if (parting__thread(w->p, side) == SIZE_MAX) {
		put(w->out, "has no such thread</h3></div>\n");
		return;
	}
	if (w->p->index[side] == UINT64_MAX) {
		put(w->out, "has ended</h3></div>\n");
		return;
	}
	if (w->p->kind == PART_BRANCH)
		put_outcome(w, side);
	else if (w->p->kind == PART_PLACE)
		put_place(w, side);
	else if (w->p->kind == PART_END)
		put(w->out, "goes on");
	put(w->out, "</h3>\n");
	if (w->p->kind == PART_BRANCH)
		put_proved(w, side);
	whole = find_way(w, side, &way);
	if (way.len)
		put_all(w, &way);
	if (!whole)
		put(w->out, "<div class=\"lines\"><p class=\"rest\">&#8942;</p></div>\n");
	put_length(w, side);
	put(w->out, "</div>\n");
	vec__free(&way);
}

static void put_meeting(struct writer *w)
{
	const struct step *s = parting__step(w->v, w->p, SIDE_A, w->p->meet[SIDE_A]);
	step_pairs after = {0};

	if (w->p->kind == PART_THREAD)
		return;
	put(w->out, "<div class=\"meet\"><h3>");
	if (!w->p->meets) {
		put(w->out, "They don't meet again</h3></div>\n");
		return;
	}
	put(w->out, "They meet again");
	both__after(w->v, w->p, max_of(w->context, (uint64_t)1), &after);
	if (!after.len && s) {
		put(w->out, " at <code>");
		line__place(&s->at, &w->text);
		html__text(w->out, &w->text);
		put(w->out, "</code>, and part there");
	}
	put(w->out, "</h3>\n");
	if (after.len)
		put_all(w, &after);
	put(w->out, "</div>\n");
	vec__free(&after);
}

/* ---- all of it ---- */

static void put_thread(struct writer *w, int side)
{
	size_t thread = parting__thread(w->p, side);
	const struct path_thread *t;

	if (thread == SIZE_MAX)
		return;
	t = paths__thread(w->v->d->runs[side], thread);
	str__printf(w->out, "<span class=\"side %s\">%s</span> ", side_names[side],
		    side_letters[side]);
	str__shown(&w->text, t->comm);
	str__printf(&w->text, "-%u, ", t->tid);
	html__text(w->out, &w->text);
}

static void put_head(struct writer *w, size_t number)
{
	uint64_t ns;

	str__printf(w->out, "<h2>Difference %zu <code>", number);
	html__title(w->v, w->p, &w->text);
	html__text(w->out, &w->text);
	put(w->out, "</code></h2>\n<p class=\"facts\">");
	for (int side = 0; side < SIDES; side++)
		put_thread(w, side);
	put(w->out, "after ");
	line__number(w->out, w->p->same, "step");
	str__puts(w->out, w->p->same == 1 ? " that is the same" : " that are the same");
	if (parting__time(w->v, w->p, &ns))
		str__printf(w->out, ", %llu.%06llu s after the start",
			    (unsigned long long)(ns / 1000000000),
			    (unsigned long long)(ns % 1000000000 / 1000));
	put(w->out, "</p>\n");
}

void html__parting(const struct diff_view *v, size_t i, uint64_t context, size_t calls,
		   struct str *out)
{
	struct writer w = {v, &v->d->partings.data[i], out, {0}, context, calls};

	str__printf(out, "<section class=\"difference\" id=\"d%zu\">\n", i + 1);
	put_head(&w, i + 1);
	put(out, "<div class=\"frame\">\n");
	if (w.p->kind != PART_THREAD) {
		put_calls(&w);
		put_before(&w);
		put_fork(&w);
	}
	put(out, "<div class=\"ways\">\n");
	put_way(&w, SIDE_A);
	put_way(&w, SIDE_B);
	put(out, "</div>\n");
	put_meeting(&w);
	put(out, "</div>\n</section>\n");
	str__free(&w.text);
}
