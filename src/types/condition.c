// SPDX-License-Identifier: BSD-2-Clause
/* Parses conditions: comparisons of expressions with constants, and compares as C does. */
#include <errno.h>
#include <stdlib.h>
#include "types/parser.h"

static int unexpected(const struct parser *p)
{
	return err__set(EINVAL,
			"'%s': %sa condition is NAME == CONSTANT, also with != < <= > >=, and "
			"several are joined by &&",
			p->text, *p->p ? "" : "something is missing at its end: ");
}

/* ---- constants ---- */

/* The first of C's types that has it. */
static int type_number(const struct parser *p, uint64_t v, bool decimal, bool minus,
		       struct constant *out)
{
	if (decimal && (minus ? v > 1ull << 63 : false))
		return err__set(EINVAL, "'%s': not a number that fits", p->text);
	out->wide = v > (decimal ? INT32_MAX : UINT32_MAX);
	out->is_unsigned =
		out->wide ? v > INT64_MAX && !(minus && decimal) : !decimal && v > INT32_MAX;
	out->number = minus ? -v : v;
	if (!out->wide)
		out->number =
			out->is_unsigned ? (uint32_t)out->number : (uint64_t)(int32_t)out->number;
	return 0;
}

static bool is_of_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static int take_number(struct parser *p, bool minus, struct constant *out)
{
	bool decimal = *p->p != '0';
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(p->p, &end, 0);
	if (errno || is_of_word(*end))
		return err__set(EINVAL, "'%s': not a number that fits", p->text);
	p->p = end;
	return type_number(p, v, decimal, minus, out);
}

/* Takes a character of a string. Returns -1 for an unknown escape. */
static int take_char(struct parser *p)
{
	static const char escapes[] = "n\nt\tr\r\\\\\"\"''";
	char *end;

	if (*p->p != '\\')
		return (uint8_t)*p->p++;
	p->p++;
	for (const char *e = escapes; *e; e += 2)
		if (*e == *p->p) {
			p->p++;
			return e[1];
		}
	if (*p->p == '0') {
		p->p++;
		return 0;
	}
	if (*p->p == 'x' && is_of_word(p->p[1]) && is_of_word(p->p[2])) {
		char digits[3] = {p->p[1], p->p[2], 0};
		long v = strtol(digits, &end, 16);

		p->p += 3;
		return *end ? -1 : (int)v;
	}
	return -1;
}

static int bad_escape(const struct parser *p)
{
	return err__set(EINVAL,
			"'%s': an unknown escape: \\n, \\t, \\r, \\0, \\\\, \\\", \\' and "
			"\\xHH are known",
			p->text);
}

static int take_quoted(struct parser *p, struct value_condition *c)
{
	char *to = c->text = xmalloc(strlen(p->p) + 1);

	c->kind = CONSTANT_TEXT;
	while (*p->p && *p->p != '"') {
		int v = take_char(p);

		if (v < 0)
			return bad_escape(p);
		if (!v)
			return err__set(EINVAL, "'%s': a 0 ends strings", p->text);
		*to++ = v;
	}
	*to = 0;
	if (!parser__accept(p, "\""))
		return err__set(EINVAL, "'%s': a string without its end", p->text);
	if (to - c->text > VALUE_TEXT_MAX)
		return err__set(EINVAL,
				"'%s': the first %d bytes of strings are known, and this "
				"has more",
				p->text, VALUE_TEXT_MAX);
	if (c->how != COMPARE_EQ && c->how != COMPARE_NE)
		return err__set(EINVAL, "'%s': strings are compared by == and != only", p->text);
	return 0;
}

static int take_character(struct parser *p, struct value_condition *c)
{
	int v = *p->p && *p->p != '\'' ? take_char(p) : -1;

	c->kind = CONSTANT_CHAR;
	c->constant = (struct constant){.number = max_of(v, 0)};
	if (v < 0)
		return bad_escape(p);
	return parser__accept(p, "'") ? 0 : unexpected(p);
}

