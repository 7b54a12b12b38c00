// SPDX-License-Identifier: BSD-2-Clause
/* Ranked branches as JSON: one object a line, and a summary as the last one. */
#include "rank_view.h"

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
	const struct outcomes *outcomes = w->v->rank->outcomes;
	const struct outcome *o = &outcomes->rows.data[row->outcome];
	autofree struct str proved = {0};
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
	outcome__put_json(j, outcomes, row->outcome);
	if (o->type == OUTCOME_BRANCH &&
	    plan__condition(outcomes->plan, o->site, o->taken, &proved))
		json__member(j, string, "proves", proved.data);
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
