// SPDX-License-Identifier: BSD-2-Clause
/* Differences as one self-contained page. It can be read where no script runs: the script sorts the
 * tables. All text of the traces is escaped by html__text(). */
#include "diff/view.h"

/* A browser has to load the page at once: after this many bytes, differences are shown with less
 * around them; and a table has the most conspicuous rows. */
#define MOST_BYTES   (3u << 20)
#define LESS_CONTEXT 5u
#define LESS_CALLS   4
#define MOST_ROWS    2000

static void put_text(struct str *out, const char *text)
{
	autofree struct str shown = {0};

	str__shown(&shown, text);
	html__text(out, &shown);
}

/* ---- head ---- */

static void put_title(const struct diff_view *v, struct str *out)
{
	put_text(out, path__base_name(v->names[SIDE_A]));
	put(out, " and ");
	put_text(out, path__base_name(v->names[SIDE_B]));
}

static void put_about(const struct diff_view *v, struct str *out)
{
	put(out, "<dl class=\"about\">\n");
	for (int side = 0; side < SIDES; side++) {
		str__printf(out, "<div><dt><span class=\"side %s\">%s</span></dt><dd>",
			    side_names[side], side_letters[side]);
		put_text(out, v->names[side]);
		str__printf(out, ": %llu events</dd></div>\n",
			    (unsigned long long)v->totals[side]->events);
	}
	put(out, "</dl>\n");
}

static void put_loss(struct str *out, int side, const char *what, uint64_t n)
{
	if (n)
		str__printf(out, "<p class=\"missing\">Missing in %s: %s %llu</p>\n",
			    side_letters[side], what, (unsigned long long)n);
}

static void put_missing(const struct diff_view *v, struct str *out)
{
	for (int side = 0; side < SIDES; side++) {
		const struct trace_totals *t = v->totals[side];

		put_loss(out, side,
			 t->at_least ? "lost events, at least" : "lost events:", t->lost);
		put_loss(out, side, "paths between two steps that are not known:", t->unknown);
		put_loss(out, side, "hits that the probes missed, of all processes, at most",
			 t->missed);
		put_loss(out, side, "processes not fully traced:", t->untraced);
		put_loss(out, side, "counts that are not known:", v->unknown_counts[side]);
	}
}

static void put_card(struct str *out, uint64_t n, const char *one, const char *several)
{
	str__printf(out, "<div class=\"card\"><b>%llu</b><span>%s</span></div>\n",
		    (unsigned long long)n, n == 1 ? one : several);
}

static void put_cards(const struct diff_view *v, struct str *out)
{
	const struct diff *d = v->d;

	put(out, "<div class=\"cards\">\n");
	if (!v->counts_only) {
		put_card(out, d->found, "difference", "differences");
		put_card(out, d->matched, "step is the same", "steps are the same");
		if (d->uncertain)
			put_card(out, d->uncertain, "gap", "gaps");
		if (d->only[SIDE_A])
			put_card(out, d->only[SIDE_A], "thread of A only", "threads of A only");
		if (d->only[SIDE_B])
			put_card(out, d->only[SIDE_B], "thread of B only", "threads of B only");
	}
	put_card(out, v->functions.len, "function ran a different number of times",
		 "functions ran a different number of times");
	put_card(out, v->branches.len, "branch ran a different number of times",
		 "branches ran a different number of times");
	put(out, "</div>\n");
}

static void put_contents(const struct diff_view *v, struct str *out)
{
	autofree struct str title = {0};

	if (v->d->partings.len < 2)
		return;
	str__printf(out, "<details class=\"contents\" open><summary>%zu of %llu differences",
		    v->d->partings.len, (unsigned long long)v->d->found);
	if (v->d->found > v->d->partings.len)
		put(out, "; -n shows more");
	put(out, "</summary>\n<ol>\n");
	for (size_t i = 0; i < v->d->partings.len; i++) {
		html__title(v, &v->d->partings.data[i], &title);
		str__printf(out, "<li><a href=\"#d%zu\"><code>", i + 1);
		html__text(out, &title);
		put(out, "</code></a></li>\n");
	}
	put(out, "</ol></details>\n");
}

/* ---- differences ---- */

