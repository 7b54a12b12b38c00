// SPDX-License-Identifier: BSD-2-Clause
/* Parses what C would take for an expression of parameters: path->dentry, *size, v.len[1], and
 * comparisons with constants: name == "x". */
#include <errno.h>
#include <stdlib.h>
#include "types/types.h"

struct parser {
	const char *text, *p;
	char *to; /* where the next name is kept */
};

static void skip_blanks(struct parser *p)
{
	p->p += strspn(p->p, " \t");
}

static bool accept(struct parser *p, const char *token)
{
	skip_blanks(p);
	if (strncmp(p->p, token, strlen(token)))
		return false;
	p->p += strlen(token);
	return true;
}

static int unexpected(const struct parser *p)
{
	return err__set(EINVAL, "'%s': %s", p->text,
			*p->p ? "only names, ->, ., [NUMBER] and * are understood"
			      : "something is missing at its end");
}

static bool is_first(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *take_name(struct parser *p)
{
	const char *name = p->to;

	skip_blanks(p);
	if (!is_first(*p->p))
		return NULL;
	while (is_first(*p->p) || (*p->p >= '0' && *p->p <= '9'))
		*p->to++ = *p->p++;
	*p->to++ = 0;
	return name;
}

static int take_integer(struct parser *p, int64_t *out)
{
	char *end;
	bool minus = accept(p, "-");
	uint64_t v;

	skip_blanks(p);
	if (*p->p < '0' || *p->p > '9')
		return unexpected(p);
	errno = 0;
	v = strtoull(p->p, &end, 0);
	if (errno || is_first(*end) || (minus && v > 1ull << 63))
		return err__set(EINVAL, "'%s': not a number that fits", p->text);
	p->p = end;
	*out = minus ? -v : v;
	return 0;
}

static int add_step(struct parser *p, struct expression *e, enum expression_step what)
{
	if (e->n == EXPRESSION_STEPS)
		return err__set(EINVAL, "'%s': at most %d steps lead to a value", p->text,
				EXPRESSION_STEPS);
	e->steps[e->n++].what = what;
	return 0;
}

static int take_member(struct parser *p, struct expression *e, bool deref)
{
	int err = add_step(p, e, WALK_MEMBER);

	if (err)
		return err;
	e->steps[e->n - 1].deref = deref;
	e->steps[e->n - 1].name = take_name(p);
	return e->steps[e->n - 1].name ? 0 : unexpected(p);
}

static int take_index(struct parser *p, struct expression *e)
{
	int err = add_step(p, e, WALK_INDEX);

	if (!err)
		err = take_integer(p, &e->steps[e->n - 1].number);
	return err || accept(p, "]") ? err : unexpected(p);
}

/* What is behind the name. */
static int take_postfix(struct parser *p, struct expression *e)
{
	int err = 0;

	while (!err) {
		if (accept(p, "->"))
			err = take_member(p, e, true);
		else if (accept(p, "."))
			err = take_member(p, e, false);
		else if (accept(p, "["))
			err = take_index(p, e);
		else
			break;
	}
	return err;
}

/* Stars are weaker than what follows the name: they come last. */
static int take_expression(struct parser *p, struct expression *e)
{
	unsigned stars = 0;
	int err;

	while (accept(p, "*"))
		stars++;
	e->base = take_name(p);
	if (!e->base)
		return unexpected(p);
	err = take_postfix(p, e);
	while (!err && stars--)
		err = add_step(p, e, WALK_DEREF);
	return err;
}

static void keep_text(struct expression *e, const char *start, const char *end)
{
	start += strspn(start, " \t");
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	e->text = xstrndup(start, end - start);
}

static int take_whole(struct parser *p, struct expression *e)
{
	const char *start = p->p;
	int err;

	*e = (struct expression){.names = xmalloc(2 * strlen(p->p) + 2)};
	p->to = e->names;
	err = take_expression(p, e);
	keep_text(e, start, p->p);
	if (err)
		expression__free(e);
	return err;
}

int expression__parse(const char *text, struct expression *out)
{
	struct parser p = {.text = text, .p = text};
	int err = take_whole(&p, out);

	if (err)
		return err;
	skip_blanks(&p);
	if (!*p.p)
		return 0;
	expression__free(out);
	return unexpected(&p);
}

int expressions__parse(const char *text, expression_vec *out)
{
	struct parser p = {.text = text, .p = text};
	struct expression e;

	do {
		int err = take_whole(&p, &e);

		if (err)
			return err;
		vec__push(out, e);
	} while (accept(&p, ","));
	return *p.p ? unexpected(&p) : 0;
}

/* ---- conditions ---- */

static enum value_comparison take_comparison(struct parser *p)
{
	static const struct {
		const char *text;
		enum value_comparison how;
	} rows[] = {{"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
		    {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (accept(p, rows[i].text))
			return rows[i].how;
	return COMPARE_NONE;
}

static int take_string(struct parser *p, struct value_condition *c)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\\"\"";
	char *to = c->text = xmalloc(strlen(p->p) + 1);

	c->is_text = true;
	for (; *p->p && *p->p != '"'; p->p++) {
		const char *e;

		if (*p->p != '\\') {
			*to++ = *p->p;
			continue;
		}
		p->p++;
		for (e = escapes; e < escapes + sizeof(escapes) - 1 && *e != *p->p; e += 2)
			;
		if (e >= escapes + sizeof(escapes) - 1 || *p->p == '0')
			return err__set(EINVAL, "'%s': an unknown escape in the string", p->text);
		*to++ = e[1];
	}
	*to = 0;
	return accept(p, "\"") ? 0 : err__set(EINVAL, "'%s': a string without its end", p->text);
}

static int take_constant(struct parser *p, struct value_condition *c)
{
	if (!accept(p, "\""))
		return take_integer(p, &c->number);
	if (c->how != COMPARE_EQ && c->how != COMPARE_NE)
		return err__set(EINVAL, "'%s': strings are compared by == and != only", p->text);
	return take_string(p, c);
}

int value_condition__parse(const char *text, struct value_condition *out)
{
	struct parser p = {.text = text, .p = text};
	int err;

	*out = (struct value_condition){0};
	err = take_whole(&p, &out->left);
	if (err)
		return err;
	out->how = take_comparison(&p);
	err = out->how == COMPARE_NONE ? unexpected(&p) : take_constant(&p, out);
	skip_blanks(&p);
	if (!err && *p.p)
		err = unexpected(&p);
	if (err)
		value_condition__free(out);
	return err;
}

void expression__free(struct expression *e)
{
	free(e->text);
	free(e->names);
	*e = (struct expression){0};
}

void value_condition__free(struct value_condition *c)
{
	expression__free(&c->left);
	free(c->text);
	*c = (struct value_condition){0};
}

void expressions__free(expression_vec *v)
{
	struct expression *e;

	vec__each (e, v)
		expression__free(e);
	vec__free(v);
}
