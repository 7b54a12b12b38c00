// SPDX-License-Identifier: BSD-2-Clause
/* Arguments and results by their types, as text and as JSON. */
#include <stdlib.h>
#include "arch/arch.h"
#include "fields.h"
#include "values.h"

static struct value_read read_value(const struct output *o, const struct step *s,
				    const struct plan_value *v)
{
	const struct value_source from = {.regs = s->regs,
					  .syscall_args = s->syscall_args,
					  .fetched = s->fetched,
					  .nfetched = s->nfetched,
					  .has_result = s->has_value,
					  .result = s->value};

	return value__read(o->plan, v, &from);
}

/* ---- names ---- */

static const char *enumerator(const struct output *o, const struct plan_value *v, uint64_t value)
{
	size_t n;
	const struct plan_enumerator *e = plan__enumerators(o->plan, v->enumeration, &n);

	for (size_t i = 0; i < n; i++)
		if (!value__lowest((uint64_t)e[i].value ^ value, plan_value__width(v)))
			return e[i].name;
	return NULL;
}

/* Each bit that is set has a name. */
static bool put_flags(const struct output *o, const struct plan_value *v, uint64_t value,
		      struct str *out)
{
	size_t before = out->len;

	value = value__lowest(value, plan_value__width(v));
	for (uint64_t left = value, bit; left; left &= ~bit) {
		const char *name;

		bit = left & -left;
		name = enumerator(o, v, bit);
		if (!name) {
			out->len = before;
			return false;
		}
		str__puts(out, out->len > before ? "|" : "");
		str__puts(out, name);
	}
	return value;
}

static bool put_enum(const struct output *o, const struct plan_value *v, uint64_t value,
		     struct str *out)
{
	const char *name = enumerator(o, v, value);

	if (name)
		str__puts(out, name);
	return name || put_flags(o, v, value, out);
}

static const char *error_of(const struct plan_value *v, const struct value_read *s)
{
	int64_t number = v->size == 4 ? (int32_t)s->number : (int64_t)s->number;

	return v->errnos && s->known == VALUE_KNOWN && number < 0 && number >= -ERRNO_MAX
		       ? errno__name(-number)
		       : NULL;
}

/* ---- as text ---- */

static void put_char(uint8_t c, char quote, struct str *out)
{
	static const char escapes[] = "\nn\tt\rr\\\\";
	const char *e;

	for (e = escapes; *e && (uint8_t)*e != c; e += 2)
		;
	if (*e && c)
		str__printf(out, "\\%c", e[1]);
	else if (c == (uint8_t)quote)
		str__printf(out, "\\%c", quote);
	else if (c < ' ' || c >= 0x7f)
		str__printf(out, "\\x%02x", c);
	else
		str__putc(out, c);
}

static void put_quoted(const struct value_read *s, struct str *out)
{
	str__putc(out, '"');
	for (size_t i = 0; i < s->len; i++)
		put_char(s->text[i], '"', out);
	str__puts(out, s->cut ? "\"..." : "\"");
}

/* A number that could be an address is written so that it can be hidden. */
static bool is_hidden(const struct output *o, uint64_t number)
{
	return o->hides_addresses && number >> 47 && (int64_t)number < -ERRNO_MAX;
}

static void put_number(const struct output *o, const struct plan_value *v,
		       const struct value_read *s, struct str *out)
{
	switch (v->kind) {
	case KIND_BOOL:
		if (s->number <= 1) {
			str__puts(out, s->number ? "true" : "false");
			return;
		}
		break;
	case KIND_ENUM:
		if (put_enum(o, v, s->number, out))
			return;
		break;
	case KIND_CHAR:
		str__putc(out, '\'');
		put_char(s->number, '\'', out);
		str__putc(out, '\'');
		return;
	case KIND_PAIR:
		str__putc(out, '{');
		str__hex(out, s->number);
		str__puts(out, ", ");
		str__hex(out, s->upper);
		str__putc(out, '}');
		return;
	case KIND_POINTER:
	case KIND_UNKNOWN:
		str__hex(out, s->number);
		return;
	}
	if (is_hidden(o, s->number))
		str__hex(out, s->number);
	else if (plan__is_signed(o->plan, v))
		str__printf(out, "%lld", (long long)s->number);
	else
		str__dec(out, s->number);
}

/* There is nothing at the null pointer. */
static void put_unreadable(const struct plan_value *v, const struct value_read *s, struct str *out)
{
	if (s->has_address && !s->number && v->kind == KIND_TEXT) {
		str__puts(out, "NULL");
		return;
	}
	if (s->has_address) {
		str__hex(out, s->number);
		str__putc(out, ' ');
	}
	str__puts(out, "(unreadable)");
}

static void put_value(const struct output *o, const struct step *step, const struct plan_value *v,
		      struct str *out)
{
	struct value_read s = read_value(o, step, v);
	const char *error = error_of(v, &s);

	if (s.known == VALUE_NOT_READABLE)
		put_unreadable(v, &s, out);
	else if (s.known == VALUE_NOT_RECORDED)
		str__puts(out, "(not recorded)");
	else if (v->kind == KIND_TEXT)
		put_quoted(&s, out);
	else if (error && v->kind == KIND_POINTER)
		str__printf(out, "%lld", (long long)s.number);
	else
		put_number(o, v, &s, out);
	if (error)
		str__printf(out, " %s", error);
}

