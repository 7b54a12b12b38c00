// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: a relocated copy of one instruction. */
#include <errno.h>
#include "assembler.h"

#define DISPLACEMENT_SIZE 4

/* Operands that name gs, whose base is the log's. */
static bool uses_gs(const struct x86_raw *raw)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	unsigned n = x86__operands(raw, ops);

	if (raw->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS || (!n && raw->z.operand_count))
		return true;
	for (unsigned i = 0; i < n; i++)
		if ((ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		     ops[i].reg.value == ZYDIS_REGISTER_GS) ||
		    (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		     ops[i].mem.segment == ZYDIS_REGISTER_GS))
			return true;
	return raw->form.has & X86_USES_GS;
}

static bool can_displace(const struct insn *insn)
{
	switch (insn->kind) {
	case BRANCH_NONE:
	case BRANCH_RET:
	case BRANCH_IJMP:
		return insn->flow != FLOW_UNSUPPORTED && !insn->enters_kernel;
	default:
		return false;
	}
}

/* SDM volume 2, 2.2.1.6: in 64-bit mode, mod 0 and rm 5 */
static bool is_relative(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 0 &&
	       z->raw.modrm.rm == 5 && z->raw.disp.size == 8 * DISPLACEMENT_SIZE;
}

int x86__displace(struct code_buffer *c, const uint8_t *bytes, size_t len, uint64_t vaddr,
		  bool with_gs)
{
	struct x86_raw raw;
	const ZydisDecodedInstruction *z = &raw.z;
	struct insn insn;
	uint8_t after;

	if (!len || x86__raw(X86_64, bytes, len, &raw) ||
	    x86__decode(X86_64, bytes, len, vaddr, false, &insn) || !can_displace(&insn) ||
	    z->raw.imm[0].is_relative || (!with_gs && uses_gs(&raw)))
		return -ENOTSUP;
	if (!is_relative(z)) {
		code_part__put(&c->hot, bytes, z->length);
		return 0;
	}
	if (z->address_width != 64)
		return -ENOTSUP;
	after = z->length - z->raw.disp.offset - DISPLACEMENT_SIZE;
	code_part__put(&c->hot, bytes, z->raw.disp.offset);
	code_part__fix(&c->hot, false, vaddr + z->length + z->raw.disp.value, after);
	code_part__put(&c->hot, bytes + z->length - after, after);
	return 0;
}
