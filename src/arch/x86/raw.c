// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64, i386: one instruction as Zydis decodes it, and what all views read of that. It uses
 * nothing else of this folder.
 */
#include <errno.h>
#if defined(__x86_64__)
#include <stddef.h>
#include <sys/user.h>
#endif
#include "x86.h"

const uint8_t x86_endbr64[X86_ENDBR_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

static ZydisDecoder decoders[2]; /* by enum x86_mode */
static bool is_prepared;

static void prepare(void)
{
	ZydisDecoderInit(&decoders[X86_64], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderInit(&decoders[X86_32], ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32);
	is_prepared = true;
}

int x86__raw(enum x86_mode mode, const uint8_t *bytes, size_t len, struct x86_raw *raw)
{
	if (!is_prepared)
		prepare();
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoders[mode], &raw->context, bytes, len,
							&raw->z)))
		return -EILSEQ;
	x86__form(&raw->z, &raw->form);
	return 0;
}

unsigned x86__operands(const struct x86_raw *raw, ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT])
{
	const ZydisDecoder *decoder = &decoders[x86__is32(&raw->z) ? X86_32 : X86_64];
	unsigned n = raw->z.operand_count;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(decoder, &raw->context, &raw->z, ops, n)))
		return 0;
	return n;
}

uint8_t x86__gpr(ZydisRegister reg)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
		return REG_NONE;
	return wide - ZYDIS_REGISTER_RAX;
}

uint32_t x86__written(const ZydisDecodedOperand *ops, unsigned n)
{
	uint32_t written = 0;

	for (unsigned i = 0; i < n; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    x86__gpr(ops[i].reg.value) != REG_NONE)
			written |= 1u << x86__gpr(ops[i].reg.value);
	return written;
}

static uint8_t segment_of(const ZydisDecodedInstruction *z)
{
	if (z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
		return SEG_FS;
	return z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS ? SEG_GS : SEG_NONE;
}

/* ModRM and SIB: Intel SDM volume 2, 2.1.5 and tables 2-2, 2-3; REX: 2.2.1.2. */
bool x86__modrm(const ZydisDecodedInstruction *z, struct operand *out)
{
	uint8_t mod = z->raw.modrm.mod, rm = z->raw.modrm.rm;
	uint8_t b = z->raw.rex.B << 3;

	*out = (struct operand){.kind = OPERAND_MEM, .base = rm | b, .index = REG_NONE, .scale = 1};
	if (mod == 3) {
		out->kind = OPERAND_REG;
		return false;
	}
	out->seg = segment_of(z);
	out->addr32 = z->address_width < x86__width(z);
	out->disp = z->raw.disp.value;
	if (rm == 4) {
		uint8_t index = z->raw.sib.index | z->raw.rex.X << 3;

		out->base = z->raw.sib.base | b;
		if (index != 4) {
			out->index = index;
			out->scale = 1 << z->raw.sib.scale;
		}
		if (mod == 0 && z->raw.sib.base == 5)
			out->base = REG_NONE;
	} else if (mod == 0 && rm == 5) {
		out->base = x86__is32(z) ? REG_NONE : REG_IP;
	}
	return true;
}

/* ---- the registers by number: their names, and where they are in a block of registers ---- */

const char *const x86_reg_names[X86_FLAGS + 1] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip", "flags",
};

#if defined(__x86_64__)
unsigned long long *x86__general(struct user_regs_struct *r, uint8_t reg)
{
	static const uint16_t at[] = {
#define AT(name) offsetof(struct user_regs_struct, name)
		AT(rax), AT(rcx), AT(rdx), AT(rbx), AT(rsp), AT(rbp), AT(rsi), AT(rdi), AT(r8),
		AT(r9),	 AT(r10), AT(r11), AT(r12), AT(r13), AT(r14), AT(r15), AT(rip), AT(eflags)};

	return (unsigned long long *)(void *)((char *)r + at[reg]);
}
#endif
