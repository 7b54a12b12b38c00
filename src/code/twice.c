// SPDX-License-Identifier: BSD-2-Clause
/*
 * Functions that return twice, as setjmp(3) does: by name, or since their first instructions keep
 * the return address in memory that isn't their stack.
 */
#include "code/code.h"

static const char *const twice[] = {"setjmp",	   "_setjmp",	      "__setjmp",   "sigsetjmp",
				    "__sigsetjmp", "__sigsetjmp_chk", "vfork",	    "__vfork",
				    "getcontext",  "savectx",	      "swapcontext"};

bool twice__is_name(const char *name)
{
	size_t len = strcspn(name, "@");

	for (size_t i = 0; i < ARRAY_SIZE(twice); i++)
		if (strlen(twice[i]) == len && !strncmp(name, twice[i], len))
			return true;
	return false;
}

#define FIRST 40 /* instructions; a setjmp() stores the registers that a callee has to keep */

/* What is known while a function's first instructions are read: where its return address is. */
struct reader {
	const struct arch *arch;
	uint8_t reg;   /* REG_NONE: in no register */
	int64_t depth; /* of the stack */
};

static bool is_return_address(const struct reader *r, const struct insn_detail *d)
{
	return d->op == DETAIL_LOAD && r->arch->link_reg == REG_NONE && d->bits == 64 &&
	       d->mem.base == r->arch->sp_reg && d->mem.index == REG_NONE &&
	       d->mem.disp == r->depth;
}

/* Returns true if it stores the return address away from the stack. */
static bool keeps(struct reader *r, const struct insn_detail *d, const struct insn *insn)
{
	if (d->op == DETAIL_STORE && r->reg != REG_NONE && d->src == r->reg)
		return d->mem.base != r->arch->sp_reg && d->mem.base != REG_NONE;
	if (is_return_address(r, d))
		r->reg = d->dst;
	else if (r->reg != REG_NONE && d->writes & 1u << r->reg)
		r->reg = r->arch->link_reg;
	if (insn->sp_effect == SP_ADD)
		r->depth -= insn->sp_value;
	return false;
}

static bool keeps_return_address(const struct object *o, const struct arch *arch, uint64_t addr)
{
	struct reader r = {arch, arch->link_reg, 0};
	struct insn insn;

	for (unsigned i = 0; i < FIRST; i++, addr += insn.len) {
		struct insn_detail d;
		const uint8_t *bytes;
		size_t avail;

		bytes = object__bytes(o, addr, &avail);
		if (!bytes ||
		    arch->decode(bytes, avail, object__code_address(o, addr), false, &insn) ||
		    insn.flow != FLOW_NEXT ||
		    !arch->detail(bytes, avail, object__code_address(o, addr), &d))
			return false;
		if (keeps(&r, &d, &insn))
			return true;
	}
	return false;
}

bool twice__returns(const struct object *o, const struct arch *arch, uint64_t addr)
{
	const struct symbol *s = object__symbol_at(o, addr);

	return (s && twice__is_name(s->name)) || keeps_return_address(o, arch, addr);
}
