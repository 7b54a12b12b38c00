// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dot format: the control-flow graph of each function that ran, for graphviz. A node is a block
 * with its code, coloured by its count; an edge is labelled with its count. What didn't run is
 * dashed.
 */
#include "listing.h"
#include "output/base/paint.h"
#include "output/stats/runs.h"

#define MOST_INSNS   10 /* instructions of a block; the middle of longer ones is omitted */
#define FIRST_INSNS  5
#define MOST_WIDTH   56	  /* characters of an instruction */
#define MOST_NAME    3000 /* bytes of a name */
#define MOST_TARGETS 12	  /* of an indirect branch; the others are one edge */

struct dot {
	struct stats stats; /* the first: see AGGREGATES */
	struct runs runs;
	uint32_t *order; /* blocks by function */
	size_t *from;	 /* of each function: its first in order; one more at the end */
	/* of the current block */
	struct output *o;
	unsigned insns, insn;
};

/* ---- text ---- */

/* The cut position, between characters. */
static size_t cut_at(const struct str *s, size_t most)
{
	if (s->len <= most)
		return s->len;
	while (most && (s->data[most] & 0xc0) == 0x80)
		most--;
	return most;
}

/* Escapes text within quotes. graphviz refuses 16383 or more bytes without an escape ("longer than
 * 16384?", YYLMAX in its scan.l). */
static void put_label(struct str *s, const char *text)
{
	struct str shown = {0};
	size_t end;

	str__shown(&shown, text);
	end = cut_at(&shown, MOST_NAME);
	for (size_t i = 0; i < end; i++) {
		if (shown.data[i] == '"' || shown.data[i] == '\\')
			str__putc(s, '\\');
		str__putc(s, shown.data[i]);
	}
	if (end < shown.len)
		str__printf(s, "... (%zu more bytes)", shown.len - end);
	str__free(&shown);
}

/* Returns 0 ... 1000, logarithmic: twice the count is one step hotter. */
static unsigned heat_of(uint64_t n, uint64_t most)
{
	unsigned bits = n ? 64 - __builtin_clzll(n) : 0;
	unsigned all = most ? 64 - __builtin_clzll(most) : 1;

	return min_of(1000 * bits / all, 1000u);
}

/* ---- nodes ---- */

static void count_insn(void *ctx, const struct listing_row *row)
{
	((struct dot *)ctx)->insns++;
}

static void put_insn(void *ctx, const struct listing_row *row)
{
	struct dot *d = ctx;
	struct str *s = &d->o->buffer, text = {0};
	unsigned last = MOST_INSNS - FIRST_INSNS, i = d->insn++;

	if (d->insns > MOST_INSNS && i >= FIRST_INSNS && i < d->insns - last) {
		if (i == FIRST_INSNS)
			str__printf(s, "   (%u more)\\l", d->insns - MOST_INSNS);
		return;
	}
	listing__insn(d->o->plan, row, &text);
	if (text.len > MOST_WIDTH) {
		text.len = MOST_WIDTH;
		text.data[text.len] = 0;
		put(&text, "..");
	}
	put_label(s, text.data);
	put(s, "\\l");
	str__free(&text);
}

static void put_runs(struct dot *d, uint64_t n)
{
	if (n == RUNS_UNKNOWN)
		put(&d->o->buffer, "?");
	else
		str__printf(&d->o->buffer, "%llu%s", (unsigned long long)n, d->o->more);
}

static void put_block(struct dot *d, uint32_t block)
{
	const struct plan_block *b = &d->o->plan->blocks.data[block];
	struct str *s = &d->o->buffer, name = {0};
	uint64_t runs = d->runs.blocks[block];
	uint64_t most = b->function < d->o->plan->functions.len ? d->runs.most[b->function] : 0;

	d->insns = d->insn = 0;
	listing__block(d->o, block, count_insn, d);
	str__printf(s, "\t\tb%u [label=\"", block);
	listing__place(d->o->plan, b->object, b->start, &name);
	put_label(s, name.data);
	if (!d->runs.all) {
		put(s, "   ");
		put_runs(d, runs);
		put(s, " runs");
	}
	put(s, "\\l");
	listing__block(d->o, block, put_insn, d);
	put(s, "\"");
	if (!runs)
		put(s, ", style=dashed, color=\"#adb5bd\", fontcolor=\"#868e96\"");
	else if (runs != RUNS_UNKNOWN)
		str__printf(s, ", fillcolor=\"0.045 0.%03u 1.000\"",
			    heat_of(runs, most) * 600 / 1000);
	put(s, "];\n");
	str__free(&name);
}

/* ---- edges ---- */

enum edge_kind { EDGE_TAKEN, EDGE_NOT_TAKEN, EDGE_ON, EDGE_RETURN };

