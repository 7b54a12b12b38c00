// SPDX-License-Identifier: BSD-2-Clause
/* The line that ends JSON output: the run's counters, and what was traced where. */
#include "output/base/fields.h"

static void put_build_id(struct json *j, const struct object *o)
{
	autofree struct str id = {0};

	if (o)
		object__put_build_id(o, &id);
	json__string(j, id.len ? id.data : "");
}

/* Column by column: an array of objects is not read by every database. */
static void put_objects(struct json *j, const struct plan *plan)
{
	const struct plan_object *o;

	json__open_object(j);
	json__key(j, "object");
	json__open_array(j);
	vec__each (o, &plan->objects)
		json__string(j, o->path);
	json__close_array(j);
	json__key(j, "build_id");
	json__open_array(j);
	vec__each (o, &plan->objects)
		put_build_id(j, o->object);
	json__close_array(j);
	json__close_object(j);
}

/* What distinguishes the lines of this trace from those of others. */
static void put_origin(struct json *j, const struct plan *plan,
		       const struct output_options *options)
{
	if (options->about.host)
		json__member(j, string, "host", options->about.host);
	if (options->realtime_offset)
		json__member(j, signed, "realtime_offset_ns", options->realtime_offset);
	json__key(j, "objects");
	put_objects(j, plan);
}

static void put_grep(struct json *j, const struct grep_totals *g)
{
	json__member(j, unsigned, "matches", g->matches);
	json__member(j, unsigned, "shown", g->shown);
	json__member(j, unsigned, "shown_functions", g->functions);
}

void json__put_summary(struct str *s, const struct trace_totals *t, const struct output *o)
{
	struct json j = {.out = s};

	json__open_object(&j);
	json__member(&j, string, "event", "summary");
	totals__json(t, &j);
	if (o->grep)
		put_grep(&j, &o->grepped);
	missed__json(o->missed, o->plan, &j);
	untraced__json(o->untraced, o->plan, &j);
	put_origin(&j, o->plan, &o->options);
	json__close_object(&j);
	str__putc(s, '\n');
}
