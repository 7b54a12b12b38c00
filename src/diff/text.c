// SPDX-License-Identifier: BSD-2-Clause
/* Differences as text: what both do, and after < and > what only A and only B do, as diff(1). */
#include "diff/view.h"

#define SOURCE_COLUMN 64

struct writer {
	const struct diff_view *v;
	struct str *out;
	size_t line; /* where it begins */
};

enum mark { BOTH = ' ', OF_A = '<', OF_B = '>' };

static void paint(struct writer *w, const char *code)
{
	if (w->v->color)
		str__puts(w->out, code);
}

static void begin(struct writer *w, enum mark mark, unsigned depth)
{
	if (mark != BOTH)
		paint(w, mark == OF_A ? "\033[31m" : "\033[32m");
	w->line = w->out->len;
	str__printf(w->out, "%c %*s", mark, (int)(2 * min_of(depth, 20u)), "");
}

static void end(struct writer *w)
{
	paint(w, "\033[0m");
	str__putc(w->out, '\n');
}

/* The source of an address, at the right. */
static void put_source(struct writer *w, uint32_t object, uint64_t vaddr)
{
	autofree struct str source = {0};
	size_t width = w->out->len - w->line;

	if (!src__put_line(&source, w->v->d->outcomes->plan, object, vaddr))
		return;
	paint(w, "\033[2m");
	str__printf(w->out, "%*s%s", (int)(width + 2 < SOURCE_COLUMN ? SOURCE_COLUMN - width : 2),
		    "", source.data);
}

static void put_steps(struct writer *w, enum mark mark, const struct step_pair *steps)
{
	const struct diff *d = w->v->d;
	const struct step *s = steps->of[mark == OF_B ? SIDE_B : SIDE_A];
	uint32_t outcome = outcomes__of(d->outcomes, s);

	begin(w, mark, s->depth + (s->type == STEP_BRANCH));
	line__outcome(w->v, outcome, steps, w->out);
	if (s->site < d->outcomes->plan->sites.len && s->type != STEP_RETURN)
		put_source(w, d->outcomes->plan->sites.data[s->site].object,
			   d->outcomes->plan->sites.data[s->site].vaddr);
	end(w);
}

static void put_step(struct writer *w, int side, const struct step *s)
{
	struct step_pair steps = {0};

	steps.of[side] = s;
	put_steps(w, side == SIDE_A ? OF_A : OF_B, &steps);
}

/* ---- one parting ---- */

static void put_thread(struct writer *w, const struct parting *p, int side)
{
	const struct path_thread *t;

	if (parting__thread(p, side) == SIZE_MAX)
		return;
	t = paths__thread(w->v->d->runs[side], parting__thread(p, side));
	str__puts(w->out, side == SIDE_A ? " < " : " > ");
	str__shown(w->out, t->comm);
	str__printf(w->out, "-%u", t->tid);
}

static void put_head(struct writer *w, const struct parting *p, size_t number)
{
	str__printf(w->out, "\ndifference %zu of %llu:", number,
		    (unsigned long long)w->v->d->found);
	put_thread(w, p, SIDE_A);
	put_thread(w, p, SIDE_B);
	str__printf(w->out, ", after %llu steps that are the same\n", (unsigned long long)p->same);
}

/* The calls that lead there, with the arguments of both. */
static void put_calls(struct writer *w, const struct parting *p)
{
	size_t first = parting__first_call(p);
	const struct plan *plan = w->v->d->outcomes->plan;

	if (first)
		str__printf(w->out, "  (%zu more calls around these)\n", first);
	for (size_t i = first; i < p->frames.len; i++) {
		const struct diff_frame *f = &p->frames.data[i];
		struct step_pair steps = parting__call(w->v, p, f);
		const struct step *a = steps.of[SIDE_A];

		begin(w, BOTH, i);
		str__shown(w->out, function__shown(plan, f->function));
		line__arguments(w->v, &steps, w->out);
		if (a && a->site < plan->sites.len)
			put_source(w, plan->sites.data[a->site].object,
				   plan->sites.data[a->site].vaddr);
		end(w);
	}
}

/* What both did before; the entries of the calls are shown. */
static void put_before(struct writer *w, const struct parting *p)
{
	step_pairs before = {0};
	const struct step_pair *steps;

	both__before(w->v, p, w->v->context, &before);
	vec__each (steps, &before)
		if (!parting__is_call(w->v, p, steps->of[SIDE_A]))
			put_steps(w, BOTH, steps);
	vec__free(&before);
}

static void put_condition(struct writer *w, const struct parting *p)
{
	const struct plan *plan = w->v->d->outcomes->plan;
	const struct plan_site *site = &plan->sites.data[p->site];
	const char *source = line__source_text(w->v, site->object, site->vaddr);

	if (site->compare) {
		str__puts(w->out, "      ");
		str__shown(w->out, site->compare);
		for (int side = 0; side < SIDES; side++) {
			autofree struct str proved = {0};
			bool taken = w->v->d->outcomes->rows.data[p->outcome[side]].taken;

			if (!plan__condition(plan, p->site, taken, &proved))
				continue;
			str__printf(w->out, "%s %s: ", side ? ";" : "   ", side_letters[side]);
			str__shown(w->out, proved.data);
		}
		str__putc(w->out, '\n');
	}
	if (source) {
		str__puts(w->out, "      ");
		src__put_line(w->out, plan, site->object, site->vaddr);
		str__puts(w->out, ": ");
		str__shown(w->out, source);
		str__putc(w->out, '\n');
	}
}

