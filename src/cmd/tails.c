// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tail calls into other objects: a traced function that ends with a jump to a PLT stub returns
 * where the library's function does. That function is found as the dynamic loader finds it, among
 * what the object needs, and added in silence: only its rets are probed, and only those that end a
 * traced call are shown.
 */
#include <errno.h>
#include <stdlib.h>
#include "cmd.h"

#define MAX_LIBRARIES 256

struct search {
	struct named *n;
	pid_t pid;
	const char *name;
	VEC(struct object *) queue; /* breadth first, as ld.so(8) has it */
};

static bool stub_known(const struct named *n, const struct object *o, uint64_t vaddr)
{
	const struct plan_stub *s;

	vec__each (s, &n->stubs)
		if (s->object == o && s->vaddr == vaddr)
			return true;
	return false;
}

static bool queued(const struct search *s, const struct object *o)
{
	for (size_t i = 0; i < s->queue.len; i++)
		if (s->queue.data[i] == o)
			return true;
	return false;
}

static int enqueue(void *ctx, const char *soname)
{
	struct search *s = ctx;
	struct object *o;

	if (s->queue.len >= MAX_LIBRARIES || named__open(s->n, soname, s->pid, &o))
		return 0; /* not to be found: the return stays unseen, and is counted */
	if (!queued(s, o))
		vec__push(&s->queue, o);
	return 0;
}

/* A stub's own object may lead to a local function (IRELATIVE); others only export theirs. */
static const struct symbol *definition(const struct object *o, const char *name, bool own)
{
	const struct symbol *found = NULL, *s;

	vec__each (s, &o->symbols)
		if ((s->global || own) && s->type != SYMBOL_PLT && !strcmp(s->name, name) &&
		    (!found || s->default_version))
			found = s;
	return found;
}

static bool known(const function_vec *v, const struct object *o, uint64_t entry)
{
	const struct function *f;

	vec__each (f, v)
		if (f->object == o && f->entry == entry && !(f->flags & FUNCTION_RANGE))
			return true;
	return false;
}

/* False: where the function lies can't be told. */
static bool add(struct search *s, const struct object *o, const struct symbol *symbol)
{
	struct function f;

	if (known(&s->n->functions, o, symbol->vaddr))
		return true;
	if (!object__function_at(o, symbol->vaddr, &f))
		return false;
	f.flags |= FUNCTION_SILENT;
	if (symbol->type == SYMBOL_IFUNC)
		f.flags |= FUNCTION_IFUNC;
	vec__push(&s->n->functions, f);
	return true;
}

/* Looks for name in o and what it needs, directly or through others. */
static bool add_definition(struct named *n, pid_t pid, struct object *o, const char *name)
{
	struct search s = {.n = n, .pid = pid, .name = name};
	bool added = false;

	vec__push(&s.queue, o);
	for (size_t i = 0; i < s.queue.len; i++) {
		struct object *at = s.queue.data[i];
		const struct symbol *symbol = definition(at, name, at == o);

		if (symbol) {
			added = add(&s, at, symbol);
			break;
		}
		object__needed(at, enqueue, &s);
	}
	vec__free(&s.queue);
	return added;
}

/* The stub that a jump out of a function's frame goes to; NULL: it is no such jump. */
static const struct symbol *stub_of(const struct plan *plan, const struct plan_block *b)
{
	const struct plan_site *site = b->site == NO_SITE ? NULL : &plan->sites.data[b->site];
	const struct symbol *s;

	if (!site || !b->leaves || b->taken != NO_BLOCK || !site->target ||
	    b->function == NO_FUNCTION ||
	    (plan->functions.data[b->function].flags & FUNCTION_RANGE))
		return NULL;
	s = object__symbol_at(plan->objects.data[b->object].object, site->target);
	return s && s->type == SYMBOL_PLT ? s : NULL;
}

bool tails__add(struct named *n, const struct plan *plan, pid_t pid)
{
	const struct plan_block *b;
	bool added = false;

	vec__each (b, &plan->blocks) {
		uint64_t target = b->site == NO_SITE ? 0 : plan->sites.data[b->site].target;
		const struct symbol *stub = stub_of(plan, b);
		struct object *o = (struct object *)plan->objects.data[b->object].object;
		autofree char *name = stub ? xstrndup(stub->name, strcspn(stub->name, "@")) : NULL;

		if (!name || !*name || stub_known(n, o, target) || !add_definition(n, pid, o, name))
			continue;
		vec__push(&n->stubs, (struct plan_stub){o, target});
		added = true;
	}
	return added;
}
