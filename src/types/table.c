// SPDX-License-Identifier: BSD-2-Clause
/* Prototypes that scripts/prototypes.py has made from headers, of machines with words of 8 bytes.
 */
#include <stdlib.h>
#include "types/types.h"

struct row {
	const char *name, *result, *params;
};

static const struct row libc[] = {
#include "types/libc.inc"
};
static const struct row syscalls[] = {
#include "types/syscalls.inc"
};

static int by_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct row *)row)->name);
}

static uint32_t add(struct types *t, enum type_kind kind, uint64_t size, uint32_t ref)
{
	vec__push(&t->types, (struct type){.kind = kind, .size = size, .ref = ref});
	return t->types.len - 1;
}

/* A letter and a size. What isn't known is a struct, which may be passed in any way. */
static uint32_t add_type(struct types *t, const char *code)
{
	static const uint8_t kinds[128] = {
		['s'] = TYPE_KIND_SIGNED,  ['u'] = TYPE_KIND_UNSIGNED, ['b'] = TYPE_KIND_BOOL,
		['c'] = TYPE_KIND_CHAR,	   ['f'] = TYPE_KIND_FLOAT,    ['p'] = TYPE_KIND_POINTER,
		['t'] = TYPE_KIND_POINTER, ['x'] = TYPE_KIND_STRUCT,
	};
	uint32_t ref = *code == 't' ? add(t, TYPE_KIND_CHAR, 1, NO_TYPE) : NO_TYPE;

	if (*code == 'v')
		return NO_TYPE;
	return add(t, kinds[*code & 127], strtoul(code + 1, NULL, 10), ref);
}

/* "s4 fd,t8 path": a parameter may have no name. */
static void add_params(struct types *t, const char *text)
{
	size_t len;

	for (; *text; text += len + (text[len] == ',')) {
		autofree char *one = NULL;
		struct type_param p;
		char *name;

		len = strcspn(text, ",");
		one = xstrndup(text, len);
		name = strchr(one, ' ');
		p.type = add_type(t, one);
		p.name = types__add_name(t, name ? name + 1 : NULL);
		vec__push(&t->params, p);
	}
}

uint32_t types__syscall_texts(const char *name)
{
	const struct row *row =
		bsearch(name, syscalls, ARRAY_SIZE(syscalls), sizeof(*row), by_name);
	uint32_t texts = 0, n = 0;

	for (const char *p = row ? row->params : ""; *p; n++) {
		texts |= (*p == 't' ? 1u : 0) << n;
		p += strcspn(p, ",");
		p += *p == ',';
	}
	return texts;
}

bool types__from_table(struct types *t, enum type_table which, const char *name, uint32_t id)
{
	const struct row *rows = which == TABLE_LIBC ? libc : syscalls;
	size_t n = which == TABLE_LIBC ? ARRAY_SIZE(libc) : ARRAY_SIZE(syscalls);
	const struct row *row = name ? bsearch(name, rows, n, sizeof(*rows), by_name) : NULL;
	struct prototype p = {.id = id};

	if (!row)
		return false;
	p.result = add_type(t, row->result);
	p.first = t->params.len;
	add_params(t, row->params);
	p.n = t->params.len - p.first;
	vec__push(&t->prototypes, p);
	return true;
}
