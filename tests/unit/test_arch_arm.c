// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes single instructions of 32-bit ARM, A32 and T32. The words are GNU as' output for the text
 * beside them; of T32 the halfwords are in the order of memory, so the first is the lower one.
 */
#include <elf.h>
#include <errno.h>
#include "arch/arch.h"
#include "tap.h"

#define AT    0x10000
#define THUMB (AT | 1)
static const struct arch *arch;

/* The state of the last instruction of an IT block with a condition. */
static uint64_t last_in_it(unsigned cond)
{
	return THUMB | (uint64_t)(cond << 4 | 8) << CODE_STATE_SHIFT;
}

static int decode(uint32_t word, uint64_t addr, struct insn *out)
{
	return arch->decode((const uint8_t *)&word, sizeof(word), addr, false, out);
}

static const struct row {
	uint64_t addr;
	uint32_t word;
	uint8_t kind, len;
	int64_t offset; /* of the target; 0: not direct */
	uint8_t mode;	/* of the target */
	bool conditional;
	const char *mnemonic;
} rows[] = {
	{AT, 0xea000002, BRANCH_JMP, 4, 16, 0, false, "b"},
	{AT, 0x0afffffd, BRANCH_JCC, 4, -4, 0, false, "beq"},
	{AT, 0xebfffffc, BRANCH_CALL, 4, -8, 0, false, "bl"},
	{AT, 0x1b00003b, BRANCH_CALL, 4, 0xf4, 0, true, "blne"},
	{AT, 0xfa00001f, BRANCH_CALL, 4, 0x84, 1, false, "blx"},
	{AT, 0xe12fff1e, BRANCH_RET, 4, 0, 0, false, "bx"},
	{AT, 0x012fff1e, BRANCH_RET, 4, 0, 0, true, "bxeq"},
	{AT, 0xe12fff13, BRANCH_IJMP, 4, 0, 0, false, "bx"},
	{AT, 0xe12fff33, BRANCH_ICALL, 4, 0, 0, false, "blx"},
	{AT, 0xe1a0f00e, BRANCH_RET, 4, 0, 0, false, "mov"},
	{AT, 0xe1a0f002, BRANCH_IJMP, 4, 0, 0, false, "mov"},
	{AT, 0xe49df004, BRANCH_RET, 4, 0, 0, false, "pop"},
	{AT, 0xe8bd8030, BRANCH_RET, 4, 0, 0, false, "pop"},
	{AT, 0x18bd8010, BRANCH_RET, 4, 0, 0, true, "popne"},
	{AT, 0xe89da800, BRANCH_RET, 4, 0, 0, false, "ldm"},
	{AT, 0x979ff100, BRANCH_IJMP, 4, 0, 0, true, "ldrls"},
	{AT, 0xe080f001, BRANCH_IJMP, 4, 0, 0, false, "add"},
	{AT, 0x908ff100, BRANCH_IJMP, 4, 0, 0, true, "addls"},
	{THUMB, 0xe7fe, BRANCH_JMP, 2, -0, 1, false, "b"},
	{THUMB, 0xd0fd, BRANCH_JCC, 2, -2, 1, false, "beq"},
	{THUMB, 0xaffcf43f, BRANCH_JCC, 4, -4, 1, false, "beq"},
	{THUMB, 0xbffaf7ff, BRANCH_JMP, 4, -8, 1, false, "b"},
	{THUMB, 0xfff8f7ff, BRANCH_CALL, 4, -12, 1, false, "bl"},
	{THUMB, 0xefacf7ff, BRANCH_CALL, 4, -0xa4, 0, false, "blx"},
	{THUMB, 0xb320, BRANCH_JCC, 2, 0x4c, 1, false, "cbz"},
	{THUMB, 0xbb1f, BRANCH_JCC, 2, 0x4a, 1, false, "cbnz"},
	{THUMB, 0x4770, BRANCH_RET, 2, 0, 0, false, "bx"},
	{THUMB, 0x4718, BRANCH_IJMP, 2, 0, 0, false, "bx"},
	{THUMB, 0x4798, BRANCH_ICALL, 2, 0, 0, false, "blx"},
	{THUMB, 0x4778, BRANCH_JMP, 2, 4, 0, false, "bx"},
	{THUMB, 0x46f7, BRANCH_RET, 2, 0, 0, false, "mov"},
	{THUMB, 0x4497, BRANCH_IJMP, 2, 0, 0, false, "add"},
	{THUMB, 0xbd10, BRANCH_RET, 2, 0, 0, false, "pop"},
	{THUMB, 0x8100e8bd, BRANCH_RET, 4, 0, 0, false, "pop"},
	{THUMB, 0xf022f851, BRANCH_IJMP, 4, 0, 0, false, "ldr"},
	{THUMB, 0xfb04f85d, BRANCH_RET, 4, 0, 0, false, "pop"},
	{THUMB, 0xf000e8df, BRANCH_IJMP, 4, 0, 0, false, "tbb"},
	{THUMB, 0xf011e8df, BRANCH_IJMP, 4, 0, 0, false, "tbh"},
};

