// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which registers and flags an instruction reads, and which it overwrites in any case, from
 * Zydis' operands. Unknown categories of instructions are not described. And which of them sets the
 * flags of a condition.
 */
#include "x86.h"

#define FLAGS                                                                                      \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |               \
	 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)
#define REPEATS (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)

/* What user programs are made of. Left out: what enters the kernel, waits or transfers control, but
 * for conditional branches. */
static const bool known[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	[ZYDIS_CATEGORY_ADOX_ADCX] = true,  [ZYDIS_CATEGORY_AES] = true,
	[ZYDIS_CATEGORY_AVX] = true,	    [ZYDIS_CATEGORY_AVX2] = true,
	[ZYDIS_CATEGORY_AVX2GATHER] = true, [ZYDIS_CATEGORY_AVX512] = true,
	[ZYDIS_CATEGORY_BINARY] = true,	    [ZYDIS_CATEGORY_BITBYTE] = true,
	[ZYDIS_CATEGORY_BLEND] = true,	    [ZYDIS_CATEGORY_BMI1] = true,
	[ZYDIS_CATEGORY_BMI2] = true,	    [ZYDIS_CATEGORY_BROADCAST] = true,
	[ZYDIS_CATEGORY_CMOV] = true,	    [ZYDIS_CATEGORY_COMPRESS] = true,
	[ZYDIS_CATEGORY_COND_BR] = true,    [ZYDIS_CATEGORY_CONFLICT] = true,
	[ZYDIS_CATEGORY_CONVERT] = true,    [ZYDIS_CATEGORY_DATAXFER] = true,
	[ZYDIS_CATEGORY_EXPAND] = true,	    [ZYDIS_CATEGORY_FCMOV] = true,
	[ZYDIS_CATEGORY_FLAGOP] = true,	    [ZYDIS_CATEGORY_GATHER] = true,
	[ZYDIS_CATEGORY_GFNI] = true,	    [ZYDIS_CATEGORY_IFMA] = true,
	[ZYDIS_CATEGORY_KMASK] = true,	    [ZYDIS_CATEGORY_LOGICAL] = true,
	[ZYDIS_CATEGORY_LOGICAL_FP] = true, [ZYDIS_CATEGORY_LZCNT] = true,
	[ZYDIS_CATEGORY_MISC] = true,	    [ZYDIS_CATEGORY_MMX] = true,
	[ZYDIS_CATEGORY_NOP] = true,	    [ZYDIS_CATEGORY_PCLMULQDQ] = true,
	[ZYDIS_CATEGORY_POP] = true,	    [ZYDIS_CATEGORY_PREFETCH] = true,
	[ZYDIS_CATEGORY_PUSH] = true,	    [ZYDIS_CATEGORY_ROTATE] = true,
	[ZYDIS_CATEGORY_SCATTER] = true,    [ZYDIS_CATEGORY_SEMAPHORE] = true,
	[ZYDIS_CATEGORY_SETCC] = true,	    [ZYDIS_CATEGORY_SHA] = true,
	[ZYDIS_CATEGORY_SHIFT] = true,	    [ZYDIS_CATEGORY_SSE] = true,
	[ZYDIS_CATEGORY_STRINGOP] = true,   [ZYDIS_CATEGORY_STTNI] = true,
	[ZYDIS_CATEGORY_VAES] = true,	    [ZYDIS_CATEGORY_VFMA] = true,
	[ZYDIS_CATEGORY_VPCLMULQDQ] = true, [ZYDIS_CATEGORY_WIDENOP] = true,
	[ZYDIS_CATEGORY_X87_ALU] = true,    [ZYDIS_CATEGORY_XSAVE] = true,
	[ZYDIS_CATEGORY_XSAVEOPT] = true,
};

/* In one of these categories, but the operands don't say everything. */
static bool is_doubtful(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MONITORX:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_MWAITX:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XLAT: /* al is the index */
	case ZYDIS_MNEMONIC_INVALID:
		return true;
	default:
		return false;
	}
}

