// SPDX-License-Identifier: BSD-2-Clause
/* The names that --if takes for functions, with their types: list and report --arguments. */
#include "arguments.h"
#include "util/json.h"

/* True if --if can compare it: a number, a pointer or a string. */
static bool is_comparable(const struct plan_value *v)
{
	switch (v->kind) {
	case KIND_UNKNOWN:
	case KIND_FLOAT:
	case KIND_PAIR:
	case KIND_VOID:
	case KIND_STRUCT:
	case KIND_ARRAY:
		return false;
	default:
		return v->from != FROM_NOWHERE && (v->size <= 8 || v->kind == KIND_TEXT);
	}
}

/* Members of structs have no type of their own in a plan, nor have results. */
static const char *type_of(const struct plan_value *v)
{
	static const char *const kinds[KINDS_OF_VALUES] = {
		[KIND_SIGNED] = "number",   [KIND_UNSIGNED] = "number", [KIND_BOOL] = "bool",
		[KIND_POINTER] = "pointer", [KIND_ENUM] = "enum",	[KIND_TEXT] = "text",
		[KIND_CHAR] = "char"};

	return v->type ? v->type : kinds[v->kind];
}

static void put_json(const struct plan *plan, const struct plan_function *f,
		     const struct plan_value *v, struct str *out)
{
	struct json j = {.out = out};
	const struct plan_enumerator *e;
	size_t n;

	json__open_object(&j);
	json__member(&j, string, "object", plan->objects.data[f->object].path);
	json__member(&j, string, "symbol", f->name);
	json__member(&j, string, "name", v->name);
	json__member(&j, string, "type", type_of(v));
	e = plan__enumerators(plan, v->enumeration, &n);
	if (n) {
		json__key(&j, "values");
		json__open_array(&j);
		for (size_t i = 0; i < n; i++)
			json__string(&j, e[i].name);
		json__close_array(&j);
	}
	json__close_object(&j);
	str__putc(out, '\n');
}

static void put_text(const struct plan_function *f, const struct plan_value *v, struct str *out)
{
	str__shown(out, v->name);
	str__putc(out, '\t');
	str__shown(out, type_of(v));
	str__putc(out, '\t');
	str__shown(out, f->name);
	str__putc(out, '\n');
}

void arguments__put(const struct plan *plan, const bool *chosen, bool json, struct str *out)
{
	const struct plan_value *v;

	vec__each (v, &plan->values) {
		const struct plan_function *f = &plan->functions.data[v->function];

		if (!is_comparable(v) || (chosen && !chosen[v->function]))
			continue;
		if (json)
			put_json(plan, f, v, out);
		else
			put_text(f, v, out);
	}
}