static const struct {
	const char *colour;
	const char *style;
} edges[] = {
	[EDGE_TAKEN] = {"#2b8a3e", "solid"},
	[EDGE_NOT_TAKEN] = {"#c92a2a", "solid"},
	[EDGE_ON] = {"#495057", "solid"},
	[EDGE_RETURN] = {"#868e96", "dotted"}, /* after a call: the number of returns is unknown */
};

static void put_edge(struct dot *d, uint32_t from, const char *to, enum edge_kind kind,
		     uint64_t count)
{
	const struct plan_block *b = &d->o->plan->blocks.data[from];
	struct str *s = &d->o->buffer;

	str__printf(s, "\tb%u -> %s [", from, to);
	if (!count) {
		str__printf(s, "label=\" 0%s \", ", d->o->more);
		put(s, "style=dashed, color=\"#adb5bd\", fontcolor=\"#adb5bd\"];\n");
		return;
	}
	str__printf(s, "color=\"%s\", style=%s", edges[kind].colour, edges[kind].style);
	if (count != RUNS_UNKNOWN) {
		unsigned width = 1000 + 2 * heat_of(count, d->runs.most[b->function]);

		str__printf(s, ", label=\" %llu%s \", penwidth=%u.%03u", (unsigned long long)count,
			    d->o->more, width / 1000, width % 1000);
	}
	put(s, "];\n");
}

static bool is_drawn(const struct dot *d, uint32_t block)
{
	uint32_t f = block == NO_BLOCK ? NO_FUNCTION : d->o->plan->blocks.data[block].function;

	return f < d->o->plan->functions.len &&
	       !(d->o->plan->functions.data[f].flags & FUNCTION_HELPER) && runs__ran(&d->runs, f);
}

static void edge_to_block(struct dot *d, uint32_t from, uint32_t to, enum edge_kind kind,
			  uint64_t count)
{
	char name[16];

	snprintf(name, sizeof(name), "b%u", to);
	put_edge(d, from, name, kind, count);
}

/* An edge to a target outside of the graph, which gets its own node. */
static void edge_out(struct dot *d, uint32_t from, unsigned n, const char *text, uint64_t count)
{
	char name[32];

	snprintf(name, sizeof(name), "x%u_%u", from, n);
	str__printf(&d->o->buffer, "\t%s [label=\"", name);
	put_label(&d->o->buffer, text);
	put(&d->o->buffer, "\", shape=plaintext, style=\"\"];\n");
	put_edge(d, from, name, EDGE_TAKEN, count);
}

static void put_direct(struct dot *d, uint32_t from, uint32_t site)
{
	const struct plan_block *b = &d->o->plan->blocks.data[from];
	const struct plan_site *s = &d->o->plan->sites.data[site];
	uint64_t count = d->runs.known ? d->stats.sites[site].taken : RUNS_UNKNOWN;
	struct str text = {0};

	if (is_drawn(d, b->taken)) {
		edge_to_block(d, from, b->taken, EDGE_TAKEN, count);
		return;
	}
	listing__place(d->o->plan, s->object, s->target, &text);
	edge_out(d, from, 0, text.data, count);
	str__free(&text);
}

/* Targets of a jump table that were never taken. */
static void put_unused(struct dot *d, uint32_t from, const struct stats_site *ps)
{
	const struct plan_block *b = &d->o->plan->blocks.data[from];
	const struct stats_target *t;
	struct map64 seen = {0};

	vec__each (t, &ps->targets)
		*map64__put(&seen, runs__block_of(d->o->plan, &t->to)) = 1;
	for (uint32_t i = 0; i < b->ntable && !ps->more && !ps->unknown_target; i++) {
		uint32_t to = d->o->plan->table.data[b->table + i];
		uint64_t *known = map64__put(&seen, to);

		if (!*known && is_drawn(d, to))
			edge_to_block(d, from, to, EDGE_TAKEN, d->runs.known ? 0 : RUNS_UNKNOWN);
		*known = 1;
	}
	map64__free(&seen);
}

static void put_indirect(struct dot *d, uint32_t from, uint32_t site)
{
	struct stats_site *ps = &d->stats.sites[site];
	uint64_t rest = ps->more + ps->unknown_target;
	const struct stats_target *t;
	struct str text = {0};

	listing__sort_targets(ps);
	vec__each (t, &ps->targets) {
		uint32_t to = runs__block_of(d->o->plan, &t->to);
		unsigned n = t - ps->targets.data;

		if (n >= MOST_TARGETS) {
			rest += t->count;
		} else if (is_drawn(d, to)) {
			edge_to_block(d, from, to, EDGE_TAKEN, t->count);
		} else {
			str__clear(&text);
			listing__location(d->o->plan, d->o->plan->sites.data[site].object, &t->to,
					  &text);
			edge_out(d, from, n, text.data, t->count);
		}
	}
	if (rest)
		edge_out(d, from, MOST_TARGETS, "(other places)", rest);
	put_unused(d, from, ps);
	str__free(&text);
}

