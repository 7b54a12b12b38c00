// SPDX-License-Identifier: BSD-2-Clause
/*
 * The json format: one object per line, with the fields of fields.c in order, and the summary as
 * the last line. Every member is written with a leading comma; the first comma is then replaced by
 * the opening brace.
 */
#include "output/fields.h"

#define put(s, literal) str__put((s), literal, sizeof(literal) - 1)

static void put_hex(struct str *s, uint64_t v)
{
	str__putc(s, '"');
	str__hex(s, v);
	str__putc(s, '"');
}

static void close_list(struct str *s, size_t start, char open, char close)
{
	if (s->len == start)
		str__putc(s, open);
	else
		s->data[start] = open;
	str__putc(s, close);
}

void json__put_place(struct str *s, const struct location *at)
{
	put(s, ",\"object\":");
	if (!at->object) {
		put(s, "null,\"vaddr\":");
		put_hex(s, at->addr);
		return;
	}
	str__json(s, at->object);
	if (at->symbol) {
		put(s, ",\"symbol\":");
		str__json(s, at->symbol);
		put(s, ",\"offset\":");
		str__dec(s, at->offset);
	}
	put(s, ",\"vaddr\":");
	put_hex(s, at->vaddr);
}

void json__put_place_value(struct str *s, const struct location *at)
{
	size_t start = s->len;

	json__put_place(s, at);
	close_list(s, start, '{', '}');
}

void json__put_regs(const struct output *o, struct str *s, const union field_value *v)
{
	const struct reg_list *l = v->regs.shown;
	size_t start = s->len;

	for (unsigned i = 0; i < l->n; i++) {
		str__putc(s, ',');
		str__json(s, o->plan->arch->reg_names[l->regs[i]]);
		str__putc(s, ':');
		put_hex(s, v->regs.values[l->regs[i]]);
	}
	close_list(s, start, '{', '}');
}

static void put_values(struct str *s, const uint64_t *values, size_t n)
{
	size_t start = s->len;

	for (size_t i = 0; i < n; i++) {
		str__putc(s, ',');
		put_hex(s, values[i]);
	}
	close_list(s, start, '[', ']');
}

static void put_stack(struct str *s, const struct location *frames, size_t n)
{
	size_t start = s->len;

	for (size_t i = 0; i < n; i++) {
		str__putc(s, ',');
		json__put_place_value(s, &frames[i]);
	}
	close_list(s, start, '[', ']');
}

static void put_value(struct output *o, enum field_type type, const union field_value *v)
{
	struct str *s = &o->buffer;

	switch (type) {
	case VALUE_DEC:
		return str__dec(s, v->number);
	case VALUE_HEX:
		return put_hex(s, v->number);
	case VALUE_STRING:
		return str__json(s, v->string);
	case VALUE_BOOL:
		return str__puts(s, v->flag ? "true" : "false");
	case VALUE_AT:
		return json__put_place(s, v->place);
	case VALUE_PLACE:
		return json__put_place_value(s, v->place);
	case VALUE_REGS:
		return json__put_regs(o, s, v);
	case VALUE_WORDS:
		return put_values(s, v->values.at, v->values.n);
	case VALUE_STACK:
		return put_stack(s, v->stack.frames, v->stack.n);
	}
}

static int json__step(struct output *o, const struct step *step)
{
	size_t start = o->buffer.len;
	union field_value v;

	for (int id = 0; id < FIELDS; id++) {
		if (!field__get(id, o, step, &v))
			continue;
		str__put(&o->buffer, fields[id].key, fields[id].key_len);
		put_value(o, fields[id].type, &v);
	}
	close_list(&o->buffer, start, '{', '}');
	str__putc(&o->buffer, '\n');
	return 0;
}

void json__put_summary(struct str *s, const struct trace_totals *t)
{
	put(s, "{\"event\":\"summary\"");
	totals__json(t, s);
	put(s, "}\n");
}

static int json__end(struct output *o, const struct trace_totals *t)
{
	json__put_summary(&o->buffer, t);
	return 0;
}

const struct output_format output_json = {
	.name = "json",
	.timed = true,
	.help = "one JSON object per line, the last one is a summary",
	.step = json__step,
	.end = json__end,
};
