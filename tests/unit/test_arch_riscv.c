// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decodes single RISC-V instructions, and a function as gcc compiles it. The words are GNU as'
 * output for the text beside them. Which jumps are calls and returns: ISA manual, section 2.5.1,
 * table 3.
 */
#include <elf.h>
#include <errno.h>
#include "code_graph_fixture.h"

#define AT 0x200000
#include "arch_fixture.h"

/* ---- branches ---- */

static const struct branch_row branches[] = {
	{0x00b50463, BRANCH_JCC, 8, "beq a0, a1, 0x200008"},
	{0xfe051ee3, BRANCH_JCC, -4, "bnez a0, 0x1ffffc"},
	{0x00d04863, BRANCH_JCC, 16, "bgtz a3, 0x200010"},
	{0x7ed65fe3, BRANCH_JCC, 4094, "bge a2, a3, 0x200ffe"},
	{0x80f76063, BRANCH_JCC, -4096, "bltu a4, a5, 0x1ff000"},
	{0x05f2f063, BRANCH_JCC, 64, "bgeu t0, t6, 0x200040"},
	{0x7ffff06f, BRANCH_JMP, 1048574, "j 0x2ffffe"},
	{0x800000ef, BRANCH_CALL, -1048576, "jal 0x100000"},
	{0x100002ef, BRANCH_CALL, 256, "jal t0, 0x200100"},
	{0x1000056f, BRANCH_JMP, 256, "jal a0, 0x200100"},
	{0x00008067, BRANCH_RET, 0, "ret"},
	{0x00028067, BRANCH_RET, 0, "jr t0"},
	{0x00878067, BRANCH_IJMP, 0, "jr 8(a5)"},
	{0x000080e7, BRANCH_ICALL, 0, "jalr ra"},
	{0x000280e7, BRANCH_ICALL, 0, "jalr t0"},
	{0xffc582e7, BRANCH_ICALL, 0, "jalr t0, -4(a1)"},
	{0x000e0367, BRANCH_IJMP, 0, "jalr t1, t3"},
	{0x00008567, BRANCH_RET, 0, "jalr a0, ra"},
	{0xb001, BRANCH_JMP, -2048, "j 0x1ff800", 2},
	{0xcd7d, BRANCH_JCC, 254, "beqz a0, 0x2000fe", 2},
	{0xf081, BRANCH_JCC, -256, "bnez s1, 0x1fff00", 2},
	{0xab91, BRANCH_JMP, 1364, "j 0x200554", 2},
	{0xa46d, BRANCH_JMP, 682, "j 0x2002aa", 2},
	{0xc54d, BRANCH_JCC, 170, "beqz a0, 0x2000aa", 2},
	{0xc931, BRANCH_JCC, 84, "beqz a0, 0x200054", 2},
	{0x2ab505e3, BRANCH_JCC, 2730, "beq a0, a1, 0x200aaa"},
	{0x54b50a63, BRANCH_JCC, 1364, "beq a0, a1, 0x200554"},
	{0x2abaa06f, BRANCH_JMP, 699050, "j 0x2aaaaa"},
	{0x5545506f, BRANCH_JMP, 349524, "j 0x255554"},
	{0x8082, BRANCH_RET, 0, "ret", 2},
	{0x8282, BRANCH_RET, 0, "jr t0", 2},
	{0x8782, BRANCH_IJMP, 0, "jr a5", 2},
	{0x9782, BRANCH_ICALL, 0, "jalr a5", 2},
	{0x9282, BRANCH_ICALL, 0, "jalr t0", 2},
};

static void test_operands(void)
{
	struct insn insn;

	decode(0x00878067, &insn);
	ok(insn.operand.kind == OPERAND_REG && insn.operand.base == 15 && insn.operand.disp == 8,
	   "jr 8(a5) goes to what a5 holds plus 8");
	decode(0x80f76063, &insn);
	ok(insn.reads[0] == 14 && insn.reads[1] == 15, "bltu a4, a5 is decided by a4 and a5");
}

/* ---- what is no branch ---- */

static const struct other_row others[] = {
	{0x10200073, FLOW_UNSUPPORTED, FLOW_UNSUPPORTED, "sret"},
	{0x30200073, FLOW_UNSUPPORTED, FLOW_UNSUPPORTED, "mret"},
	{0x00100073, FLOW_STOP, FLOW_NEXT, "ebreak"},
	{0x9002, FLOW_STOP, FLOW_NEXT, "ebreak"},
	{0xc0001073, FLOW_STOP, FLOW_STOP, "unimp"},
	{0x0000, FLOW_STOP, FLOW_STOP, "unimp"},
	{0x00000073, FLOW_NEXT, FLOW_NEXT, NULL}, /* ecall */
	{0x10500073, FLOW_NEXT, FLOW_NEXT, NULL}, /* wfi */
	{0x00c58533, FLOW_NEXT, FLOW_NEXT, NULL}, /* add a0, a1, a2 */
	{0x157d, FLOW_NEXT, FLOW_NEXT, NULL},	  /* c.addi a0, -1 */
};

