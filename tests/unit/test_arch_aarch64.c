// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes single AArch64 instructions. The words are GNU as' output for the text beside them (Arm
 * Architecture Reference Manual, DDI 0487, C6); for FEAT_CMPBR and FEAT_PAuth_LR, which it doesn't
 * support, LLVM's.
 */
#include <elf.h>
#include <errno.h>

#define AT 0x10000
#include "arch_fixture.h"

/* ---- branches ---- */

static const struct branch_row branches[] = {
	{0x14000002, BRANCH_JMP, 8, "b 0x10008"},
	{0x17ffffff, BRANCH_JMP, -4, "b 0xfffc"},
	{0x97fffffe, BRANCH_CALL, -8, "bl 0xfff8"},
	{0x54000080, BRANCH_JCC, 16, "b.eq 0x10010"},
	{0x54fffff1, BRANCH_JCC, -4, "bc.ne 0xfffc"},
	{0x5400008e, BRANCH_JMP, 16, "b.al 0x10010"},
	{0xb4000103, BRANCH_JCC, 32, "cbz x3, 0x10020"},
	{0x35ffff03, BRANCH_JCC, -32, "cbnz w3, 0xffe0"},
	{0x36180205, BRANCH_JCC, 64, "tbz w5, #3, 0x10040"},
	{0xb70ffe05, BRANCH_JCC, -64, "tbnz x5, #33, 0xffc0"},
	{0xd61f0200, BRANCH_IJMP, 0, "br x16"},
	{0xd63f0020, BRANCH_ICALL, 0, "blr x1"},
	{0xd65f03c0, BRANCH_RET, 0, "ret"},
	{0xd65f00a0, BRANCH_RET, 0, "ret x5"},
	{0xd61f083f, BRANCH_IJMP, 0, "braaz x1"},
	{0xd71f083f, BRANCH_IJMP, 0, "braa x1, sp"},
	{0xd71f0c43, BRANCH_IJMP, 0, "brab x2, x3"},
	{0xd73f0885, BRANCH_ICALL, 0, "blraa x4, x5"},
	{0xd63f0cdf, BRANCH_ICALL, 0, "blrabz x6"},
	{0xd65f0bff, BRANCH_RET, 0, "retaa"},
	{0xd65f0fff, BRANCH_RET, 0, "retab"},
	{0xd65f0be3, BRANCH_RET, 0, "retaasppcr"},
	{0x5500005f, BRANCH_RET, 0, "retaasppc"},
	{0x7423a005, BRANCH_JCC, -1024, "cbbge w5, w3, 0xfc00"},
	{0x7403e005, BRANCH_JCC, -1024, "cbhgt w5, w3, 0xfc00"},
	{0x74c32005, BRANCH_JCC, -1024, "cbeq w5, w3, 0xfc00"},
	{0xf5210045, BRANCH_JCC, 8, "cblt x5, #2, 0x10008"},
};

static void test_operands(void)
{
	struct insn insn;

	decode(0xd61f0200, &insn);
	ok(insn.operand.kind == OPERAND_REG && insn.operand.base == 16 && insn.operand.size == 8,
	   "br x16 goes to what x16 holds");
	is(insn.user_refusal, PROBE_OK, "br may carry a uprobe: the kernel simulates it");
	decode(0xd71f083f, &insn);
	is(insn.operand.base, 1, "braa x1, sp goes to what x1 holds");
	is(insn.user_refusal, PROBE_PREFIX, "braa can't carry a uprobe");
	decode(0xd65f0bff, &insn);
	is(insn.user_refusal, PROBE_PREFIX, "retaa can't carry a uprobe");
}

/* ---- what is no branch ---- */

static const struct other_row others[] = {
	{0xd69f03e0, FLOW_UNSUPPORTED, FLOW_UNSUPPORTED, "eret"},
	{0xd69f0bff, FLOW_UNSUPPORTED, FLOW_UNSUPPORTED, "eretaa"},
	{0xd6bf03e0, FLOW_UNSUPPORTED, FLOW_UNSUPPORTED, "drps"},
	{0xd4207d00, FLOW_STOP, FLOW_NEXT, "brk #0x3e8"},
	{0xd4400040, FLOW_STOP, FLOW_STOP, "hlt #0x2"},
	{0x00000007, FLOW_STOP, FLOW_STOP, "udf #0x7"},
	{0xd4000001, FLOW_NEXT, FLOW_NEXT, NULL}, /* svc #0 */
	{0xd503201f, FLOW_NEXT, FLOW_NEXT, NULL}, /* nop */
	{0x8b020020, FLOW_NEXT, FLOW_NEXT, NULL}, /* add x0, x1, x2 */
};

