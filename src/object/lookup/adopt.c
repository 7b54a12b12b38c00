// SPDX-License-Identifier: BSD-2-Clause
/* Joins what trace files have of the same object. */
#include <stdlib.h>
#include "object/object.h"

static int by_place(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->size < y->size ? 1 : -(x->size > y->size); /* the longer one first */
}

void object__settle_code(struct object *o)
{
	size_t n = 0;

	vec__sort(&o->kept, by_place);
	for (size_t i = 0; i < o->kept.len; i++) {
		struct segment s = o->kept.data[i], *last = n ? &o->kept.data[n - 1] : NULL;
		uint64_t shared = last && last->vaddr + last->size > s.vaddr
					  ? last->vaddr + last->size - s.vaddr
					  : 0;

		if (shared >= s.size)
			continue;
		s.vaddr += shared;
		s.size -= shared;
		s.bytes += shared;
		o->kept.data[n++] = s;
	}
	o->kept.len = n;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void settle_symbols(struct object *o)
{
	size_t n = 0;

	vec__sort(&o->symbols, by_vaddr);
	for (size_t i = 0; i < o->symbols.len; i++)
		if (!n || by_vaddr(&o->symbols.data[n - 1], &o->symbols.data[i]) != 0)
			o->symbols.data[n++] = o->symbols.data[i];
	o->symbols.len = n;
	o->reach.len = 0;
	if (!object__is_kernel(o))
		object__index_symbols(o);
}

void object__adopt(struct object *o, const struct object *from, uint64_t shift)
{
	const struct segment *s;
	const struct symbol *symbol;

	vec__each (s, &from->kept) {
		vec__push(&o->kept, *s);
		vec__last(&o->kept)->vaddr += shift;
	}
	vec__each (symbol, &from->symbols) {
		vec__push(&o->symbols, *symbol);
		vec__last(&o->symbols)->vaddr += shift;
	}
	object__settle_code(o);
	settle_symbols(o);
}
