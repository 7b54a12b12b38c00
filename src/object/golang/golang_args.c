// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where Go functions take their arguments from. Compiled functions take them from registers
 * (ABIInternal); assembly takes them from the stack (ABI0) or by its own convention. Wrappers of
 * the same name convert between both. The Go table doesn't say which one is the wrapper; .symtab
 * and the code do.
 */
#include <stdlib.h>
#include "arch/arch.h"
#include "gopclntab.h"

static uint64_t hash_of(const char *name)
{
	return map64__hash(name, strlen(name));
}

/* Only in ABIInternal does a register hold g, with whose stack bound the prologue compares. */
static bool checks_stack(const struct object *o, const struct symbol *s)
{
	const struct arch *arch = arch__by_machine(o->machine);
	size_t avail;
	const uint8_t *code = object__bytes(o, s->vaddr, &avail);

	return code && arch->go_checks_stack(code, min_of(avail, s->size));
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
		    !strchr(s->name, '[') && !checks_stack(o, s))
			s->args = ARGS_STACK;
	map64__free(&names);
	settle(o);
}
