// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selections: ranges of code within functions, requested by range, point or line. A selection has
 * the name of the function that contains it, and offsets count from that function's start.
 */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "object/object.h"
#include "lookup.h"

static void keep_range(struct function *f, const struct range *kept)
{
	struct range *r;

	vec__each (r, &f->ranges)
		if (r != kept)
			free(r->name);
	f->ranges.data[0] = *kept;
	f->ranges.len = 1;
}

/* Selects the part of [vaddr, end) that is in one function. Returns its end. */
static uint64_t select_in_one(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t end)
{
	struct function f = {0};
	size_t in = 0;
	bool held = object__holder(o, vaddr, &f, &in);
	struct range *r = held ? &f.ranges.data[in] : vec__add(&f.ranges);

	end = min_of(end, object__next_start(o, vaddr, !held));
	if (held) {
		end = min_of(end, r->vaddr + r->size);
		r->offset = vaddr - r->vaddr;
	} else {
		f.object = o;
		f.entry = vaddr;
		f.name = xasprintf("0x%llx", (unsigned long long)vaddr);
	}
	r->vaddr = vaddr;
	r->size = end - vaddr;
	f.flags = FUNCTION_RANGE;
	keep_range(&f, r);
	vec__push(v, f);
	return end;
}

void functions__select(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size)
{
	uint64_t end;
	size_t avail;

	object__bytes(o, vaddr, &avail);
	end = vaddr + min_of(size, (uint64_t)avail);
	while (vaddr < end)
		vaddr = select_in_one(v, o, vaddr, end);
}

/* ---- joining those of the same function ---- */

/* Sorts by function, an entire one first, then by range. */
static int by_function(const void *a, const void *b)
{
	const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;
	bool part = x->flags & FUNCTION_RANGE;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (part != (y->flags & FUNCTION_RANGE))
		return part ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Overlapping ranges are cut, not joined: each start was requested and will be proved. */
static void cut_overlaps(struct function *f)
{
	struct range *r = f->ranges.data, *last = NULL, *next;
	size_t n = 0;

	vec__sort(&f->ranges, by_start);
	vec__each (next, &f->ranges) {
		uint64_t end = next->vaddr + next->size;

		if (last && last->vaddr == next->vaddr) {
			last->size = max_of(last->size, next->size);
			free(next->name);
			continue;
		}
		if (last && last->vaddr + last->size > next->vaddr) {
			end = max_of(end, last->vaddr + last->size);
			last->size = next->vaddr - last->vaddr;
		}
		next->size = end - next->vaddr;
		r[n] = *next;
		last = &r[n++];
	}
	f->ranges.len = n;
}

static void take_ranges(struct function *to, struct function *from)
{
	struct range *r;

	vec__each (r, &from->ranges)
		vec__push(&to->ranges, *r);
	from->ranges.len = 0;
}

/* Returns true if the whole function is traced anyway. Not an IFUNC resolver, which is replaced by
 * its implementations. */
static bool is_entire(const struct function *f)
{
	return !(f->flags & (FUNCTION_RANGE | FUNCTION_IFUNC));
}

/* Joins n members of the same function. The dropped ones have no ranges afterwards. */
static void join(struct function **f, size_t n)
{
	struct range *r;
	size_t i = f[0]->flags & FUNCTION_IFUNC ? 1 : 0, first = i;

	for (i++; i < n; i++) {
		if (!is_entire(f[first])) {
			take_ranges(f[first], f[i]);
			continue;
		}
		vec__each (r, &f[i]->ranges)
			free(r->name);
		f[i]->ranges.len = 0;
	}
	if (first < n && f[first]->flags & FUNCTION_RANGE)
		cut_overlaps(f[first]);
}

static void drop_empty(function_vec *v)
{
	struct function *f;
	size_t n = 0;

	vec__each (f, v) {
		if (f->ranges.len)
			v->data[n++] = *f;
		else
			function__clear(f);
	}
	v->len = n;
}

void functions__join(function_vec *v)
{
	VEC(struct function *) order = {0};
	struct function *f;

	vec__each (f, v)
		vec__push(&order, f);
	vec__sort(&order, by_function);
	for (size_t i = 0, n; i < order.len; i += n) {
		const struct function *first = order.data[i];

		for (n = 1; i + n < order.len && order.data[i + n]->object == first->object &&
			    order.data[i + n]->entry == first->entry;)
			n++;
		join(&order.data[i], n);
	}
	vec__free(&order);
	drop_empty(v);
}
