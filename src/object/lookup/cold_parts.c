// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the function that a cold part ("foo.cold") was split from. If several source files have a
 * static foo, it is the one of the part's file. An ambiguous part has no owner here, but src/code
 * may prove one by a jump.
 */
#include <stdlib.h>
#include "object/elf/elf_file.h"
#include "object/object.h"
#include "lookup.h"

#define NAMESAKES 1024 /* the most functions of one name that are searched */

/* A symbol that may own parts: some part's name refers to it. */
struct owner {
	uint64_t hash;
	uint32_t symbol;
};

typedef VEC(struct owner) owner_vec;

static int by_hash(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static uint32_t unit_of(const struct object *o, uint32_t i)
{
	const struct elf_file *f = elf__of(o);

	return f && i < f->units.len ? f->units.data[i] : 0;
}

/* Finds all symbols with the name of a part's owner, by hash. */
static void find_owners(const struct object *o, owner_vec *owners)
{
	struct map64 wanted = {0};
	const struct symbol *s;
	size_t len;
	uint64_t h;

	vec__each (s, &o->symbols) {
		len = name__owner_len(s->name);
		if (len)
			map64__put(&wanted, map64__hash(s->name, len));
	}
	if (wanted.len)
		vec__each (s, &o->symbols) {
			h = map64__hash(s->name, strlen(s->name));
			if (s->type != SYMBOL_PLT && map64__get(&wanted, h))
				vec__push(owners, (struct owner){h, s - o->symbols.data});
		}
	vec__sort(owners, by_hash);
	map64__free(&wanted);
}

/* Chooses, of the namesakes, the one in the part's file, else the only one, else the only global
 * one. */
static bool choose(const struct object *o, const struct owner *at, size_t n, uint32_t part,
		   uint32_t *owner)
{
	const struct symbol *symbols = o->symbols.data;
	uint32_t unit = unit_of(o, part);
	size_t i, globals = 0, global = 0;
	bool one = true;

	for (i = 0; i < n; i++) {
		if (unit && unit_of(o, at[i].symbol) == unit)
			return *owner = at[i].symbol, true;
		one &= symbols[at[i].symbol].vaddr == symbols[at[0].symbol].vaddr;
		if (symbols[at[i].symbol].global)
			globals++, global = i;
	}
	if (!n || (!one && (globals != 1 || !unit)))
		return false;
	*owner = at[one ? 0 : global].symbol;
	return true;
}

static void add_cold_part(struct object *o, const owner_vec *owners, uint32_t part, size_t len)
{
	const char *name = o->symbols.data[part].name, *candidate;
	uint64_t h = map64__hash(name, len);
	VEC(struct owner) same = {0};
	size_t low = 0, high = owners->len, mid;
	uint32_t owner;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (owners->data[mid].hash < h)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < owners->len && owners->data[low].hash == h && same.len < NAMESAKES; low++) {
		candidate = o->symbols.data[owners->data[low].symbol].name;
		if (!strncmp(candidate, name, len) && !candidate[len])
			vec__push(&same, owners->data[low]);
	}
	if (same.len < NAMESAKES && choose(o, same.data, same.len, part, &owner))
		vec__push(&o->cold_parts, (struct cold_part){part, owner});
	vec__free(&same);
}

static int by_owner(const void *a, const void *b)
{
	const struct cold_part *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

static void find_cold_parts(struct object *o)
{
	owner_vec owners = {0};
	size_t i, len;

	if (o->cold_parts_known)
		return;
	o->cold_parts_known = true;
	find_owners(o, &owners);
	for (i = 0; owners.len && i < o->symbols.len; i++) {
		len = name__owner_len(o->symbols.data[i].name);
		if (len)
			add_cold_part(o, &owners, i, len);
	}
	/* Symbols are sorted by address, so cold parts are sorted by their owners' addresses. */
	vec__sort(&o->cold_parts, by_owner);
	for (i = 0; i < o->cold_parts.len; i++)
		*map64__put(&o->cold_part_of, o->cold_parts.data[i].part) = i + 1;
	vec__free(&owners);
}

size_t object__cold_parts(struct object *o, uint64_t vaddr, size_t *first)
{
	size_t low = 0, high, mid, n = 0;

	find_cold_parts(o);
	for (high = o->cold_parts.len; low < high;) {
		mid = low + (high - low) / 2;
		if (o->symbols.data[o->cold_parts.data[mid].owner].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	*first = low;
	while (low + n < o->cold_parts.len &&
	       o->symbols.data[o->cold_parts.data[low + n].owner].vaddr == vaddr)
		n++;
	return n;
}

const struct symbol *object__cold_part_owner(struct object *o, size_t index)
{
	const uint64_t *i;

	if (!name__owner_len(o->symbols.data[index].name))
		return NULL;
	find_cold_parts(o);
	i = map64__get(&o->cold_part_of, index);
	return i ? &o->symbols.data[o->cold_parts.data[*i - 1].owner] : NULL;
}