static void put_way(struct writer *w, const struct parting *p, int side, bool first_only)
{
	enum mark mark = side == SIDE_A ? OF_A : OF_B;
	uint64_t at = p->index[side], to = p->meet[side], shown = 0;

	if (at == UINT64_MAX) {
		begin(w, mark, p->frames.len);
		str__printf(w->out, "-- the path of %s ends --", side_letters[side]);
		end(w);
		return;
	}
	at += !first_only && p->kind == PART_BRANCH;
	to = min_of(to, paths__thread(w->v->d->runs[side], parting__thread(p, side))->steps);
	for (; at < to && shown <= (first_only ? 0 : w->v->context); at++, shown++) {
		const struct step *s = parting__step(w->v, p, side, at);

		if (!s)
			break;
		put_step(w, side, s);
	}
	if (first_only || at >= to)
		return;
	begin(w, mark, p->frames.len);
	str__puts(w->out, "-- ");
	line__number(w->out, to - at, "more step");
	str__puts(w->out, " --");
	end(w);
}

static void put_lengths(struct writer *w, const struct parting *p)
{
	str__puts(w->out, "  until they meet: ");
	for (int side = 0; side < SIDES; side++) {
		str__printf(w->out, "%s%s takes ", side ? "; " : "", side_letters[side]);
		line__number(w->out, p->own[side], "branch");
		if (!p->calls[side])
			continue;
		str__puts(w->out, " and ");
		line__number(w->out, p->calls[side], "call");
	}
	str__putc(w->out, '\n');
}

/* They meet at a branch, and part there again. */
static void put_place(struct writer *w, const struct parting *p)
{
	const struct step *s = parting__step(w->v, p, SIDE_A, p->meet[SIDE_A]);

	if (!s)
		return;
	begin(w, BOTH, s->depth + (s->type == STEP_BRANCH));
	line__place(&s->at, w->out);
	end(w);
}

/* Puts where they meet, and what both do there, if that is the same. */
static void put_meeting(struct writer *w, const struct parting *p)
{
	step_pairs after = {0};

	if (!p->meets) {
		str__puts(w->out, p->kind == PART_THREAD ? "" : "  they don't meet again\n");
		return;
	}
	put_lengths(w, p);
	both__after(w->v, p, 1, &after);
	if (after.len)
		put_steps(w, BOTH, &after.data[0]);
	else
		put_place(w, p);
	vec__free(&after);
}

static void put_parting(struct writer *w, const struct parting *p, size_t number)
{
	put_head(w, p, number);
	if (p->kind == PART_THREAD) {
		int side = p->threads.a == SIZE_MAX ? SIDE_B : SIDE_A;

		str__printf(w->out, "  only %s has this thread, with %llu steps\n",
			    side_letters[side], (unsigned long long)p->own[side]);
		put_way(w, p, side, false);
		return;
	}
	put_calls(w, p);
	put_before(w, p);
	if (p->kind == PART_BRANCH) {
		put_way(w, p, SIDE_A, true);
		put_way(w, p, SIDE_B, true);
		put_condition(w, p);
	}
	put_way(w, p, SIDE_A, false);
	put_way(w, p, SIDE_B, false);
	put_meeting(w, p);
}

/* ---- counts ---- */

static void put_counts(struct writer *w, const count_changes *changes, const char *what)
{
	size_t rows = w->v->rows ? min_of(w->v->rows, (uint64_t)changes->len) : changes->len;

	if (!changes->len)
		return;
	str__putc(w->out, '\n');
	line__number(w->out, changes->len, what);
	str__printf(w->out, " %s executed a different number of times:\n",
		    changes->len == 1 ? "was" : "were");
	str__puts(w->out, "           A           B\n");
	for (size_t i = 0; i < rows; i++) {
		const struct count_change *c = &changes->data[i];
		const struct outcome *o = &w->v->d->outcomes->rows.data[c->outcome];
		const struct plan *p = w->v->d->outcomes->plan;

		w->line = w->out->len;
		str__printf(w->out, "%12llu%12llu  ", (unsigned long long)c->n[SIDE_A],
			    (unsigned long long)c->n[SIDE_B]);
		line__outcome(w->v, c->outcome, NULL, w->out);
		if (o->type == OUTCOME_BRANCH)
			put_source(w, p->sites.data[o->site].object, p->sites.data[o->site].vaddr);
		end(w);
	}
	if (rows < changes->len)
		str__printf(w->out, "  and %zu more; -F json has all\n", changes->len - rows);
}

/* ---- all ---- */

static void put_summary(struct writer *w)
{
	const struct diff *d = w->v->d;
	size_t branches = d->by_site.len - !!map64__get(&d->by_site, 0);

	if (d->found == d->partings.len)
		return;
	str__putc(w->out, '\n');
	line__number(w->out, d->found - d->partings.len, "more difference");
	if (branches) {
		str__puts(w->out, "; all of them are at ");
		line__number(w->out, branches, "branch");
	}
	str__printf(w->out, "; -n %llu shows them\n", (unsigned long long)d->found);
}

void diff__text(const struct diff_view *v, struct str *out)
{
	struct writer w = {v, out, 0};
	size_t start = out->len;

	if (!v->d->found && !v->functions.len && !v->branches.len)
		return;
	for (int side = 0; side < SIDES; side++) {
		str__printf(out, "%c %s: ", side == SIDE_A ? OF_A : OF_B, side_letters[side]);
		str__shown(out, v->names[side]);
		str__putc(out, '\n');
	}
	for (size_t i = 0; i < v->d->partings.len; i++)
		put_parting(&w, &v->d->partings.data[i], i + 1);
	put_summary(&w);
	put_counts(&w, &v->functions, "function");
	put_counts(&w, &v->branches, "branch");
	view__hide_addresses(v, out, start, true);
}