static void test_branches(void)
{
	struct insn insn;

	for (const struct row *r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		insn = (struct insn){.mnemonic = ""};
		ok(!decode(r->word, r->addr, &insn) && insn.flow == FLOW_BRANCH &&
			   insn.kind == r->kind && insn.len == r->len,
		   "%08x: %s is a branch of its kind and length", r->word, r->mnemonic);
		is_str(insn.mnemonic, r->mnemonic, "%08x: its mnemonic is decoded", r->word);
		ok(insn.conditional == r->conditional, "%08x: whether it has a condition is told",
		   r->word);
		if (r->offset)
			ok(insn.target == (uint64_t)(AT + r->offset) && insn.target_mode == r->mode,
			   "%08x: its target is decoded, and the mode of the code there", r->word);
	}
}

static void test_it(void)
{
	struct insn insn;

	ok(!decode(0xbf1a, THUMB, &insn) && insn.next_state == 0x1a, "itte ne begins an IT block");
	ok(!decode(0x4608, THUMB | 0x1aull << CODE_STATE_SHIFT, &insn) && insn.next_state == 0x14,
	   "its first instruction leads to the second");
	ok(!decode(0x4770, last_in_it(0), &insn) && insn.kind == BRANCH_RET && insn.conditional &&
		   insn.cond == 0 && !insn.next_state,
	   "bx lr in an IT block is conditional, and ends it");
	is_str(insn.mnemonic, "bxeq", "it has the condition in its mnemonic");
	ok(!decode(0xe7fe, last_in_it(1), &insn) && insn.kind == BRANCH_JCC && insn.cond == 1,
	   "b in an IT block is a conditional jump");
	ok(decode(0xe7fe, AT | CODE_IS_DATA, &insn) == -EILSEQ, "data is no instruction");
	ok(decode(0xe1a00000, AT + 2, &insn) == -EILSEQ, "A32 code is aligned");
	ok(decode(0x47f2, THUMB, &insn) == -EILSEQ, "blx with other bits set is undefined");
}

static void test_operands(void)
{
	struct insn insn;

	decode(0x979ff100, AT, &insn);
	ok(insn.operand.kind == OPERAND_MEM && insn.operand.base == REG_NONE &&
		   insn.operand.disp == AT + 8 && insn.operand.index == 0 &&
		   insn.operand.scale == 4,
	   "ldrls pc, [pc, r0, lsl #2] reads a table behind it");
	decode(0x908ff100, AT, &insn);
	ok(insn.operand.kind == OPERAND_SUM && insn.operand.disp == AT + 8 &&
		   insn.operand.scale == 4,
	   "addls pc, pc, r0, lsl #2 goes into branches behind it");
	decode(0xf011e8df, THUMB, &insn);
	ok(insn.operand.kind == OPERAND_AHEAD && insn.operand.disp == AT + 4 &&
		   insn.operand.index == 1 && insn.operand.size == 2,
	   "tbh reads halves behind it");
}

static const struct effect_row {
	uint64_t addr;
	uint32_t word;
	uint8_t effect;
	int32_t value;
} effects[] = {
	{AT, 0xe92d4010, SP_ADD, -8},	    {AT, 0xe24dd010, SP_ADD, -16},
	{AT, 0xe28db004, SP_FP_FROM_SP, 4}, {AT, 0xe24bd004, SP_FROM_FP, -4},
	{AT, 0xe28ddb01, SP_ADD, 1024},	    {AT, 0xed2d8b04, SP_ADD, -16},
	{AT, 0xe52de004, SP_ADD, -4},	    {AT, 0xe3500005, SP_SAME, 0},
	{THUMB, 0xb510, SP_ADD, -8},	    {THUMB, 0xb084, SP_ADD, -16},
	{THUMB, 0xaf00, SP_FP_FROM_SP, 0},  {THUMB, 0x466f, SP_FP_FROM_SP, 0},
	{THUMB, 0x46bd, SP_FROM_FP, 0},	    {THUMB, 0x0110e92d, SP_ADD, -8},
	{THUMB, 0xed04f84d, SP_ADD, -4},
};

static void test_effects(void)
{
	struct insn insn;

	for (const struct effect_row *e = effects; e < effects + ARRAY_SIZE(effects); e++)
		ok(!decode(e->word, e->addr, &insn) && insn.sp_effect == e->effect &&
			   insn.sp_value == e->value,
		   "%08x: its effect on the stack pointer is decoded", e->word);
}

static void test_detail(void)
{
	static const uint32_t ldr = 0x4b02, add = 0x447b;
	struct insn_detail d;

	ok(arch->detail((const uint8_t *)&ldr, 2, 0x100fd, &d) && d.op == DETAIL_LOAD &&
		   d.imm == 0x10108 && d.dst == 3 && d.writes == 8,
	   "ldr r3, [pc, #8] loads a constant from an aligned address");
	ok(arch->detail((const uint8_t *)&add, 2, 0x100ff, &d) && d.op == DETAIL_ADD_CONST &&
		   d.imm == 0x10102 && d.dst == 3,
	   "add r3, pc adds the address of the second instruction behind it");
}

int main(void)
{
	arch = arch__by_machine(EM_ARM);
	if (!ok(arch != NULL, "32-bit ARM is known"))
		return tap__done();
	test_branches();
	test_it();
	test_operands();
	test_effects();
	test_detail();
	ok(arch->untraceable != NULL, "it is told why programs can't be traced");
	return tap__done();
}
