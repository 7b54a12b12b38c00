// SPDX-License-Identifier: BSD-2-Clause
/* Differences as JSON: one object a line, and a summary as the last one. A step is the object that
 * the json format has for it. */
#include "diff/view.h"

struct writer {
	const struct diff_view *v;
	struct json json;
	struct output *steps[SIDES]; /* render steps of each run */
	struct str step;
};

static const char *const kinds[] = {
	[PART_BRANCH] = "branch",
	[PART_PLACE] = "place",
	[PART_END] = "end",
	[PART_THREAD] = "thread",
};

static int take_step(void *ctx, const void *data, size_t len)
{
	str__put(ctx, data, len);
	return 0;
}

static void open_steps(struct writer *w)
{
	for (int side = 0; side < SIDES; side++)
		w->steps[side] = output__new(output__by_name("json"), &w->v->options[side],
					     w->v->d->outcomes->plan, take_step, &w->step);
}

static void close_steps(struct writer *w)
{
	for (int side = 0; side < SIDES; side++)
		output__free(w->steps[side]);
	str__free(&w->step);
}

static void put_step(struct writer *w, int side, const struct step *s)
{
	struct step own = *s;

	own.time = step__own_time(w->v, side, s);
	str__clear(&w->step);
	output__step(w->steps[side], &own);
	output__flush(w->steps[side]);
	json__put(&w->json, w->step.data, w->step.len - 1); /* without the newline */
}

/* Puts those of A: both have these. */
static void put_both(struct writer *w, const step_pairs *steps)
{
	const struct step_pair *pair;

	json__open_array(&w->json);
	vec__each (pair, steps)
		put_step(w, SIDE_A, pair->of[SIDE_A]);
	json__close_array(&w->json);
}

/* ---- where ---- */

static void put_thread(struct writer *w, const struct parting *p, int side)
{
	size_t thread = parting__thread(p, side);
	const struct path_thread *t;
	struct json *j = &w->json;

	json__name(j, side_names[side]);
	if (thread == SIZE_MAX)
		return json__null(j);
	t = paths__thread(w->v->d->runs[side], thread);
	json__open_object(j);
	json__member(j, unsigned, "pid", t->pid);
	json__member(j, unsigned, "tid", t->tid);
	json__member(j, string, "comm", t->comm);
	json__member(j, unsigned, "thread", thread);
	json__close_object(j);
}

static void put_threads(struct writer *w, const struct parting *p)
{
	json__key(&w->json, "threads");
	json__open_object(&w->json);
	for (int side = 0; side < SIDES; side++)
		put_thread(w, p, side);
	json__close_object(&w->json);
}

/* The members of an instruction: what it is. */
static void put_site(struct json *j, const struct plan *plan, uint32_t index)
{
	const struct plan_site *site = &plan->sites.data[index];

	if (site->mnemonic)
		json__member(j, string, "insn", site->mnemonic);
	if (site->compare)
		json__member(j, string, "compare", site->compare);
	src__put_json(j, plan, site->object, site->vaddr);
}

static void put_branch(struct writer *w, const struct parting *p)
{
	const struct plan *plan = w->v->d->outcomes->plan;
	const struct plan_site *site = &plan->sites.data[p->site];
	struct location at = location__of(plan, site->object, site->vaddr);

	json__key(&w->json, "at");
	json__put_place_value(&w->json, &at);
	put_site(&w->json, plan, p->site);
}

/* ---- the calls that lead there ---- */

static void put_arguments(struct writer *w, const struct step_pair *steps,
			  const struct arguments *of, int side)
{
	struct json *j = &w->json;
	const struct argument *a;
	bool words = of->at.len && !of->at.data[0].name;

	json__name(j, side_names[side]);
	if (!of->at.len || !of->at.data[0].of[side])
		return json__null(j);
	json__open_object(j);
	if (words)
		json__key(j, "syscall_args");
	else
		json__key(j, "regs");
	json__open(j, words ? '[' : '{');
	vec__each (a, &of->at) {
		if (!a->of[side])
			continue;
		if (!words)
			json__name(j, a->name);
		json__string(j, a->of[side]);
	}
	json__close(j, words ? ']' : '}');
	arguments__put_json(w->v, steps, side, j);
	json__close_object(j);
}

static void put_function(struct json *j, const struct plan *plan, uint32_t function)
{
	const struct plan_function *f =
		function < plan->functions.len ? &plan->functions.data[function] : NULL;

	json__member(j, string, "symbol", f ? f->name : NULL);
	json__member(j, string, "object", f ? plan->objects.data[f->object].path : NULL);
}

