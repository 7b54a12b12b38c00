// SPDX-License-Identifier: BSD-2-Clause
/* Tables of types: adding to them, and passing them between processes. */
#include <stdlib.h>
#include "types/types.h"

void types__free(struct types *t)
{
	vec__free(&t->types);
	vec__free(&t->members);
	vec__free(&t->parts);
	vec__free(&t->enumerators);
	vec__free(&t->params);
	vec__free(&t->prototypes);
	str__free(&t->names);
}

uint32_t types__add_name(struct types *t, const char *name)
{
	uint32_t at;

	if (!name || !*name)
		return 0;
	if (!t->names.len)
		str__put(&t->names, "", 1);
	at = t->names.len;
	str__put(&t->names, name, strlen(name) + 1);
	return at;
}

static int by_id(const void *a, const void *b)
{
	const struct prototype *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

void types__sort(struct types *t)
{
	vec__sort(&t->prototypes, by_id);
}

const struct prototype *types__prototype(const struct types *t, uint32_t id)
{
	const struct prototype key = {.id = id};

	return t->prototypes.len
		       ? bsearch(&key, t->prototypes.data, t->prototypes.len, sizeof(key), by_id)
		       : NULL;
}

#define NAME_DEPTH 8

static void put_name(const struct types *t, uint32_t number, unsigned depth, struct str *out)
{
	const struct type *type = types__at(t, number);

	if (!type || depth > NAME_DEPTH) {
		str__puts(out, "void");
	} else if (type->name) {
		str__puts(out, types__name(t, type->name));
	} else if (type->kind == TYPE_KIND_POINTER || type->kind == TYPE_KIND_ARRAY) {
		put_name(t, type->ref, depth + 1, out);
		str__puts(out, type->kind == TYPE_KIND_ARRAY		    ? " []"
			       : out->len && out->data[out->len - 1] == '*' ? "*"
									    : " *");
	} else {
		str__puts(out, type->kind == TYPE_KIND_ENUM	? "enum"
			       : type->kind == TYPE_KIND_STRUCT ? "struct"
								: "?");
	}
}

void types__put_name(const struct types *t, uint32_t type, struct str *out)
{
	put_name(t, type, 0, out);
}

/* ---- as bytes ---- */

/* Puts a number, then as many rows. */
static void put_rows(struct str *out, const void *rows, size_t n, size_t size)
{
	uint64_t count = n;

	str__put(out, (const char *)&count, sizeof(count));
	if (n)
		str__put(out, rows, n * size);
}

#define put_vec(out, v) put_rows(out, (v)->data, (v)->len, sizeof(*(v)->data))

void types__put(const struct types *t, struct str *out)
{
	put_vec(out, &t->types);
	put_vec(out, &t->members);
	put_vec(out, &t->parts);
	put_vec(out, &t->enumerators);
	put_vec(out, &t->params);
	put_vec(out, &t->prototypes);
	put_rows(out, t->names.data, t->names.len, 1);
}

struct taking {
	const char *p, *end;
	bool bad;
};

/* Takes the next rows; *n is their number. */
static const char *take_rows(struct taking *from, size_t size, size_t most, size_t *n)
{
	uint64_t count = 0;
	const char *rows;

	*n = 0;
	if (from->bad || (size_t)(from->end - from->p) < sizeof(count))
		return from->bad = true, NULL;
	memcpy(&count, from->p, sizeof(count));
	rows = from->p + sizeof(count);
	if (count > most || count > (size_t)(from->end - rows) / size)
		return from->bad = true, NULL;
	from->p = rows + count * size;
	*n = count;
	return rows;
}

#define take_vec(from, v)                                                                          \
	do {                                                                                       \
		size_t n_;                                                                         \
		const char *rows_ = take_rows(from, sizeof(*(v)->data), TYPES_MAX, &n_);           \
                                                                                                   \
		vec__reserve(v, n_);                                                               \
		if (n_)                                                                            \
			memcpy((v)->data, rows_, n_ * sizeof(*(v)->data));                         \
		(v)->len = n_;                                                                     \
	} while (0)

static bool is_part(uint32_t first, uint32_t n, size_t len)
{
	return first <= len && n <= len - first;
}

static bool is_type(const struct types *t, uint32_t type)
{
	return type == NO_TYPE || type < t->types.len;
}

static bool is_name(const struct types *t, uint32_t name)
{
	return !name || name < t->names.len;
}

static bool good_type(const struct types *t, const struct type *type)
{
	size_t parts = type->kind == TYPE_KIND_ENUM ? t->enumerators.len : t->members.len;

	return type->kind < TYPE_KINDS && is_name(t, type->name) && is_type(t, type->ref) &&
	       is_part(type->first, type->n, parts) && type->nparts <= TYPE_PARTS_MOST &&
	       is_part(type->first_part, type->nparts, t->parts.len);
}

/* What is in a part follows it. */
static bool good_parts(const struct types *t, const struct type *type)
{
	const struct type_part *p = type->nparts ? &t->parts.data[type->first_part] : NULL;

	for (uint32_t i = 0; i < type->nparts; i++)
		if (p[i].n > type->nparts - i - 1 || p[i].kind >= PART_KINDS ||
		    !is_name(t, p[i].name) || !is_type(t, p[i].type) || p[i].bit_at > 63 ||
		    p[i].bits > 64)
			return false;
	return true;
}

static bool good_param(const struct types *t, const struct type_param *a)
{
	return is_name(t, a->name) && is_type(t, a->type) && a->where < WHERES &&
	       a->place.from < FROMS && a->passed <= 1 + PASSED_SOMEHOW;
}

static bool is_good(const struct types *t)
{
	const struct type_enumerator *e;
	const struct type_member *m;
	const struct type_param *a;
	const struct prototype *p;
	const struct type *type;

	vec__each (type, &t->types)
		if (!good_type(t, type) || !good_parts(t, type))
			return false;
	vec__each (m, &t->members)
		if (!is_name(t, m->name) || !is_type(t, m->type) || m->bit_at > 63 || m->bits > 64)
			return false;
	vec__each (e, &t->enumerators)
		if (!e->name || !is_name(t, e->name))
			return false;
	vec__each (a, &t->params)
		if (!good_param(t, a))
			return false;
	vec__each (p, &t->prototypes)
		if (!is_type(t, p->result) || !is_part(p->first, p->n, t->params.len))
			return false;
	return !t->names.len || !t->names.data[t->names.len - 1];
}

bool types__take(struct types *t, const void *data, size_t len)
{
	struct taking from;
	const char *names;
	size_t n;

	*t = (struct types){0};
	if (!len)
		return true;
	from = (struct taking){data, (const char *)data + len};
	take_vec(&from, &t->types);
	take_vec(&from, &t->members);
	take_vec(&from, &t->parts);
	take_vec(&from, &t->enumerators);
	take_vec(&from, &t->params);
	take_vec(&from, &t->prototypes);
	names = take_rows(&from, 1, len, &n);
	if (n)
		str__put(&t->names, names, n);
	if (!from.bad && from.p == from.end && is_good(t)) {
		types__sort(t);
		return true;
	}
	types__free(t);
	*t = (struct types){0};
	return false;
}

/* ---- what is asked for ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void expressions__names(const expression_vec *v, struct type_names *names)
{
	const struct expression *e;

	vec__each (e, v)
		for (unsigned i = 0; i < e->n; i++)
			if (e->steps[i].what == WALK_MEMBER)
				vec__push(&names->all, e->steps[i].name);
	vec__sort(&names->all, by_name);
}

bool type_names__has(const struct type_names *n, const char *name)
{
	return name && n->all.len &&
	       bsearch(&name, n->all.data, n->all.len, sizeof(*n->all.data), by_name);
}

bool type_query__is_changed(const char *name)
{
	static const char *const marks[] = {".isra.",	     ".constprop.", ".part.",	".cold",
					    ".specialized.", ".argprom",    ".argelim", ".retelim"};

	for (size_t i = 0; name && i < ARRAY_SIZE(marks); i++)
		if (strstr(name, marks[i]))
			return true;
	return false;
}