/* Lengths: the manual's section 1.5, figure 1. Reserved encodings: its section 26.8. */
static void test_undecodable(void)
{
	static const uint32_t none[] = {
		0x0000001f, 0x0000003f, 0x0000ffff, /* 48 bits, 64 bits, all ones */
		0x0004,				    /* c.addi4spn of nothing */
		0x8002,				    /* c.jr zero */
		0x4002,				    /* c.lwsp zero */
		0x2001,				    /* c.addiw zero */
		0x6101,				    /* c.addi16sp of nothing */
		0x9c79,				    /* reserved */
	};
	const uint32_t ret = 0x00008067;
	struct insn insn;

	for (unsigned i = 0; i < ARRAY_SIZE(none); i++)
		is(decode(none[i], &insn), -EILSEQ, "%08x is no instruction", none[i]);
	is(arch->decode((const uint8_t *)&ret, 2, AT, false, &insn), -EILSEQ,
	   "half an instruction is none");
	is(arch->decode((const uint8_t *)&ret, 4, AT + 1, false, &insn), -EILSEQ,
	   "an instruction at an odd address is none");
	is(arch->decode((const uint8_t *)&ret, 4, AT + 2, false, &insn), 0,
	   "an instruction of 32 bits may be aligned to 16");
}

/* ---- stack and registers ---- */

static const struct effect_row effects[] = {
	{0x1141, SP_ADD, -16, "c.addi sp, -16"},
	{0x7141, SP_ADD, -496, "c.addi16sp sp, -496"},
	{0xfe010113, SP_ADD, -32, "addi sp, sp, -32"},
	{0x1fe0, SP_FP_FROM_SP, 1020, "c.addi4spn s0, sp, 1020"},
	{0x610d, SP_ADD, 160, "c.addi16sp sp, 160"},
	{0x6171, SP_ADD, 336, "c.addi16sp sp, 336"},
	{0x1520, SP_FP_FROM_SP, 680, "c.addi4spn s0, sp, 680"},
	{0x0ac0, SP_FP_FROM_SP, 340, "c.addi4spn s0, sp, 340"},
	{0x0808, SP_SAME, 0, "c.addi4spn a0, sp, 16"},
	{0xfe040113, SP_FROM_FP, -32, "addi sp, s0, -32"},
	{0x840a, SP_FP_FROM_SP, 0, "c.mv s0, sp"},
	{0x8122, SP_FROM_FP, 0, "c.mv sp, s0"},
	{0x6422, SP_FP_LOST, 0, "c.ldsp s0, 8(sp)"},
	{0x00853103, SP_LOADED, 0, "ld sp, 8(a0)"},
	{0x40510133, SP_LOST, 0, "sub sp, sp, t0"},
	{0xe422, SP_SAME, 0, "c.sdsp s0, 8(sp)"},
	{0x00012427, SP_SAME, 0, "fsw ft0, 8(sp)"},
	{0x100002ef, SP_LOST, 0, "jal t0 (of millicode, which makes the caller's frame)"},
	{0x100000ef, SP_SAME, 0, "jal ra"},
};

/* An instruction of 16 bits, and the one of 32 bits that it stands for. */
static const struct pair {
	uint32_t shorter, longer;
	const char *text;
} pairs[] = {
	{0x4789, 0x00200793, "li a5, 2"},	 {0x97ba, 0x00e787b3, "add a5, a5, a4"},
	{0x439c, 0x0007a783, "lw a5, 0(a5)"},	 {0x60a2, 0x00813083, "ld ra, 8(sp)"},
	{0xe406, 0x00113423, "sd ra, 8(sp)"},	 {0x050a, 0x00251513, "slli a0, a0, 2"},
	{0x6785, 0x000017b7, "lui a5, 1"},	 {0x37fd, 0xfff7879b, "addiw a5, a5, -1"},
	{0x8bbd, 0x00f7f793, "andi a5, a5, 15"}, {0x83fd, 0x01f7d793, "srli a5, a5, 31"},
};

static bool same_detail(uint32_t a, uint32_t b)
{
	struct insn_detail x, y;

	memset(&x, 0, sizeof(x));
	memset(&y, 0xff, sizeof(y));
	return arch->detail((const uint8_t *)&a, 2, AT, &x) &&
	       arch->detail((const uint8_t *)&b, 4, AT, &y) && x.op == y.op && x.dst == y.dst &&
	       x.src == y.src && x.imm == y.imm && x.bits == y.bits && x.writes == y.writes &&
	       x.mem.base == y.mem.base && x.mem.disp == y.mem.disp &&
	       x.writes_memory == y.writes_memory;
}

