// SPDX-License-Identifier: BSD-2-Clause
/* The functions that code was inlined from: by debug information, which is read once for all code
 * of an object, or as a trace file has them. */
#include <stdlib.h>
#include "object/debug/debug.h"
#include "dwarf.h"

struct scope {
	const char *name; /* NULL if it is not inlined, or has no name */
	uint32_t parent;
};
struct scope_range {
	uint64_t start, end;
	uint32_t scope;
};

/* Strings live as long as the object. */
struct inlined {
	const struct object *o;
	bool read;
	VEC(struct scope) scopes;
	VEC(struct scope_range) ranges; /* those of a scope follow those of its parents */
	struct map64 at; /* vaddr -> the names there: const char *; NULL if there are none */
};

/* Returns the table, which is filled in on first use. */
static struct inlined *table_of(const struct object *o)
{
	struct object *known = (struct object *)o;

	if (!known->inlined) {
		known->inlined = xcalloc(1, sizeof(*known->inlined));
		known->inlined->o = o;
	}
	return known->inlined;
}

/* ---- reading ---- */

static void add_scope(void *ctx, const struct source_scope *s)
{
	struct inlined *in = ctx;
	bool inlined = s->parent != NO_SCOPE;
	char *shown = inlined && s->raw ? name__demangle(s->raw, DEMANGLE_NAME) : NULL;

	if (shown)
		debug__keep(in->o, shown);
	vec__push(&in->scopes, (struct scope){shown ? shown : inlined ? s->name : NULL, s->parent});
}

static void add_range(void *ctx, uint32_t scope, uint64_t start, uint64_t end)
{
	struct inlined *in = ctx;

	if (in->scopes.data[scope].parent != NO_SCOPE)
		vec__push(&in->ranges, (struct scope_range){start, end, scope});
}

void object__read_inlined(const struct object *o)
{
	static const struct scope_calls calls = {add_scope, add_range, NULL};
	struct inlined *in = table_of(o);
	autofree VEC(struct range) code = {0};
	const struct segment *g;

	if (in->read)
		return;
	in->read = true;
	vec__each (g, &o->segments)
		if (g->exec)
			vec__push(&code, (struct range){.vaddr = g->vaddr, .size = g->size});
	object__scopes(o, code.data, code.len, &calls, in);
}

void object__add_inlined(struct object *o, uint64_t vaddr, const char *names)
{
	uint64_t *slot = map64__put(&table_of(o)->at, vaddr);

	*slot = (uintptr_t)names;
}

/* ---- look-up ---- */

/* Returns NULL if none has a name. */
static const char *names_at(const struct inlined *in, uint64_t vaddr)
{
	uint32_t scope = NO_SCOPE;
	const struct scope_range *r;
	struct str names = {0};

	vec__each (r, &in->ranges)
		if (vaddr >= r->start && vaddr < r->end)
			scope = r->scope;
	for (; scope != NO_SCOPE; scope = in->scopes.data[scope].parent)
		if (in->scopes.data[scope].name)
			str__printf(&names, "%s%s", names.len ? "\n" : "",
				    in->scopes.data[scope].name);
	if (names.data)
		debug__keep(in->o, names.data);
	return names.data;
}

const char *object__inlined_at(const struct object *o, uint64_t vaddr)
{
	struct inlined *in = o->inlined;
	uint64_t *slot;

	if (!in)
		return NULL;
	slot = map64__get(&in->at, vaddr);
	if (!slot && in->ranges.len) {
		slot = map64__put(&in->at, vaddr);
		*slot = (uintptr_t)names_at(in, vaddr);
	}
	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

void inlined__free(struct inlined *in)
{
	if (!in)
		return;
	map64__free(&in->at);
	vec__free(&in->scopes);
	vec__free(&in->ranges);
	free(in);
}