/* rep xchg %r8,%rax, which Zydis takes for pause. */
static bool is_misread(const ZydisDecodedInstruction *z)
{
	return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode == 0x90 && z->raw.rex.B &&
	       z->mnemonic != ZYDIS_MNEMONIC_XCHG;
}

static bool uses_nothing(ZydisMnemonic mnemonic)
{
	return mnemonic == ZYDIS_MNEMONIC_NOP || mnemonic == ZYDIS_MNEMONIC_ENDBR64;
}

static bool is_known(const ZydisDecodedInstruction *z)
{
	return (known[z->meta.category] || uses_nothing(z->mnemonic)) &&
	       !is_doubtful(z->mnemonic) && !is_misread(z);
}

/* Those that may leave the destination as it was: bsf of 0 (and tzcnt, lzcnt on a processor that
 * takes them for bsf, bsr); lar and lsl of a bad selector; with a 32-bit destination the high half
 * is not defined for all. */
static bool may_keep(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_LAR:
	case ZYDIS_MNEMONIC_LSL:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_SMSW:
		return true;
	default:
		return false;
	}
}

static uint32_t bit_of(ZydisRegister reg)
{
	uint8_t r = reg == ZYDIS_REGISTER_NONE ? REG_NONE : x86__gpr(reg);

	return r == REG_NONE ? 0 : 1u << r;
}

static void use_operand(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
			struct reg_use *out)
{
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
	if (may_keep(z->mnemonic) || o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		out->reads |= bit;
	else if (ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) >= 32 &&
		 !(z->attributes & REPEATS) && !(hidden && z->address_width != 64))
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

	if (z->attributes & REPEATS)
		return true;
	if (!shifts(z))
		return false;
	return !last || ops[last - 1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	       !(ops[last - 1].imm.value.u & mask);
}

/* Flags that the manual calls undefined: processors that were tried make the same of them each time
 * behind logical instructions (AF) and shifts (AF, OF), but leave some as they were behind mul,
 * imul, div, bsf and the like. */
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
static void use_idiom(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *ops,
		      struct reg_use *out)
{
	if (z->mnemonic != ZYDIS_MNEMONIC_XOR && z->mnemonic != ZYDIS_MNEMONIC_SUB &&
	    z->mnemonic != ZYDIS_MNEMONIC_SBB)
		return;
	if (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
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
	if (!is_known(&raw.z) || (!n && raw.z.operand_count))
		return false;
	*out = (struct reg_use){.may_fault = x86__may_fault(&raw.z, ops, n)};
	if (uses_nothing(raw.z.mnemonic))
		return true;
	for (unsigned i = 0; i < n; i++)
		use_operand(&raw.z, &ops[i], out);
	if (n >= 2)
		use_idiom(&raw.z, ops, out);
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
		return !(raw->z.attributes & REPEATS);
	return x86__operands(raw, ops) && !may_keep_flags(&raw->z, ops);
}

enum flags_effect x86__flags_effect(enum x86_mode mode, const uint8_t *bytes, size_t len,
				    uint8_t kind, uint16_t cond)
{
	uint8_t cc = x86__code_of(kind, cond);
	const ZydisAccessedFlags *f;
	uint32_t reads, sets;
	struct x86_raw raw;

	if (!len || x86__raw(mode, bytes, len, &raw) || !is_known(&raw.z))
		return FLAGS_UNKNOWN;
	f = raw.z.cpu_flags;
	reads = cc == X86_NO_CODE ? 0 : flags_read[cc >> 1];
	if (!f || !(reads & (f->modified | f->set_0 | f->set_1 | f->undefined)))
		return FLAGS_KEPT;
	sets = (f->modified | f->set_0 | f->set_1) & ~f->undefined;
	return (reads & sets) == reads && always_sets(&raw) ? FLAGS_SET : FLAGS_UNKNOWN;
}
