// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of --if: which functions they judge, and by which of their values. */
#include <errno.h>
#include <stdlib.h>
#include "plan/plan_private.h"

static int by_function(const void *a, const void *b)
{
	const struct plan_condition *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

/* ---- lookups ---- */

const struct plan_condition *plan__conditions(const struct plan *p, uint32_t function, size_t *n)
{
	return rows_of(&p->conditions, function, function, n);
}

static bool is_of(const struct plan *p, const struct plan_condition *c, bool of_return)
{
	return p->values.data[c->value].of_return == of_return;
}

bool plan__judges(const struct plan *p, bool of_return)
{
	const struct plan_condition *c;

	vec__each (c, &p->conditions)
		if (is_of(p, c, of_return))
			return true;
	return false;
}

bool plan__judges_function(const struct plan *p, uint32_t function, bool of_return)
{
	size_t n;
	const struct plan_condition *c = plan__conditions(p, function, &n);

	for (size_t i = 0; i < n; i++)
		if (is_of(p, &c[i], of_return))
			return true;
	return false;
}

/* ---- types ---- */

/* The type that C promotes it to: int if int has all its values; another bit field keeps its
 * type. */
struct compare_type plan_value__compared(const struct plan *p, const struct plan_value *v)
{
	unsigned width = plan_value__width(v);
	bool is_unsigned = !plan__is_signed(p, v);

	return (struct compare_type){.wide = width > 32, .is_unsigned = width >= 32 && is_unsigned};
}

static int bad(const struct plan *p, const struct value_condition *c, const struct plan_value *v,
	       const char *why)
{
	return err__set(EINVAL, "--if '%s': %s: %s %s", c->written,
			p->functions.data[v->function].name, v->name, why);
}

/* ---- constants ---- */

static const struct plan_enumerator *enumerator_named(const struct plan *p,
						      const struct plan_value *v, const char *name)
{
	size_t n;
	const struct plan_enumerator *e = plan__enumerators(p, v->enumeration, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(e[i].name, name))
			return &e[i];
	return NULL;
}

static struct constant number(int64_t n)
{
	return (struct constant){.number = n, .wide = n != (int32_t)n};
}

/* Sets the value of true, NULL, an enumerator of the value's type, or an error's name. */
static bool find_name(const struct plan *p, const struct value_condition *c,
		      const struct plan_value *v, struct constant *out)
{
	static const struct {
		const char *name;
		int number;
	} words[] = {{"NULL", 0}, {"nullptr", 0}, {"false", 0}, {"true", 1}};
	const struct plan_enumerator *e = enumerator_named(p, v, c->text);
	int error = errno__find(c->text);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(c->text, words[i].name) && !c->minus) {
			*out = number(words[i].number);
			return true;
		}
	if (e || error)
		*out = number(c->minus ? -(e ? e->value : error) : (e ? e->value : error));
	return e || error;
}

static int resolve_text(const struct plan *p, const struct value_condition *c,
			const struct plan_value *v, struct plan_condition *out)
{
	if (v->kind != KIND_TEXT)
		return bad(p, c, v, "is no string");
	out->of_text = true;
	snprintf(out->text, sizeof(out->text), "%s", c->text);
	return 0;
}

static int resolve_number(const struct plan *p, const struct value_condition *c,
			  const struct plan_value *v, struct plan_condition *out)
{
	if (c->kind != CONSTANT_NAME)
		out->with = c->constant;
	else if (!find_name(p, c, v, &out->with))
		return err__set(EINVAL, "--if '%s': %s: no value of %s is called %s", c->written,
				p->functions.data[v->function].name, v->name, c->text);
	if (v->kind == KIND_TEXT &&
	    (out->with.number || (c->how != COMPARE_EQ && c->how != COMPARE_NE)))
		return bad(p, c, v, "is a string: compare it with \"TEXT\" or NULL");
	/* Whether char has a sign depends on the machine and the compiler's options. */
	if (v->kind == KIND_CHAR && (int64_t)out->with.number < 0)
		return bad(p, c, v, "is a character, whose numbers have no sign here");
	return 0;
}