static void test_undecodable(void)
{
	static const uint32_t reserved[] = {0x02000000, 0x06000000, 0x00010000};
	const uint32_t ret = 0xd65f03c0;
	struct insn insn;

	for (unsigned i = 0; i < ARRAY_SIZE(reserved); i++)
		is(decode(reserved[i], &insn), -EILSEQ, "%08x is no instruction: reserved",
		   reserved[i]);
	is(decode(0x7483e005, &insn), -EILSEQ,
	   "a cb with a condition that it doesn't have is no instruction");
	is(arch->decode((const uint8_t *)&ret, 3, AT, false, &insn), -EILSEQ,
	   "three bytes are no instruction");
	is(arch->decode((const uint8_t *)&ret, 4, AT + 2, false, &insn), -EILSEQ,
	   "four bytes at an address that isn't aligned are no instruction");
}

static void test_marks(void)
{
	struct insn insn;

	decode(0xd503201f, &insn);
	ok(insn.padding && insn.keeps_state, "nop is padding and changes nothing");
	decode(0xd503245f, &insn);
	ok(!insn.padding && insn.keeps_state, "bti c is no padding and changes nothing");
	decode(0xd503233f, &insn);
	ok(!insn.keeps_state, "paciasp changes the link register");
	decode(0x00000000, &insn);
	ok(insn.padding, "zeros are padding");
	decode(0x7100281f, &insn);
	ok(insn.only_compares, "cmp w0, #10 only compares");
	decode(0x7a410800, &insn);
	ok(insn.only_compares, "ccmp w0, #1, #0, eq only compares");
	decode(0x71000401, &insn);
	ok(!insn.only_compares, "subs w1, w0, #1 doesn't only compare");
}

/* ---- the stack ---- */

static const struct effect_row effects[] = {
	{0xa9be7bfd, SP_ADD, -32, "stp x29, x30, [sp, #-32]!"},
	{0xa8c27bfd, SP_FP_LOST, 32, "ldp x29, x30, [sp], #32"},
	{0xa9017bfd, SP_SAME, 0, "stp x29, x30, [sp, #16]"},
	{0xa9417bfd, SP_FP_LOST, 0, "ldp x29, x30, [sp, #16]"},
	{0xf81f0ff3, SP_ADD, -16, "str x19, [sp, #-16]!"},
	{0xf84107f3, SP_ADD, 16, "ldr x19, [sp], #16"},
	{0xf84107fd, SP_FP_LOST, 16, "ldr x29, [sp], #16"},
	{0x6dbc27e8, SP_ADD, -64, "stp d8, d9, [sp, #-64]!"},
	{0xadbe27e8, SP_ADD, -64, "stp q8, q9, [sp, #-64]!"},
	{0x28c10be1, SP_ADD, 8, "ldp w1, w2, [sp], #8"},
	{0x68c10be1, SP_ADD, 8, "ldpsw x1, x2, [sp], #8"},
	{0xfc1f0fe0, SP_ADD, -16, "str d0, [sp, #-16]!"},
	{0xd100c3ff, SP_ADD, -0x30, "sub sp, sp, #0x30"},
	{0xd14007ff, SP_ADD, -0x1000, "sub sp, sp, #0x1, lsl #12"},
	{0x911fc3ff, SP_ADD, 0x7f0, "add sp, sp, #0x7f0"},
	{0x910003fd, SP_FP_FROM_SP, 0, "mov x29, sp"},
	{0x910043fd, SP_FP_FROM_SP, 16, "add x29, sp, #0x10"},
	{0x910003bf, SP_FROM_FP, 0, "mov sp, x29"},
	{0xd10043bf, SP_FROM_FP, -16, "sub sp, x29, #0x10"},
	{0xcb2c63ff, SP_SUB_REG, 12, "sub sp, sp, x12"},
	{0x8b2c63ff, SP_ADD_REG, 12, "add sp, sp, x12"},
	{0x9100027f, SP_LOST, 0, "mov sp, x19"},
	{0x927cec1f, SP_LOST, 0, "and sp, x0, #0xfffffffffffffff0"},
	{0x043f57ff, SP_LOST, 0, "addvl sp, sp, #-1"},
	{0xaa0003fd, SP_FP_LOST, 0, "mov x29, x0"},
	{0xf940001d, SP_FP_LOST, 0, "ldr x29, [x0]"},
	{0xf8008c1d, SP_SAME, 0, "str x29, [x0, #8]!"},
	{0xf10003bf, SP_SAME, 0, "cmp x29, #0x0"},
	{0xaa1f03ff, SP_SAME, 0, "mov xzr, xzr"},
};

