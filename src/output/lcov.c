// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lcov format (geninfo(1), "FILES"): a tracefile for genhtml(1) and lcov(1). A function stands
 * at the line of its first instruction, a branch at that of its own; coverage.h says what is
 * counted, and how branches are numbered. What is not known is left out.
 */
#include <ctype.h>
#include "output/coverage.h"
#include "output/fields.h"

static void put_record(struct str *s, const char *name, uint64_t n)
{
	str__printf(s, "%s:%llu\n", name, (unsigned long long)n);
}

static void put_ratio(struct str *s, const char *all, const char *ran,
		      const struct coverage_ratio *r)
{
	put_record(s, all, r->all);
	put_record(s, ran, r->ran);
}

static void put_name(struct str *s, const char *name)
{
	str__shown(s, name);
	str__putc(s, '\n');
}

static void put_functions(struct str *s, const struct coverage *c, const struct coverage_rows *r)
{
	const struct coverage_function *f, *end = c->by_function.data + r->end;
	struct coverage_ratio ratio = coverage__functions(c, r);

	for (f = c->by_function.data + r->first; f < end; f++) {
		if (f->calls == RUNS_UNKNOWN)
			continue;
		str__printf(s, "FN:%u,", f->line);
		put_name(s, f->name);
	}
	for (f = c->by_function.data + r->first; f < end; f++) {
		if (f->calls == RUNS_UNKNOWN)
			continue;
		str__printf(s, "FNDA:%llu,", (unsigned long long)f->calls);
		put_name(s, f->name);
	}
	put_ratio(s, "FNF", "FNH", &ratio);
}

/* "-": the branch itself was never reached. */
static void put_sides(struct str *s, const struct coverage *c, const struct coverage_rows *r)
{
	struct coverage_ratio ratio = coverage__sides(c, r);

	for (size_t i = r->first; i < r->end; i++) {
		const struct coverage_side *side = &c->by_side.data[i];

		if (side->count == RUNS_UNKNOWN)
			continue;
		str__printf(s, "BRDA:%u,%u,%u,", side->line, side->branch, side->side);
		if (side->runs)
			str__dec(s, side->count);
		else
			str__putc(s, '-');
		str__putc(s, '\n');
	}
	if (ratio.all)
		put_ratio(s, "BRF", "BRH", &ratio);
}

static void put_lines(struct str *s, const struct coverage *c, const struct coverage_rows *r)
{
	struct coverage_ratio ratio = coverage__lines(c, r);

	for (size_t i = r->first; i < r->end; i++) {
		const struct coverage_line *line = &c->by_line.data[i];

		if (line->count != RUNS_UNKNOWN)
			str__printf(s, "DA:%u,%llu\n", line->line, (unsigned long long)line->count);
	}
	put_ratio(s, "LF", "LH", &ratio);
}

/* lcov takes letters, digits and underscores. */
static void put_test(const struct output *o, struct str *s)
{
	const char *tag = o->options.about.tag;

	str__puts(s, "TN:");
	for (; tag && *tag; tag++)
		str__putc(s, isalnum((unsigned char)*tag) ? *tag : '_');
	str__putc(s, '\n');
}

static int lcov__end(struct output *o, const struct trace_totals *t)
{
	struct coverage_file f = {0};
	struct str *s = &o->buffer;
	struct coverage c;
	int err = 0;

	stats__end(o->state);
	coverage__init(&c, o->state, &o->options);
	while (!err && coverage__next_file(&c, &f)) {
		put_test(o, s);
		str__puts(s, "SF:");
		put_name(s, o->plan->line_files.data[f.file]);
		put_functions(s, &c, &f.functions);
		put_sides(s, &c, &f.sides);
		put_lines(s, &c, &f.lines);
		str__puts(s, "end_of_record\n");
		err = aggregate__flush_full(o);
	}
	coverage__free(&c);
	return err;
}

const struct output_format output_lcov = {
	.name = "lcov",
	.wants = {.events = OUTPUT_EDGES, .lines = true, .scopes = true},
	.suffixes = ".info",
	.help = "coverage of functions, lines and branches, for genhtml and lcov",
	.size = sizeof(struct stats),
	.covers = COVERS_ONLY,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = lcov__end,
};
