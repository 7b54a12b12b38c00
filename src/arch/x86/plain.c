// SPDX-License-Identifier: BSD-2-Clause
/* x86-64, i386: the instructions that nothing keeps from being executed at once, and the memory
 * that they load or store: insn.is_plain. */
#include "x86.h"

/* What an instruction does with the operand that ModRM.rm names. */
enum use { USE_UNKNOWN, USE_NONE, USE_READ, USE_WRITE, USE_BOTH };

/* add, or, adc, sbb, and, sub, xor: 00 … 35, whose bit 1 is the direction, and 80 … 83 */
static enum use arithmetic_use(const ZydisDecodedInstruction *z)
{
	return z->opcode < 0x80 && z->opcode & 2 ? USE_READ : USE_BOTH;
}

static enum use mov_use(const ZydisDecodedInstruction *z)
{
	if (z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return USE_UNKNOWN;
	switch (z->opcode) {
	case 0x8c: /* segment registers */
	case 0x8e:
	case 0xa0 ... 0xa3: /* memory without ModRM */
		return USE_UNKNOWN;
	case 0x8a ... 0x8b:
		return USE_READ;
	default:
		return USE_WRITE;
	}
}

/* Of integer instructions: without segment, control and debug registers. */
static enum use integer_use(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CDQ:
	case ZYDIS_MNEMONIC_CQO:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_BSWAP:
		return USE_NONE;
	case ZYDIS_MNEMONIC_MOV:
		return mov_use(z);
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_MUL:
		return USE_READ;
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
		return arithmetic_use(z);
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		return USE_BOTH;
	case ZYDIS_MNEMONIC_BT: /* in memory the register also says where */
		return z->raw.modrm.mod == 3 ? USE_READ : USE_UNKNOWN;
	default:
		if (z->meta.category == ZYDIS_CATEGORY_SETCC)
			return USE_WRITE;
		return z->meta.category == ZYDIS_CATEGORY_CMOV ? USE_READ : USE_UNKNOWN;
	}
}

/* Of SSE and MMX instructions: SDM volume 2, table A-3. Left out: those that store past the caches,
 * or to an address that isn't in ModRM. */
static enum use vector_use(const ZydisDecodedInstruction *z)
{
	if (z->opcode_map != ZYDIS_OPCODE_MAP_0F)
		return USE_UNKNOWN;
	switch (z->opcode) {
	case 0x11:
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x7f:
	case 0xd6:
		return USE_WRITE;
	case 0x7e: /* movd and movq, in both directions */
		return USE_BOTH;
	case 0x10:
	case 0x12:
	case 0x14 ... 0x16:
	case 0x28:
	case 0x2a:
	case 0x2c ... 0x2f:
	case 0x51 ... 0x6f:
	case 0xc6:
	case 0xd0 ... 0xd5:
	case 0xd7 ... 0xe6:
	case 0xe8 ... 0xf6:
	case 0xf8 ... 0xfe:
		return USE_READ;
	default:
		return USE_UNKNOWN;
	}
}

void x86__plain(const ZydisDecodedInstruction *z, struct insn *out)
{
	enum use use = integer_use(z);
	bool vector = use == USE_UNKNOWN;
	struct operand memory;

	if (vector)
		use = vector_use(z);

	if (out->flow != FLOW_NEXT || use == USE_UNKNOWN ||
	    z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    z->attributes & ZYDIS_ATTRIB_HAS_LOCK || z->address_width == 16)
		return;
	out->is_plain = true;
	if (use == USE_NONE || !(z->attributes & ZYDIS_ATTRIB_HAS_MODRM) || !x86__modrm(z, &memory))
		return;
	out->operand = memory;
	out->operand.size = vector ? 16 : z->operand_width / 8;
	out->loads = use != USE_WRITE;
	out->stores = use != USE_READ;
}