static void put_calls(struct writer *w, const struct parting *p)
{
	struct json *j = &w->json;
	size_t first = parting__first_call(p);

	json__key(j, "calls");
	json__open_array(j);
	for (size_t i = first; i < p->frames.len; i++) {
		struct step_pair steps = parting__call(w->v, p, &p->frames.data[i]);
		CLEANUP(arguments__free)
		struct arguments of = arguments__registers(w->v, &steps);

		json__open_object(j);
		put_function(j, w->v->d->outcomes->plan, p->frames.data[i].function);
		for (int side = 0; of.known && side < SIDES; side++)
			put_arguments(w, &steps, &of, side);
		json__close_object(j);
	}
	json__close_array(j);
	if (first)
		json__member(j, unsigned, "calls_omitted", first);
}

/* ---- each side's way ---- */

static void put_steps(struct writer *w, const struct parting *p, int side)
{
	uint64_t at = p->index[side], n = 0;
	const struct step *s;

	json__key(&w->json, "steps");
	json__open_array(&w->json);
	for (; at < p->meet[side] && n <= w->v->context; at++, n++) {
		s = parting__step(w->v, p, side, at);
		if (!s)
			break;
		put_step(w, side, s);
	}
	json__close_array(&w->json);
}

/* What the branch did where they part. */
static void put_outcome(struct writer *w, const struct parting *p, int side)
{
	const struct outcomes *o = w->v->d->outcomes;
	const struct outcome *r = &o->rows.data[p->outcome[side]];
	const struct step *s = parting__step(w->v, p, side, p->index[side]);
	autofree struct str proved = {0};
	struct location to;

	if (plan_site__is_conditional(&o->plan->sites.data[p->site]))
		json__member(&w->json, bool, "taken", r->taken);
	if (s ? s->to_known : outcome__to(o, p->outcome[side], &to)) {
		json__key(&w->json, "to");
		json__put_place_value(&w->json, s ? &s->to : &to);
	}
	if (plan__condition(o->plan, p->site, r->taken, &proved))
		json__member(&w->json, string, "proves", proved.data);
}

static void put_way(struct writer *w, const struct parting *p, int side)
{
	struct json *j = &w->json;

	json__name(j, side_names[side]);
	if (parting__thread(p, side) == SIZE_MAX)
		return json__null(j);
	json__open_object(j);
	if (p->kind == PART_BRANCH)
		put_outcome(w, p, side);
	if (p->index[side] != UINT64_MAX)
		json__member(j, unsigned, "index", p->index[side]);
	else
		json__member(j, bool, "ended", true);
	if (p->kind == PART_THREAD) {
		json__member(j, unsigned, "all", p->own[side]);
	} else {
		json__member(j, unsigned, "branches", p->own[side]);
		json__member(j, unsigned, "calls", p->calls[side]);
	}
	put_steps(w, p, side);
	json__close_object(j);
}

static void put_meeting(struct writer *w, const struct parting *p)
{
	struct json *j = &w->json;
	const struct step *s = p->meets ? parting__step(w->v, p, SIDE_A, p->meet[SIDE_A]) : NULL;
	step_pairs after = {0};

	json__key(j, "meet");
	if (!p->meets)
		return json__null(j);
	json__open_object(j);
	if (s && s->at.object) {
		json__key(j, "at");
		json__put_place_value(j, &s->at);
	}
	for (int side = 0; side < SIDES; side++) {
		json__name(j, side_names[side]);
		json__unsigned(j, p->meet[side]);
	}
	both__after(w->v, p, w->v->context + 1, &after);
	json__key(j, "steps");
	put_both(w, &after);
	vec__free(&after);
	json__close_object(j);
}

static void put_parting(struct writer *w, const struct parting *p, size_t number)
{
	struct json *j = &w->json;
	step_pairs before = {0};
	uint64_t ns;

	json__open_object(j);
	json__member(j, string, "event", "difference");
	json__member(j, unsigned, "number", number);
	json__member(j, string, "kind", kinds[p->kind]);
	put_threads(w, p);
	if (parting__time(w->v, p, &ns))
		json__member(j, unsigned, "ns", ns);
	json__member(j, unsigned, "same", p->same);
	if (p->kind == PART_BRANCH)
		put_branch(w, p);
	put_calls(w, p);
	both__before(w->v, p, w->v->context, &before);
	json__key(j, "common");
	put_both(w, &before);
	vec__free(&before);
	for (int side = 0; side < SIDES; side++)
		put_way(w, p, side);
	put_meeting(w, p);
	json__close_object(j);
}

