// SPDX-License-Identifier: BSD-2-Clause
/*
 * The annotate format: the disassembly of each function that ran, with its source if known.
 * Branches are preceded by their taken and not-taken counts, indirect ones are followed by their
 * targets, and blocks are preceded by their count. Code that didn't run is dim.
 */
#include "output/coverage/coverage.h"
#include "listing.h"
#include "output/base/paint.h"

#define COUNT_WIDTH  11
#define OFFSET_WIDTH 8
#define INSN_WIDTH   44
#define MOST_TARGETS 16 /* targets listed; the others are summed up in one line */

struct annotate {
	struct stats stats; /* the first: see AGGREGATES */
	struct coverage c;
	/* of the current function */
	struct output *o;
	uint64_t most; /* the count of the function's hottest block */
};

static void put_count(struct annotate *a, uint64_t n)
{
	struct str *s = &a->o->buffer;

	if (n == RUNS_UNKNOWN)
		str__printf(s, "%*s", COUNT_WIDTH, "?");
	else
		str__printf(s, "%*llu%s", COUNT_WIDTH - (int)strlen(a->o->more),
			    (unsigned long long)n, a->o->more);
}

static enum colour heat_of(const struct annotate *a, uint64_t n)
{
	if (n == RUNS_UNKNOWN || !n)
		return DIM;
	return n >= a->most - a->most / 4 ? RED : n >= a->most / 10 ? YELLOW : PLAIN;
}

static void put_painted(struct annotate *a, enum colour colour, uint64_t n)
{
	if (colour)
		paint(a->o, colour);
	put_count(a, n);
	if (colour)
		paint(a->o, PLAIN);
}

/* ---- the columns before the code ---- */

static void put_branch(struct annotate *a, const struct listing_row *row)
{
	const struct plan_site *s = &a->o->plan->sites.data[row->site];
	const struct stats_site *ps = &a->stats.sites[row->site];

	if (!a->c.runs.known) {
		put_spaces(&a->o->buffer, 2 * COUNT_WIDTH);
		return;
	}
	put_painted(a, ps->taken ? GREEN : DIM, ps->taken);
	if (s->kind == BRANCH_JCC || s->kind == BRANCH_LOOP)
		put_painted(a, ps->not_taken ? PLAIN : DIM, ps->not_taken);
	else
		put_spaces(&a->o->buffer, COUNT_WIDTH);
}

static void put_counts(struct annotate *a, const struct listing_row *row)
{
	struct str *s = &a->o->buffer;

	if (row->first)
		put_painted(a, heat_of(a, a->c.runs.blocks[row->block]),
			    a->c.runs.blocks[row->block]);
	else
		put_spaces(s, COUNT_WIDTH);
	if (row->site != NO_SITE && a->o->plan->sites.data[row->site].kind)
		put_branch(a, row);
	else
		put_spaces(s, 2 * COUNT_WIDTH);
}

/* Indents rows without counts. */
static void indent(struct annotate *a)
{
	put_spaces(&a->o->buffer, (a->c.runs.all ? 0 : 3 * COUNT_WIDTH) + 2);
}

static void put_columns(struct annotate *a, const struct listing_row *row)
{
	struct str *s = &a->o->buffer;
	char offset[24];

	if (!a->c.runs.all)
		put_counts(a, row);
	snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)(row->vaddr - row->start));
	str__printf(s, "  %-*s ", OFFSET_WIDTH, offset);
}

/* ---- where indirect branches went ---- */

static void put_target(struct annotate *a, uint64_t count, const char *text)
{
	put_spaces(&a->o->buffer, COUNT_WIDTH);
	put_count(a, count);
	put_spaces(&a->o->buffer, COUNT_WIDTH + 2 + OFFSET_WIDTH + 1);
	put(&a->o->buffer, "  -> ");
	str__shown(&a->o->buffer, text);
	str__putc(&a->o->buffer, '\n');
}

static void put_targets(struct annotate *a, const struct listing_row *row)
{
	struct stats_site *ps = &a->stats.sites[row->site];
	struct stats_target *t;
	uint64_t rest = ps->more;
	struct str text = {0};

	listing__sort_targets(ps);
	vec__each (t, &ps->targets) {
		if (t - ps->targets.data >= MOST_TARGETS) {
			rest += t->count;
			continue;
		}
		str__clear(&text);
		listing__location(a->o->plan, row->object, &t->to, &text);
		put_target(a, t->count, text.data);
	}
	if (rest)
		put_target(a, rest, "(other places)");
	if (ps->unknown_target)
		put_target(a, ps->unknown_target, "?");
	str__free(&text);
}

/* ---- rows ---- */

static void put_place(struct str *s, const struct listing_row *row)
{
	str__shown(s, path__base_name(row->file));
	str__printf(s, ":%u", row->line);
}

/* For a conditional that always has the same outcome. Returns its width. */
static size_t put_unseen(struct annotate *a, const struct listing_row *row)
{
	const char *side = row->site == NO_SITE || *a->o->more
				   ? NULL
				   : coverage__unseen_side(&a->c, row->site);

	if (!side)
		return 0;
	paint(a->o, RED);
	str__printf(&a->o->buffer, "  # %s", side);
	paint(a->o, PLAIN);
	return strlen("  # ") + strlen(side);
}

