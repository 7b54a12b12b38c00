// SPDX-License-Identifier: BSD-2-Clause
/*
 * The summary format: a table of the functions that ran by time, then histograms of durations for
 * the first ones. Times are truncated, as in text; p50 and p99 are off by at most 1/64
 * (histogram.c).
 */
#include "output/coverage/coverage.h"
#include "summary_rows.h"
#include "util/fit.h"
#include "text.h"

/* Functions whose durations are drawn; the others are counted. */
#define DRAWN 16
#define BAR   40

/* ---- cells ---- */

static void put_count(struct str *s, const struct row *r, uint64_t n)
{
	str__dec(s, n);
	str__puts(s, r->more);
}

static void put_dec_if(struct str *s, bool known, uint64_t value)
{
	if (known)
		str__dec(s, value);
	else
		str__putc(s, '-');
}

static void put_duration_if(struct str *s, const struct row *r, uint64_t ns)
{
	if (r->f->time.n)
		put_duration(s, ns);
	else
		str__putc(s, '-');
}

static void put_sum(struct str *s, const struct row *r, uint64_t ns)
{
	put_duration_if(s, r, ns);
	if (r->f->time.n)
		str__puts(s, r->more);
}

static void put_calls(struct str *s, const struct row *r)
{
	if (r->f->calls == COUNT_UNKNOWN)
		str__putc(s, '?');
	else
		put_count(s, r, r->f->calls);
}

static void put_timed(struct str *s, const struct row *r)
{
	put_count(s, r, r->f->time.n);
}

static void put_open(struct str *s, const struct row *r)
{
	str__dec(s, r->f->open);
}

static void put_total(struct str *s, const struct row *r)
{
	put_sum(s, r, r->f->total);
}

static void put_net(struct str *s, const struct row *r)
{
	put_net_time(s, &r->f->net, "", r->more);
}

static void put_off(struct str *s, const struct row *r)
{
	if (!r->f->net.off_calls) {
		str__putc(s, '-');
		return;
	}
	put_duration(s, r->f->net.off);
	str__puts(s, r->more);
}

static void put_self(struct str *s, const struct row *r)
{
	put_sum(s, r, r->f->self);
}

static void put_min(struct str *s, const struct row *r)
{
	put_duration_if(s, r, r->f->time.min);
}

static void put_avg(struct str *s, const struct row *r)
{
	put_duration_if(s, r, r->f->time.sum / max_of(r->f->time.n, (uint64_t)1));
}

static void put_p50(struct str *s, const struct row *r)
{
	put_duration_if(s, r, histogram__quantile(&r->f->time, 500));
}

static void put_p99(struct str *s, const struct row *r)
{
	put_duration_if(s, r, histogram__quantile(&r->f->time, 990));
}

static void put_max(struct str *s, const struct row *r)
{
	put_duration_if(s, r, r->f->time.max);
}

static void put_branches(struct str *s, const struct row *r)
{
	put_count(s, r, r->f->branches);
}

/* Share of the conditionals in percent, truncated to a tenth. */
static void put_taken(struct str *s, const struct row *r)
{
	unsigned permille =
		r->f->conditional ? (unsigned __int128)r->f->taken * 1000 / r->f->conditional : 0;

	put_dec_if(s, r->f->conditional, permille / 10);
	if (r->f->conditional)
		str__printf(s, ".%u%%", permille % 10);
}

static void put_blocks(struct str *s, const struct row *r)
{
	coverage__part(s, &r->code->blocks);
}

static void put_sides(struct str *s, const struct row *r)
{
	coverage__part(s, &r->code->sides);
}

/* counted: also if only edges were counted (-c), or only then. drop_order: on a narrow terminal,
 * columns with the lowest number are omitted first; 0: never. */
static const struct {
	const char *head;
	void (*cell)(struct str *s, const struct row *r);
	unsigned drop_order;
	enum {
		ALWAYS,
		IF_NET,
		/* the time without tracing, or on no CPU, is known of a function */
		IF_OFF
	} when;
	enum { NOT_COUNTED, COUNTED_ENTRIES, COUNTED_EDGES, COUNTED_ONLY } counted;
} columns[] = {
	{"calls", put_calls, 0, .counted = COUNTED_ENTRIES},
	{"timed", put_timed, 4},
	{"open", put_open, 5},
	{"total", put_total, 0},
	{"net", put_net, 0, IF_NET},
	{"off-CPU", put_off, 0, IF_OFF},
	{"self", put_self, 6},
	{"min", put_min, 1},
	{"avg", put_avg, 3},
	{"p50", put_p50, 2},
	{"p99", put_p99, 7},
	{"max", put_max, 8},
	{"branches", put_branches, 0, .counted = COUNTED_EDGES},
	{"taken", put_taken, 0, .counted = COUNTED_EDGES},
	{"blocks", put_blocks, 0, .counted = COUNTED_ONLY},
	{"sides", put_sides, 0, .counted = COUNTED_ONLY},
};
#define MOST_SPARED 8
#define MOST_NAME   40 /* longer ones get their own line */

/* ---- the table ---- */