static int resolve(const struct plan *p, const struct value_condition *c,
		   const struct plan_value *v, struct plan_condition *out)
{
	*out = (struct plan_condition){
		.function = v->function, .value = v - p->values.data, .how = c->how};
	if (v->kind == KIND_STRUCT || v->kind == KIND_ARRAY)
		return bad(p, c, v, "is a struct: name a member of it");
	if (v->kind == KIND_PAIR || v->kind == KIND_FLOAT || v->kind == KIND_UNKNOWN ||
	    (v->size > 8 && v->kind != KIND_TEXT))
		return bad(p, c, v, "is no number, no pointer and no string");
	if (v->from == FROM_NOWHERE)
		return bad(p, c, v, "is not recorded");
	return c->kind == CONSTANT_TEXT ? resolve_text(p, c, v, out) : resolve_number(p, c, v, out);
}

/* ---- in which functions ---- */

/* Returns the function's value that the condition names; a function without a result has no ret. */
static const struct plan_value *value_named(const struct plan *p, uint32_t function,
					    const char *name)
{
	size_t n;
	const struct plan_value *v = plan__values(p, function, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].kind != KIND_VOID && !strcmp(v[i].name, name))
			return &v[i];
	return NULL;
}

static bool has_all(const struct plan *p, uint32_t function, const value_condition_vec *all)
{
	const struct value_condition *c;

	vec__each (c, all)
		if (!value_named(p, function, c->left.text))
			return false;
	return true;
}

static int add_function(struct plan *p, uint32_t function, const value_condition_vec *all)
{
	struct plan_condition one;
	const struct value_condition *c;
	int err;

	if (!has_all(p, function, all))
		return 0;
	vec__each (c, all) {
		err = resolve(p, c, value_named(p, function, c->left.text), &one);
		if (err)
			return err;
		vec__push(&p->conditions, one);
	}
	return 0;
}

#define NAMES_MOST 12

static bool is_among(const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* Lists some of the names that conditions may have. */
static void list_names(const struct plan *p, struct str *out)
{
	const char *names[NAMES_MOST];
	const struct plan_value *v;
	unsigned n = 0;

	vec__each (v, &p->values) {
		if (v->kind == KIND_VOID || is_among(names, n, v->name))
			continue;
		if (n == NAMES_MOST) {
			str__puts(out, ", ...");
			return;
		}
		names[n++] = v->name;
		str__puts(out, n > 1 ? ", " : "");
		str__shown(out, v->name);
	}
}

/* Returns how else calls are chosen by what other tools have as a variable; "" if that isn't known.
 */
static const char *other_way(const char *name)
{
	static const struct {
		const char *name, *way;
	} ways[] = {
		{"pid", "; -p PID chooses processes"},
		{"tid", "; --tid TID chooses threads"},
		{"comm", "; --comm NAME chooses threads"},
		{"uid", "; --uid USER chooses processes"},
		{"cgroup", "; --cgroup PATH chooses processes"},
		{"elapsed", "; --min-duration TIME chooses calls that take long"},
		{"duration", "; --min-duration TIME chooses calls that take long"},
		{"retval", "; the result is ret"},
		{"result", "; the result is ret"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(name, ways[i].name))
			return ways[i].way;
	return "";
}

static int has_none(const struct plan *p, const value_condition_vec *all)
{
	autofree struct str names = {0};
	const struct value_condition *c;

	if (!p->values.len)
		return err__set(EINVAL,
				"--if: the types of the functions' parameters are not known");
	list_names(p, &names);
	vec__each (c, all) {
		bool any = false;

		for (uint32_t i = 0; !any && i < p->functions.len; i++)
			any = value_named(p, i, c->left.text);
		if (!any)
			return err__set(EINVAL, "--if: no function has %s; there are: %s%s",
					c->left.text, names.data ? names.data : "none",
					other_way(c->left.base));
	}
	return err__set(EINVAL, "--if: no function has all of these at once; there are: %s",
			names.data ? names.data : "none");
}

int plan__add_conditions(struct plan *p, const value_condition_vec *conditions)
{
	int err = 0;

	p->conditions.len = 0;
	if (conditions->len > CONDITIONS_MOST)
		return err__set(EINVAL, "--if: at most %d conditions", CONDITIONS_MOST);
	for (uint32_t i = 0; !err && conditions->len && i < p->functions.len; i++)
		err = add_function(p, i, conditions);
	if (err)
		return err;
	vec__sort(&p->conditions, by_function);
	return conditions->len && !p->conditions.len ? has_none(p, conditions) : 0;
}
