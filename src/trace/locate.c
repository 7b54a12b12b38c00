// SPDX-License-Identifier: BSD-2-Clause
/* Names for addresses: the name by which the user asked for the function, or else that of the
 * symbol table or of the resolver. */
#include "replay.h"

/* Returns the traced function at this address: that of a block that starts there. */
static uint32_t function_at(const struct trace *t, uint32_t object, uint64_t vaddr)
{
	uint32_t f = plan__function_at(t->plan, object, vaddr);

	return plan__traces(t->plan, f) ? f : NO_FUNCTION;
}

static uint32_t block_at(const struct trace *t, uint32_t object, uint64_t vaddr)
{
	uint32_t b = plan__block_at(t->plan, object, vaddr);

	return b != NO_BLOCK && plan__traces(t->plan, t->plan->blocks.data[b].function) ? b
											: NO_BLOCK;
}

static bool name_from_plan(struct trace *t, uint32_t object, uint64_t vaddr, struct location *out)
{
	uint32_t f = plan__function_at(t->plan, object, vaddr);

	if (f == NO_FUNCTION)
		return false;
	out->symbol = plan__name_at(t->plan, f, vaddr, &out->offset);
	return out->symbol;
}

static void name_from_symbols(const struct object *o, uint64_t vaddr, struct location *out)
{
	const struct symbol *s = o ? object__symbol_at(o, vaddr) : NULL;

	if (!s)
		return;
	out->symbol = s->shown;
	out->offset = vaddr - s->vaddr;
}

void locate__vaddr(struct trace *t, uint32_t object, uint64_t vaddr, struct location *out)
{
	const struct plan_object *o = &t->plan->objects.data[object];

	*out = (struct location){.object = o->path, .vaddr = vaddr};
	if (name_from_plan(t, object, vaddr, out))
		return;
	if (o->kernel) /* The target may be in another module. */
		locate__running(t, 0, 0, vaddr, out);
	else
		name_from_symbols(o->object, vaddr, out);
}

/* Compares the pointers, since another file may have the same path. */
static uint32_t object_by_path(const struct plan *plan, const char *path)
{
	for (uint32_t i = 0; i < plan->objects.len; i++)
		if (plan->objects.data[i].path == path ||
		    (plan->objects.data[i].object && plan->objects.data[i].object->path == path))
			return i;
	return UINT32_MAX;
}

void locate__running(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		     struct location *out)
{
	uint32_t object;

	*out = (struct location){.addr = addr};
	t->resolver->resolve(t->resolver->ctx, pid, time, addr, out);
	if (!out->object)
		return;
	object = object_by_path(t->plan, out->object);
	if (object == UINT32_MAX)
		return;
	out->object = t->plan->objects.data[object].path;
	name_from_plan(t, object, out->vaddr, out);
}

bool location__same(const struct location *a, const struct location *b)
{
	if (!a->object || !b->object)
		return !a->object && !b->object && a->addr == b->addr;
	return a->vaddr == b->vaddr && (a->object == b->object || !strcmp(a->object, b->object));
}

const char *location__among(const struct location *l, const char *const *names, size_t n)
{
	size_t len = l->symbol ? strcspn(l->symbol, "@") : 0;

	for (size_t i = 0; len && i < n; i++)
		if (strlen(names[i]) == len && !strncmp(names[i], l->symbol, len))
			return names[i];
	return NULL;
}

uint32_t trace__locate(struct trace *t, uint32_t pid, uint64_t addr, struct location *out)
{
	locate__running(t, pid, 0, addr, out);
	return out->object ? object_by_path(t->plan, out->object) : UINT32_MAX;
}

static uint64_t bias_key(uint32_t pid, uint32_t object)
{
	return (uint64_t)pid << 32 | object;
}

void locate__learn_bias(struct trace *t, uint32_t pid, uint32_t object, uint64_t bias)
{
	*map64__put(&t->biases, bias_key(pid, object)) = bias;
}

void locate__forget_process(struct trace *t, uint32_t pid)
{
	for (uint32_t i = 0; i < t->plan->objects.len; i++)
		map64__del(&t->biases, bias_key(pid, i));
}

/* Finds the object of the plan at a running address, and the link-time address in it. */
static bool find_in_plan(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
			 uint32_t *object, uint64_t *vaddr)
{
	struct location at;

	for (uint32_t i = 0; i < t->plan->objects.len; i++) {
		const uint64_t *bias = map64__get(&t->biases, bias_key(pid, i));

		*object = i;
		*vaddr = addr - (bias ? *bias : 0);
		if ((pid ? bias != NULL : t->plan->objects.data[i].kernel) &&
		    function_at(t, i, *vaddr) != NO_FUNCTION)
			return true;
	}
	if (!pid)
		return false;
	locate__running(t, pid, time, addr, &at);
	*object = at.object ? object_by_path(t->plan, at.object) : UINT32_MAX;
	*vaddr = at.vaddr;
	return *object != UINT32_MAX;
}

bool locate__in_object(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr,
		       uint32_t *object, uint64_t *vaddr)
{
	return find_in_plan(t, pid, time, addr, object, vaddr);
}

uint32_t locate__block(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	uint32_t object;
	uint64_t vaddr;

	return find_in_plan(t, pid, time, addr, &object, &vaddr) ? block_at(t, object, vaddr)
								 : NO_BLOCK;
}

uint32_t locate__block_in(const struct trace *t, uint32_t pid, uint32_t object, uint64_t addr)
{
	const uint64_t *bias = map64__get(&t->biases, bias_key(pid, object));

	return pid && !bias ? NO_BLOCK : block_at(t, object, addr - (bias ? *bias : 0));
}

uint32_t locate__call(const struct trace *t, uint32_t pid, uint64_t addr)
{
	uint32_t call = NO_BLOCK;

	for (uint32_t i = 0; call == NO_BLOCK && i < t->plan->objects.len; i++) {
		const uint64_t *bias = pid ? map64__get(&t->biases, bias_key(pid, i)) : NULL;

		if (pid ? bias != NULL : t->plan->objects.data[i].kernel)
			call = walk__call_ending(t->walk, i, addr - (bias ? *bias : 0));
	}
	return call;
}

bool locate__in_plan(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	uint32_t object;
	uint64_t vaddr;

	return find_in_plan(t, pid, time, addr, &object, &vaddr) &&
	       function_at(t, object, vaddr) != NO_FUNCTION;
}

uint32_t locate__undecoded(struct trace *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	uint32_t object;
	uint64_t vaddr;

	if (!t->plan->gaps.len || !addr || !find_in_plan(t, pid, time, addr, &object, &vaddr) ||
	    !plan__is_undecoded(t->plan, object, vaddr))
		return NO_FUNCTION;
	return function_at(t, object, vaddr);
}

const struct site_places *locate__site(struct trace *t, uint32_t site)
{
	const struct plan_site *s = &t->plan->sites.data[site];
	struct site_places *p = &t->places[site];

	if (p->known)
		return p;
	p->known = true;
	locate__vaddr(t, s->object, s->vaddr, &p->at);
	locate__vaddr(t, s->object, s->vaddr + s->len, &p->next);
	if (s->target)
		locate__vaddr(t, s->object, s->target, &p->taken);
	if (s->entry)
		locate__vaddr(t, s->object, t->plan->functions.data[s->function].ranges[0].vaddr,
			      &p->entry);
	return p;
}
