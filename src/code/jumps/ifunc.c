// SPDX-License-Identifier: BSD-2-Clause
/*
 * IFUNC: finds the addresses that a resolver can return from its code. Computed addresses, and
 * those loaded from memory that the file doesn't contain, stay unknown.
 */
#include <errno.h>
#include <stdlib.h>
#include "code/code.h"

/* Collects the values of the return register at every ret. */
static void returned(struct graph *g, struct values *all)
{
	for (uint32_t i = 1; i < g->nodes.len; i++) {
		const struct node *n = &g->nodes.data[i];
		struct values v;

		if (!(n->flags & NODE_REACHED) || !n->branch)
			continue;
		if (graph__branch(g, n)->kind == BRANCH_IJMP && !graph__table_of(g, i))
			all->unknown = true;
		if (graph__branch(g, n)->kind != BRANCH_RET)
			continue;
		slice__values(g, i, g->arch->conventions[CONVENTION_C].result, &v);
		all->unknown |= v.unknown;
		for (unsigned k = 0; k < v.n; k++)
			if (all->n < VALUES_MAX)
				all->v[all->n++] = v.v[k];
			else
				all->unknown = true;
	}
}

static void ask_resolver(const struct function *resolver, const struct object *kernel,
			 struct values *out)
{
	struct graph *g = graph__new(resolver->object, kernel, object__is_kernel(resolver->object));
	struct function copy;

	memset(out, 0, sizeof(*out));
	function__copy(&copy, resolver);
	copy.flags &= ~FUNCTION_IFUNC;
	graph__add_function(g, &copy);
	graph__start(g);
	graph__follow(g);
	helpers__add(g); /* a resolver may tail-call another one */
	returned(g, out);
	if (g->outs.len)
		out->unknown = true;
	graph__free(g);
}

static bool has(const function_vec *v, const struct object *o, uint64_t entry)
{
	const struct function *f;

	vec__each (f, v)
		if (f->object == o && f->entry == entry && !(f->flags & FUNCTION_RANGE))
			return true;
	return false;
}

/* Names the implementation by its symbol, else by the requested name. */
static void add_implementation(const struct function *asked, uint64_t entry, function_vec *out)
{
	const struct segment *s = object__segment_at(asked->object, entry);
	struct function f;

	if (!s || !s->exec || has(out, asked->object, entry) ||
	    !function__around(asked->object, entry, &f))
		return;
	if (f.entry != entry) {
		uint64_t end = f.ranges.data[0].vaddr + f.ranges.data[0].size;

		if (entry >= end) {
			function__free(&f);
			return;
		}
		f.entry = f.ranges.data[0].vaddr = entry;
		f.ranges.data[0].size = end - entry;
		free(f.raw);
		f.raw = NULL;
	}
	if (!f.raw) {
		free(f.name);
		f.name = xstrdup(asked->name);
	}
	f.flags = asked->flags & ~FUNCTION_IFUNC;
	vec__push(out, f);
}

/* Returns true if at least one implementation is known. */
static bool replace_one(const struct function *f, const struct object *kernel, function_vec *out,
			uint32_t *unknown)
{
	struct values v;
	bool any = false;

	ask_resolver(f, kernel, &v);
	for (unsigned i = 0; i < v.n; i++) {
		uint64_t entry = object__code_vaddr(f->object, v.v[i]);

		add_implementation(f, entry, out);
		any |= has(out, f->object, entry);
	}
	*unknown += v.unknown;
	return any;
}

int ifunc__replace(const function_vec *in, const struct object *kernel, function_vec *out,
		   uint32_t *unknown)
{
	const struct function *f, *dark = NULL;

	*unknown = 0;
	vec__each (f, in)
		if (!(f->flags & FUNCTION_IFUNC))
			function__copy(vec__add(out), f);
	vec__each (f, in)
		if (f->flags & FUNCTION_IFUNC && !replace_one(f, kernel, out, unknown))
			dark = f;
	if (dark && !out->len)
		return err__set(
			ENOENT,
			"%s is an IFUNC, and the code of its resolver doesn't show what it can return; "
			"name an implementation, or give its address as 0xOFF",
			dark->name);
	return 0;
}
