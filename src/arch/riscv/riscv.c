// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V, 64 bit: decodes one instruction and formats it. Its registers alone decide whether a jump
 * is a call or a return (ISA manual, section 2.5.1, table 3), but a jump to an address after the
 * return address is no return.
 */
#include <elf.h>
#include <errno.h>
#include "arch/capstone.h"
#include "arch/riscv/riscv.h"

const char *const riscv__reg_names[RISCV_REGS] = {
	"zero", "ra", "sp", "gp", "tp",	 "t0",	"t1", "t2", "s0", "s1", "a0",
	"a1",	"a2", "a3", "a4", "a5",	 "a6",	"a7", "s2", "s3", "s4", "s5",
	"s6",	"s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
};
/* a0 to a7; Go: also s0 to s7 */
static const uint8_t args[] = {10, 11, 12, 13, 14, 15, 16, 17};
static const uint8_t go_args[] = {10, 11, 12, 13, 14, 15, 16, 17, 8, 9, 18, 19, 20, 21, 22, 23};
/* RISC-V ABIs Specification, "DWARF Register Numbers": of x0 to x31 */
static const uint8_t dwarf_regs[] = {0,	 1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10,
				     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				     22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

#define UNIMP 0xc0001073 /* csrrw zero, cycle, zero: the assembler's unimp */
#define NOP   0x00000013

/* The operands of a branch. */
enum form {
	FORM_NONE,
	FORM_BRANCH,   /* rs1, rs2, target */
	FORM_FIRST,    /* rs1, target; rs2 is zero */
	FORM_SECOND,   /* rs2, target; rs1 is zero */
	FORM_JUMP,     /* target */
	FORM_LINK,     /* rd, target */
	FORM_RET,      /* to ra */
	FORM_REG,      /* rs1 + imm */
	FORM_LINK_REG, /* rd, rs1 + imm */
};

#define RD(reg)	 ((reg) << 7)
#define RS1(reg) ((reg) << 15)

/* Encodings: chapter 35, table 70; mret, sret and the like: volume II. Mnemonics: table "RISC-V
 * pseudoinstructions", as objdump shows them. The first row that matches counts. */
static const struct match rows[] = {
	{0x01f0707f, 0x00000063, FORM_FIRST, FLOW_BRANCH, BRANCH_JCC, "beqz"},
	{0x01f0707f, 0x00001063, FORM_FIRST, FLOW_BRANCH, BRANCH_JCC, "bnez"},
	{0x01f0707f, 0x00004063, FORM_FIRST, FLOW_BRANCH, BRANCH_JCC, "bltz"},
	{0x01f0707f, 0x00005063, FORM_FIRST, FLOW_BRANCH, BRANCH_JCC, "bgez"},
	{0x000ff07f, 0x00004063, FORM_SECOND, FLOW_BRANCH, BRANCH_JCC, "bgtz"},
	{0x000ff07f, 0x00005063, FORM_SECOND, FLOW_BRANCH, BRANCH_JCC, "blez"},
	{0x0000707f, 0x00000063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "beq"},
	{0x0000707f, 0x00001063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "bne"},
	{0x0000707f, 0x00004063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "blt"},
	{0x0000707f, 0x00005063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "bge"},
	{0x0000707f, 0x00006063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "bltu"},
	{0x0000707f, 0x00007063, FORM_BRANCH, FLOW_BRANCH, BRANCH_JCC, "bgeu"},
	{0x00000fff, 0x0000006f, FORM_JUMP, FLOW_BRANCH, BRANCH_JMP, "j"},
	{0x00000fff, 0x6f | RD(RISCV_RA), FORM_JUMP, FLOW_BRANCH, BRANCH_CALL, "jal"},
	{0x00000fff, 0x6f | RD(RISCV_T0), FORM_LINK, FLOW_BRANCH, BRANCH_CALL, "jal"},
	{0x0000007f, 0x0000006f, FORM_LINK, FLOW_BRANCH, BRANCH_JMP, "jal"},
	{0xffffffff, 0x67 | RS1(RISCV_RA), FORM_RET, FLOW_BRANCH, BRANCH_RET, "ret"},
	{0xffffffff, 0x67 | RS1(RISCV_T0), FORM_REG, FLOW_BRANCH, BRANCH_RET, "jr"},
	{0x00007fff, 0x00000067, FORM_REG, FLOW_BRANCH, BRANCH_IJMP, "jr"},
	{0x00007fff, 0x67 | RD(RISCV_RA), FORM_REG, FLOW_BRANCH, BRANCH_ICALL, "jalr"},
	{0x00007fff, 0x67 | RD(RISCV_T0), FORM_LINK_REG, FLOW_BRANCH, BRANCH_ICALL, "jalr"},
	{0xfffff07f, 0x67 | RS1(RISCV_RA), FORM_LINK_REG, FLOW_BRANCH, BRANCH_RET, "jalr"},
	{0xfffff07f, 0x67 | RS1(RISCV_T0), FORM_LINK_REG, FLOW_BRANCH, BRANCH_RET, "jalr"},
	{0x0000707f, 0x00000067, FORM_LINK_REG, FLOW_BRANCH, BRANCH_IJMP, "jalr"},
	{0xffffffff, 0x00100073, FORM_NONE, FLOW_STOP, BRANCH_NONE, "ebreak"},
	{0xffffffff, UNIMP, FORM_NONE, FLOW_STOP, BRANCH_NONE, "unimp"},
	{0xffffffff, 0x10200073, FORM_NONE, FLOW_UNSUPPORTED, BRANCH_NONE, "sret"},
	{0xffffffff, 0x30200073, FORM_NONE, FLOW_UNSUPPORTED, BRANCH_NONE, "mret"},
	{0xffffffff, 0x70200073, FORM_NONE, FLOW_UNSUPPORTED, BRANCH_NONE, "mnret"},
	{0xffffffff, 0x7b200073, FORM_NONE, FLOW_UNSUPPORTED, BRANCH_NONE, "dret"},
};

/* Section 1.5: 32 bits long if the lowest two bits are set and the next three aren't all set, 16 if
 * the lowest two aren't both set. */
unsigned riscv__word(const uint8_t *bytes, size_t len, uint64_t addr, uint32_t *word)
{
	uint16_t half;

	if (len < 2 || addr & 1)
		return 0;
	memcpy(&half, bytes, 2);
	if ((half & 3) != 3) {
		*word = half ? riscv__expand(half) : UNIMP;
		return *word ? 2 : 0;
	}
	if ((half & 0x1c) == 0x1c || len < 4)
		return 0;
	memcpy(word, bytes, 4);
	return 4;
}

/* The immediates of formats B and J: section 2.3. */
static int64_t branch_offset(uint32_t word)
{
	return match__signed(match__field(word, 31, 1) << 12 | match__field(word, 7, 1) << 11 |
				     match__field(word, 25, 6) << 5 | match__field(word, 8, 4) << 1,
			     13);
}

static int64_t jump_offset(uint32_t word)
{
	return match__signed(match__field(word, 31, 1) << 20 | match__field(word, 12, 8) << 12 |
				     match__field(word, 20, 1) << 11 |
				     match__field(word, 21, 10) << 1,
			     21);
}

static void set_branch(uint32_t word, const struct match *m, struct insn *out)
{
	out->kind = m->kind;
	out->mnemonic = m->mnemonic;
	out->reads[0] = out->reads[1] = REG_NONE;
	switch (m->form) {
	case FORM_BRANCH:
	case FORM_FIRST:
	case FORM_SECOND:
		out->target = out->addr + branch_offset(word);
		out->reads[0] = riscv__rs1(word);
		out->reads[1] = riscv__rs2(word);
		out->cond = RISCV_COND(riscv__funct3(word), riscv__rs1(word), riscv__rs2(word));
		break;
	case FORM_JUMP:
	case FORM_LINK:
		out->target = out->addr + jump_offset(word);
		break;
	case FORM_RET:
	case FORM_REG:
	case FORM_LINK_REG:
		out->operand = (struct operand){.kind = OPERAND_REG,
						.base = riscv__rs1(word),
						.index = REG_NONE,
						.scale = 1,
						.size = 8,
						.disp = riscv__imm_i(word)};
		out->completes = m->kind != BRANCH_RET;
		break;
	default:
		break;
	}
	if ((m->kind == BRANCH_CALL || m->kind == BRANCH_ICALL) && riscv__rd(word) != RISCV_RA)
		out->operand.index = riscv__rd(word);
}

/* nop, c.nop, unimp, c.unimp */
static bool is_padding(uint32_t word)
{
	return word == NOP || word == UNIMP;
}

/* Returns true if it may wait, or enter the kernel. */
static bool is_slow(uint32_t word)
{
	uint32_t opcode = word & 0x7f;

	return opcode == OP_SYSTEM || opcode == OP_MISC_MEM || opcode == OP_AMO;
}

/* lr, sc: chapter 13.2; of words, and of double words */
static uint8_t exclusive_of(uint32_t word)
{
	if (riscv__opcode(word) != OP_AMO || (riscv__funct3(word) & 6) != 2)
		return EXCLUSIVE_NONE;
	switch (word >> 27) {
	case 2:
		return EXCLUSIVE_LOAD;
	case 3:
		return EXCLUSIVE_STORE;
	default:
		return EXCLUSIVE_NONE;
	}
}

/* In the kernel an ebreak may be a WARN(), which resumes at the next instruction
 * (arch/riscv/include/asm/bug.h). */
static uint8_t flow_of(const struct match *m, uint32_t word, bool kernel)
{
	return kernel && m->flow == FLOW_STOP && word != UNIMP ? FLOW_NEXT : m->flow;
}

static int decode(const uint8_t *bytes, size_t len, uint64_t addr, bool kernel, struct insn *out)
{
	const struct match *m;
	uint32_t word;
	unsigned n = riscv__word(bytes, len, addr, &word);

	if (!n)
		return -EILSEQ;
	memset(out, 0, sizeof(*out));
	out->addr = addr;
	out->len = n;
	out->padding = is_padding(word);
	out->slow = is_slow(word);
	out->exclusive = exclusive_of(word);
	out->enters_kernel = (word & ~(1u << 20)) == OP_SYSTEM; /* ecall, ebreak */
	m = match__find(rows, ARRAY_SIZE(rows), word);
	if (m) {
		out->flow = flow_of(m, word, kernel);
		if (out->flow == FLOW_BRANCH || out->flow == FLOW_UNSUPPORTED)
			set_branch(word, m, out);
	}
	riscv__probe(word, out);
	riscv__effects(word, out);
	riscv__sp(word, out);
	return 0;
}

/* The zero register is treated like the others. */
static bool test(const uint8_t *bytes, size_t len, uint64_t addr, struct test *out)
{
	struct insn insn;

	*out = (struct test){.how = TEST_READS, .bits = 64, .n = 2};
	if (decode(bytes, len, addr, false, &insn) || insn.kind != BRANCH_JCC)
		return false;
	for (unsigned i = 0; i < 2; i++)
		out->operand[i] = (struct test_operand){
			.kind = OPERAND_REG,
			.at = {.kind = OPERAND_REG, .base = insn.reads[i], .index = REG_NONE}};
	return true;
}

/* ---- text ---- */

static void put_operands(uint32_t word, const struct match *m, const struct insn *insn, char *out,
			 size_t size)
{
	const char *rd = riscv__reg_names[riscv__rd(word)],
		   *rs1 = riscv__reg_names[riscv__rs1(word)];
	const char *rs2 = riscv__reg_names[riscv__rs2(word)];
	char address[32];

	if (insn->operand.disp)
		snprintf(address, sizeof(address), "%d(%s)", insn->operand.disp, rs1);
	else
		snprintf(address, sizeof(address), "%s", rs1);
	if (insn->operand.kind == OPERAND_NONE)
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)insn->target);
	switch (m->form) {
	case FORM_BRANCH:
		snprintf(out, size, " %s, %s, %s", rs1, rs2, address);
		break;
	case FORM_FIRST:
	case FORM_SECOND:
		snprintf(out, size, " %s, %s", m->form == FORM_FIRST ? rs1 : rs2, address);
		break;
	case FORM_JUMP:
	case FORM_REG:
		snprintf(out, size, " %s", address);
		break;
	case FORM_LINK:
	case FORM_LINK_REG:
		snprintf(out, size, " %s, %s", rd, address);
		break;
	default:
		*out = '\0';
	}
}