static int take_constant(struct parser *p, struct value_condition *c)
{
	autofree char *room = xmalloc(strlen(p->p) + 1);
	bool minus;

	if (parser__accept(p, "\""))
		return take_quoted(p, c);
	if (parser__accept(p, "'"))
		return take_character(p, c);
	minus = parser__accept(p, "-");
	parser__skip_blanks(p);
	if (*p->p >= '0' && *p->p <= '9')
		return take_number(p, minus, &c->constant);
	p->to = room;
	c->kind = CONSTANT_NAME;
	c->minus = minus;
	if (!parser__name(p))
		return unexpected(p);
	c->text = xstrdup(room);
	return 0;
}

/* ---- comparisons ---- */

static bool take_comparison(struct parser *p, enum compare_how *out)
{
	static const struct {
		const char *text;
		enum compare_how how;
	} rows[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
		    {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (parser__accept(p, rows[i].text)) {
			*out = rows[i].how;
			return true;
		}
	return false;
}

static void condition__free(struct value_condition *c)
{
	expression__free(&c->left);
	free(c->text);
	free(c->written);
	*c = (struct value_condition){0};
}

/* Spells it as among the values of a plan, however it was written. */
static void respell(struct expression *e)
{
	struct str s = {0};
	unsigned n = e->n;

	while (n && e->steps[n - 1].what == WALK_DEREF) {
		str__putc(&s, '*');
		n--;
	}
	str__puts(&s, e->base);
	for (unsigned i = 0; i < n; i++) {
		if (e->steps[i].what == WALK_INDEX)
			str__printf(&s, "[%lld]", (long long)e->steps[i].number);
		else
			str__printf(&s, "%s%s", e->steps[i].deref ? "->" : ".", e->steps[i].name);
	}
	free(e->text);
	e->text = xstrdup(s.data);
	str__free(&s);
}

static int take_condition(struct parser *p, struct value_condition *c)
{
	const char *start;
	int err;

	*c = (struct value_condition){0};
	parser__skip_blanks(p);
	start = p->p;
	err = parser__expression(p, &c->left);
	if (err)
		return err;
	respell(&c->left);
	err = take_comparison(p, &c->how) ? take_constant(p, c) : unexpected(p);
	if (err)
		condition__free(c);
	else
		c->written = xstrndup(start, p->p - start);
	return err;
}

int conditions__parse(const char *text, value_condition_vec *out)
{
	struct parser p = {.text = text, .p = text};
	struct value_condition c;
	int err;

	do {
		err = take_condition(&p, &c);
		if (err)
			return err;
		vec__push(out, c);
	} while (parser__accept(&p, "&&"));
	return *p.p ? unexpected(&p) : 0;
}

void conditions__free(value_condition_vec *v)
{
	struct value_condition *c;

	vec__each (c, v)
		condition__free(c);
	vec__free(v);
}

void conditions__put(const value_condition_vec *v, struct str *out)
{
	const struct value_condition *c;

	vec__each (c, v)
		str__printf(out, "%s%s", c > v->data ? " && " : "", c->written);
}

/* ---- as C compares ---- */

static uint64_t convert(uint64_t number, struct compare_type to)
{
	if (to.wide)
		return number;
	return to.is_unsigned ? (uint32_t)number : (uint64_t)(int64_t)(int32_t)number;
}

struct compare_type comparison__type(struct compare_type type, struct constant *with)
{
	struct compare_type to = {.wide = type.wide || with->wide};

	to.is_unsigned = (type.is_unsigned && type.wide == to.wide) ||
			 (with->is_unsigned && with->wide == to.wide);
	with->number = convert(with->number, to);
	with->wide = to.wide;
	with->is_unsigned = to.is_unsigned;
	return to;
}

bool comparison__holds(enum compare_how how, uint64_t number, struct compare_type type,
		       struct constant with)
{
	struct compare_type to = comparison__type(type, &with);
	uint64_t a = convert(number, to), b = with.number;
	bool less = to.is_unsigned ? a < b : (int64_t)a < (int64_t)b;

	switch (how) {
	case COMPARE_EQ:
		return a == b;
	case COMPARE_NE:
		return a != b;
	case COMPARE_LT:
		return less;
	case COMPARE_LE:
		return less || a == b;
	case COMPARE_GT:
		return !less && a != b;
	case COMPARE_GE:
		return !less;
	}
	return false;
}