static void put_differences(const struct diff_view *v, struct str *out)
{
	const struct diff *d = v->d;
	size_t start = out->len;
	bool less = false;

	if (!d->found && !v->functions.len && !v->branches.len)
		put(out, "<p>No difference.</p>\n");
	for (size_t i = 0; i < d->partings.len; i++) {
		if (!less && out->len - start > MOST_BYTES) {
			less = true;
			str__printf(out,
				    "<p class=\"missing\">The page is large: from here on at most "
				    "%u steps are shown around a difference; -F json has "
				    "all.</p>\n",
				    LESS_CONTEXT);
		}
		html__parting(v, i, less ? min_of(v->context, (uint64_t)LESS_CONTEXT) : v->context,
			      less ? LESS_CALLS : DIFF_CALLS, out);
	}
	if (d->partings.len == 1 && d->found > 1) {
		put(out, "<p>");
		line__number(out, d->found - 1, "more difference");
		put(out, "; -n shows more</p>\n");
	}
}

/* ---- counts ---- */

static void put_change(const struct diff_view *v, const struct count_change *c, struct str *out)
{
	const struct plan *p = v->d->outcomes->plan;
	const struct outcome *o = &v->d->outcomes->rows.data[c->outcome];
	autofree struct str text = {0};
	bool more = c->n[SIDE_B] > c->n[SIDE_A];
	uint64_t by = more ? c->n[SIDE_B] - c->n[SIDE_A] : c->n[SIDE_A] - c->n[SIDE_B];

	str__printf(out, "<tr><td>%llu</td><td>%llu</td><td>%s%llu</td><td class=\"what\"><code>",
		    (unsigned long long)c->n[SIDE_A], (unsigned long long)c->n[SIDE_B],
		    more ? "+" : "&minus;", (unsigned long long)by);
	line__outcome(v, c->outcome, NULL, &text);
	html__text(out, &text);
	put(out, "</code></td><td class=\"at\">");
	if (o->type == OUTCOME_BRANCH &&
	    src__put_line(&text, p, p->sites.data[o->site].object, p->sites.data[o->site].vaddr))
		html__text(out, &text);
	else if (o->type == OUTCOME_ENTRY && o->function < p->functions.len)
		put_text(out, path__base_name(
				      p->objects.data[p->functions.data[o->function].object].path));
	put(out, "</td></tr>\n");
}

static void put_counts(const struct diff_view *v, const count_changes *changes, const char *title,
		       const char *what, const char *where, struct str *out)
{
	size_t rows = min_of(changes->len, (size_t)MOST_ROWS);

	if (!changes->len)
		return;
	str__printf(
		out,
		"<h2>%s that ran a different number of times</h2>\n<div class=\"scroll\" "
		"style=\"max-height:70vh\"><table class=\"counts\"><thead><tr><th scope=\"col\">A"
		"</th><th scope=\"col\">B</th><th scope=\"col\">B &minus; A</th><th scope=\"col\" "
		"class=\"what\" data-key=\"text\">%s</th><th scope=\"col\" class=\"at\" "
		"data-key=\"text\">%s</th></tr></thead><tbody>\n",
		title, what, where);
	for (size_t i = 0; i < rows; i++)
		put_change(v, &changes->data[i], out);
	put(out, "</tbody></table></div>\n");
	if (rows < changes->len)
		str__printf(out, "<p class=\"facts\">and %zu more; -F json has all</p>\n",
			    changes->len - rows);
}

static void put_functions(const struct diff_view *v, struct str *out)
{
	put_counts(v, &v->functions, "Functions", "function", "object", out);
}

static void put_branches(const struct diff_view *v, struct str *out)
{
	put_counts(v, &v->branches, "Branches", "branch", "source", out);
}

/* ---- the page ---- */

/* A {{hole}} of diff.html: an embedded text or a computed value. */
static const struct hole {
	const char *name;
	const char *text;
	void (*fill)(const struct diff_view *v, struct str *out);
} holes[] = {
	{"title", NULL, put_title},
	{"style", page_css},
	{"diff_style", diff_css},
	{"about", NULL, put_about},
	{"missing", NULL, put_missing},
	{"cards", NULL, put_cards},
	{"contents", NULL, put_contents},
	{"differences", NULL, put_differences},
	{"functions", NULL, put_functions},
	{"branches", NULL, put_branches},
	{"script", diff_js},
};

static void fill_hole(const struct diff_view *v, const struct page_hole *name, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(holes); i++) {
		if (!page_hole__is(name, holes[i].name))
			continue;
		if (holes[i].fill)
			holes[i].fill(v, out);
		else
			str__puts(out, holes[i].text);
		return;
	}
	str__put(out, name->name - 2, name->len + 4); /* no such row: leaves it visible */
}

void diff__html(const struct diff_view *v, struct str *out)
{
	struct page_hole hole;
	size_t start = out->len;

	for (const char *rest = diff_html; (rest = page__copy(out, rest, &hole));)
		fill_hole(v, &hole, out);
	view__hide_addresses(v, out, start, false);
}
