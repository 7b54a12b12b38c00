// SPDX-License-Identifier: BSD-2-Clause
/* The json format: one object per line, with the fields of fields.c in order, and the summary as
 * the last line. */
#include <stdlib.h>
#include "json.h"
#include "output/base/fields.h"
#include "output/base/values.h"

/* A value of VALUE_REGS as a JSON object. */
static void put_regs(const struct output *o, struct json *j, const union field_value *v)
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
		return put_regs(o, j, v);
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
	case VALUE_NOT_RECORDED_NAMES:
		v->step->type == STEP_NAMED ? named__put_not_recorded(o, j, v->step->named)
					    : values__put_not_recorded(o, j, v->step);
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

static int json__end(struct output *o, const struct trace_totals *t)
{
	json__put_summary(&o->buffer, t, o);
	return 0;
}

const struct output_format output_json = {
	.name = "json",
	.form = FORM_JSON,
	.wants = {.events = OUTPUT_STEPS,
		  .branch_times = true,
		  .durations = true,
		  .regs = true,
		  .tests = true,
		  .lines = true,
		  .scopes = true},
	.suffixes = ".json .jsonl",
	.counting = &output_json_counted,
	.marks = true,
	.help = "one JSON object per line, the last one is a summary",
	.step = json__step,
	.end = json__end,
};
