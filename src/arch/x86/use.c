// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which registers and flags an instruction reads, and which it overwrites in any case, from
 * Zydis' operands, if the table of forms says that they are complete. And which instruction sets
 * the flags of a condition.
 */
#include "x86.h"

#define FLAGS                                                                                      \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |               \
	 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

static bool is_known(const struct x86_raw *raw)
{
	return raw->form.has & (X86_OPERANDS | X86_INERT);
}

static uint32_t bit_of(ZydisRegister reg)
{
	uint8_t r = reg == ZYDIS_REGISTER_NONE ? REG_NONE : x86__gpr(reg);

	return r == REG_NONE ? 0 : 1u << r;
}

static void use_operand(const struct x86_raw *raw, const ZydisDecodedOperand *o,
			struct reg_use *out)
{
	const ZydisDecodedInstruction *z = &raw->z;
	bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	uint32_t bit;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		out->reads |= bit_of(o->mem.base) | bit_of(o->mem.index);
		return;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	bit = bit_of(o->reg.value);
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		out->reads |= bit;
	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (raw->form.has & X86_MAY_KEEP || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		out->reads |= bit;
	else if (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) >= 32 &&
		 !(z->attributes & X86_REPEATS) && !(hidden && z->address_width != 64))
		out->writes |= bit;
}

static bool shifts(const ZydisDecodedInstruction *z)
{
	return z->meta.category == ZYDIS_CATEGORY_SHIFT ||
	       z->meta.category == ZYDIS_CATEGORY_ROTATE;
}

/* A shift by 0 leaves the flags as they are. */
static bool may_keep_flags(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops)
{
	unsigned last = z->operand_count_visible;
	uint8_t mask = z->operand_width == 64 ? 63 : 31;

	if (z->attributes & X86_REPEATS)
		return true;
	if (!shifts(z))
		return false;
	return !last || ops[last - 1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	       !(ops[last - 1].imm.value.u & mask);
}

/*
 * Flags that the manual calls undefined: processors that were tried set them consistently after
 * logical instructions (AF) and shifts (AF, OF), but leave some unchanged after mul, imul, div, bsf
 * and the like.
 */
static uint32_t written_flags(const ZydisDecodedInstruction *z)
{
	const ZydisAccessedFlags *f = z->cpu_flags;
	bool sets = z->meta.category == ZYDIS_CATEGORY_LOGICAL ||
		    z->meta.category == ZYDIS_CATEGORY_SHIFT;

	return f->modified | f->set_0 | f->set_1 | (sets ? f->undefined : 0);
}

static void use_flags(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
		      struct reg_use *out)
{
	if (!z->cpu_flags)
		return;
	out->reads_flags = z->cpu_flags->tested & FLAGS;
	out->writes_flags = (written_flags(z) & FLAGS) == FLAGS && !may_keep_flags(z, ops);
}

/* The result doesn't depend on the register: xor, sub and sbb of one with itself. */
static void use_idiom(const struct x86_raw *raw, const ZydisDecodedOperand *ops,
		      struct reg_use *out)
{
	if (raw->form.has & X86_CANCELS && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ops[1].reg.value &&
	    ops[0].size >= 32)
		out->reads &= ~bit_of(ops[0].reg.value);
}

bool x86__use(const uint8_t *bytes, size_t len, uint64_t addr, struct reg_use *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	struct x86_raw raw;
	unsigned n;

	*out = (struct reg_use){
		.reads = (1u << X86_GENERAL) - 1, .reads_flags = true, .may_fault = true};
	if (!len || x86__raw(X86_64, bytes, len, &raw))
		return false;
	n = x86__operands(&raw, ops);
	if (!is_known(&raw) || (!n && raw.z.operand_count))
		return false;
	*out = (struct reg_use){.may_fault = x86__may_fault(&raw, ops, n)};
	if (raw.form.has & X86_INERT)
		return true;
	for (unsigned i = 0; i < n; i++)
		use_operand(&raw, &ops[i], out);
	if (n >= 2)
		use_idiom(&raw, ops, out);
	use_flags(&raw.z, ops, out);
	return true;
}

/* ---- conditions ---- */

/* The flags that a condition code reads, by pairs: a condition and its opposite. */
static const uint32_t flags_read[8] = {
	ZYDIS_CPUFLAG_OF,
	ZYDIS_CPUFLAG_CF,
	ZYDIS_CPUFLAG_ZF,
	ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF,
	ZYDIS_CPUFLAG_SF,
	ZYDIS_CPUFLAG_PF,
	ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF,
	ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_ZF,
};

/* Only of shifts and rotates the operands have to be known. */
static bool always_sets(const struct x86_raw *raw)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];

	if (!shifts(&raw->z))
		return !(raw->z.attributes & X86_REPEATS);
	return x86__operands(raw, ops) && !may_keep_flags(&raw->z, ops);
}

enum flags_effect x86__flags_effect(enum x86_mode mode, const uint8_t *bytes, size_t len,
				    uint8_t kind, uint16_t cond)
{
	uint8_t cc = x86__code_of(kind, cond);
	const ZydisAccessedFlags *f;
	uint32_t reads, sets;
	struct x86_raw raw;

	if (!len || x86__raw(mode, bytes, len, &raw) || !is_known(&raw))
		return FLAGS_UNKNOWN;
	f = raw.z.cpu_flags;
	reads = cc == X86_NO_CODE ? 0 : flags_read[cc >> 1];
	if (!f || !(reads & (f->modified | f->set_0 | f->set_1 | f->undefined)))
		return FLAGS_KEPT;
	sets = (f->modified | f->set_0 | f->set_1) & ~f->undefined;
	return (reads & sets) == reads && always_sets(&raw) ? FLAGS_SET : FLAGS_UNKNOWN;
}
