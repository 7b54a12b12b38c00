// SPDX-License-Identifier: BSD-2-Clause
/*
 * ARM: what branches are, where they go, and on which condition.
 */
#include "arch/arm/arm.h"

/* A mnemonic with each condition, A8.3; the last one: always. */
#define CONDITIONS(m)                                                                              \
	{                                                                                          \
		m "eq", m "ne", m "cs", m "cc", m "mi", m "pl", m "vs", m "vc", m "hi", m "ls",    \
			m "ge", m "lt", m "gt", m "le", m                                          \
	}
static const char *const mnemonics[][15] = {
	CONDITIONS("b"),   CONDITIONS("bl"),  CONDITIONS("blx"),   CONDITIONS("bx"),
	CONDITIONS("bxj"), CONDITIONS("mov"), CONDITIONS("pop"),   CONDITIONS("ldr"),
	CONDITIONS("ldm"), CONDITIONS("add"), CONDITIONS("sub"),   CONDITIONS("tbb"),
	CONDITIONS("tbh"), CONDITIONS("alu"), CONDITIONS("ldmdb"),
};
static const char *const conditions[15] = CONDITIONS("");

bool arm__word(const uint8_t *bytes, size_t len, uint64_t addr, struct arm_word *out)
{
	uint16_t half[2];

	*out = (struct arm_word){.addr = (uint32_t)addr & ~(uint32_t)ARM_THUMB,
				 .thumb = addr & ARM_THUMB,
				 .cond = ARM_AL,
				 .it = addr >> CODE_STATE_SHIFT};
	if (addr & CODE_IS_DATA || len < sizeof(half[0]))
		return false;
	if (!out->thumb) {
		out->len = sizeof(out->word);
		if (len < sizeof(out->word) || addr & 3)
			return false;
		memcpy(&out->word, bytes, sizeof(out->word));
		out->cond = min_of(out->word >> 28, (uint32_t)ARM_AL);
		out->it = 0;
		return true;
	}
	if (out->it)
		out->cond = min_of(out->it >> 4, ARM_AL);
	memcpy(half, bytes, sizeof(half[0]));
	out->len = half[0] >> 11 >= 0x1d ? 4 : 2;
	out->word = half[0];
	if (out->len == 2)
		return true;
	if (len < sizeof(half))
		return false;
	memcpy(&half[1], bytes + sizeof(half[0]), sizeof(half[1]));
	out->word = (uint32_t)half[0] << 16 | half[1];
	return true;
}

/* Returns the condition of a branch of T32 that has one of its own. */
static unsigned condition_of(const struct arm_word *w, const struct match *row)
{
	if (!w->thumb || row->form != ARM_DIRECT || row->kind != BRANCH_JCC)
		return w->cond;
	return match__field(w->word, w->len == 2 ? 8 : 22, 4);
}

static const char *mnemonic_of(const struct match *row, unsigned cond)
{
	if (cond == ARM_AL)
		return row->mnemonic;
	for (size_t i = 0; i < ARRAY_SIZE(mnemonics); i++)
		if (!strcmp(mnemonics[i][ARM_AL], row->mnemonic))
			return mnemonics[i][cond];
	return row->mnemonic;
}

/* The base register, or the constant that pc is. */
static void set_base(const struct arm_word *w, unsigned reg, int32_t disp, struct operand *out)
{
	out->index = REG_NONE;
	out->scale = 1;
	out->base = reg == ARM_PC ? REG_NONE : reg;
	out->disp = disp;
	if (reg == ARM_PC)
		out->disp += (int32_t)arm__pc(w);
}

/* Sets the index from bits 0 to 11 of A32: a register, shifted. Returns false if it is shifted in
 * another way than to the left. */
static bool set_index(const struct arm_word *w, struct operand *out)
{
	unsigned by = match__field(w->word, w->thumb ? 4 : 7, w->thumb ? 2 : 5);

	if (by > 3 || (!w->thumb && match__field(w->word, 5, 2)))
		return false;
	out->index = w->word & 15;
	out->scale = 1 << by;
	return out->index != ARM_PC;
}