static void test_expanded(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++)
		ok(same_detail(pairs[i].shorter, pairs[i].longer),
		   "%s does the same in 16 bits and in 32", pairs[i].text);
}

/* ---- a function with a jump table, and a call and a jump of two instructions each ---- */

static const uint16_t code[] = {
	0x1141,		/*  0 addi sp, sp, -16 */
	0xe406,		/*  2 sd ra, 8(sp) */
	0x4789,		/*  4 li a5, 2 */
	0xe463, 0x02a7, /*  6 bltu a5, a0, 2e */
	0x1693, 0x0205, /*  a slli a3, a0, 32 */
	0x0717, 0x0000, /*  e auipc a4, 0 */
	0x0713, 0x02e7, /* 12 addi a4, a4, 46: the table */
	0xd793, 0x01e6, /* 16 srli a5, a3, 30 */
	0x97ba,		/* 1a add a5, a5, a4 */
	0x439c,		/* 1c lw a5, 0(a5) */
	0x97ba,		/* 1e add a5, a5, a4 */
	0x8782,		/* 20 jr a5 */
	0x1097, 0x0000, /* 22 auipc ra, 1 */
	0x80e7, 0xfe00, /* 26 jalr ra, -32(ra) */
	0xa019,		/* 2a j 30 */
	0x9582,		/* 2c jalr a1 */
	0x0505,		/* 2e addi a0, a0, 1 */
	0x60a2,		/* 30 ld ra, 8(sp) */
	0x0141,		/* 32 addi sp, sp, 16 */
	0x1317, 0x0000, /* 34 auipc t1, 1 */
	0x0067, 0x0103, /* 38 jr 16(t1) */
	0xffe6, 0xffff, /* 3c the table: 22, 2a, 2c from here */
	0xffee, 0xffff, 0xfff0, 0xffff,
};

static void test_function(void)
{
	struct segment segment = {
		.vaddr = AT, .size = sizeof(code), .bytes = (const uint8_t *)code, .exec = true};
	struct symbol symbol = {.vaddr = AT, .size = 0x3c, .name = "f", .shown = "f"};
	struct object o = {.path = (char *)"file", .machine = EM_RISCV};
	const struct plan_options options = {.events = PLAN_ENTRY | PLAN_BRANCH | PLAN_RETURN};
	struct function *f;
	function_vec v = {0};

	o.segments.data = &segment;
	o.segments.len = 1;
	o.symbols.data = &symbol;
	o.symbols.len = 1;
	f = vec__add(&v);
	*f = (struct function){.object = &o, .name = xstrdup("f"), .entry = AT};
	vec__push(&f->ranges, (struct range){AT, 0x3c, NULL});
	is(plan__build(&v, &options, &plan), 0, "a function with a switch is planned");
	is(ended_by(AT + 0x20)->ntable, 3, "a switch has its three cases");
	is(ended_by(AT + 0x20)->unresolved, 0, "a switch has a bound");
	is(site(AT + 0x26)->kind, BRANCH_CALL, "auipc and jalr are a call");
	is(site(AT + 0x26)->target, AT + 0x1002, "auipc and jalr call the sum of both");
	is(site(AT + 0x38)->kind, BRANCH_JMP, "auipc and jr are a jump");
	is(site(AT + 0x38)->target, AT + 0x1044, "auipc and jr jump to the sum of both");
	is(site(AT + 0x2c)->kind, BRANCH_ICALL, "jalr alone is an indirect call");
	is(site(AT + 0x2c)->sp_delta, 16, "the stack is 16 bytes deep within the frame");
	is(site(AT + 0x38)->sp_delta, 0,
	   "the stack is as deep as at the entry where the function is left");
	is(plan->gaps.len, 0, "all of a function with a switch is decoded");
	functions__free(&v);
	plan__free(plan);
}

/* ---- what linkers make ---- */

static void test_stub(void)
{
	uint32_t words[] = {0x00100e17, 0xd50e3e03, 0x000e0367, 0x00000013};
	struct plt_stub stub = {0};

	ok(arch->plt_stub((const uint8_t *)words, sizeof(words), 0x267c0, 16, &stub),
	   "a stub of a PLT is one");
	is(stub.slot, 0x126510, "a stub of a PLT has the slot that it jumps through");
	is(stub.size, 16, "a stub of a PLT has its size");
	words[2] = 0x000e0067;
	ok(!arch->plt_stub((const uint8_t *)words, sizeof(words), 0x267c0, 16, &stub),
	   "a stub of a PLT that keeps no return address for the resolver is none");
}

int main(void)
{
	arch = arch__by_machine(EM_RISCV);
	check_branches(branches, ARRAY_SIZE(branches));
	test_operands();
	check_others(others, ARRAY_SIZE(others));
	test_undecodable();
	check_effects(effects, ARRAY_SIZE(effects));
	test_expanded();
	test_function();
	test_stub();
	return tap__done();
}