/* ---- registers ---- */

#define X(n)   (1u << (n))
#define SP     X(31)
#define FLAGS  1
#define MEMORY 2

static const struct written {
	uint32_t word, registers;
	unsigned what;
	const char *text;
} writes[] = {
	{0x100091a0, X(0), 0, "adr x0, 1234"},
	{0x910003e4, X(4), 0, "mov x4, sp"},
	{0x7100281f, 0, FLAGS, "cmp w0, #0xa"},
	{0x71000401, X(1), FLAGS, "subs w1, w0, #0x1"},
	{0x7200001f, 0, FLAGS, "tst w0, #0x1"},
	{0xf2800061, X(1), 0, "movk x1, #0x3"},
	{0x93c31441, X(1), 0, "extr x1, x2, x3, #5"},
	{0xea030041, X(1), FLAGS, "ands x1, x2, x3"},
	{0x7a410800, 0, FLAGS, "ccmp w0, #0x1, #0x0, eq"},
	{0xba020020, X(0), FLAGS, "adcs x0, x1, x2"},
	{0x9b031041, X(1), 0, "madd x1, x2, x3, x4"},
	{0x9adf103f, SP, 0, "irg sp, x1"},
	{0x9a820420, X(0), 0, "csinc x0, x1, x2, eq"},
	{0xf9000bff, 0, MEMORY, "str xzr, [sp, #16]"},
	{0xf8408441, X(1) | X(2), 0, "ldr x1, [x2], #8"},
	{0xf8008c1d, X(0), MEMORY, "str x29, [x0, #8]!"},
	{0xf9800000, 0, 0, "prfm pldl1keep, [x0]"},
	{0xa8c10861, X(1) | X(2) | X(3), 0, "ldp x1, x2, [x3], #16"},
	{0xa9010be1, 0, MEMORY, "stp x1, x2, [sp, #16]"},
	{0xc8057ce6, X(5), MEMORY, "stxr w5, x6, [x7]"},
	{0xc87f0861, X(1) | X(2), 0, "ldxp x1, x2, [x3]"},
	{0x889ffc41, 0, MEMORY, "stlr w1, [x2]"},
	{0xc8a17c62, X(1), MEMORY, "cas x1, x2, [x3]"},
	{0x48227cc4, X(2) | X(3), MEMORY, "casp x2, x3, x4, x5, [x6]"},
	{0xb8210062, X(2), MEMORY, "ldadd w1, w2, [x3]"},
	{0xb821007f, 0, MEMORY, "stadd w1, [x3]"},
	{0x3cc10420, X(1), 0, "ldr q0, [x1], #16"},
	{0x4c9f7020, X(1), MEMORY, "st1 {v0.16b}, [x1], #16"},
	{0x4c407020, 0, 0, "ld1 {v0.16b}, [x1]"},
	{0x9e660001, X(1), 0, "fmov x1, d0"},
	{0x9e670020, 0, 0, "fmov d0, x1"},
	{0x1e780001, X(1), 0, "fcvtzs w1, d0"},
	{0x1e620020, 0, 0, "scvtf d0, w1"},
	{0x1e58f401, X(1), 0, "fcvtzs w1, d0, #3"},
	{0x0e073c01, X(1), 0, "umov w1, v0.b[3]"},
	{0x4e0e2c01, X(1), 0, "smov x1, v0.h[3]"},
	{0x4e010c20, 0, 0, "dup v0.16b, w1"},
	{0x1e612000, 0, FLAGS, "fcmp d0, d1"},
	{0x1e610400, 0, FLAGS, "fccmp d0, d1, #0x0, eq"},
	{0x0420e3e1, X(1), 0, "cntb x1"},
	{0x04bf5021, X(1), 0, "rdvl x1, #1"},
	{0x25208001, X(1), 0, "cntp x1, p0, p0.b"},
	{0x0520a001, X(1), 0, "lasta w1, p0, z0.b"},
	{0xd53bd041, X(1), FLAGS, "mrs x1, tpidr_el0"},
	{0xd5033bbf, 0, 0, "dmb ish"},
	{0xd503233f, X(30), 0, "paciasp"},
	{0xd50320ff, X(30), 0, "xpaclri"},
	{0xd503201f, 0, 0, "nop"},
	{0x19010440, X(0) | X(1) | X(2), FLAGS | MEMORY, "cpyfp [x0]!, [x1]!, x2!"},
	{0xd9201441, X(2), MEMORY, "stg x1, [x2], #16"},
	{0xf83fd100, UINT32_MAX, FLAGS | MEMORY, "ld64b x0, [x8]"},
	{0xf8201c41, X(1) | X(2), 0, "ldraa x1, [x2, #8]!"},
	{0xd4000001, X(0), FLAGS | MEMORY, "svc #0x0"},
	{0x97fffffe, 0x7ffff | X(30), FLAGS | MEMORY, "bl"},
	{0xd63f0020, 0x7ffff | X(30), FLAGS | MEMORY, "blr x1"},
	{0xb4000103, 0, 0, "cbz x3, 30"},
};