/* Returns true if the edges were counted, which shows what ran. */
static bool has_coverage(const struct output *o)
{
	const struct stats *p = o->state;

	return p->blocks && (!o->options.events || o->options.events & PLAN_BRANCH);
}

/* c is NULL if what ran is not shown. */
static void find_rows(const struct output *o, const struct coverage *c, rows_vec *rows)
{
	const struct stats *p = o->state;

	for (size_t i = 0; i < p->plan->functions.len; i++) {
		const struct stats_function *f = &p->functions[i];

		if (f->calls || f->branches || f->unseen || f->open)
			vec__push(rows, (struct row){&p->plan->functions.data[i], f, o->more,
						     c ? &c->code[i] : NULL});
	}
	rows__sort(o, rows);
}

static void put_cell(struct str *s, size_t column, const struct row *r, unsigned width)
{
	struct str cell = {0};

	columns[column].cell(&cell, r);
	put_right(s, cell.data, width);
	str__puts(s, "  ");
	str__free(&cell);
}

/* For one of the functions. */
static bool is_known(const rows_vec *rows, int when)
{
	const struct row *r;

	vec__each (r, rows)
		if (when == ALWAYS || (when == IF_NET ? r->f->net.calls : r->f->net.off_calls))
			return true;
	return when == ALWAYS;
}

/* Returns true if the column is shown. */
static bool has_column(const struct output *o, const rows_vec *rows, size_t c)
{
	const struct stats *p = o->state;
	bool edges = !o->options.events || o->options.events & PLAN_BRANCH;

	if (columns[c].counted >= COUNTED_EDGES && !edges)
		return false;
	if (columns[c].counted == COUNTED_ONLY)
		return p->blocks && rows->len && rows->data[0].code;
	return p->blocks ? columns[c].counted : is_known(rows, columns[c].when);
}

/* A width of 0 means that the column isn't shown. */

static void find_widths(const struct output *o, const rows_vec *rows, unsigned widths[])
{
	struct str cell = {0};
	const struct row *r;

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		widths[c] = 0;
		if (!has_column(o, rows, c))
			continue;
		widths[c] = strlen(columns[c].head);
		vec__each (r, rows) {
			str__clear(&cell);
			columns[c].cell(&cell, r);
			widths[c] = max_of(widths[c], (unsigned)cell.len);
		}
	}
	str__free(&cell);
}

static unsigned table_width(const rows_vec *rows, const unsigned widths[])
{
	unsigned name = strlen("function"), sum = 0;
	const struct row *r;

	vec__each (r, rows)
		name = max_of(name, (unsigned)min_of(strlen(r->plan->name), (size_t)MOST_NAME));
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		sum += widths[c] ? widths[c] + 2 : 0;
	return sum + name;
}

/* Returns the highest drop_order to omit for a table of this width; 0 for none. */
static unsigned columns_to_omit(const rows_vec *rows, const unsigned widths[], unsigned wanted)
{
	unsigned width = table_width(rows, widths), most = 0;

	while (wanted && width > wanted && most < MOST_SPARED) {
		most++;
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			width -= columns[c].drop_order == most ? widths[c] + 2 : 0;
	}
	return most;
}

static bool is_omitted(size_t column, unsigned most)
{
	return columns[column].drop_order && columns[column].drop_order <= most;
}

/* Wrapped, not cut. */
static void put_sentence(struct output *o, const struct str *text)
{
	if (text->len)
		fit__wrap(&o->buffer, text->data, 0, 0, o->options.width);
}

static void put_omitted(struct output *o, unsigned most)
{
	const char *before = "(terminal too narrow: ";
	CLEANUP(str__free) struct str text = {0};
	struct str *s = &text;

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		if (!is_omitted(c, most))
			continue;
		str__puts(s, before);
		str__puts(s, columns[c].head);
		before = ", ";
	}
	if (most)
		str__puts(s, " omitted)\n");
	put_sentence(o, &text);
}

static void put_table(struct output *o, const rows_vec *rows)
{
	struct str *s = &o->buffer;
	unsigned widths[ARRAY_SIZE(columns)], most;
	const struct row *r;

	find_widths(o, rows, widths);
	most = columns_to_omit(rows, widths, o->options.width);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		if (!widths[c] || is_omitted(c, most))
			continue;
		put_right(s, columns[c].head, widths[c]);
		str__puts(s, "  ");
	}
	str__puts(s, "function\n");
	vec__each (r, rows) {
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			if (widths[c] && !is_omitted(c, most))
				put_cell(s, c, r, widths[c]);
		fit__name(s, r->plan->name, text__most_name(o));
		str__putc(s, '\n');
	}
	put_omitted(o, most);
}

/* ---- the histograms ---- */

static void put_bound(struct str *s, unsigned bit)
{
	struct str text = {0};

	if (bit == 64)
		str__puts(&text, "more");
	else
		put_duration(&text, bit ? 1ull << bit : 0);
	put_right(s, text.data, 8);
	str__free(&text);
}