static void put_insn(struct annotate *a, const struct listing_row *row)
{
	struct str *s = &a->o->buffer, text = {0};
	bool dim = !a->c.runs.blocks[row->block];
	size_t width;

	put_columns(a, row);
	if (dim)
		paint(a->o, DIM);
	listing__insn(a->o->plan, row, &text);
	width = s->len;
	str__shown(s, text.data);
	width = s->len - width;
	if (dim)
		paint(a->o, PLAIN);
	width += put_unseen(a, row);
	if (row->file) {
		put_spaces(s, INSN_WIDTH - min_of(width, (size_t)INSN_WIDTH));
		paint(a->o, CYAN);
		put(s, "  ");
		put_place(s, row);
		paint(a->o, PLAIN);
	}
	str__putc(s, '\n');
	str__free(&text);
	if (row->site != NO_SITE)
		put_targets(a, row);
}

static void put_source(struct annotate *a, const struct listing_row *row)
{
	struct str *s = &a->o->buffer;

	indent(a);
	paint(a->o, CYAN);
	put_place(s, row);
	put(s, "  ");
	str__shown(s, row->source);
	paint(a->o, PLAIN);
	str__putc(s, '\n');
}

static void put_row(void *ctx, const struct listing_row *row)
{
	struct annotate *a = ctx;
	struct str *s = &a->o->buffer;

	switch (row->kind) {
	case LISTING_PART:
		indent(a);
		str__shown(s, row->name);
		put(s, ":\n");
		return;
	case LISTING_SOURCE:
		return put_source(a, row);
	case LISTING_INSN:
		return put_insn(a, row);
	case LISTING_GAP:
		indent(a);
		paint(a->o, DIM);
		str__printf(s, "+0x%-*llx (%llu bytes that control flow doesn't reach)",
			    OFFSET_WIDTH - 3, (unsigned long long)(row->vaddr - row->start),
			    (unsigned long long)row->len);
		paint(a->o, PLAIN);
		str__putc(s, '\n');
	}
}

/* ---- functions ---- */

/* How much of it ran. */
static void put_part(struct annotate *a, const char *what, const struct coverage_ratio *r)
{
	struct str *s = &a->o->buffer;

	if (!r->all)
		return;
	put(s, ", ");
	coverage__part(s, r);
	str__printf(s, " %s", what);
}

static void put_head(struct annotate *a, uint32_t function)
{
	const struct plan_function *f = &a->o->plan->functions.data[function];
	const struct stats_function *pf = &a->stats.functions[function];
	struct str *s = &a->o->buffer;

	paint(a->o, BRIGHT);
	str__shown(s, f->name);
	paint(a->o, PLAIN);
	put(s, " in ");
	str__shown(s, a->o->plan->objects.data[f->object].path);
	str__printf(s, ", 0x%llx", (unsigned long long)plan__start(f));
	if (a->c.runs.all) {
		str__putc(s, '\n');
		return;
	}
	put(s, ": ");
	stats__put_counts(s, pf, a->o->more);
	put_part(a, "blocks", &a->c.code[function].blocks);
	put_part(a, "sides of branches", &a->c.code[function].sides);
	str__putc(s, '\n');
	str__printf(s, "%*s%*s%*s  %-*s instruction\n", COUNT_WIDTH, "runs", COUNT_WIDTH, "taken",
		    COUNT_WIDTH, "not taken", OFFSET_WIDTH, "offset");
}

static int put_function(struct annotate *a, uint32_t function)
{
	a->most = a->c.runs.most[function];
	put_head(a, function);
	listing__function(a->o, function, put_row, a);
	str__putc(&a->o->buffer, '\n');
	return output__flush(a->o);
}

static void put_missing(struct annotate *a, const struct trace_totals *t)
{
	struct str *s = &a->o->buffer, text = {0};

	if (a->c.runs.all)
		return;
	if (!a->c.runs.known)
		put(s, "# No branches were recorded (-e): how often each ran is not known.\n");
	if (stats__missing(&a->stats, t, &text))
		str__printf(s, "# Missing: %s\n", text.data);
	str__free(&text);
}

static void put_total(struct annotate *a)
{
	struct str text = {0};

	if (!a->c.runs.all && a->c.runs.known) {
		output_coverage__text(&a->c.total, &text);
		str__printf(&a->o->buffer, "# Coverage: %s.\n", text.data);
	}
	str__free(&text);
}

static int annotate__end(struct output *o, const struct trace_totals *t)
{
	struct annotate *a = o->state;
	unsigned idle = 0;
	int err = 0;

	stats__end(&a->stats);
	coverage__init(&a->c, &a->stats, &o->options);
	a->o = o;
	put_missing(a, t);
	for (uint32_t i = 0; !err && i < o->plan->functions.len; i++) {
		if (o->plan->functions.data[i].flags & FUNCTION_HELPER)
			continue;
		if (runs__ran(&a->c.runs, i))
			err = put_function(a, i);
		else
			idle++;
	}
	if (idle)
		str__printf(&o->buffer, "# %u function%s did not run.\n", idle,
			    idle == 1 ? "" : "s");
	put_total(a);
	return err;
}

static void annotate__free(struct output *o)
{
	struct annotate *a = o->state;

	coverage__free(&a->c);
	stats__free(&a->stats);
}

const struct output_format output_annotate = {
	.name = "annotate",
	.form = FORM_CODE,
	.wants = {.events = OUTPUT_EDGES, .lines = true, .source_text = true},
	.help = "disassembly with source, each branch with its counts",
	.size = sizeof(struct annotate),
	.covers = COVERS,
	.counting = &output_annotate,
	.at_end = true,
	.begin = aggregate__begin,
	.plan_extended = aggregate__plan_extended,
	.step = aggregate__step,
	.count = aggregate__count,
	.end = annotate__end,
	.free = annotate__free,
};
