// SPDX-License-Identifier: BSD-2-Clause
/* Ranked branches as a page: a table without scripts, in the colors of the html format. */
#include "rank_view.h"

static const char style[] =
	":root{color-scheme:light "
	"dark;--back:#fbfaf8;--panel:#fff;--ink:#222;--dim:#6b6862;--line:#e2ded6;--accent:#b4530a;"
	"--taken:#237a35;--not:#c92a2a;--soft:#f4f1ec}\n"
	"@media (prefers-color-scheme:dark){:root{--back:#1c1b1a;--panel:#242322;--ink:#eceae6;"
	"--dim:#a09c95;--line:#3b3936;--accent:#f0a35e;--taken:#69c77c;--not:#f08484;--soft:#2c2a28}}"
	"\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--back);color:var(--ink);font:14px/1.45 system-ui,'DejaVu "
	"Sans',sans-serif}\n"
	"main{max-width:1320px;margin:0 auto;padding:24px 20px 60px}\n"
	"h1{font-size:22px;margin:0 0 4px}\n"
	"p,summary{color:var(--dim)}\n"
	".scroll{overflow:auto;border:1px solid var(--line);border-radius:8px;background:var(--panel)}"
	"\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{padding:5px 9px;text-align:right;vertical-align:top;white-space:nowrap;"
	"border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}\n"
	"th{background:var(--soft);font-weight:600}\n"
	"tr:last-child td{border-bottom:0}\n"
	".text{text-align:left}\n"
	"code{font:12.5px/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}\n"
	".text code{display:block}\n"
	".source{color:var(--accent)}\n"
	".place,.how,.proves{color:var(--dim)}\n"
	".share{display:block;width:72px;height:6px;border-radius:2px;overflow:hidden;"
	"background:var(--line);margin:2px 0 0 auto}\n"
	".share i{display:block;height:100%}\n"
	".fail i{background:var(--not)}\n"
	".pass i{background:var(--taken)}\n"
	"li{overflow-wrap:anywhere}\n";

struct writer {
	const struct rank_view *v;
	struct str *out;
};

/* Appends the text, escaped. */
static void put_text(struct writer *w, const char *tag, const char *name, const struct str *text)
{
	if (!text->len)
		return;
	str__printf(w->out, "<%s class=%s>", tag, name);
	str__xml(w->out, text->data);
	str__printf(w->out, "</%s>", tag);
}

static void put_runs(struct writer *w, const struct rank_row *row, int set, const char *name)
{
	str__printf(w->out,
		    "<td>%zu of %zu<span class=\"share %s\"><i style=\"width:%zu%%\"></i></span>",
		    row->runs[set], row->of[set], name,
		    100 * row->runs[set] / max_of(row->of[set], (size_t)1));
}

static void put_executions(struct writer *w, const struct rank_row *row, int set)
{
	str__printf(w->out, "<td>%llu", (unsigned long long)row->n[set]);
	if (row->sites[set] != COUNT_UNKNOWN)
		str__printf(w->out, "<br><span class=place>of %llu</span>",
			    (unsigned long long)row->sites[set]);
}

static void put_proof(struct writer *w, const struct outcome *o)
{
	const struct plan *plan = w->v->rank->outcomes->plan;
	const struct plan_site *site = &plan->sites.data[o->site];
	autofree struct str s = {0};

	if (!site->compare)
		return;
	str__shown(&s, site->compare);
	str__puts(&s, ": ");
	if (plan__condition(plan, o->site, o->taken, &s))
		put_text(w, "code", "proves", &s);
}

static void put_source(struct writer *w, const struct outcome *o)
{
	const struct plan_site *site = &w->v->rank->outcomes->plan->sites.data[o->site];
	const char *text = line__source_text(w->v->lines, site->object, site->vaddr);
	autofree struct str place = {0}, source = {0};

	src__put_line(&place, w->v->lines->d->outcomes->plan, site->object, site->vaddr);
	if (text)
		str__shown(&source, text);
	put_text(w, "code", "place", &place);
	put_text(w, "code", "source", &source);
}

static void put_row(struct writer *w, size_t i)
{
	const struct rank_row *row = &w->v->rank->rows.data[i];
	const struct outcome *o = &w->v->rank->outcomes->rows.data[row->outcome];
	autofree struct str branch = {0}, how = {0};

	str__printf(w->out, "<tr><td>%zu<td>%.2f", i + 1, row->score);
	put_runs(w, row, RANK_FAIL, "fail");
	put_runs(w, row, RANK_PASS, "pass");
	line__outcome(w->v->lines, row->outcome, NULL, &branch);
	rank__how(row, &how);
	str__puts(w->out, "<td class=text>");
	put_text(w, "code", "branch", &branch);
	put_text(w, "span", "how", &how);
	if (o->type == OUTCOME_BRANCH)
		put_proof(w, o);
	str__puts(w->out, "<td class=text>");
	if (o->type == OUTCOME_BRANCH)
		put_source(w, o);
	put_executions(w, row, RANK_FAIL);
	put_executions(w, row, RANK_PASS);
	str__putc(w->out, '\n');
}

static void put_files(struct writer *w, int set, const char *title)
{
	const struct rank *r = w->v->rank;

	str__printf(w->out, "<details><summary>%zu %s</summary><ul>\n", r->total[set], title);
	for (size_t i = 0; i < r->runs.len; i++) {
		autofree struct str name = {0};

		if (r->runs.data[i].fails != (set == RANK_FAIL))
			continue;
		str__shown(&name, w->v->names[i]);
		str__puts(w->out, "<li>");
		str__xml(w->out, name.data);
		str__putc(w->out, '\n');
	}
	str__puts(w->out, "</ul></details>\n");
}

static void put_table(struct writer *w, size_t shown)
{
	str__puts(w->out, "<div class=scroll><table>\n<tr><th>rank<th>score<th>failing runs"
			  "<th>passing runs<th class=text>branch<th class=text>source"
			  "<th>executions, failing<th>passing\n");
	for (size_t i = 0; i < shown; i++)
		put_row(w, i);
	str__puts(w->out, "</table></div>\n");
	if (shown < w->v->rank->rows.len)
		str__printf(w->out, "<p>and %zu more; -n shows them</p>\n",
			    w->v->rank->rows.len - shown);
}

void rank__html(const struct rank_view *v, struct str *out)
{
	struct writer w = {v, out};
	const struct rank *r = v->rank;
	size_t start = out->len, shown = min_of(v->rows, (uint64_t)r->rows.len);

	str__puts(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
		       "<title>bbtrace: what failing runs do</title>\n<style>\n");
	str__puts(out, style);
	str__printf(out,
		    "</style></head><body><main>\n<h1>What failing runs do</h1>\n"
		    "<p>%zu runs failed, %zu passed; %zu branches and calls distinguish them, "
		    "%zu say something.</p>\n",
		    r->total[RANK_FAIL], r->total[RANK_PASS], r->complete, r->rows.len);
	if (r->rows.len)
		put_table(&w, shown);
	put_files(&w, RANK_FAIL, "failing runs");
	put_files(&w, RANK_PASS, "passing runs");
	str__puts(out, "</main></body></html>\n");
	view__hide_addresses(v->lines, out, start, false);
}