/* Branches are formatted here, other instructions by Capstone, or else as .insn. */
static bool format(const uint8_t *bytes, size_t len, uint64_t addr, char *out, size_t size)
{
	const struct match *m;
	struct insn insn;
	char operands[64];
	uint32_t word;

	if (!len || decode(bytes, len, addr, false, &insn))
		return false;
	riscv__word(bytes, len, addr, &word);
	m = match__find(rows, ARRAY_SIZE(rows), word);
	if (m) {
		put_operands(word, m, &insn, operands, sizeof(operands));
		snprintf(out, size, "%s%s", m->mnemonic, operands);
	} else if (!capstone__format(EM_RISCV, bytes, len, addr, out, size)) {
		if (insn.len == 2)
			word = bytes[0] | (uint32_t)bytes[1] << 8;
		snprintf(out, size, ".insn 0x%0*x", 2 * insn.len, word);
	}
	return true;
}

/* A PLT entry: auipc t3, page; ld t3, slot(t3); jalr t1, t3; nop. RISC-V ABIs Specification,
 * "Procedure Linkage Table". */
static bool plt_stub(const uint8_t *bytes, size_t len, uint64_t addr, uint64_t entry_size,
		     struct plt_stub *out)
{
	uint32_t words[4];

	if (len < sizeof(words))
		return false;
	memcpy(words, bytes, sizeof(words));
	if ((words[0] & 0xfff) != (OP_AUIPC | RD(RISCV_T3)) ||
	    (words[1] & 0xfffff) != (0x3003 | RD(RISCV_T3) | RS1(RISCV_T3)) ||
	    words[2] != (OP_JALR | RD(RISCV_T1) | RS1(RISCV_T3)) || words[3] != NOP)
		return false;
	*out = (struct plt_stub){
		.slot = addr + riscv__imm_u(words[0]) + riscv__imm_i(words[1]),
		.size = sizeof(words),
	};
	return true;
}

