// SPDX-License-Identifier: BSD-2-Clause
/* Ranked branches as JSON: one object a line, and a summary as the last one. */
#include "diff/rank_view.h"

struct writer {
	const struct rank_view *v;
	struct json json;
};

static const char *const hows[] = {
	[RANK_EXECUTED] = "executed",
	[RANK_NEVER] = "never",
	[RANK_AT_LEAST] = "at_least",
	[RANK_AT_MOST] = "at_most",
	[RANK_SHARE_AT_LEAST] = "share_at_least",
	[RANK_SHARE_AT_MOST] = "share_at_most",
};
static const char *const sets[RANK_SETS] = {[RANK_PASS] = "pass", [RANK_FAIL] = "fail"};

static void put_branch(struct writer *w, uint32_t outcome)
{
	const struct outcomes *o = w->v->rank->outcomes;
	const struct outcome *row = &o->rows.data[outcome];
	const struct plan_site *site = &o->plan->sites.data[row->site];
	struct location at = location__of(o->plan, site->object, site->vaddr), to;
	autofree struct str proved = {0};
	struct json *j = &w->json;

	json__put_place(j, &at);
	if (site->kind < BRANCH_KINDS)
		json__member(j, string, "kind", branch_kind_names[site->kind]);
	if (site->mnemonic)
		json__member(j, string, "insn", site->mnemonic);
	if (plan_site__is_conditional(site))
		json__member(j, bool, "taken", row->taken);
	if (outcome__to(o, outcome, &to)) {
		json__key(j, "to");
		json__put_place_value(j, &to);
	}
	if (site->compare)
		json__member(j, string, "compare", site->compare);
	if (plan__condition(o->plan, row->site, row->taken, &proved))
		json__member(j, string, "proves", proved.data);
	src__put_json(j, o->plan, site->object, site->vaddr);
}

static void put_function(struct writer *w, const struct outcome *row)
{
	const struct plan *plan = w->v->rank->outcomes->plan;
	const struct plan_function *f =
		row->function < plan->functions.len ? &plan->functions.data[row->function] : NULL;

	if (!f)
		return;
	json__member(&w->json, string, "object", plan->objects.data[f->object].path);
	json__member(&w->json, string, "symbol", f->name);
}

static void put_set(struct writer *w, const struct rank_row *row, int set)
{
	struct json *j = &w->json;

	json__name(j, sets[set]);
	json__open_object(j);
	json__member(j, unsigned, "runs", row->runs[set]);
	json__member(j, unsigned, "of", row->of[set]);
	json__member(j, unsigned, "count", row->n[set]);
	if (row->sites[set] != COUNT_UNKNOWN)
		json__member(j, unsigned, "site_count", row->sites[set]);
	json__close_object(j);
}

static void put_row(struct writer *w, size_t i)
{
	const struct rank_row *row = &w->v->rank->rows.data[i];
	const struct outcome *o = &w->v->rank->outcomes->rows.data[row->outcome];
	struct json *j = &w->json;

	json__open_object(j);
	json__member(j, string, "event", o->type == OUTCOME_BRANCH ? "branch" : "function");
	json__member(j, unsigned, "rank", i + 1);
	json__member(j, real, "score", row->score, 4);
	json__member(j, string, "how", hows[row->how]);
	if (row->how == RANK_AT_LEAST || row->how == RANK_AT_MOST)
		json__member(j, unsigned, "times", row->count);
	if (row->how == RANK_SHARE_AT_LEAST || row->how == RANK_SHARE_AT_MOST)
		json__member(j, real, "percent", row->share, (int)row->decimals);
	json__member(j, bool, "decides", row->decides);
	put_set(w, row, RANK_FAIL);
	put_set(w, row, RANK_PASS);
	if (o->type == OUTCOME_BRANCH)
		put_branch(w, row->outcome);
	else
		put_function(w, o);
	json__close_object(j);
}

static void put_names(struct writer *w, int set)
{
	const struct rank *r = w->v->rank;

	json__name(&w->json, sets[set]);
	json__open_array(&w->json);
	for (size_t i = 0; i < r->runs.len; i++)
		if (r->runs.data[i].fails == (set == RANK_FAIL))
			json__string(&w->json, w->v->names[i]);
	json__close_array(&w->json);
}

static void put_summary(struct writer *w, size_t shown)
{
	const struct rank *r = w->v->rank;
	struct json *j = &w->json;

	json__open_object(j);
	json__member(j, string, "event", "summary");
	put_names(w, RANK_FAIL);
	put_names(w, RANK_PASS);
	json__member(j, unsigned, "branches", r->rows.len);
	json__member(j, unsigned, "shown", shown);
	json__member(j, unsigned, "complete", r->complete);
	json__member(j, unsigned, "changed_functions", r->changed);
	json__close_object(j);
}

static void end_line(struct writer *w)
{
	str__putc(w->json.out, '\n');
	w->json.comma = false;
}

void rank__json(const struct rank_view *v, struct str *out)
{
	struct writer w = {v, {.out = out}};
	size_t start = out->len, shown = min_of(v->rows, (uint64_t)v->rank->rows.len);

	for (size_t i = 0; i < shown; i++, end_line(&w))
		put_row(&w, i);
	put_summary(&w, shown);
	end_line(&w);
	view__hide_addresses(v->lines, out, start, false);
}