/* ldr pc: the offset, 0 if it is added after the load. */
static int32_t offset_of(const struct arm_word *w, bool *aligned)
{
	bool literal = match__field(w->word, 16, 4) == ARM_PC, wide = w->word >> 23 & 1;
	int32_t imm = w->word & 0xfff;

	*aligned = literal && w->thumb;
	if (!w->thumb || literal) {
		if (!w->thumb && !(w->word >> 24 & 1))
			return 0;
		return wide ? imm : -imm;
	}
	if (wide)
		return imm;
	if (!(w->word >> 10 & 1))
		return 0;
	return w->word >> 9 & 1 ? imm & 0xff : -(imm & 0xff);
}

static void set_memory(const struct arm_word *w, uint8_t form, struct operand *out)
{
	unsigned rn = match__field(w->word, 16, 4);
	bool good = true, aligned = false;
	int32_t disp = 0;

	out->kind = OPERAND_MEM;
	out->size = 4;
	if (form == ARM_AT_IMM)
		disp = offset_of(w, &aligned);
	set_base(w, rn, disp, out);
	if (aligned)
		out->disp = (int32_t)(arm__pc(w) & ~3u) + disp;
	if (form == ARM_AT_REG)
		good = set_index(w, out) && (w->thumb || (w->word >> 23 & 3) == 3);
	if (!good)
		*out = (struct operand){.base = REG_NONE, .index = REG_NONE};
}

/* pc is the last one in memory. */
static void set_list(const struct arm_word *w, struct operand *out)
{
	int32_t bytes = 4 * __builtin_popcount(w->word & 0xffff);
	bool up = w->word >> 23 & 1, before = w->word >> 24 & 1;

	out->kind = OPERAND_MEM;
	out->size = 4;
	set_base(w, match__field(w->word, 16, 4),
		 up	  ? bytes - 4 + 4 * before
		 : before ? -4
			  : 0,
		 out);
}

static void set_operand(const struct arm_word *w, const struct match *row, struct operand *out)
{
	*out = (struct operand){.base = REG_NONE, .index = REG_NONE};
	switch (row->form) {
	case ARM_REG:
		out->kind = OPERAND_REG;
		out->base = w->thumb ? match__field(w->word, 3, 4) : w->word & 15;
		out->scale = 1;
		out->size = 4;
		break;
	case ARM_SUM:
		set_base(w, w->thumb ? ARM_PC : match__field(w->word, 16, 4), 0, out);
		out->kind = OPERAND_SUM;
		if (w->thumb)
			out->index = match__field(w->word, 3, 4);
		else if (!set_index(w, out))
			*out = (struct operand){.base = REG_NONE, .index = REG_NONE};
		break;
	case ARM_AT_IMM:
	case ARM_AT_REG:
		set_memory(w, row->form, out);
		break;
	case ARM_LIST:
		set_list(w, out);
		break;
	case ARM_ENTRIES:
		set_base(w, match__field(w->word, 16, 4), 0, out);
		out->kind = OPERAND_AHEAD;
		out->index = w->word & 15;
		out->size = out->scale = w->word >> 4 & 1 ? 2 : 1;
	}
}

static void set_condition(const struct arm_word *w, const struct match *row, unsigned cond,
			  struct insn *out)
{
	out->reads[0] = out->reads[1] = REG_NONE;
	out->cond = cond;
	if (row->form == ARM_ZERO) {
		out->cond = ARM_NO_FLAGS;
		out->reads[0] = w->word & 7;
		return;
	}
	if (cond == ARM_AL)
		return;
	out->reads[0] = ARM_FLAGS;
	if (out->kind == BRANCH_JMP)
		out->kind = BRANCH_JCC;
	out->conditional = out->kind != BRANCH_JCC;
}

