// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, i386: the instructions that nothing keeps from being executed at once, and the memory
 * that they load or store: insn.is_plain. */
#include "x86.h"

/* Add, or, adc, sbb, and, sub and xor at 00 … 35, mov at 88 … 8b: bit 1 makes the register the
 * destination. */
static bool is_exchanged(const ZydisDecodedInstruction *z)
{
	return (z->opcode < 0x80 || z->opcode >> 2 == 0x88 >> 2) && z->opcode & 2;
}

/* X86_READS and X86_WRITES of the operand that ModRM.rm names. */
static uint32_t use_of(const struct x86_raw *raw)
{
	if (raw->form.has & X86_DIRECTED && is_exchanged(&raw->z))
		return X86_READS;
	return raw->form.has & (X86_READS | X86_WRITES);
}

void x86__plain(const struct x86_raw *raw, struct insn *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool has_modrm = z->attributes & ZYDIS_ATTRIB_HAS_MODRM;
	uint32_t use = use_of(raw);
	struct operand memory;

	if (!(raw->form.has & X86_PLAIN) || out->flow != FLOW_NEXT ||
	    z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    z->attributes & ZYDIS_ATTRIB_HAS_LOCK || z->address_width == 16 ||
	    (raw->form.has & X86_BIT_STRING && z->raw.modrm.mod != 3))
		return;
	out->is_plain = true;
	if (!use || !has_modrm || !x86__modrm(z, &memory))
		return;
	out->operand = memory;
	out->operand.size = raw->form.has & X86_VECTOR ? 16 : z->operand_width / 8;
	out->loads = use & X86_READS;
	out->stores = use & X86_WRITES;
}
