// SPDX-License-Identifier: BSD-2-Clause
/*
 * The coverage format: a table of the source files and their sum, then of the objects that have no
 * source lines. On a terminal the files of which most is missing are shown, as many as one screen
 * has.
 */
#include <stdlib.h>
#include "coverage.h"
#include "output/base/fields.h"
#include "source_paths.h"

#define ROWS_MAX 32 /* on a terminal */
#define COLUMNS	 "%15s  %7s  %13s  %15s  "

struct table_row {
	const char *name;
	bool blocks; /* main is of basic blocks, since no line is known */
	struct coverage_ratio main, functions, sides;
};
typedef VEC(struct table_row) row_vec;

struct table {
	struct output *o;
	struct coverage c;
	struct source_paths paths;
	row_vec rows;
};

static void add(struct coverage_ratio *to, const struct coverage_ratio *r)
{
	to->all += r->all;
	to->ran += r->ran;
	to->unknown += r->unknown;
}

static void add_files(struct table *t)
{
	struct coverage_file f = {0};

	while (coverage__next_file(&t->c, &f)) {
		struct table_row row = {
			.name = source_paths__shown(&t->paths, f.file),
			.main = coverage__lines(&t->c, &f.lines),
			.functions = coverage__functions(&t->c, &f.functions),
			.sides = coverage__sides(&t->c, &f.sides),
		};

		vec__push(&t->rows, row);
	}
}

static bool has_lines(const struct coverage *c, const struct plan_function *f)
{
	const struct plan_line *l = plan__line_at(c->plan, f->object, plan__start(f));

	return l && l->line;
}

static void add_function(struct table *t, struct table_row *row, uint32_t function)
{
	const struct coverage_code *code = &t->c.code[function];
	struct coverage_ratio one = {0};

	/* all of a function runs as soon as any block of it does */
	one.all = code->blocks.all > 0;
	one.ran = code->blocks.ran > 0;
	one.unknown = !one.all && code->blocks.unknown;
	row->name = source_paths__of_object(
		&t->paths,
		t->c.plan->objects.data[t->c.plan->functions.data[function].object].path);
	row->blocks = true;
	add(&row->functions, &one);
	add(&row->main, &code->blocks);
	add(&row->sides, &code->sides);
}

/* Adds the objects of which no function has a line. */
static void add_objects(struct table *t)
{
	const struct plan *p = t->c.plan;
	autofree struct table_row *rows = xcalloc(p->objects.len + 1, sizeof(*rows));
	autofree bool *known = xcalloc(p->objects.len + 1, sizeof(*known));

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct plan_function *f = &p->functions.data[i];

		if (!coverage__has_function(&t->c, i) || !f->nranges)
			continue;
		known[f->object] |= has_lines(&t->c, f);
		add_function(t, &rows[f->object], i);
	}
	for (size_t i = 0; i < p->objects.len; i++)
		if (rows[i].name && !known[i])
			vec__push(&t->rows, rows[i]);
}

/* ---- text ---- */

/* "5/8"; with a question mark if it is not known of some whether they ran. */
static char *part_of(const struct coverage_ratio *r)
{
	struct coverage_ratio all = coverage__whole(r);
	struct str s = {0};

	coverage__part(&s, &all);
	if (r->unknown)
		str__putc(&s, '?');
	return s.data;
}

static void put_row(struct str *s, const struct table_row *row)
{
	autofree char *main = part_of(&row->main), *functions = part_of(&row->functions),
		      *sides = part_of(&row->sides);
	struct coverage_ratio whole = coverage__whole(&row->main);
	CLEANUP(str__free) struct str percent = {0};

	coverage__percent(&percent, &whole);
	str__printf(s, COLUMNS, main, percent.data, functions, sides);
	str__shown(s, row->name);
	if (row->blocks)
		str__puts(s, "  (no source lines: blocks)");
	str__putc(s, '\n');
}

static uint64_t missing_in(const struct table_row *r)
{
	return r->main.all - r->main.ran + r->main.unknown;
}

static int by_missing(const void *a, const void *b)
{
	uint64_t x = missing_in(a), y = missing_in(b);

	return x > y ? -1 : x < y;
}

/* Returns the number of rows to show; those of which most is missing come first if not all are. */
static size_t choose(struct table *t)
{
	if (!t->o->options.width || t->rows.len <= ROWS_MAX)
		return t->rows.len;
	vec__sort(&t->rows, by_missing);
	return ROWS_MAX;
}

static void put_table(struct table *t, struct str *s)
{
	struct table_row sum = {.name = "all"};
	size_t shown = choose(t);

	for (size_t i = 0; i < t->rows.len; i++) {
		sum.blocks |= t->rows.data[i].blocks;
		add(&sum.main, &t->rows.data[i].main);
		add(&sum.functions, &t->rows.data[i].functions);
		add(&sum.sides, &t->rows.data[i].sides);
	}
	str__printf(s, COLUMNS "%s\n", "lines", "", "functions", "branches",
		    shown < t->rows.len ? "file, those with most missing lines" : "file");
	for (size_t i = 0; i < shown; i++)
		put_row(s, &t->rows.data[i]);
	if (t->rows.len > 1 && !sum.blocks) /* lines and blocks have no sum */
		put_row(s, &sum);
	if (shown < t->rows.len)
		str__printf(s, "%zu more files: -o FILE.html, or a pipe, shows all\n",
			    t->rows.len - shown);
}

static int table__end(struct output *o, const struct trace_totals *unused)
{
	struct table t = {.o = o};

	stats__end(o->state);
	coverage__init(&t.c, o->state, &o->options);
	source_paths__init(&t.paths, &t.c);
	if (t.c.by_line.len)
		add_files(&t);
	add_objects(&t);
	put_table(&t, &o->buffer);
	vec__free(&t.rows);
	source_paths__free(&t.paths);
	coverage__free(&t.c);
	return 0;
}

const struct output_format output_coverage = {
	.name = "coverage",
	.cuts = true,
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.help = "a table: how much of each file ran",
	.size = sizeof(struct stats),
	.covers = COVERS_ONLY,
	.counting = &output_coverage,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = table__end,
};
