// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lcov format (geninfo(1), "FILES"): a tracefile for genhtml(1) and lcov(1). A function is at
 * its declaration, if that is known, a branch at its own line; coverage.h has what is counted, and
 * how branches are numbered. What is not known is left out.
 */
#include <ctype.h>
#include "coverage.h"
#include "output/base/fields.h"
#include "source_paths.h"

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

/* Readers distinguish functions by name: one that others of the file have, too, gets its line. */
static void put_function(struct str *s, const struct coverage_function *f)
{
	str__shown(s, f->name);
	if (f->shared)
		str__printf(s, ":%u", f->line);
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
		put_function(s, f);
	}
	for (f = c->by_function.data + r->first; f < end; f++) {
		if (f->calls == RUNS_UNKNOWN)
			continue;
		str__printf(s, "FNDA:%llu,", (unsigned long long)f->calls);
		put_function(s, f);
	}
	put_ratio(s, "FNF", "FNH", &ratio);
}

/* Returns the end of the sides of a line. *reached: any of its branches was. */
static size_t end_of_line(const struct coverage *c, size_t i, size_t end, bool *reached)
{
	uint32_t line = c->by_side.data[i].line;

	for (*reached = false; i < end && c->by_side.data[i].line == line; i++)
		*reached |= c->by_side.data[i].runs != 0;
	return i;
}

static bool has_run(const struct coverage *c, const struct coverage_rows *r, uint32_t line,
		    size_t *at)
{
	for (*at = max_of(*at, r->first); *at < r->end && c->by_line.data[*at].line < line;)
		++*at;
	return *at < r->end && c->by_line.data[*at].line == line && c->by_line.data[*at].count;
}

/* "-": the branch itself was never reached. Where that holds for all branches of a line that ran,
 * as its code is in several places, it is 0, as geninfo has it: lcov 2 takes "-" for an error
 * there. */
static void put_sides(struct str *s, const struct coverage *c, const struct coverage_file *f)
{
	struct coverage_ratio ratio = coverage__sides(c, &f->sides);
	size_t end = f->sides.first, line = 0;
	bool reached = false;

	for (size_t i = f->sides.first; i < f->sides.end; i++) {
		const struct coverage_side *side = &c->by_side.data[i];

		if (i == end) {
			end = end_of_line(c, i, f->sides.end, &reached);
			reached = reached || !has_run(c, &f->lines, side->line, &line);
		}
		if (side->count == RUNS_UNKNOWN)
			continue;
		str__printf(s, "BRDA:%u,%u,%u,", side->line, side->branch, side->side);
		if (side->runs || !reached)
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
	struct source_paths paths;
	struct coverage c;
	int err = 0;

	stats__end(o->state);
	coverage__init(&c, o->state, &o->options);
	source_paths__init(&paths, &c);
	while (!err && coverage__next_file(&c, &f)) {
		put_test(o, s);
		str__puts(s, "SF:");
		put_name(s, source_paths__path(&paths, f.file));
		put_functions(s, &c, &f.functions);
		put_sides(s, &c, &f);
		put_lines(s, &c, &f.lines);
		str__puts(s, "end_of_record\n");
		err = aggregate__flush_full(o);
	}
	source_paths__free(&paths);
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
	.counting = &output_lcov,
	AGGREGATES,
	ADDS_UP,
	.count = aggregate__count,
	.end = lcov__end,
};
