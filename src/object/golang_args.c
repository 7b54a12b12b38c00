// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where Go functions take their arguments from. Compiled functions take them from registers
 * (ABIInternal); assembly takes them from the stack (ABI0) or by its own convention. Wrappers of
 * the same name convert between both. The Go table doesn't say which one is the wrapper; .symtab
 * and the code do.
 */
#include <stdlib.h>
#include "gopclntab.h"

static uint64_t hash_of(const char *name)
{
	return map64__hash(name, strlen(name));
}

/* Only in ABIInternal r14 is g: the stack bound in it is compared with rsp or, for a large frame,
 * with r12. */
static bool checks_by_r14(const struct object *o, const struct symbol *s)
{
	static const uint8_t small[] = {0x49, 0x3b, 0x66, 0x10}, large[] = {0x4d, 0x3b, 0x66, 0x10};
	size_t avail;
	const uint8_t *code = object__bytes(o, s->vaddr, &avail);

	avail = min_of(avail, s->size);
	if (avail >= sizeof(small) && !memcmp(code, small, sizeof(small)))
		return true;
	/* lea -N(%rsp),%r12 with N of one or four bytes */
	for (unsigned len = 5; len <= 8; len += 3)
		if (avail >= len + sizeof(large) && code[0] == 0x4c && code[1] == 0x8d &&
		    !memcmp(code + len, large, sizeof(large)))
			return true;
	return false;
}

static bool is_abi0_name(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".abi0");
}

/* Gives all symbols of one address the same convention. */
static void settle(struct object *o)
{
	struct symbol *s, *end = vec__end(&o->symbols), *next, *i;

	for (s = o->symbols.data; s < end; s = next) {
		uint8_t args = ARGS_SYSTEM;

		for (next = s; next < end && next->vaddr == s->vaddr; next++)
			args = max_of(args, is_abi0_name(next->name) ? ARGS_STACK : next->args);
		for (i = s; i < next; i++)
			i->args = args;
	}
}

void golang__args(struct object *o, struct elf_file *f)
{
	struct map64 names = {0};
	struct symbol *s;

	if (!f->go)
		return;
	vec__each (s, &o->symbols)
		if (s->args != ARGS_SYSTEM)
			++*map64__put(&names, hash_of(s->name));
	vec__each (s, &o->symbols)
		if (s->args == ARGS_GO && *map64__get(&names, hash_of(s->name)) > 1 &&
		    !strchr(s->name, '[') && !checks_by_r14(o, s))
			s->args = ARGS_STACK;
	map64__free(&names);
	settle(o);
}
