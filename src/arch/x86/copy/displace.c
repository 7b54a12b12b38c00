// SPDX-License-Identifier: BSD-2-Clause
/* x86-64: a relocated copy of one instruction. */
#include <errno.h>
#include "assembler.h"

#define DISPLACEMENT_SIZE 4

/* Moves to and from segment registers, their pushes and pops, and the groups of 0f 00, 0f 01 and 0f
 * ae: no other opcode has an operand that is a segment register. */
static bool may_name_segment(const ZydisDecodedInstruction *z)
{
	if (z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return false;
	if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return z->opcode == 0x8c || z->opcode == 0x8e;
	return z->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	       (z->opcode <= 0x01 || z->opcode == 0xae || (z->opcode & 0xf6) == 0xa0 ||
		(z->opcode & 0xf8) == 0xb0);
}

/* Operands that name gs, whose base is the log's. */
static bool uses_gs(const struct x86_raw *raw)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	unsigned n;

	if (raw->z.attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS)
		return true;
	if (!may_name_segment(&raw->z))
		return raw->form.has & X86_USES_GS;
	n = x86__operands(raw, ops);
	if (!n && raw->z.operand_count)
		return true;
	for (unsigned i = 0; i < n; i++)
		if ((ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		     ops[i].reg.value == ZYDIS_REGISTER_GS) ||
		    (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		     ops[i].mem.segment == ZYDIS_REGISTER_GS))
			return true;
	return raw->form.has & X86_USES_GS;
}

/* Most instructions are no branches, and don't enter the kernel: the table says so. */
static bool can_displace(const struct x86_raw *raw, const uint8_t *bytes, size_t len,
			 uint64_t vaddr)
{
	struct insn insn;

	if (raw->form.flow == FLOW_NEXT && !(raw->form.has & X86_ENTERS_KERNEL))
		return true;
	if (x86__decode(X86_64, bytes, len, vaddr, false, &insn))
		return false;
	switch (insn.kind) {
	case BRANCH_NONE:
	case BRANCH_RET:
	case BRANCH_IJMP:
		return insn.flow != FLOW_UNSUPPORTED && !insn.enters_kernel;
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
	uint8_t after;

	if (!len || x86__raw(X86_64, bytes, len, &raw) || !can_displace(&raw, bytes, len, vaddr) ||
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
