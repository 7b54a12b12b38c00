// SPDX-License-Identifier: BSD-2-Clause
/* The values of the members of a struct that is passed by value: in registers, each in a part of
 * one; in memory, several of them are loaded at once. */
#include <stdlib.h>
#include "arch/arch.h"
#include "types/types.h"

#define CHUNK_EVERY 64 /* bytes from one chunk to the next */
#define CHUNK_MOST  72 /* bytes that are loaded at once */

static void put_nowhere(struct value *out)
{
	out->place = (struct value_place){.reg = REG_NONE, .second = REG_NONE};
	out->nsteps = out->chunk = out->at = 0;
}

/* ---- in registers ---- */

static bool is_missing(const struct value_place *at, uint64_t offset, uint64_t size)
{
	for (uint64_t i = offset; i < offset + size && i < 16; i++)
		if (at->missing >> i & 1)
			return true;
	return false;
}

/* The register of the word at an offset; REG_NONE if that is not recorded. */
static uint8_t register_at(const struct callee *c, const struct value_place *at, uint64_t offset)
{
	uint64_t word = offset / c->arch->word;

	return word > 1 ? REG_NONE : word ? at->second : at->reg;
}

static void take_bits(const struct callee *c, const struct value_place *at,
		      const struct type_part *part, uint64_t size, struct value *out)
{
	unsigned word = c->arch->word;
	uint64_t first = part->offset * 8ull + part->bit_at, n = part->bits ? part->bits : 8 * size;
	uint8_t reg = register_at(c, at, first / 8);

	if (reg == REG_NONE || !n || first % (8 * word) + n > 8 * word ||
	    is_missing(at, first / 8, (first + n + 7) / 8 - first / 8)) {
		put_nowhere(out);
		return;
	}
	out->place = (struct value_place){.from = at->from, .reg = reg, .second = REG_NONE};
	out->bit_at = first % (8 * word);
	out->bits = n < 64 ? n : 0;
}

/* ---- in memory ---- */

/* Sets the address of what is at an offset. */
static bool take_address(const struct callee *c, const struct value_place *at, uint64_t offset,
			 struct value *out)
{
	uint64_t words = at->by_address ? 0 : offset / c->arch->word;

	if (at->from == FROM_NOWHERE || at->reg == REG_NONE || at->reg + words > UINT8_MAX)
		return false;
	out->place =
		(struct value_place){.from = at->from, .reg = at->reg + words, .second = REG_NONE};
	out->nsteps = at->by_address;
	out->steps[0] = offset;
	return at->by_address || offset % c->arch->word == 0;
}

static void take_chunk(const struct callee *c, const struct value_place *at, uint64_t whole,
		       const struct type_part *part, uint64_t size, struct value *out)
{
	uint64_t base = part->offset / CHUNK_EVERY * CHUNK_EVERY, within = part->offset - base;
	uint64_t most = min_of(whole - min_of(base, whole), (uint64_t)CHUNK_MOST);
	uint64_t end = part->bits ? (part->bit_at + part->bits + 7u) / 8 : size;

	if (within + end > most || !take_address(c, at, base, out)) {
		put_nowhere(out);
		return;
	}
	out->chunk = most;
	out->at = within;
	out->bit_at = part->bit_at;
	out->bits = part->bits;
}

static bool is_in_memory(const struct value_place *at)
{
	return at->by_address || at->from == FROM_STACK;
}

void value__locate(const struct callee *c, const struct value_place *at, uint64_t whole,
		   const struct type_part *part, uint64_t size, struct value *out)
{
	if (is_in_memory(at))
		take_chunk(c, at, whole, part, size, out);
	else
		take_bits(c, at, part, size, out);
}

bool value__follow(const struct callee *c, const struct value_place *at, uint64_t offset,
		   struct value *out)
{
	unsigned word = c->arch->word;
	uint8_t reg = register_at(c, at, offset);

