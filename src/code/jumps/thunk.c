// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's mitigation thunks, identified by symbols. A jump to a return thunk is a return; a
 * call of, or jump to, an indirect thunk is an indirect one through the thunk's register.
 */
#include "code/code.h"

static unsigned in_object(const struct arch *arch, const struct object *o, uint64_t addr)
{
	const struct symbol *covers;
	unsigned what = THUNK_NONE;
	size_t i;

	for (i = object__symbols_from(o, addr);
	     what == THUNK_NONE && i < o->symbols.len && o->symbols.data[i].vaddr == addr; i++)
		what = arch->kernel->thunk(o->symbols.data[i].name, 0);
	covers = what == THUNK_NONE ? object__symbol_at(o, addr) : NULL;
	return covers ? arch->kernel->thunk(covers->name, addr - covers->vaddr) : what;
}

static unsigned classify(struct graph *g, uint64_t addr)
{
	uint64_t *known = map64__put(&g->thunks, addr);
	unsigned what;

	if (*known)
		return *known - 1;
	what = in_object(g->arch, g->object, addr);
	if (what == THUNK_NONE && g->kernel_object && g->kernel_object != g->object)
		what = in_object(g->arch, g->kernel_object, addr);
	*known = what + 1;
	return what;
}

void graph__note_thunk(struct graph *g, struct insn *insn)
{
	const struct arch_kernel *kernel = g->kernel ? g->arch->kernel : NULL;
	unsigned what;

	if (!kernel || !kernel->thunk || (insn->kind != BRANCH_JMP && insn->kind != BRANCH_CALL))
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
