// SPDX-License-Identifier: BSD-2-Clause
/* How x86-64 passes a struct: the classes of its words ("System V Application Binary Interface,
 * AMD64", 3.2.3). */
#include "classes.h"

#define WORD 8

static bool is_float128(const struct types *t, const struct type *type)
{
	const char *name = types__name(t, type->name);

	return name && (!strcmp(name, "_Float128") || !strcmp(name, "__float128"));
}

static enum word_class class_of(const struct types *t, const struct type *type)
{
	if (!type || !type->size)
		return CLASS_UNKNOWN;
	switch (type->kind) {
	case TYPE_KIND_UNKNOWN:
	case TYPE_KIND_STRUCT:
	case TYPE_KIND_ARRAY:
		return CLASS_UNKNOWN;
	case TYPE_KIND_FLOAT:
		return type->size <= WORD     ? CLASS_FLOAT
		       : is_float128(t, type) ? CLASS_UNKNOWN
					      : CLASS_MEMORY;
	case TYPE_KIND_COMPLEX:
		return type->size <= 2 * WORD ? CLASS_FLOAT : CLASS_MEMORY;
	}
	return CLASS_INTEGER;
}

static void merge(enum word_class *into, enum word_class with)
{
	*into = max_of(*into, with);
}

static uint64_t alignment_of(const struct type *type)
{
	return type->kind == TYPE_KIND_COMPLEX ? type->size / 2 : type->size;
}

static void classify_part(const struct types *t, const struct type_part *p,
			  struct struct_classes *out)
{
	const struct type *type = types__at(t, p->type);
	enum word_class class = class_of(t, type);
	uint64_t first = p->offset / WORD, last;

	if (class == CLASS_UNKNOWN || class == CLASS_MEMORY) {
		merge(&out->of[0], class);
		return;
	}
	out->has_wide |= type->size > WORD && class == CLASS_INTEGER;
	last = (p->offset + type->size - 1) / WORD;
	if (p->bits)
		first = last = (p->offset * 8ull + p->bit_at) / (8 * WORD);
	else if (p->offset % alignment_of(type))
		class = CLASS_MEMORY;
	for (uint64_t i = first; i <= last; i++)
		merge(&out->of[i < 2 ? i : 1], class);
}

/* An array has no part if it has no element whose type is known. */
struct struct_classes type__classes(const struct types *t, const struct type *type)
{
	struct struct_classes out = {{CLASS_NONE, CLASS_NONE}, false};

	if (type->size > 2 * WORD)
		return (struct struct_classes){{CLASS_MEMORY, CLASS_MEMORY}, false};
	if (!type->whole)
		return (struct struct_classes){{CLASS_UNKNOWN, CLASS_UNKNOWN}, false};
	for (uint32_t i = 0; i < type->nparts; i++)
		if (t->parts.data[type->first_part + i].kind == PART_VALUE)
			classify_part(t, &t->parts.data[type->first_part + i], &out);
	/* Compilers differ in what they do about words that have nothing. */
	if (out.of[0] == CLASS_NONE ||
	    (out.of[0] < CLASS_MEMORY && type->size > WORD && out.of[1] == CLASS_NONE))
		merge(&out.of[0], CLASS_UNKNOWN);
	if (out.of[0] >= CLASS_MEMORY || out.of[1] >= CLASS_MEMORY)
		out.of[0] = out.of[1] = max_of(out.of[0], out.of[1]);
	return out;
}