/* Go keeps the goroutine in s11: ld of stackguard0, 16(s11), into any register. */
static bool go_checks_stack(const uint8_t *bytes, size_t len)
{
	uint32_t word;

	return riscv__word(bytes, len, 0, &word) && (word & ~RD(31u)) == 0x010db003;
}

/* A simulated instruction takes one trap, any other one two: a copy of it is executed before a
 * breakpoint. There are no optimised kprobes. */
static const struct cost_row costs[] = {
	{"uprobe_multi", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1200}},
	{"uprobe_event", false, {[COST_EMULATED] = 600, [COST_STEPPED] = 1200}},
	{"kprobe_event", true, {[COST_BREAKPOINT] = 430, [COST_JUMP] = 430, [COST_FTRACE] = 430}},
	{0},
};

const struct arch arch_riscv64 = {
	.name = "riscv64",
	.machine = EM_RISCV,
	.word = 8,
	.longest = 4,
	.alignment = 2,
	.decode = decode,
	.format = format,
	.detail = riscv__detail,
	.each_address = riscv__each_address,
	.taken = riscv__taken,
	.bound = riscv__bound,
	.proves = riscv__proves,
	.is_unsigned = riscv__is_unsigned,
	.test = test,
	.nregs = RISCV_REGS,
	.reg_names = riscv__reg_names,
	.sp_reg = RISCV_SP,
	.ip_reg = RISCV_PC,
	.flags_reg = REG_NONE,
	.link_reg = RISCV_RA,
	.conventions =
		{
			[CONVENTION_C] = {args, ARRAY_SIZE(args), RISCV_A0},
			[CONVENTION_GO] = {go_args, ARRAY_SIZE(go_args), RISCV_A0},
			[CONVENTION_SYSCALL] = {args, 6, RISCV_A0},
		},
	/* riscv-cc.adoc, lp64d */
	.passing = {.known = true,
		    .by_reference = true,
		    .result_argument = true,
		    .splits = true,
		    .floats = 8,
		    .floats_follow = true},
	.clobbered = RISCV_CLOBBERED,
	/* fp_at stays 0: Go uses s0 as any other register */
	.dwarf = {.regs = dwarf_regs,
		  .nregs = ARRAY_SIZE(dwarf_regs),
		  .entry_reg = RISCV_SP,
		  .fp = RISCV_FP,
		  .return_reg = RISCV_RA,
		  .links = true},
	.relocations = {R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_RELATIVE, R_RISCV_IRELATIVE},
	/* FLAG_RISCV_FLOAT_ABI_DOUBLE | FLAG_ELF_LIBC6 */
	.loader = {"riscv64-linux-gnu", 0x1003, NULL},
	.plt_stub = plt_stub,
	.plt_alignment = 16,
	.usdt_operand = riscv__usdt_operand,
	.go_checks_stack = go_checks_stack,
	.breakpoint_name = "ebreak",
	.uprobe_breakpoint = {{0x02, 0x90}, 2}, /* c.ebreak: arch/riscv/include/asm/uprobes.h */
	.uprobe_form = riscv__uprobe_form,
	.costs = costs,
	.kernel = &riscv_kernel,
};
