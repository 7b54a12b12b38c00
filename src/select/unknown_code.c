// SPDX-License-Identifier: BSD-2-Clause
/* Code of the traced objects that belongs to no known function: notes it, if all functions were
 * requested. */
#include "announce.h"

static void report(const struct object *o, const struct unknown_code *c)
{
	note("%s: %llu of %llu bytes of %s belong to no known function, so nothing of them is traced "
	     "or listed: no symbol and no unwinding table has them, and no known code leads there",
	     o->path, (unsigned long long)c->bytes, (unsigned long long)c->size,
	     c->section ? c->section : "its executable segment");
	if (object__is_packed(o))
		note("%s is packed by UPX: what is traced unpacks it; trace what `upx -d -o FILE %s` unpacks",
		     o->path, o->path);
}

void announce__unknown_code(const struct object *o, const unknown_code_vec *found)
{
	const struct unknown_code *c;

	vec__each (c, found)
		report(o, c);
}

/* FUNC or OBJECT:FUNC is '*'. */
static bool is_all(const char *operand)
{
	size_t n = strlen(operand);

	return n && operand[n - 1] == '*' && (n == 1 || operand[n - 2] == ':');
}

static bool wants_all(const struct request *req)
{
	for (size_t i = 0; i < req->operands.len; i++)
		if (is_all(req->operands.data[i]))
			return !req->what.exported;
	return false;
}

static void add_object(struct plan *p, const struct object *o)
{
	unknown_code_vec found = {0};
	const struct unknown_code *c;

	object__unknown_code(o, &found);
	announce__unknown_code(o, &found);
	vec__each (c, &found) {
		p->unknown_code += c->bytes;
		p->all_code += c->size;
	}
	vec__free(&found);
}

void announce__unknown_of_plan(const struct request *req, struct plan *p)
{
	const struct plan_object *o;

	if (!wants_all(req))
		return;
	vec__each (o, &p->objects)
		if (o->object)
			add_object(p, o->object);
}
