/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules: how to get from the registers at an instruction to those of its caller (rules.c). Part
 * of dwarf.h. Registers have their DWARF numbers (struct arch_dwarf).
 */
#ifndef BBTRACE_OBJECT_DWARF_RULES_H
#define BBTRACE_OBJECT_DWARF_RULES_H

#include <stdbool.h>
#include <stdint.h>

#define RULE_REGS 34 /* of any architecture, with the return address */
#define RULE_OPS  64 /* the most operations of a rule */

/* An operation of a DWARF expression: DW_OP_*. */
struct rule_op {
	uint64_t a, b; /* its operands, sign-extended */
	uint8_t atom;
};

enum rule_kind {
	RULE_UNDEFINED, /* the caller's value is not known; of the return address: there is none */
	RULE_SAME,	/* the register has the caller's value */
	/* Operations give the address of the value or, after DW_OP_stack_value and DW_OP_regx, the
	 * value itself. */
	RULE_OPS_LEAD,
};
struct rule {
	uint32_t first; /* the first of n operations in rule_row.ops */
	uint8_t n, kind;
};

struct rule_set {
	struct rule cfa; /* operations that give its value; n 0: undefined */
	struct rule regs[RULE_REGS];
};

/* Instructions with the same rules. The pointers live as long as the object. */
struct rule_row {
	uint64_t start, end; /* link-time addresses */
	bool signal;	     /* a signal's trampoline: its caller was interrupted, not at a call */
	const struct rule_set *set;
	const struct rule_op *ops;
};

struct rule_table;
void rules__free(struct rule_table *t);

#endif