/* ---- counts ---- */

static void put_edge(struct json *j, const struct outcomes *o, uint32_t outcome)
{
	const struct outcome *r = &o->rows.data[outcome];
	const struct plan_site *site = &o->plan->sites.data[r->site];
	struct location at = location__of(o->plan, site->object, site->vaddr), to;

	json__put_place(j, &at);
	if (site->kind < BRANCH_KINDS)
		json__member(j, string, "kind", branch_kind_names[site->kind]);
	put_site(j, o->plan, r->site);
	if (plan_site__is_conditional(site))
		json__member(j, bool, "taken", r->taken);
	if (outcome__to(o, outcome, &to)) {
		json__key(j, "to");
		json__put_place_value(j, &to);
	}
}

void outcome__put_json(struct json *j, const struct outcomes *o, uint32_t outcome)
{
	if (o->rows.data[outcome].type == OUTCOME_BRANCH)
		put_edge(j, o, outcome);
	else
		put_function(j, o->plan, o->rows.data[outcome].function);
}

static void put_change(struct writer *w, const struct count_change *c)
{
	const struct outcome *r = &w->v->d->outcomes->rows.data[c->outcome];
	struct json *j = &w->json;

	json__open_object(j);
	json__member(j, string, "event", r->type == OUTCOME_ENTRY ? "function" : "edge");
	outcome__put_json(j, w->v->d->outcomes, c->outcome);
	for (int side = 0; side < SIDES; side++) {
		json__name(j, side_names[side]);
		json__unsigned(j, c->n[side]);
	}
	json__close_object(j);
}

/* ---- summary ---- */

static void put_losses(struct writer *w, int side)
{
	const struct trace_totals *t = w->v->totals[side];
	struct json *j = &w->json;

	json__name(j, side_names[side]);
	json__open_object(j);
	json__member(j, unsigned, "events", t->events);
	json__member(j, unsigned, "lost", t->lost);
	if (t->at_least)
		json__member(j, bool, "at_least", true);
	json__member(j, unsigned, "unknown", t->unknown);
	json__member(j, unsigned, "missed_at_most", t->missed);
	if (t->untraced)
		json__member(j, unsigned, "untraced_processes", t->untraced);
	if (w->v->unknown_counts[side])
		json__member(j, unsigned, "counts_unknown", w->v->unknown_counts[side]);
	json__close_object(j);
}

static void put_summary(struct writer *w)
{
	const struct diff *d = w->v->d;
	struct json *j = &w->json;

	json__open_object(j);
	json__member(j, string, "event", "summary");
	for (int side = 0; side < SIDES; side++) {
		json__name(j, side_names[side]);
		json__string(j, w->v->names[side]);
	}
	if (!w->v->counts_only) {
		json__member(j, unsigned, "same", d->matched);
		json__member(j, unsigned, "differences", d->found);
		json__member(j, unsigned, "shown", d->partings.len);
		json__member(j, unsigned, "uncertain", d->uncertain);
		if (d->noise)
			json__member(j, unsigned, "noise", d->noisy);
		json__member(j, unsigned, "threads_only_a", d->only[SIDE_A]);
		json__member(j, unsigned, "threads_only_b", d->only[SIDE_B]);
	}
	json__member(j, unsigned, "functions", w->v->functions.len);
	json__member(j, unsigned, "edges", w->v->branches.len);
	json__key(j, "losses");
	json__open_object(j);
	for (int side = 0; side < SIDES; side++)
		put_losses(w, side);
	json__close_object(j);
	json__close_object(j);
}

static void end_line(struct writer *w)
{
	str__putc(w->json.out, '\n');
	w->json.comma = false;
}

void diff__json(const struct diff_view *v, struct str *out)
{
	struct writer w = {.v = v, .json = {.out = out}};
	const struct count_change *c;
	size_t start = out->len;

	open_steps(&w);
	for (size_t i = 0; i < v->d->partings.len; i++, end_line(&w))
		put_parting(&w, &v->d->partings.data[i], i + 1);
	vec__each (c, &v->functions) {
		put_change(&w, c);
		end_line(&w);
	}
	vec__each (c, &v->branches) {
		put_change(&w, c);
		end_line(&w);
	}
	put_summary(&w);
	end_line(&w);
	close_steps(&w);
	view__hide_addresses(v, out, start, false);
}
