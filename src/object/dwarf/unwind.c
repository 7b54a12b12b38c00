// SPDX-License-Identifier: BSD-2-Clause
/* unwind: whether the frame pointer leads to the caller at an instruction, by its rules
 * (rules.c). */
#include <dwarf.h>
#include "arch/arch.h"
#include "object/object.h"
#include "dwarf.h"

/* Returns true if the CFA is the frame pointer plus its usual offset. */
static bool is_from_pointer(const struct rule_row *row, const struct arch_dwarf *l)
{
	const struct rule_op *op = &row->ops[row->set->cfa.first];

	return row->set->cfa.n == 1 && op->atom == DW_OP_bregx && op->a == l->fp && op->b == l->cfa;
}

/* Returns true if the register is saved at this offset from the CFA. */
static bool is_at(const struct rule_row *row, unsigned reg, int64_t offset)
{
	const struct rule *rule = &row->set->regs[reg];
	const struct rule_op *op = &row->ops[rule->first];

	return rule->kind == RULE_OPS_LEAD && rule->n == 2 && op->atom == DW_OP_call_frame_cfa &&
	       op[1].atom == DW_OP_plus_uconst && op[1].a == (uint64_t)offset;
}

bool object__stack_depth(const struct object *o, uint64_t vaddr, int64_t *bytes)
{
	const struct arch *arch = arch__by_machine(o->machine);
	const struct rule_op *op;
	struct rule_row row;

	if (!arch || !arch->dwarf.nregs || !object__rules(o, vaddr, &row) || row.set->cfa.n != 1)
		return false;
	op = &row.ops[row.set->cfa.first];
	*bytes = (int64_t)op->b;
	return op->atom == DW_OP_bregx && op->a == arch->dwarf.entry_reg;
}

enum frame_link object__frame_link(const struct object *o, uint64_t vaddr)
{
	const struct arch *arch = arch__by_machine(o->machine);
	const struct arch_dwarf *l = arch ? &arch->dwarf : NULL;
	struct rule_row row;

	if (!l || !l->fp_at || !object__rules(o, vaddr, &row))
		return FRAME_UNKNOWN;
	if (row.set->regs[l->return_reg].kind == RULE_UNDEFINED)
		return FRAME_OUTERMOST;
	return is_from_pointer(&row, l) && is_at(&row, l->fp, l->fp_at) &&
			       is_at(&row, l->return_reg, l->return_at)
		       ? FRAME_POINTER
		       : FRAME_NO_POINTER;
}