static bool is_result(const struct plan_value *v)
{
	return v->of_return && !strcmp(v->name, "ret");
}

void values__each_arg(const struct output *o, const struct step *step,
		      void (*fn)(void *ctx, const char *name, const char *text), void *ctx)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);
	autofree struct str text = {0};

	for (size_t i = 0; i < n; i++, v++) {
		if (v->of_return != (step->type == STEP_RETURN) || is_result(v))
			continue;
		str__clear(&text);
		put_value(o, step, v, &text);
		fn(ctx, v->name, text.data);
	}
}

void values__put_args(const struct output *o, const struct step *step, struct str *out)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++, v++) {
		if (v->of_return != (step->type == STEP_RETURN) || is_result(v))
			continue;
		str__puts(out, any ? ", " : "");
		str__shown(out, v->name);
		str__putc(out, '=');
		put_value(o, step, v, out);
		any = true;
	}
}

/* ---- as JSON ---- */

static void put_json(const struct output *o, struct json *j, const struct step *step,
		     const struct plan_value *v, const struct value_read *s)
{
	autofree struct str text = {0};

	switch (v->kind) {
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
		if (put_enum(o, v, s->number, &text))
			return json__string(j, text.data);
		break;
	case KIND_PAIR:
		json__open_array(j);
		json__hex(j, s->number);
		json__hex(j, s->upper);
		return json__close_array(j);
	}
	if (is_hidden(o, s->number))
		json__hex(j, s->number);
	else if (plan__is_signed(o->plan, v))
		json__signed(j, s->number);
	else
		json__unsigned(j, s->number);
}

void values__put_json(const struct output *o, struct json *j, const struct step *step)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);

	json__open_object(j);
	for (size_t i = 0; i < n; i++, v++) {
		struct value_read s;

		if (v->of_return != (step->type == STEP_RETURN) || is_result(v))
			continue;
		s = read_value(o, step, v);
		if (s.known == VALUE_NOT_RECORDED)
			continue;
		json__name(j, v->name);
		if (s.known == VALUE_NOT_READABLE)
			json__null(j);
		else
			put_json(o, j, step, v, &s);
	}
	json__close_object(j);
}

static const struct plan_value *result_of(const struct output *o, const struct step *step)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);

	for (size_t i = 0; i < n; i++)
		if (is_result(&v[i]))
			return &v[i];
	return NULL;
}

void values__put_result(const struct output *o, const struct step *step, struct str *out)
{
	put_value(o, step, result_of(o, step), out);
}

void values__put_result_json(const struct output *o, struct json *j, const struct step *step)
{
	const struct plan_value *v = result_of(o, step);
	struct value_read s = read_value(o, step, v);

	s.known == VALUE_NOT_READABLE ? json__null(j) : put_json(o, j, step, v, &s);
}

/* ---- what there is ---- */

bool values__are_typed(const struct output *o, const struct step *step)
{
	size_t n;

	return !step->untyped && o->plan->values.len && plan__values(o->plan, step->function, &n);
}

/* For a return: values other than the result. Without parameters there are none, which is known,
 * too. */
bool values__has_args(const struct output *o, const struct step *step)
{
	const struct plan_value *v;
	size_t n;

	if (!values__are_typed(o, step) ||
	    (step->type == STEP_ENTRY && !step->regs && !step->syscall_args && !step->fetched))
		return false;
	v = plan__values(o->plan, step->function, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].of_return == (step->type == STEP_RETURN) && !is_result(&v[i]))
			return true;
	v = result_of(o, step);
	return step->type == STEP_ENTRY && v && !v->reg;
}

enum result_known values__result(const struct output *o, const struct step *step)
{
	const struct plan_value *v = values__are_typed(o, step) ? result_of(o, step) : NULL;
	struct value_read s;

	if (!v)
		return RESULT_UNTYPED;
	if (v->kind == KIND_VOID)
		return RESULT_NONE;
	s = read_value(o, step, v);
	if (s.known == VALUE_NOT_RECORDED)
		return step->has_value && v->kind != KIND_FLOAT && v->from == FROM_RESULT
			       ? RESULT_UNTYPED
			       : RESULT_NOT_RECORDED;
	return RESULT_TYPED;
}

const char *values__errno(const struct output *o, const struct step *step)
{
	const struct plan_value *v = values__are_typed(o, step) ? result_of(o, step) : NULL;
	struct value_read s;

	if (!v)
		return NULL;
	s = read_value(o, step, v);
	return error_of(v, &s);
}

/* The names of those whose text is longer. */
bool values__put_cut(const struct output *o, struct json *j, const struct step *step)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++, v++) {
		if (v->of_return != (step->type == STEP_RETURN) || v->kind != KIND_TEXT ||
		    !read_value(o, step, v).cut)
			continue;
		if (j && !any)
			json__open_array(j);
		any = true;
		if (j)
			json__string(j, v->name);
	}
	if (j && any)
		json__close_array(j);
	return any;
}