/* In the kernel udf may be a WARN(), which resumes at the next instruction. */
static uint8_t flow_of(const struct match *row, unsigned cond, bool kernel)
{
	return row->flow == FLOW_STOP && (kernel || cond != ARM_AL) ? FLOW_NEXT : row->flow;
}

bool arm__branch(const struct arm_word *w, const struct match *row, bool kernel, struct insn *out)
{
	unsigned cond = condition_of(w, row);
	bool direct = row->form == ARM_DIRECT || row->form == ARM_ZERO;

	out->flow = flow_of(row, cond, kernel);
	if (row->flow == FLOW_STOP)
		return true;
	out->kind = row->kind;
	out->mnemonic = mnemonic_of(row, cond);
	if (row->flow == FLOW_UNSUPPORTED)
		return true;
	set_condition(w, row, cond, out);
	if (direct) {
		out->target = w->thumb ? t32__target(w) : a32__target(w);
		out->target_mode = w->thumb != !!strchr(row->mnemonic, 'x'); /* bx, blx */
	}
	set_operand(w, row, &out->operand);
	if (out->kind == BRANCH_RET)
		out->operand = (struct operand){.base = REG_NONE, .index = REG_NONE};
	return true;
}

/* ---- text ---- */

static const char *const names[16] = {"r0", "r1", "r2",	 "r3",	"r4",  "r5", "r6", "r7",
				      "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};

/* Registers as a disassembler shows them; with pc, which T16 doesn't count among the others. */
static void format_list(const struct arm_word *w, const char *mnemonic, char *out, size_t size)
{
	uint32_t list = w->len == 2 ? (w->word & 0xff) | 1u << ARM_PC : w->word & 0xffff;
	size_t n = snprintf(out, size, "%s {", mnemonic);

	for (unsigned i = 0; i <= ARM_PC; i++)
		if (list >> i & 1 && n < size)
			n += snprintf(out + n, size - n, "%s%s", names[i], i < ARM_PC ? ", " : "}");
}

bool arm__format_branch(const struct arm_word *w, const struct insn *insn, char *out, size_t size)
{
	const struct match *row = w->thumb ? t32__branch_row(w) : a32__branch_row(w->word);
	unsigned long long to = insn->target;

	if (row->flow != FLOW_BRANCH)
		return false;
	switch (row->form) {
	case ARM_DIRECT:
		snprintf(out, size, "%s 0x%llx", insn->mnemonic, to);
		return true;
	case ARM_ZERO:
		snprintf(out, size, "%s %s, 0x%llx", insn->mnemonic, names[w->word & 7], to);
		return true;
	case ARM_REG:
		snprintf(out, size, "%s%s %s", insn->mnemonic,
			 !strcmp(row->mnemonic, "mov") ? " pc," : "",
			 names[w->thumb ? match__field(w->word, 3, 4) : w->word & 15]);
		return true;
	case ARM_LIST:
		if (strcmp(row->mnemonic, "pop"))
			return false;
		format_list(w, insn->mnemonic, out, size);
		return true;
	case ARM_AT_IMM:
		if (strcmp(row->mnemonic, "pop"))
			return false;
		snprintf(out, size, "%s {pc}", insn->mnemonic);
		return true;
	default:
		return false;
	}
}

const char *arm__condition(unsigned cond)
{
	return conditions[min_of(cond, (unsigned)ARM_AL)];
}

/* Carry set means no borrow, so higher or the same. A signed condition doesn't give an unsigned
 * bound. If swapped, the right side is bounded: n higher than x is x lower than n. */
bool arm__bound(uint16_t cond, bool taken, bool swapped, uint64_t n, uint64_t *max)
{
	if (cond >= ARM_AL)
		return false;
	if (!taken)
		cond ^= 1;
	*max = n;
	if (cond == ARM_EQ || cond == (swapped ? ARM_CS : ARM_LS))
		return true;
	*max = n - 1;
	return n && cond == (swapped ? ARM_HI : ARM_CC);
}