	out->chunk = out->at = 0;
	if (is_in_memory(at)) {
		if (!take_address(c, at, offset, out))
			return false;
		out->steps[out->nsteps++] = 0;
		return true;
	}
	if (at->from == FROM_NOWHERE || reg == REG_NONE || offset % word ||
	    is_missing(at, offset, word))
		return false;
	out->place = (struct value_place){.from = at->from, .reg = reg, .second = REG_NONE};
	out->nsteps = 1;
	out->steps[0] = 0;
	return true;
}

/* ---- each ---- */

struct walk {
	const struct types *t;
	const struct callee *c;
	const struct type *whole;
	const struct value_place *at;
	part_value_fn *fn;
	void *ctx;
};

/* Numbers, and what a pointer to characters leads to. */
static void take_part(const struct walk *w, const struct type_part *part, struct value *out)
{
	const struct type *type = types__at(w->t, part->type);

	*out = (struct value){.kind = type ? value__kind_of(type) : KIND_UNKNOWN,
			      .size = type && type->size <= 16 ? type->size : 0,
			      .enumeration = NO_TYPE};
	put_nowhere(out);
	if (out->kind == KIND_ENUM)
		out->enumeration = part->type;
	if (!out->size || out->size > 8 || type->kind == TYPE_KIND_COMPLEX)
		return;
	if (type->kind == TYPE_KIND_POINTER && type__is_text(w->t, type) &&
	    value__follow(w->c, w->at, part->offset, out)) {
		out->kind = KIND_TEXT;
		out->size = VALUE_TEXT_MAX;
		return;
	}
	value__locate(w->c, w->at, w->whole->size, part, type->size, out);
}

/* A struct without a name has no place in the path to its members, but is numbered itself. */
static char *path_of(const struct walk *w, const struct type_part *part, const char *prefix,
		     bool array, unsigned index)
{
	const char *name = types__name(w->t, part->name);

	if (array)
		return xasprintf("%s[%u]", prefix, index);
	return name ? xasprintf("%s.%s", prefix, name) : xasprintf("%s.{%u}", prefix, index);
}

static void pass_parts(const struct walk *w, uint32_t first, uint32_t n, const char *prefix,
		       bool array)
{
	unsigned index = 0;

	for (uint32_t i = first; i < first + n; index++) {
		const struct type_part *part = &w->t->parts.data[i];
		autofree char *path = path_of(w, part, prefix, array, index);
		const char *name = types__name(w->t, part->name);
		bool through = part->kind == PART_STRUCT && !array && (!name || name[0] == '<');
		struct value v;

		if (part->kind == PART_VALUE) {
			take_part(w, part, &v);
		} else {
			v = (struct value){.kind = part->kind == PART_STRUCT ? KIND_STRUCT
									     : KIND_ARRAY,
					   .size = part->n,
					   .enumeration = NO_TYPE};
			put_nowhere(&v);
		}
		w->fn(w->ctx, path, part->type, &v);
		if (part->kind != PART_VALUE)
			pass_parts(w, i + 1, part->n, through ? prefix : path,
				   part->kind == PART_ARRAY);
		i += 1 + (part->kind == PART_VALUE ? 0 : part->n);
	}
}

bool value__each_part(const struct types *t, const struct callee *c, uint32_t type,
		      const struct value_place *at, const char *name, part_value_fn *fn, void *ctx)
{
	const struct type *whole = types__at(t, type);
	struct walk w = {.t = t, .c = c, .whole = whole, .at = at, .fn = fn, .ctx = ctx};
	struct value v = {.kind = KIND_STRUCT, .enumeration = NO_TYPE};

	if (!whole || whole->kind != TYPE_KIND_STRUCT || !whole->whole || !whole->nparts ||
	    at->from == FROM_NOWHERE)
		return false;
	v.size = whole->nparts;
	put_nowhere(&v);
	fn(ctx, name, type, &v);
	pass_parts(&w, whole->first_part, whole->nparts, name, false);
	return true;
}
