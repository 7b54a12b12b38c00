// SPDX-License-Identifier: BSD-2-Clause
/* The json format: one object per line, with the fields of fields.c in order, and the summary as
 * the last line. */
#include <stdlib.h>
#include "output/base/fields.h"
#include "output/base/values.h"

void json__put_place(struct json *j, const struct location *at)
{
	json__member(j, string, "object", at->object);
	if (at->object && at->symbol) {
		json__member(j, string, "symbol", at->symbol);
		json__member(j, unsigned, "offset", at->offset);
	}
	json__member(j, hex, "vaddr", at->object ? at->vaddr : at->addr);
}

void json__put_place_value(struct json *j, const struct location *at)
{
	json__open_object(j);
	json__put_place(j, at);
	json__close_object(j);
}

char *inlined__next(const char **names)
{
	size_t len = *names ? strcspn(*names, "\n") : 0;
	char *name = len ? xstrndup(*names, len) : NULL;

	*names = name && (*names)[len] ? *names + len + 1 : NULL;
	return name;
}

void json__put_regs(const struct output *o, struct json *j, const union field_value *v)
{
	const struct reg_list *l = v->regs.shown;

	json__open_object(j);
	for (unsigned i = 0; i < l->n; i++) {
		json__name(j, o->plan->arch->reg_names[l->regs[i]]);
		json__hex(j, v->regs.values[l->regs[i]]);
	}
	json__close_object(j);
}

static void put_values(struct json *j, const uint64_t *values, size_t n)
{
	json__open_array(j);
	for (size_t i = 0; i < n; i++)
		json__hex(j, values[i]);
	json__close_array(j);
}

static void put_inlined(struct json *j, const char *names)
{
	json__key(j, "inlined");
	json__open_array(j);
	for (char *name; (name = inlined__next(&names)); free(name))
		json__string(j, name);
	json__close_array(j);
}

static void put_stack(struct json *j, const struct location *frames, size_t n)
{
	json__open_array(j);
	for (size_t i = 0; i < n; i++) {
		json__open_object(j);
		json__put_place(j, &frames[i]);
		if (frames[i].inlined)
			put_inlined(j, frames[i].inlined);
		json__close_object(j);
	}
	json__close_array(j);
}

static void put_value(const struct output *o, struct json *j, enum field_type type,
		      const union field_value *v)
{
	switch (type) {
	case VALUE_DEC:
		return json__unsigned(j, v->number);
	case VALUE_SIGNED:
		return json__signed(j, v->number);
	case VALUE_HEX:
		return json__hex(j, v->number);
	case VALUE_STRING:
		return json__string(j, v->string);
	case VALUE_BOOL:
		return json__bool(j, v->flag);
	case VALUE_AT:
		return json__put_place(j, v->place);
	case VALUE_PLACE:
		return json__put_place_value(j, v->place);
	case VALUE_REGS:
		return json__put_regs(o, j, v);
	case VALUE_WORDS:
		return put_values(j, v->values.at, v->values.n);
	case VALUE_SRC:
		/* its key is part of it */
		return json__put(j, v->src->json.data, v->src->json.len);
	case VALUE_NAMED:
		return named__put_json(o, j, v->named);
	case VALUE_WHY:
		return why__put_json(o, j, v->step);
	case VALUE_TYPED:
		return values__put_json(o, j, v->step);
	case VALUE_RESULT:
		return values__put_result_json(o, j, v->step);
	case VALUE_CUT:
		values__put_cut(o, j, v->step);
		return;
	case VALUE_STACK:
		return put_stack(j, v->stack.frames, v->stack.n);
	}
}

static int json__step(struct output *o, const struct step *step)
{
	struct json j = {.out = &o->buffer};
	union field_value v;

	json__open_object(&j);
	for (int id = 0; id < FIELDS; id++) {
		if (!field__get(id, o, step, &v))
			continue;
		if (fields[id].type != VALUE_AT && fields[id].type != VALUE_SRC)
			json__put_key(&j, fields[id].key);
		put_value(o, &j, fields[id].type, &v);
	}
	json__close_object(&j);
	str__putc(&o->buffer, '\n');
	return 0;
}

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

/* What tells the lines of this trace from those of others. */
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

void json__put_summary(struct str *s, const struct trace_totals *t, const struct output *o)
{
	struct json j = {.out = s};

	json__open_object(&j);
	json__member(&j, string, "event", "summary");
	totals__json(t, &j);
	missed__json(o->missed, o->plan, &j);
	untraced__json(o->untraced, o->plan, &j);
	put_origin(&j, o->plan, &o->options);
	json__close_object(&j);
	str__putc(s, '\n');
}

static int json__end(struct output *o, const struct trace_totals *t)
{
	json__put_summary(&o->buffer, t, o);
	return 0;
}

const struct output_format output_json = {
	.name = "json",
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .regs = true,
		  .tests = true,
		  .lines = true,
		  .scopes = true},
	.suffixes = ".json .jsonl",
	.marks = true,
	.help = "one JSON object per line, the last one is a summary",
	.step = json__step,
	.end = json__end,
};