static void put_next(struct dot *d, uint32_t from, uint8_t kind)
{
	static const uint8_t kinds[BRANCH_KINDS] = {
		[BRANCH_NONE] = EDGE_ON,	[BRANCH_JCC] = EDGE_NOT_TAKEN,
		[BRANCH_LOOP] = EDGE_NOT_TAKEN, [BRANCH_CALL] = EDGE_RETURN,
		[BRANCH_ICALL] = EDGE_RETURN,
	};
	uint32_t next = d->o->plan->blocks.data[from].next;

	if (is_drawn(d, next))
		edge_to_block(d, from, next, kinds[kind], runs__next(&d->runs, from));
}

static void put_edges(struct dot *d, uint32_t from)
{
	uint32_t site = d->o->plan->blocks.data[from].site;
	uint8_t kind = site == NO_SITE ? BRANCH_NONE : d->o->plan->sites.data[site].kind;

	if (kind == BRANCH_JCC || kind == BRANCH_LOOP || kind == BRANCH_JMP)
		put_direct(d, from, site);
	if (kind == BRANCH_IJMP || kind == BRANCH_ICALL)
		put_indirect(d, from, site);
	put_next(d, from, kind);
}

/* ---- functions ---- */

/* Counting sort: the blocks of function f are order[from[f]] … order[from[f + 1] - 1]. */
static void sort_blocks(struct dot *d)
{
	const struct plan *plan = d->o->plan;
	size_t n = plan->functions.len;
	const struct plan_block *b;

	d->from = xcalloc(n + 2, sizeof(*d->from));
	d->order = xcalloc(plan->blocks.len + 1, sizeof(*d->order));
	vec__each (b, &plan->blocks)
		if (b->function < n)
			d->from[b->function + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		d->from[i] += d->from[i - 1];
	vec__each (b, &plan->blocks)
		if (b->function < n)
			d->order[d->from[b->function + 1]++] = b - plan->blocks.data;
}

static int put_function(struct dot *d, uint32_t function)
{
	const struct plan_function *f = &d->o->plan->functions.data[function];
	struct str *s = &d->o->buffer;

	str__printf(s, "\tsubgraph cluster_%u {\n\t\tlabel=\"", function);
	put_label(s, f->name);
	put(s, " [");
	put_label(s, path__base_name(d->o->plan->objects.data[f->object].path));
	put(s, "]");
	if (!d->runs.all) {
		put(s, ": ");
		stats__put_counts(s, &d->stats.functions[function], d->o->more);
	}
	put(s, "\";\n");
	for (size_t i = d->from[function]; i < d->from[function + 1]; i++)
		put_block(d, d->order[i]);
	put(s, "\t}\n");
	for (size_t i = d->from[function]; i < d->from[function + 1]; i++)
		put_edges(d, d->order[i]);
	return output__flush(d->o);
}

static void put_head(struct dot *d, const struct trace_totals *t)
{
	struct str *s = &d->o->buffer, missing = {0};

	put(s, "digraph bbtrace {\n"
	       "\tgraph [fontname=\"sans-serif\", fontsize=12, labelloc=t, labeljust=l");
	if (!d->runs.all && stats__missing(&d->stats, t, &missing)) {
		put(s, ", label=\"missing: ");
		put_label(s, missing.data);
		put(s, "\"");
	}
	put(s, "];\n"
	       "\tnode [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", "
	       "fontsize=9, color=\"#868e96\"];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	str__free(&missing);
}

static int dot__end(struct output *o, const struct trace_totals *t)
{
	struct dot *d = o->state;
	int err = 0;

	stats__end(&d->stats);
	runs__init(&d->runs, &d->stats, &o->options);
	d->o = o;
	sort_blocks(d);
	put_head(d, t);
	for (uint32_t i = 0; !err && i < o->plan->functions.len; i++)
		if (!(o->plan->functions.data[i].flags & FUNCTION_HELPER) && runs__ran(&d->runs, i))
			err = put_function(d, i);
	put(&o->buffer, "}\n");
	return err;
}

static void dot__free(struct output *o)
{
	struct dot *d = o->state;

	free(d->order);
	free(d->from);
	runs__free(&d->runs);
	stats__free(&d->stats);
}

const struct output_format output_dot = {
	.name = "dot",
	.form = FORM_GRAPH,
	.wants = {.events = OUTPUT_EDGES},
	.suffixes = ".dot .gv",
	.help = "control-flow graphs with counts, for graphviz",
	.size = sizeof(struct dot),
	.at_end = true,
	.begin = aggregate__begin,
	.plan_extended = aggregate__plan_extended,
	.step = aggregate__step,
	.count = aggregate__count,
	.end = dot__end,
	.free = dot__free,
};
