/* SPDX-License-Identifier: BSD-2-Clause */
/* harmless: which instructions a test may execute. */
#ifndef HARMLESS_H
#define HARMLESS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

/* The same each time, and changing nothing but registers and memory. */
static bool is_harmless(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
	case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		return false;
	default:
		return true;
	}
}

static bool is_reachable(const ZydisDecodedOperandMem *o)
{
	bool has_index = o->index != ZYDIS_REGISTER_NONE;

	return o->type == ZYDIS_MEMOP_TYPE_MEM &&
	       ZydisRegisterGetClass(o->base) == ZYDIS_REGCLASS_GPR64 &&
	       (!has_index || ZydisRegisterGetClass(o->index) == ZYDIS_REGCLASS_GPR64) &&
	       o->segment != ZYDIS_REGISTER_FS && o->segment != ZYDIS_REGISTER_GS;
}

static bool accesses_memory(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < z->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY && ops[i].actions &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			return z->mnemonic != ZYDIS_MNEMONIC_NOP;
	return false;
}

/* A 64-bit address that can be chosen, and no segment register that is loaded. */
static bool can_execute(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops)
{
	if (z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED || !is_harmless(z->mnemonic) ||
	    z->meta.category == ZYDIS_CATEGORY_XSAVE || z->meta.category == ZYDIS_CATEGORY_XSAVEOPT)
		return false;
	for (unsigned i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *o = &ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    z->mnemonic != ZYDIS_MNEMONIC_NOP &&
		    (!is_reachable(&o->mem) || z->address_width != 64))
			return false;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT)
			return false;
	}
	return true;
}

#endif
