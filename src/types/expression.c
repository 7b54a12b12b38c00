// SPDX-License-Identifier: BSD-2-Clause
/* Parses what C would take for an expression of parameters: path->dentry, *size, v.len[1]. */
#include <errno.h>
#include <stdlib.h>
#include "types/parser.h"

void parser__skip_blanks(struct parser *p)
{
	p->p += strspn(p->p, " \t");
}

bool parser__accept(struct parser *p, const char *token)
{
	parser__skip_blanks(p);
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

const char *parser__name(struct parser *p)
{
	const char *name = p->to;

	parser__skip_blanks(p);
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
	bool minus = parser__accept(p, "-");
	uint64_t v;

	parser__skip_blanks(p);
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
	e->steps[e->n - 1].name = parser__name(p);
	return e->steps[e->n - 1].name ? 0 : unexpected(p);
}

static int take_index(struct parser *p, struct expression *e)
{
	int err = add_step(p, e, WALK_INDEX);

	if (!err)
		err = take_integer(p, &e->steps[e->n - 1].number);
	return err || parser__accept(p, "]") ? err : unexpected(p);
}

/* Takes what follows the name. */
static int take_postfix(struct parser *p, struct expression *e)
{
	int err = 0;

	while (!err) {
		if (parser__accept(p, "->"))
			err = take_member(p, e, true);
		else if (parser__accept(p, "."))
			err = take_member(p, e, false);
		else if (parser__accept(p, "["))
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

	while (parser__accept(p, "*"))
		stars++;
	e->base = parser__name(p);
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

void expression__free(struct expression *e)
{
	free(e->text);
	free(e->names);
	*e = (struct expression){0};
}

int parser__expression(struct parser *p, struct expression *e)
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

int expressions__parse(const char *text, expression_vec *out)
{
	struct parser p = {.text = text, .p = text};
	struct expression e;

	do {
		int err = parser__expression(&p, &e);

		if (err)
			return err;
		vec__push(out, e);
	} while (parser__accept(&p, ","));
	return *p.p ? unexpected(&p) : 0;
}

void expressions__free(expression_vec *v)
{
	struct expression *e;

	vec__each (e, v)
		expression__free(e);
	vec__free(v);
}
