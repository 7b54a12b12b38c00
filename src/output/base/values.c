// SPDX-License-Identifier: BSD-2-Clause
/* Arguments and results by their types: which there are, and as text. */
#include <stdlib.h>
#include "arch/arch.h"
#include "fields.h"
#include "value_rows.h"

struct value_read value_rows__read(const struct output *o, const struct step *s,
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

bool value__put_enum(const struct output *o, const struct plan_value *v, uint64_t value,
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
bool value__is_hidden(const struct output *o, uint64_t number)
{
	return o->hides_addresses && number >> 47 && (int64_t)number < -ERRNO_MAX;
}

const char *value__wide_digits(const struct value_read *s, bool is_signed, char room[DIGITS_128])
{
	unsigned __int128 n = (unsigned __int128)s->upper << 64 | s->number;
	bool negative = is_signed && s->upper >> 63;
	char *at = room + DIGITS_128 - 1;

	*at = 0;
	n = negative ? -n : n;
	do
		*--at = '0' + (char)(n % 10);
	while (n /= 10);
	if (negative)
		*--at = '-';
	return at;
}

static void put_number(const struct output *o, const struct plan_value *v,
		       const struct value_read *s, struct str *out)
{
	char room[DIGITS_128];

	switch (v->kind) {
	case KIND_FLOAT:
		str__float(out, s->number, v->size);
		return;
	case KIND_BOOL:
		if (s->number <= 1) {
			str__puts(out, s->number ? "true" : "false");
			return;
		}
		break;
	case KIND_ENUM:
		if (value__put_enum(o, v, s->number, out))
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
	if (v->size > 8)
		str__puts(out, value__wide_digits(s, plan__is_signed(o->plan, v), room));
	else if (value__is_hidden(o, s->number))
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

static void put_one(const struct output *o, const struct step *step, const struct plan_value *v,
		    struct str *out)
{
	struct value_read s = value_rows__read(o, step, v);
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

struct value_rows value_rows__at(const struct plan_value *v, size_t most)
{
	return (struct value_rows){v, plan_value__rows(v, most)};
}

struct value_rows value_rows__first(const struct value_rows *whole)
{
	return whole->n > 1 ? value_rows__at(whole->v + 1, whole->n - 1)
			    : (struct value_rows){NULL, 0};
}

struct value_rows value_rows__next(const struct value_rows *whole, const struct value_rows *r)
{
	size_t at = r->v + r->n - whole->v;

	return at < whole->n ? value_rows__at(whole->v + at, whole->n - at)
			     : (struct value_rows){NULL, 0};
}

bool value_rows__hold(const struct plan_value *v)
{
	return v->kind == KIND_STRUCT || v->kind == KIND_ARRAY;
}

bool value_rows__characters(const struct output *o, const struct step *step,
			    const struct value_rows *array, uint8_t room[UINT8_MAX],
			    struct value_read *out)
{
	size_t n = 0;

	*out = (struct value_read){.text = room};
	for (struct value_rows r = value_rows__first(array); r.v; r = value_rows__next(array, &r)) {
		struct value_read c = value_rows__read(o, step, r.v);

		if (r.v->kind != KIND_CHAR || c.known != VALUE_KNOWN || n == UINT8_MAX)
			return false;
		room[n++] = c.number;
	}
	out->len = strnlen((const char *)room, n);
	return n;
}

static void put_value(const struct output *o, const struct step *step,
		      const struct value_rows *rows, struct str *out)
{
	uint8_t room[UINT8_MAX];
	struct value_read text;
	bool any = false;

	if (!value_rows__hold(rows->v))
		return put_one(o, step, rows->v, out);
	if (rows->v->kind == KIND_ARRAY && value_rows__characters(o, step, rows, room, &text))
		return put_quoted(&text, out);
	str__putc(out, '{');
	for (struct value_rows r = value_rows__first(rows); r.v;
	     r = value_rows__next(rows, &r), any = true) {
		const char *name = plan_value__own_name(r.v);

		str__puts(out, any ? ", " : "");
		if (*name) {
			str__shown(out, name);
			str__putc(out, '=');
		}
		put_value(o, step, &r, out);
	}
	str__putc(out, '}');
}

static bool is_result(const struct plan_value *v)
{
	return v->of_return && !strcmp(v->name, "ret");
}

struct value_rows value_rows__next_arg(const struct output *o, const struct step *step,
				       size_t *from)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);

	while (*from < n) {
		struct value_rows r = value_rows__at(v + *from, n - *from);

		*from += r.n;
		if (r.v->of_return == (step->type == STEP_RETURN) && !is_result(r.v))
			return r;
	}
	return (struct value_rows){NULL, 0};
}

void values__each_arg(const struct output *o, const struct step *step,
		      void (*fn)(void *ctx, const char *name, const char *text), void *ctx)
{
	autofree struct str text = {0};
	size_t at = 0;

	for (struct value_rows r; (r = value_rows__next_arg(o, step, &at)).v;) {
		str__clear(&text);
		put_value(o, step, &r, &text);
		fn(ctx, r.v->name, text.data);
	}
}

void values__put_args(const struct output *o, const struct step *step, struct str *out)
{
	size_t at = 0;
	bool any = false;

	for (struct value_rows r; (r = value_rows__next_arg(o, step, &at)).v; any = true) {
		str__puts(out, any ? ", " : "");
		str__shown(out, r.v->name);
		str__putc(out, '=');
		put_value(o, step, &r, out);
	}
}

/* ---- the result ---- */

struct value_rows value_rows__result(const struct output *o, const struct step *step)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);

	for (size_t i = 0; i < n; i++)
		if (is_result(&v[i]))
			return value_rows__at(&v[i], n - i);
	return (struct value_rows){NULL, 0};
}

void values__put_result(const struct output *o, const struct step *step, struct str *out)
{
	struct value_rows r = value_rows__result(o, step);

	put_value(o, step, &r, out);
}

bool value_rows__recorded(const struct output *o, const struct step *step,
			  const struct value_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		if (!value_rows__hold(&rows->v[i]) &&
		    value_rows__read(o, step, &rows->v[i]).known != VALUE_NOT_RECORDED)
			return true;
	return rows->n == 1 && value_rows__hold(rows->v);
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
	v = value_rows__result(o, step).v;
	return step->type == STEP_ENTRY && v && !v->reg;
}

enum result_known values__result(const struct output *o, const struct step *step)
{
	struct value_rows r = values__are_typed(o, step) ? value_rows__result(o, step)
							 : (struct value_rows){NULL, 0};
	const struct plan_value *v = r.v;

	if (!v)
		return RESULT_UNTYPED;
	if (v->kind == KIND_VOID)
		return RESULT_NONE;
	if (value_rows__recorded(o, step, &r))
		return RESULT_TYPED;
	return step->has_value && v->kind != KIND_FLOAT && v->from == FROM_RESULT
		       ? RESULT_UNTYPED
		       : RESULT_NOT_RECORDED;
}

const char *values__errno(const struct output *o, const struct step *step)
{
	const struct plan_value *v =
		values__are_typed(o, step) ? value_rows__result(o, step).v : NULL;
	struct value_read s;

	if (!v)
		return NULL;
	s = value_rows__read(o, step, v);
	return error_of(v, &s);
}

/* ---- lists of names ---- */

typedef bool of_value(const struct output *o, const struct step *step, const struct plan_value *v);

/* Puts the names of the step's values that have a property. */
static bool put_names(const struct output *o, struct json *j, const struct step *step,
		      of_value *has)
{
	size_t n;
	const struct plan_value *v = plan__values(o->plan, step->function, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++, v++) {
		if (v->of_return != (step->type == STEP_RETURN) || !has(o, step, v))
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

static bool is_cut(const struct output *o, const struct step *step, const struct plan_value *v)
{
	return v->kind == KIND_TEXT && value_rows__read(o, step, v).cut;
}

bool values__put_cut(const struct output *o, struct json *j, const struct step *step)
{
	return put_names(o, j, step, is_cut);
}

static bool is_not_recorded(const struct output *o, const struct step *step,
			    const struct plan_value *v)
{
	if (value_rows__hold(v) || v->kind == KIND_VOID ||
	    (is_result(v) && values__result(o, step) != RESULT_NOT_RECORDED))
		return false;
	return value_rows__read(o, step, v).known == VALUE_NOT_RECORDED;
}

bool values__put_not_recorded(const struct output *o, struct json *j, const struct step *step)
{
	return put_names(o, j, step, is_not_recorded);
}

void put_untyped(struct str *s, const struct arch *arch, uint64_t value)
{
	int64_t number = arch->word == 4 ? (int32_t)value : (int64_t)value;

	if (number < 0 && number >= -ERRNO_MAX)
		str__printf(s, "%lld", (long long)number);
	else
		str__hex(s, value);
}
