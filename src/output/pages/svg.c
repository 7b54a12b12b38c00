// SPDX-License-Identifier: BSD-2-Clause
/* The svg format: a flame graph as a page of its own. svg: as wide as the time; svg:count: as the
 * calls. */
#include "output/base/fields.h"
#include "flame.h"

static int put_graph(struct output *o, const struct trace_totals *t, const struct flame_view *view)
{
	struct stats *p = o->state;
	struct str missing = {0}, tracing = {0};
	autofree char *title = xasprintf("bbtrace: %s", view->title);
	bool lacks = stats__missing(p, t, &missing);
	bool costs = o->format->wants.durations && totals__tracing(t, &tracing);

	flame__put(&o->buffer, p,
		   &(struct flame_options){.value = view->value,
					   .title = title,
					   .more = o->more,
					   .note = lacks ? missing.data : NULL,
					   .tracing = costs ? tracing.data : NULL});
	str__free(&missing);
	str__free(&tracing);
	return 0;
}

static int svg__end(struct output *o, const struct trace_totals *t)
{
	struct stats *p = o->state;

	stats__end(p);
	return put_graph(o, t, flame__view(p));
}

static int svg_count__end(struct output *o, const struct trace_totals *t)
{
	static const struct flame_view calls = {FLAME_CALLS, "how often was called what"};
	struct stats *p = o->state;

	stats__end(p);
	return put_graph(o, t, p->samples ? flame__view(p) : &calls);
}

const struct output_format output_svg = {
	.name = "svg",
	.wants = {.events = OUTPUT_CALLS, .durations = true},
	.suffixes = ".svg",
	.help = "a flame graph of the time, for a browser",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = svg__end,
};

const struct output_format output_svg_count = {
	.name = "svg:count",
	.wants = {.events = OUTPUT_CALLS},
	.help = "a flame graph of the calls",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = svg_count__end,
};