static struct insn_detail detail(uint32_t word)
{
	struct insn_detail d = {0};

	if (!arch->detail((const uint8_t *)&word, sizeof(word), AT, &d))
		d.op = 0xff;
	return d;
}

static void test_writes(void)
{
	const struct written *w;

	for (w = writes; w < writes + ARRAY_SIZE(writes); w++) {
		struct insn_detail d = detail(w->word);

		is(d.writes, w->registers, "%s: the registers that it writes are decoded", w->text);
		is(d.writes_flags * FLAGS + d.writes_memory * MEMORY, w->what,
		   "%s: whether it writes flags and memory is decoded", w->text);
	}
}

static const struct constant {
	uint32_t word;
	uint64_t value;
	const char *text;
} constants[] = {
	{0x100091a0, AT + 0x1234, "adr x0, .+0x1234"},
	{0x90000001, AT, "adrp x1, ."},
	{0xb0000001, AT + 0x1000, "adrp x1, .+0x1000"},
	{0x52824680, 0x1234, "mov w0, #0x1234"},
	{0xd2a000a0, 0x50000, "mov x0, #0x50000"},
	{0x92800020, -2ull, "mov x0, #-2"},
	{0x12800020, 0xfffffffe, "mov w0, #-2"},
	{0xb204cfe0, 0xf0f0f0f0f0f0f0f0, "mov x0, #0xf0f0f0f0f0f0f0f0"},
	{0xaa1f03e1, 0, "mov x1, xzr"},
};

static void test_constants(void)
{
	const struct constant *c;

	for (c = constants; c < constants + ARRAY_SIZE(constants); c++) {
		struct insn_detail d = detail(c->word);

		ok(d.op == DETAIL_CONST && (uint64_t)d.imm == c->value,
		   "%s: its constant is decoded", c->text);
	}
}

