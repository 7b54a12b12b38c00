// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds objects from a trace file: segments, the code of traced functions, and the symbols that
 * the trace's addresses need.
 */
#include <errno.h>
#include <stdlib.h>
#include "file/format.h"

static int by_vaddr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int add_object(struct file_objects *all, const struct file_object *row)
{
	struct object *o;

	if (!row->path || row->kind > OBJECT_MODULE)
		return -EBADMSG;
	o = xcalloc(1, sizeof(*o));
	o->kind = row->kind;
	o->path = xstrdup(row->path);
	o->machine = row->machine;
	o->pie = row->pie;
	o->numbered = true;
	o->dev = row->dev;
	o->ino = row->ino;
	o->build_id_len = min_of(row->build_id.len, sizeof(o->build_id));
	if (o->build_id_len)
		memcpy(o->build_id, row->build_id.data, o->build_id_len);
	if (row->planned)
		vec__push(&all->planned, all->all.len);
	vec__push(&all->all, o);
	vec__push(&all->unsorted, false);
	return 0;
}

static struct object *object_of(const struct file_objects *all, uint32_t number)
{
	return number < all->all.len ? all->all.data[number] : NULL;
}

static int add_planned(struct file_objects *all, const struct file_planned *row)
{
	if (!object_of(all, row->object))
		return -EBADMSG;
	vec__push(&all->planned, row->object);
	return 0;
}

static int add_segment(struct file_objects *all, const struct file_segment *row)
{
	struct object *o = object_of(all, row->object);
	const struct segment *last = o && o->segments.len ? vec__last(&o->segments) : NULL;

	if (!o || row->size > UINT64_MAX - row->vaddr ||
	    (last && row->vaddr < last->vaddr + last->size))
		return -EBADMSG;
	vec__push(&o->segments,
		  (struct segment){row->vaddr, row->size, row->offset, NULL, row->exec});
	return 0;
}

static int add_code(struct file_objects *all, const struct file_code *row)
{
	struct object *o = object_of(all, row->object);

	if (!o || row->bytes.len > UINT64_MAX - row->vaddr)
		return -EBADMSG;
	vec__push(&o->kept, (struct segment){row->vaddr, row->bytes.len, 0, row->bytes.data, true});
	return 0;
}

static int add_symbol(struct file_objects *all, const struct file_symbol *row)
{
	struct object *o = object_of(all, row->object);
	struct symbol s = row->symbol;

	if (!o || !s.name || s.type > SYMBOL_PLT)
		return -EBADMSG;
	if (!s.shown)
		s.shown = s.name;
	if (o->symbols.len && vec__last(&o->symbols)->vaddr > s.vaddr)
		all->unsorted.data[row->object] = true;
	vec__push(&o->symbols, s);
	return 0;
}

static int add_inlined(struct file_objects *all, const struct file_inlined *row)
{
	struct object *o = object_of(all, row->object);

	if (!o || !row->names || !*row->names)
		return -EBADMSG;
	object__add_inlined(o, row->vaddr, row->names);
	return 0;
}

/* Symbols come a few at a time: those after an eighth of all wait for more. */
static void index_symbols(struct object *o, bool sorted)
{
	if (!object__is_kernel(o) && (sorted || o->symbols.len > o->reach.len + o->reach.len / 8))
		object__index_symbols(o);
}

/* Sorts all objects with new symbols. Each sort is charged to the pool's budget, so that a hostile
 * file can't cause too many. */
static int sort_symbols(struct file_objects *all, struct pool *pool)
{
	for (size_t i = 0; i < all->all.len; i++) {
		struct object *o = all->all.data[i];
		size_t cost = o->symbols.len * sizeof(uint64_t);
		bool sorts = all->unsorted.data[i];

		if (sorts && cost > pool->budget)
			return -EBADMSG;
		if (sorts) {
			pool->budget -= cost;
			vec__sort(&o->symbols, by_vaddr);
			all->unsorted.data[i] = false;
		}
		index_symbols(o, sorts);
	}
	return 0;
}

int file_objects__take(struct file_objects *all, struct file_rows *rows, struct pool *pool)
{
	bool has_code = rows->code.len;
	int err = 0;

	for (size_t i = 0; !err && i < rows->objects.len; i++)
		err = add_object(all, &rows->objects.data[i]);
	for (size_t i = 0; !err && i < rows->planned.len; i++)
		err = add_planned(all, &rows->planned.data[i]);
	for (size_t i = 0; !err && i < rows->segments.len; i++)
		err = add_segment(all, &rows->segments.data[i]);
	for (size_t i = 0; !err && i < rows->code.len; i++)
		err = add_code(all, &rows->code.data[i]);
	for (size_t i = 0; !err && i < rows->symbols.len; i++)
		err = add_symbol(all, &rows->symbols.data[i]);
	for (size_t i = 0; !err && i < rows->inlined.len; i++)
		err = add_inlined(all, &rows->inlined.data[i]);
	for (size_t i = 0; has_code && i < all->all.len; i++)
		object__settle_code(all->all.data[i]);
	rows->objects.len = rows->planned.len = 0;
	rows->segments.len = rows->code.len = rows->symbols.len = rows->inlined.len = 0;
	return err ? err : sort_symbols(all, pool);
}

void file_objects__free(struct file_objects *all)
{
	struct object **o;

	vec__each (o, &all->all)
		object__free(*o);
	vec__free(&all->all);
	vec__free(&all->planned);
	vec__free(&all->unsorted);
}
