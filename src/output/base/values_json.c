// SPDX-License-Identifier: BSD-2-Clause
/* Arguments and results by their types, as JSON. What isn't recorded is left out. */
#include "value_rows.h"

/* The null pointer is null; what could not be read is an object with its address. */
static void put_unreadable_json(struct json *j, const struct plan_value *v,
				const struct value_read *s)
{
	if (s->has_address && !s->number && v->kind == KIND_TEXT)
		return json__null(j);
	json__open_object(j);
	json__key(j, "unreadable");
	s->has_address ? json__hex(j, s->number) : json__null(j);
	json__close_object(j);
}

static void put_known_json(const struct output *o, struct json *j, const struct plan_value *v,
			   const struct value_read *s)
{
	autofree struct str text = {0};
	char room[DIGITS_128];
	const char *digits;

	switch (v->kind) {
	case KIND_FLOAT:
		return json__float(j, s->number, v->size);
	case KIND_TEXT:
		str__put(&text, (const char *)s->text, s->len);
		return json__string(j, text.len ? text.data : "");
	case KIND_POINTER:
	case KIND_UNKNOWN:
		return json__hex(j, s->number);
	case KIND_BOOL:
		if (s->number <= 1)
			return json__bool(j, s->number);
		break;
	case KIND_ENUM:
		if (value__put_enum(o, v, s->number, &text))
			return json__string(j, text.data);
		break;
	case KIND_PAIR:
		json__open_array(j);
		json__hex(j, s->number);
		json__hex(j, s->upper);
		return json__close_array(j);
	}
	if (v->size > 8) {
		digits = value__wide_digits(s, plan__is_signed(o->plan, v), room);
		json__put(j, digits, strlen(digits));
	} else if (value__is_hidden(o, s->number)) {
		json__hex(j, s->number);
	} else if (plan__is_signed(o->plan, v)) {
		json__signed(j, s->number);
	} else {
		json__unsigned(j, s->number);
	}
}

static void put_json(const struct output *o, struct json *j, const struct step *step,
		     const struct value_rows *rows);

/* Puts the members that are recorded, those of a struct without a name among them. */
static void put_members_json(const struct output *o, struct json *j, const struct step *step,
			     const struct value_rows *rows)
{
	for (struct value_rows r = value_rows__first(rows); r.v; r = value_rows__next(rows, &r)) {
		const char *name = plan_value__own_name(r.v);

		if (!value_rows__recorded(o, step, &r))
			continue;
		if (!*name && r.v->kind == KIND_STRUCT) {
			put_members_json(o, j, step, &r);
			continue;
		}
		json__name(j, *name ? name : r.v->name);
		put_json(o, j, step, &r);
	}
}

/* An element that isn't recorded is null, so that the others have their places. */
static void put_elements_json(const struct output *o, struct json *j, const struct step *step,
			      const struct value_rows *rows)
{
	for (struct value_rows r = value_rows__first(rows); r.v; r = value_rows__next(rows, &r))
		value_rows__recorded(o, step, &r) ? put_json(o, j, step, &r) : json__null(j);
}

static void put_json(const struct output *o, struct json *j, const struct step *step,
		     const struct value_rows *rows)
{
	struct value_read s;
	uint8_t room[UINT8_MAX];
	autofree struct str text = {0};

	if (!value_rows__hold(rows->v)) {
		s = value_rows__read(o, step, rows->v);
		s.known == VALUE_NOT_READABLE ? put_unreadable_json(j, rows->v, &s)
					      : put_known_json(o, j, rows->v, &s);
	} else if (rows->v->kind == KIND_STRUCT) {
		json__open_object(j);
		put_members_json(o, j, step, rows);
		json__close_object(j);
	} else if (value_rows__characters(o, step, rows, room, &s)) {
		str__put(&text, (const char *)s.text, s.len);
		json__string(j, text.len ? text.data : "");
	} else {
		json__open_array(j);
		put_elements_json(o, j, step, rows);
		json__close_array(j);
	}
}

void values__put_json(const struct output *o, struct json *j, const struct step *step)
{
	size_t at = 0;

	json__open_object(j);
	for (struct value_rows r; (r = value_rows__next_arg(o, step, &at)).v;) {
		if (!value_rows__recorded(o, step, &r))
			continue;
		json__name(j, r.v->name);
		put_json(o, j, step, &r);
	}
	json__close_object(j);
}

void values__put_result_json(const struct output *o, struct json *j, const struct step *step)
{
	struct value_rows r = value_rows__result(o, step);

	put_json(o, j, step, &r);
}
