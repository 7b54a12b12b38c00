// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which instructions can't fault: those that every x86-64 processor has, without access of
 * memory, division and exceptions of floating-point arithmetic. All others may: this processor may
 * lack a newer instruction.
 */
#include "x86.h"

/* SDM volume 2, 2.4: of registers alone these classes raise nothing. */
static bool raises_nothing(const ZydisDecodedInstruction *z)
{
	switch (z->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_SSE1:
	case ZYDIS_EXCEPTION_CLASS_SSE4:
	case ZYDIS_EXCEPTION_CLASS_SSE5:
	case ZYDIS_EXCEPTION_CLASS_SSE7:
		return true;
	default:
		return false;
	}
}

static bool is_everywhere(const ZydisDecodedInstruction *z)
{
	switch (z->meta.isa_ext) {
	case ZYDIS_ISA_EXT_BASE:
	case ZYDIS_ISA_EXT_LONGMODE:
		return true;
	case ZYDIS_ISA_EXT_SSE:
	case ZYDIS_ISA_EXT_SSE2:
		return raises_nothing(z);
	default:
		return false;
	}
}

/* Not a segment's, a control or debug register, nor one of MMX, which x87 exceptions wait for. */
static bool is_plain_register(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_IP:
		return true;
	default:
		return false;
	}
}

static bool is_safe_operand(const ZydisDecodedOperand *o)
{
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return true;
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return is_plain_register(o->reg.value);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return o->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
	default:
		return false;
	}
}

/* nop, and nopl of a memory operand that isn't read. Others of that name are prefetches on some
 * processors, which raise #UD for registers. */
static bool is_nop(const struct x86_raw *raw)
{
	const ZydisDecodedInstruction *z = &raw->z;

	return raw->form.op == X86_NOP &&
	       (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ||
		(z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode == 0x1f));
}

bool x86__may_fault(const struct x86_raw *raw, const ZydisDecodedOperand *ops, unsigned n)
{
	bool inert = raw->form.has & X86_INERT && raw->form.op != X86_NOP;

	if (inert || is_nop(raw))
		return false;
	if (!is_everywhere(&raw->z) || !(raw->form.has & X86_SAFE))
		return true;
	for (unsigned i = 0; i < n; i++)
		if (!is_safe_operand(&ops[i]))
			return true;
	return false;
}
