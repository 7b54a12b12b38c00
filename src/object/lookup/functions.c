// SPDX-License-Identifier: BSD-2-Clause
/* Functions: made from symbols, ranges and addresses, with their cold parts; each address once in a
 * list. */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "object/object.h"
#include "lookup.h"

static unsigned args_flags(const struct symbol *s)
{
	static const unsigned flags[] = {
		[ARGS_GO] = FUNCTION_GO_ARGS,
		[ARGS_STACK] = FUNCTION_NO_ARGS,
		[ARGS_SYSTEM] = 0,
	};

	return flags[s->args];
}

static unsigned symbol_flags(const struct symbol *s)
{
	if (s->type == SYMBOL_IFUNC)
		return FUNCTION_IFUNC;
	/* A cold part that was requested by its own name is never called, so it has no caller to
	 * return to. */
	if (name__owner_len(s->name))
		return FUNCTION_RANGE;
	return args_flags(s);
}

/* Takes ownership of name (malloc()ed). */
static void from_symbol(struct function *out, struct object *o, size_t symbol, char *name)
{
	const struct symbol *s = &o->symbols.data[symbol], *part;
	size_t first, i, n = object__cold_parts(o, s->vaddr, &first);

	*out = (struct function){
		.object = o,
		.name = name,
		.raw = xstrdup(s->name),
		.entry = s->vaddr,
		.flags = symbol_flags(s),
	};
	vec__push(&out->ranges, (struct range){s->vaddr, object__extent(o, s), xstrdup(name)});
	for (i = first; i < first + n; i++) {
		part = symbol__show(o, &o->symbols.data[o->cold_parts.data[i].part]);
		if (vec__last(&out->ranges)->vaddr != part->vaddr)
			vec__push(&out->ranges, (struct range){part->vaddr, object__extent(o, part),
							       xstrdup(part->shown)});
	}
}

bool object__function_at(const struct object *o, uint64_t vaddr, struct function *out)
{
	struct object *own =
		(struct object *)o; /* the index of parts, and display names, are built on demand */
	const struct symbol *s, *owner;
	const struct frame *f;

	if (!object__is_code(o, vaddr))
		return false;
	s = object__symbol_at(o, vaddr);
	f = object__frame_at(o, vaddr);
	if (s && (s->size || !f || f->vaddr <= s->vaddr)) {
		owner = object__cold_part_owner(own, s - o->symbols.data);
		owner = symbol__show(o, owner ? owner : s);
		from_symbol(out, own, owner - o->symbols.data, xstrdup(owner->shown));
		return true;
	}
	if (!f)
		return false;
	function__from_range(out, o, f->vaddr, f->size,
			     xasprintf("0x%llx", (unsigned long long)f->vaddr));
	out->flags = f->unproved ? FUNCTION_RANGE : 0;
	return true;
}

bool object__holder(const struct object *o, uint64_t vaddr, struct function *out, size_t *range)
{
	const struct range *r, *found = NULL;

	if (!object__function_at(o, vaddr, out))
		return false;
	vec__each (r, &out->ranges)
		if (vaddr - r->vaddr < r->size && (!found || r->vaddr > found->vaddr))
			found = r;
	if (found)
		*range = found - out->ranges.data;
	else
		function__clear(out);
	return found;
}

void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, char *name)
{
	const struct symbol *s = object__symbol_at(o, vaddr);
	struct range r = {.vaddr = vaddr};
	struct function holder;
	size_t avail, in;

	/* Debug information may claim more bytes than exist. */
	object__bytes(o, vaddr, &avail);
	r.size = min_of(size, (uint64_t)avail);
	if (!name && object__holder(o, vaddr, &holder, &in)) {
		r.name = xstrdup(holder.ranges.data[in].name);
		r.offset = vaddr - holder.ranges.data[in].vaddr;
		name = xasprintf(r.offset ? "%s+0x%llx" : "%s", r.name,
				 (unsigned long long)r.offset);
		function__clear(&holder);
	}
	name = name ? name : xasprintf("0x%llx", (unsigned long long)vaddr);
	r.name = r.name ? r.name : xstrdup(name);
	*out = (struct function){
		.object = o, .name = name, .raw = s ? xstrdup(s->name) : NULL, .entry = vaddr};
	vec__push(&out->ranges, r);
}

void function__clear(struct function *f)
{
	struct range *r;

	vec__each (r, &f->ranges)
		free(r->name);
	vec__free(&f->ranges);
	free(f->name);
	free(f->raw);
}

uint64_t functions__size(const function_vec *functions)
{
	const struct function *f;
	const struct range *r;
	uint64_t bytes = 0;

	vec__each (f, functions)
		vec__each (r, &f->ranges)
			bytes += r->size;
	return bytes;
}

void functions__free(function_vec *v)
{
	struct function *f;

	vec__each (f, v)
		function__clear(f);
	vec__free(v);
}

struct map64 functions__entries(const function_vec *v, const struct object *o)
{
	struct map64 entries = {0};
	const struct function *f;

	vec__each (f, v)
		if (f->object == o && !(f->flags & FUNCTION_RANGE))
			map64__put(&entries, f->entry);
	return entries;
}

void functions__add_symbol(function_vec *v, struct map64 *entries, struct object *o, size_t symbol,
			   char *name)
{
	struct function f;

	if (map64__get(entries, o->symbols.data[symbol].vaddr)) {
		free(name);
		return;
	}
	map64__put(entries, o->symbols.data[symbol].vaddr);
	from_symbol(&f, o, symbol, name);
	vec__push(v, f);
}

void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  char *name)
{
	struct map64 entries = functions__entries(v, o);

	if (map64__get(&entries, vaddr))
		free(name);
	else
		function__from_range(vec__add(v), o, vaddr, size, name);
	map64__free(&entries);
}

bool functions__alias_matches(const struct function *f, const struct name_query *q)
{
	const struct object *o = f->object;
	size_t i;

	for (i = object__symbols_from(o, f->entry);
	     i < o->symbols.len && o->symbols.data[i].vaddr == f->entry; i++)
		if (name_query__match(q, &o->symbols.data[i]) != MATCH_NONE)
			return true;
	return false;
}