static const struct made {
	uint32_t word;
	struct insn_detail want; /* of it op, dst, src, with, bits, sign, imm */
	const char *text;
} made[] = {
	{0x91356021, {DETAIL_ADD_CONST, 1, REG_NONE, 0, 64, .imm = 0xd58}, "add x1, x1, #0xd58"},
	{0xd1400463,
	 {DETAIL_ADD_CONST, 3, REG_NONE, 0, 64, .imm = -0x1000},
	 "sub x3, x3, #1, lsl #12"},
	{0x910003e4, {DETAIL_COPY, 4, 31, 0, 64}, "mov x4, sp"},
	{0x2a0203e1, {DETAIL_COPY, 1, 2, 0, 32}, "mov w1, w2"},
	{0x53001c41, {DETAIL_COPY, 1, 2, 0, 8}, "uxtb w1, w2"},
	{0x93407c41, {DETAIL_COPY, 1, 2, 0, 32, .sign = true}, "sxtw x1, w2"},
	{0x12000820, {DETAIL_AND_CONST, 0, 1, 0, 32, .imm = 7}, "and w0, w1, #7"},
	{0xd3442441, {DETAIL_AND_CONST, 1, 2, 0, 64, .imm = 0x3f}, "ubfx x1, x2, #4, #6"},
	{0xd37c1441, {DETAIL_AND_CONST, 1, 2, 0, 64, .imm = 0x3f0}, "ubfiz x1, x2, #4, #6"},
	{0x53037c41, {DETAIL_SHR_CONST, 1, 2, 0, 32, .imm = 3}, "lsr w1, w2, #3"},
	{0xd37be841, {DETAIL_SHL_CONST, 1, 2, 0, 64, .imm = 5}, "lsl x1, x2, #5"},
	{0x7100281f, {DETAIL_CMP_CONST, REG_NONE, 0, REG_NONE, 32, .imm = 10}, "cmp w0, #10"},
	{0x71000401, {DETAIL_CMP_CONST, REG_NONE, 0, REG_NONE, 32, .imm = 1}, "subs w1, w0, #1"},
	{0xeb0600bf, {DETAIL_CMP, REG_NONE, 5, 6, 64}, "cmp x5, x6"},
	{0x71000400, {DETAIL_OTHER, REG_NONE, REG_NONE, 0, 32}, "subs w0, w0, #1"},
	{0x53350441, {DETAIL_OTHER, REG_NONE, REG_NONE, 0, 32}, "ubfx w1, w2 from bit 53 on"},
	{0x9a820020, {DETAIL_CMOV, 0, 1, 2, 64}, "csel x0, x1, x2, eq"},
	{0xf9000bff, {DETAIL_OTHER, REG_NONE, REG_NONE, 0, 64}, "str xzr, [sp, #16]"},
};

static void test_made(void)
{
	const struct made *m;

	for (m = made; m < made + ARRAY_SIZE(made); m++) {
		struct insn_detail d = detail(m->word);

		ok(d.op == m->want.op && d.dst == m->want.dst && d.src == m->want.src &&
			   d.with == m->want.with && d.bits == m->want.bits &&
			   d.sign == m->want.sign && d.imm == m->want.imm,
		   "%s: what it makes of its operands is decoded", m->text);
	}
}

static const struct addressed {
	uint32_t word;
	uint8_t op, reg, bits, base, index, scale, extend;
	bool sign;
	int32_t disp;
	const char *text;
} addresses[] = {
	{0x91004022, DETAIL_LEA, 2, 64, 1, REG_NONE, 1, 0, false, 16, "add x2, x1, #0x10"},
	{0x8b020020, DETAIL_LEA, 0, 64, 1, 2, 1, 0, false, 0, "add x0, x1, x2"},
	{0x8b0b094a, DETAIL_LEA, 10, 64, 10, 11, 4, 0, false, 0, "add x10, x10, x11, lsl #2"},
	{0xd37df041, DETAIL_LEA, 1, 64, REG_NONE, 2, 8, 0, false, 0, "lsl x1, x2, #3"},
	{0x8b218801, DETAIL_LEA, 1, 64, 0, 1, 4, 8 | EXTEND_SIGNED, false, 0,
	 "add x1, x0, w1, sxtb #2"},
	{0x8b21a801, DETAIL_LEA, 1, 64, 0, 1, 4, 16 | EXTEND_SIGNED, false, 0,
	 "add x1, x0, w1, sxth #2"},
	{0x38604820, DETAIL_LOAD, 0, 8, 1, 0, 1, 32, false, 0, "ldrb w0, [x1, w0, uxtw]"},
	{0x78605820, DETAIL_LOAD, 0, 16, 1, 0, 2, 32, false, 0, "ldrh w0, [x1, w0, uxtw #1]"},
	{0xb8a07820, DETAIL_LOAD, 0, 32, 1, 0, 4, 0, true, 0, "ldrsw x0, [x1, x0, lsl #2]"},
	{0xb860d820, DETAIL_LOAD, 0, 32, 1, 0, 4, 32 | EXTEND_SIGNED, false, 0,
	 "ldr w0, [x1, w0, sxtw #2]"},
	{0x39c01483, DETAIL_LOAD, 3, 8, 4, REG_NONE, 1, 0, true, 5, "ldrsb w3, [x4, #5]"},
	{0xf94077e1, DETAIL_LOAD, 1, 64, 31, REG_NONE, 1, 0, false, 232, "ldr x1, [sp, #232]"},
	{0xf8408441, DETAIL_LOAD, 1, 64, 2, REG_NONE, 1, 0, false, 0, "ldr x1, [x2], #8"},
	{0xf8408c41, DETAIL_LOAD, 1, 64, 2, REG_NONE, 1, 0, false, 8, "ldr x1, [x2, #8]!"},
	{0xb9000fe1, DETAIL_STORE, 1, 32, 31, REG_NONE, 1, 0, false, 12, "str w1, [sp, #12]"},
	{0xf81f83a1, DETAIL_STORE, 1, 64, 29, REG_NONE, 1, 0, false, -8, "stur x1, [x29, #-8]"},
};

