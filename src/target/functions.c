// SPDX-License-Identifier: BSD-2-Clause
/* Makes struct function out of symbols and ranges, with the parts split off, each address once. */
#include <stdlib.h>
#include "elf_file.h"
#include "functions.h"

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
	/* asked for by its own name, a split-off part: it is never called and never returns to a
	 * caller of its own */
	if (name__owner_len(s->name))
		return FUNCTION_RANGE;
	return args_flags(s);
}

void function__from_symbol(struct function *out, struct object *o, size_t symbol, char *name)
{
	const struct symbol *s = &o->symbols.data[symbol], *part;
	size_t first, i, n = object__splits(o, s->vaddr, &first);

	*out = (struct function){
		.object = o,
		.name = name,
		.raw = xstrdup(s->name),
		.entry = s->vaddr,
		.flags = symbol_flags(s),
	};
	vec__push(&out->ranges, (struct range){s->vaddr, object__extent(o, s), xstrdup(name)});
	for (i = first; i < first + n; i++) {
		part = symbol__show(o, &o->symbols.data[o->splits.data[i].part]);
		if (vec__last(&out->ranges)->vaddr != part->vaddr)
			vec__push(&out->ranges, (struct range){part->vaddr, object__extent(o, part),
							       xstrdup(part->shown)});
	}
}

void function__from_range(struct function *out, const struct object *o, uint64_t vaddr,
			  uint64_t size, unsigned flags, char *name)
{
	const struct symbol *s = object__symbol_at(o, vaddr);
	size_t avail;

	/* debug information may tell of more than is there */
	object__bytes(o, vaddr, &avail);
	size = min_of(size, (uint64_t)avail);
	if (!name && s)
		name = xasprintf("%s+0x%llx", s->shown, (unsigned long long)(vaddr - s->vaddr));
	else if (!name)
		name = xasprintf("0x%llx+0x%llx", (unsigned long long)vaddr,
				 (unsigned long long)size);
	*out = (struct function){
		.object = o,
		.name = name,
		.raw = s ? xstrdup(s->name) : NULL,
		.entry = vaddr,
		.flags = flags,
	};
	vec__push(&out->ranges, (struct range){vaddr, size, s ? xstrdup(s->shown) : NULL});
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
	function__from_symbol(&f, o, symbol, name);
	vec__push(v, f);
}

/* A range may start where a function does, and two ranges at the same place may differ in length.
 */
static bool present(const function_vec *v, const struct function *f)
{
	const struct function *other;

	vec__each (other, v)
		if (other->object == f->object && other->entry == f->entry &&
		    (other->flags & FUNCTION_RANGE) == (f->flags & FUNCTION_RANGE) &&
		    (!(f->flags & FUNCTION_RANGE) ||
		     other->ranges.data[0].size == f->ranges.data[0].size))
			return true;
	return false;
}

void functions__add_range(function_vec *v, const struct object *o, uint64_t vaddr, uint64_t size,
			  unsigned flags, char *name)
{
	struct function f;

	function__from_range(&f, o, vaddr, size, flags, name);
	if (present(v, &f))
		function__clear(&f);
	else
		vec__push(v, f);
}

bool functions__alias_matches(const struct function *f, const struct query *q)
{
	const struct object *o = f->object;
	size_t i;

	for (i = object__symbols_from(o, f->entry);
	     i < o->symbols.len && o->symbols.data[i].vaddr == f->entry; i++)
		if (query__match(q, &o->symbols.data[i]) != MATCH_NONE)
			return true;
	return false;
}