static void put_bar(struct str *s, const struct row *r, unsigned bit, uint64_t count, uint64_t most)
{
	unsigned width = (unsigned __int128)count * BAR / most;

	str__puts(s, "  ");
	put_bound(s, bit);
	str__puts(s, " ..");
	put_bound(s, bit + 1);
	str__puts(s, "  |");
	for (unsigned i = 0; i < BAR; i++)
		str__putc(s, i < width || (!i && count) ? '@' : ' ');
	str__printf(s, "| %llu%s\n", (unsigned long long)count, r->more);
}

static void put_histogram(struct str *s, const struct row *r)
{
	uint64_t counts[64], most = 0;
	int first = -1, last = 0;

	histogram__log2(&r->f->time, counts);
	for (int i = 0; i < 64; i++) {
		most = max_of(most, counts[i]);
		first = first < 0 && counts[i] ? i : first;
		last = counts[i] ? i : last;
	}
	str__putc(s, '\n');
	str__shown(s, r->plan->name);
	str__puts(s, ", how long its calls took:\n");
	for (int i = first; i <= last; i++)
		put_bar(s, r, i, counts[i], most);
}

static void put_histograms(struct str *s, const rows_vec *rows)
{
	size_t timed = 0;
	const struct row *r;

	vec__each (r, rows)
		if (r->f->time.n && timed++ < DRAWN)
			put_histogram(s, r);
	if (timed > DRAWN)
		str__printf(s, "\n(the durations of %zu more functions are not drawn)\n",
			    timed - DRAWN);
}

static bool any_noise(const rows_vec *rows)
{
	const struct row *r;
	uint64_t ns;

	vec__each (r, rows)
		if (stats_net__state(&r->f->net, &ns) == NET_NOISE)
			return true;
	return false;
}

static void put_tracing(struct output *o, const rows_vec *rows, const struct trace_totals *t)
{
	CLEANUP(str__free) struct str text = {0}, noise = {0}, times = {0};
	bool known = totals__tracing(t, &text), noisy = any_noise(rows);

	if (noisy || known)
		str__putc(&o->buffer, '\n');
	if (noisy)
		str__puts(&noise, "noise: below the tracer's noise: tracing took so much of that "
				  "time that the program's own part is not known.\n");
	put_sentence(o, &noise);
	if (known)
		str__printf(&times, "Times include %s.\n", text.data);
	put_sentence(o, &times);
}

/* The table, and how much ran: of all functions, those that didn't run have no row. */
static void put_counted(struct output *o, rows_vec *rows, bool total)
{
	struct coverage c = {0};
	struct str text = {0};

	if (has_coverage(o))
		coverage__init(&c, o->state, &o->options);
	find_rows(o, c.plan ? &c : NULL, rows);
	put_table(o, rows);
	if (total && c.plan) {
		output_coverage__text(&c.total, &text);
		str__printf(&o->buffer, "\nCoverage: %s.\n", text.data);
	}
	str__free(&text);
	coverage__free(&c);
}

static void put_marks(struct output *o)
{
	const struct stats *p = o->state;
	const struct stats_mark *m;
	struct str *s = &o->buffer;

	if (p->marks.len)
		str__puts(s, "\n    count  mark\n");
	vec__each (m, &p->marks) {
		str__printf(s, "%9llu%s  ", (unsigned long long)m->count, o->more);
		str__shown(s, m->text);
		if (m->numbered)
			str__printf(s, " = %lld", (long long)m->least);
		if (m->numbered && m->most != m->least)
			str__printf(s, " to %lld", (long long)m->most);
		str__putc(s, '\n');
	}
}

static int summary__end(struct output *o, const struct trace_totals *t)
{
	struct stats *p = o->state;
	struct str missing = {0};
	rows_vec rows = {0};

	stats__end(p);
	if (o->plan->functions.len)
		put_counted(o, &rows, true);
	if (p->samples)
		samples__put_tables(o);
	named__put_counts(o, p->named);
	put_marks(o);
	put_tracing(o, &rows, t);
	put_histograms(&o->buffer, &rows);
	if (stats__missing(p, t, &missing)) {
		str__puts(&o->buffer, "\nMissing: ");
		str__puts(&o->buffer, missing.data);
		str__puts(&o->buffer, ".\n");
	}
	str__free(&missing);
	vec__free(&rows);
	return 0;
}

/* With -c: without times. */
static int counted__interval(struct output *o, uint64_t time, const struct trace_totals *t)
{
	rows_vec rows = {0};

	put_counted(o, &rows, false);
	put_elapsed(o, time, t);
	vec__free(&rows);
	return 0;
}

static const struct output_format summary_counted = {
	.name = "summary",
	.cuts = true,
	.wants = {.events = OUTPUT_EDGES},
	.help = "a table of the functions with their counts",
	.entries = true,
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.interval = counted__interval,
	.end = summary__end,
};

const struct output_format output_summary = {
	.name = "summary",
	.cuts = true,
	.wants = {.events = OUTPUT_STEPS, .durations = true},
	.counting = &summary_counted,
	.help = "a table of the functions with their times, and histograms",
	.size = sizeof(struct stats),
	.covers = COVERS,
	AGGREGATES,
	ADDS_UP,
	.end = summary__end,
};
