// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's mitigation thunks: a jmp to a return thunk is a ret, a call or jmp to an indirect
 * thunk is one through the register that the thunk is named after (arch/x86/lib/retpoline.S).
 */
#include <stdlib.h>
#include "code/code.h"

static const char *const return_thunks[] = {
	"__x86_return_thunk",	 "srso_return_thunk", "srso_alias_return_thunk",
	"retbleed_return_thunk", "its_return_thunk",  "call_depth_return_thunk",
	"zen_return_thunk",
};
static const char *const indirect_thunks[] = {
	"__x86_indirect_thunk_",     "__x86_indirect_call_thunk_", "__x86_indirect_jump_thunk_",
	"__x86_indirect_its_thunk_", "its_static_thunk_",
};
#define ARRAY_NAME  "__x86_indirect_thunk_array"
#define ARRAY_ENTRY 32 /* RETPOLINE_THUNK_SIZE */

enum { THUNK_NONE = 1, THUNK_RETURN, THUNK_REG };

static uint64_t by_name(const struct arch *arch, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(return_thunks); i++)
		if (!strcmp(name, return_thunks[i]))
			return THUNK_RETURN;
	for (size_t i = 0; i < ARRAY_SIZE(indirect_thunks); i++) {
		size_t len = strlen(indirect_thunks[i]);

		if (strncmp(name, indirect_thunks[i], len))
			continue;
		for (unsigned r = 0; r < 16; r++)
			if (!strcmp(name + len, arch->reg_names[r]))
				return THUNK_REG + r;
	}
	return THUNK_NONE;
}

static uint64_t in_object(const struct arch *arch, const struct object *o, uint64_t addr)
{
	const struct symbol *covers;
	uint64_t what = THUNK_NONE;
	size_t i;

	for (i = object__symbols_from(o, addr);
	     what == THUNK_NONE && i < o->symbols.len && o->symbols.data[i].vaddr == addr; i++)
		what = by_name(arch, o->symbols.data[i].name);
	if (what != THUNK_NONE)
		return what;
	covers = object__symbol_at(o, addr);
	if (covers && !strcmp(covers->name, ARRAY_NAME) &&
	    (addr - covers->vaddr) % ARRAY_ENTRY == 0 && addr - covers->vaddr < 16 * ARRAY_ENTRY)
		return THUNK_REG + (addr - covers->vaddr) / ARRAY_ENTRY;
	return THUNK_NONE;
}

static uint64_t classify(struct graph *g, uint64_t addr)
{
	uint64_t *what = map64__put(&g->thunks, addr);

	if (!*what) {
		*what = in_object(g->arch, g->object, addr);
		if (*what == THUNK_NONE && g->kernel_object && g->kernel_object != g->object)
			*what = in_object(g->arch, g->kernel_object, addr);
	}
	return *what;
}

void graph__see_thunk(struct graph *g, struct insn *insn)
{
	uint64_t what;

	if (!g->kernel || (insn->kind != BRANCH_JMP && insn->kind != BRANCH_CALL))
		return;
	what = classify(g, insn->target);
	if (what == THUNK_NONE || (what == THUNK_RETURN && insn->kind == BRANCH_CALL))
		return;
	insn->thunk = true;
	insn->target = 0;
	if (what == THUNK_RETURN) {
		insn->kind = BRANCH_RET;
		return;
	}
	insn->kind = insn->kind == BRANCH_CALL ? BRANCH_ICALL : BRANCH_IJMP;
	insn->operand = (struct operand){.kind = OPERAND_REG,
					 .base = what - THUNK_REG,
					 .index = REG_NONE,
					 .scale = 1,
					 .size = 8};
}