static void test_addresses(void)
{
	const struct addressed *a;

	for (a = addresses; a < addresses + ARRAY_SIZE(addresses); a++) {
		struct insn_detail d = detail(a->word);

		ok(d.op == a->op && (a->op == DETAIL_STORE ? d.src : d.dst) == a->reg &&
			   d.bits == a->bits && d.sign == a->sign,
		   "%s: the register that it moves is decoded", a->text);
		ok(d.mem.base == a->base && d.mem.index == a->index && d.mem.scale == a->scale &&
			   d.mem.extend == a->extend && d.mem.disp == a->disp,
		   "%s: the address that it uses is decoded", a->text);
	}
	is(detail(0x58000200).imm, AT + 0x40, "ldr x0, .+0x40 has the address of its literal");
}

/* ---- files ---- */

/* PLT stubs as GNU ld writes them, without and with -z force-bti. */
static void test_stubs(void)
{
	static const uint32_t plain[] = {0xd0000b10, 0xf947ee11, 0x913f6210, 0xd61f0220};
	static const uint32_t bti[] = {0xd503245f, 0xd0000b10, 0xf947ee11,
				       0x913f6210, 0xd61f0220, 0xd503201f};
	static const uint32_t other[] = {0xd0000b10, 0xf947ee11, 0x913f6210, 0xd61f0200};
	struct plt_stub stub;

	ok(arch->plt_stub((const uint8_t *)plain, sizeof(plain), AT, 16, &stub) &&
		   stub.slot == AT + 0x162000 + 0xfd8 && stub.size == 16,
	   "a stub of a PLT has its slot and size");
	ok(arch->plt_stub((const uint8_t *)bti, sizeof(bti), AT, 24, &stub) &&
		   stub.slot == AT + 0x162000 + 0xfd8 && stub.size == 24,
	   "a stub of a PLT with a landing pad has its slot and size");
	ok(!arch->plt_stub((const uint8_t *)other, sizeof(other), AT, 16, &stub),
	   "code that jumps to x16 is no stub of a PLT");
	ok(!arch->plt_stub((const uint8_t *)plain, 12, AT, 16, &stub),
	   "a stub of a PLT that is cut off is none");
}

static void test_bound(void)
{
	enum { EQ, NE, CS, CC, HI = 8, LS, GE };
	uint64_t max = 0;

	ok(arch->bound(HI, false, false, 10, &max) && max == 10,
	   "a register that is not higher than 10 is bounded by 10");
	ok(arch->bound(LS, true, false, 10, &max) && max == 10,
	   "a register that is 10 or lower is bounded by 10");
	ok(arch->bound(CC, true, false, 10, &max) && max == 9,
	   "a register that is lower than 10 is bounded by 9");
	ok(arch->bound(CS, false, false, 10, &max) && max == 9,
	   "a register that is not 10 or higher is bounded by 9");
	ok(arch->bound(NE, false, false, 10, &max) && max == 10,
	   "a register that is 10 is bounded by 10");
	ok(!arch->bound(CC, true, false, 0, &max), "a register that is lower than 0 has no bound");
	ok(!arch->bound(HI, true, false, 10, &max),
	   "a register that is higher than 10 has no bound");
	ok(!arch->bound(GE, false, false, 10, &max),
	   "a register that is less than 10 as a signed number has no bound");
}

int main(void)
{
	arch = arch__by_machine(EM_AARCH64);
	if (!ok(arch != NULL, "AArch64 is known"))
		return tap__done();
	check_branches(branches, ARRAY_SIZE(branches));
	test_operands();
	check_others(others, ARRAY_SIZE(others));
	test_undecodable();
	test_marks();
	check_effects(effects, ARRAY_SIZE(effects));
	test_writes();
	test_constants();
	test_made();
	test_addresses();
	test_stubs();
	test_bound();
	return tap__done();
}
