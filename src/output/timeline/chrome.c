// SPDX-License-Identifier: BSD-2-Clause
/* The chrome format: slices as JSON (the "Trace Event Format" of chrome://tracing, read by
 * Perfetto's UI too). */
#include "slices.h"

struct chrome {
	struct slices slices;
	struct json json;
};

static struct json *begin_event(struct output *o, const struct track *t, const char *phase)
{
	struct chrome *c = o->state;
	struct json *j = &c->json;

	json__begin_line(j);
	json__open_object(j);
	json__member(j, string, "ph", phase);
	json__member(j, unsigned, "pid", t ? t->pid : 0);
	json__member(j, unsigned, "tid", t ? t->tid : 0);
	return j;
}

static void put_metadata(struct output *o, const struct track *t, const char *what)
{
	struct json *j = begin_event(o, t, "M");

	json__member(j, string, "name", what);
	json__key(j, "args");
	json__open_object(j);
	json__member(j, string, "name", t->comm);
	json__close_object(j);
	json__close_object(j);
}

static void chrome__name(struct output *o, const struct track *t, bool process)
{
	put_metadata(o, t, "thread_name");
	if (process)
		put_metadata(o, t, "process_name");
}

static void put_arg(struct json *j, const struct slice_arg *a)
{
	json__name(j, a->key);
	switch (a->type) {
	case ARG_TEXT:
		return json__string(j, a->text);
	case ARG_HEX:
		return json__hex(j, a->number);
	case ARG_NUMBER:
		return json__unsigned(j, a->number);
	case ARG_FLAG:
		return json__bool(j, a->number);
	}
}

static void chrome__event(struct output *o, const struct slice_event *e)
{
	static const char *const phases[] = {
		[SLICE_BEGIN] = "B", [SLICE_END] = "E", [SLICE_INSTANT] = "i"};
	struct json *j = begin_event(o, e->track, phases[e->phase]);

	json__member(j, thousandths, "ts", e->time); /* in microseconds */
	if (e->phase == SLICE_INSTANT)
		json__member(j, string, "s", e->track ? "t" : "g");
	if (e->category)
		json__member(j, string, "cat", e->category);
	json__member(j, string, "name", e->name);
	json__key(j, "args");
	json__open_object(j);
	for (size_t i = 0; i < e->nargs; i++)
		put_arg(j, &e->args[i]);
	json__close_object(j);
	json__close_object(j);
}

static int chrome__begin(struct output *o)
{
	static const struct slice_writer writer = {.name = chrome__name, .event = chrome__event};
	struct chrome *c = o->state;
	struct json *j = &c->json;

	c->slices.writer = &writer;
	j->out = &o->buffer;
	json__open_object(j);
	json__member(j, string, "displayTimeUnit", "ns");
	json__key(j, "traceEvents");
	json__open_array(j);
	return 0;
}

static int chrome__end(struct output *o, const struct trace_totals *t)
{
	struct chrome *c = o->state;

	slices__end(o);
	str__putc(&o->buffer, '\n');
	json__close_array(&c->json);
	json__key(&c->json, "otherData");
	json__open_object(&c->json);
	json__member(&c->json, string, "producer", "bbtrace");
	totals__json(t, &c->json);
	json__close_object(&c->json);
	json__close_object(&c->json);
	str__putc(&o->buffer, '\n');
	return 0;
}

const struct output_format output_chrome = {
	.name = "chrome",
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .regs = true,
		  .tests = true},
	.marks = true,
	.help = "trace events for Perfetto's UI and chrome://tracing",
	.size = sizeof(struct chrome),
	.begin = chrome__begin,
	.step = slices__step,
	.end = chrome__end,
	.free = slices__free,
};
