// SPDX-License-Identifier: BSD-2-Clause
/* Ranked branches as text: a row each, and below the first ones what the branch means. */
#include "rank_view.h"

#define EXPLAINED 3 /* rows with their source text */

struct writer {
	const struct rank_view *v;
	struct str *out;
};

/* "", "at least 5 times", "never": what is true of the runs. */
void rank__how(const struct rank_row *row, struct str *s)
{
	switch (row->how) {
	case RANK_EXECUTED:
		break;
	case RANK_NEVER:
		str__puts(s, "never");
		break;
	case RANK_AT_LEAST:
	case RANK_AT_MOST:
		str__printf(s, "at %s %llu time%s", row->how == RANK_AT_LEAST ? "least" : "most",
			    (unsigned long long)row->count, row->count == 1 ? "" : "s");
		break;
	case RANK_SHARE_AT_LEAST:
	case RANK_SHARE_AT_MOST:
		str__printf(s, "at %s %.*f%% of the time",
			    row->how == RANK_SHARE_AT_LEAST ? "least" : "most", (int)row->decimals,
			    row->share);
		break;
	}
}

static void paint(struct writer *w, const char *code)
{
	if (w->v->lines->color)
		str__puts(w->out, code);
}

static void put_place(struct writer *w, const struct outcome *o)
{
	const struct plan_site *site =
		o->type == OUTCOME_BRANCH ? &w->v->rank->outcomes->plan->sites.data[o->site] : NULL;
	autofree struct str source = {0};

	if (!site ||
	    !src__put_line(&source, w->v->lines->d->outcomes->plan, site->object, site->vaddr))
		return;
	paint(w, "\033[2m");
	str__printf(w->out, "  %s", source.data);
	paint(w, "\033[0m");
}

/* What its outcome proves, and the source. */
static void explain(struct writer *w, const struct outcome *o, int indent)
{
	const struct plan *plan = w->v->rank->outcomes->plan;
	const struct plan_site *site = &plan->sites.data[o->site];
	const char *source = line__source_text(w->v->lines, site->object, site->vaddr);
	autofree struct str proved = {0};

	if (site->compare) {
		str__printf(w->out, "%*s", indent, "");
		str__shown(w->out, site->compare);
		if (plan__condition(plan, o->site, o->taken, &proved))
			str__printf(w->out, "    %s", proved.data);
		str__putc(w->out, '\n');
	}
	if (source) {
		str__printf(w->out, "%*s", indent, "");
		str__shown(w->out, source);
		str__putc(w->out, '\n');
	}
}

/* "6 of 6": so wide. */
static int width_of(const struct writer *w, int set, const char *head)
{
	autofree struct str s = {0};

	str__printf(&s, "%zu of %zu", w->v->rank->total[set], w->v->rank->total[set]);
	return (int)max_of(s.len, strlen(head));
}

static void put_runs(struct writer *w, const struct rank_row *row, int set, const char *head)
{
	autofree struct str s = {0};

	str__printf(&s, "%zu of %zu", row->runs[set], row->of[set]);
	str__printf(w->out, "  %*s", width_of(w, set, head), s.data);
}

static void put_row(struct writer *w, size_t i)
{
	const struct rank_row *row = &w->v->rank->rows.data[i];
	const struct outcome *o = &w->v->rank->outcomes->rows.data[row->outcome];
	autofree struct str how = {0};

	str__printf(w->out, "%4zu  %.2f ", i + 1, row->score);
	put_runs(w, row, RANK_FAIL, "failing");
	put_runs(w, row, RANK_PASS, "passing");
	str__puts(w->out, "  ");
	line__outcome(w->v->lines, row->outcome, NULL, w->out);
	rank__how(row, &how);
	if (how.len)
		str__printf(w->out, "  %s", how.data);
	put_place(w, o);
	str__putc(w->out, '\n');
	if (i < EXPLAINED && o->type == OUTCOME_BRANCH)
		explain(w, o,
			15 + width_of(w, RANK_FAIL, "failing") + width_of(w, RANK_PASS, "passing"));
}

static void put_head(struct writer *w)
{
	const struct rank *r = w->v->rank;

	str__printf(w->out, "%zu runs failed, %zu passed", r->total[RANK_FAIL],
		    r->total[RANK_PASS]);
	if (r->complete)
		str__printf(w->out, "; %zu branches and calls distinguish them", r->complete);
	str__printf(w->out, "\n\nrank  score %*s  %*s  branch\n",
		    1 + width_of(w, RANK_FAIL, "failing"), "failing",
		    width_of(w, RANK_PASS, "passing"), "passing");
}

void rank__text(const struct rank_view *v, struct str *out)
{
	struct writer w = {v, out};
	const struct rank *r = v->rank;
	size_t start = out->len, shown = min_of(v->rows, (uint64_t)r->rows.len);

	if (!r->rows.len)
		return;
	put_head(&w);
	for (size_t i = 0; i < shown; i++)
		put_row(&w, i);
	if (shown < r->rows.len)
		str__printf(out, "and %zu more; -n shows them\n", r->rows.len - shown);
	view__hide_addresses(v->lines, out, start, true);
}
