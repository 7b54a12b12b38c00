// SPDX-License-Identifier: BSD-2-Clause
/*
 * The folded format: a line for each stack, "thread;outer;inner NUMBER", as flamegraph.pl, inferno
 * and speedscope read it. folded: the innermost function's own ns; folded:count: its calls from
 * this stack. A last line that starts with # has what is missing; readers skip it, since it doesn't
 * end in a number.
 */
#include "output/base/fields.h"
#include "output/stats/stats.h"

/* A name without the separators of frames and lines. */
static void put_frame(struct str *s, const char *name)
{
	size_t start = s->len;

	str__shown(s, name);
	for (size_t i = start; i < s->len; i++)
		if (s->data[i] == ';')
			s->data[i] = ':';
}

static void put_stack(struct str *s, const struct stats *p, const stats_nodes *nodes, size_t i)
{
	uint32_t chain[STATS_DEPTH + 2];
	size_t n = 0;

	for (; i != NO_NODE && n < ARRAY_SIZE(chain); i = nodes->data[i].parent)
		chain[n++] = i;
	while (n--) {
		put_frame(s, stats__name(p, &nodes->data[chain[n]]));
		str__putc(s, n ? ';' : ' ');
	}
}

static int put_stacks(struct output *o, const struct trace_totals *t, bool count)
{
	struct stats *p = o->state;
	struct str note = {0};
	stats_nodes nodes;
	int err = 0;

	stats__end(p);
	stats__by_name(p, &nodes);
	for (size_t i = 0; !err && i < nodes.len; i++) {
		uint64_t value = count || p->samples ? nodes.data[i].calls : nodes.data[i].self;

		if (!value)
			continue;
		put_stack(&o->buffer, p, &nodes, i);
		str__dec(&o->buffer, value);
		str__putc(&o->buffer, '\n');
		err = aggregate__flush_full(o);
	}
	if (stats__missing(p, t, &note))
		str__printf(&o->buffer, "# bbtrace: %s\n", note.data);
	str__clear(&note);
	if (!count && totals__tracing(t, &note))
		str__printf(&o->buffer, "# bbtrace: times include %s\n", note.data);
	str__free(&note);
	vec__free(&nodes);
	return err;
}

static int folded__end(struct output *o, const struct trace_totals *t)
{
	return put_stacks(o, t, false);
}

static int folded_count__end(struct output *o, const struct trace_totals *t)
{
	return put_stacks(o, t, true);
}

const struct output_format output_folded = {
	.name = "folded",
	.wants = {.events = OUTPUT_CALLS, .durations = true},
	.suffixes = ".folded",
	.help = "stacks with the ns of the innermost function itself: thread;outer;inner NS",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = folded__end,
};

const struct output_format output_folded_count = {
	.name = "folded:count",
	.wants = {.events = OUTPUT_CALLS},
	.help = "stacks with the calls of the innermost function",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = folded_count__end,
};
