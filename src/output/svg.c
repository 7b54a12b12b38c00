// SPDX-License-Identifier: BSD-2-Clause
/* The svg format: a flame graph as a page of its own. svg: as wide as the time; svg:count: as the
 * calls. */
#include "output/fields.h"
#include "output/flame.h"

static int put_graph(struct output *o, const struct trace_totals *t, enum flame_value value,
		     const char *title)
{
	struct stats *p = o->state;
	struct str missing = {0};
	bool lacks;

	stats__end(p);
	lacks = stats__missing(p, t, &missing);
	flame__put(&o->buffer, p,
		   &(struct flame_options){.value = value,
					   .title = title,
					   .more = o->more,
					   .note = lacks ? missing.data : NULL});
	str__free(&missing);
	return 0;
}

static int svg__end(struct output *o, const struct trace_totals *t)
{
	return put_graph(o, t, FLAME_NS, "bbtrace: where the time went");
}

static int svg_count__end(struct output *o, const struct trace_totals *t)
{
	return put_graph(o, t, FLAME_CALLS, "bbtrace: how often was called what");
}

const struct output_format output_svg = {
	.name = "svg",
	.times = true,
	.suffixes = ".svg",
	.help = "a flame graph of the time, for a browser",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = svg__end,
};

const struct output_format output_svg_count = {
	.name = "svg:count",
	.help = "a flame graph of the calls",
	.size = sizeof(struct stats),
	AGGREGATES,
	.end = svg_count__end,
};
