// SPDX-License-Identifier: BSD-2-Clause
/*
 * RISC-V: what the kernel does with probes on an instruction, when branches are taken and what that
 * proves, operands of static probes, what ftrace writes. The words are GNU as' output for the text
 * beside them.
 */
#include <elf.h>
#include "arch/arch.h"
#include "tap.h"

#define AT 0x200000
#include "arch_fixture.h"
#include "usdt_fixture.h"

/* ---- probes: arch/riscv/kernel/probes/decode-insn.c ---- */

enum { KEEPS = 1, LOADS, STORES, CHANGES };
static const struct probe_row {
	uint32_t word;
	uint8_t refusal;
	bool emulated;
	uint8_t does; /* 0: not known to be plain */
	const char *text;
} probes[] = {
	{0x00000073, PROBE_PREFIX, false, 0, "ecall"},
	{0x9002, PROBE_PREFIX, false, 0, "c.ebreak"},
	{0x00100073, PROBE_PREFIX, false, 0, "ebreak"},
	{0xc0102573, PROBE_PREFIX, false, 0, "rdtime a0"},
	{0x00102573, PROBE_PREFIX, false, 0, "frflags a0"},
	{0x10500073, PROBE_PREFIX, false, 0, "wfi"},
	{0x0330000f, PROBE_PREFIX, false, 0, "fence rw, rw"},
	{0x0000100f, PROBE_PREFIX, false, 0, "fence.i"},
	{0x0100000f, PROBE_PREFIX, false, 0, "pause"},
	{0x1005a52f, PROBE_STEPPED, false, 0, "lr.w a0, (a1)"},
	{0x1605b52f, PROBE_STEPPED, false, 0, "lr.d.aqrl a0, (a1)"},
	{0x18c5a52f, PROBE_STEPPED, false, 0, "sc.w a0, a2, (a1)"},
	{0x1ac5b52f, PROBE_STEPPED, false, 0, "sc.d.rl a0, a2, (a1)"},
	{0x00c5a52f, PROBE_OK, false, 0, "amoadd.w a0, a2, (a1)"},
	{0x0ec5b52f, PROBE_OK, false, 0, "amoswap.d.aqrl a0, a2, (a1)"},
	{0x00001517, PROBE_OK, true, KEEPS, "auipc a0, 1"},
	{0x00000017, PROBE_STEPPED, false, KEEPS, "lpad 0"},
	{0x6505, PROBE_OK, false, KEEPS, "c.lui a0, 1"},
	{0x0505, PROBE_OK, false, KEEPS, "c.addi a0, 1"},
	{0x2505, PROBE_OK, false, KEEPS, "c.addiw a0, 1"},
	{0x852e, PROBE_OK, false, KEEPS, "c.mv a0, a1"},
	{0x0001, PROBE_OK, false, KEEPS, "c.nop"},
	{0x02c58533, PROBE_OK, false, KEEPS, "mul a0, a1, a2"},
	{0x00c5853b, PROBE_OK, false, KEEPS, "addw a0, a1, a2"},
	{0x02c5f553, PROBE_OK, false, KEEPS, "fadd.d fa0, fa1, fa2"},
	{0x6ac5f543, PROBE_OK, false, KEEPS, "fmadd.d fa0, fa1, fa2, fa3"},
	{0x6522, PROBE_OK, false, LOADS, "c.ldsp a0, 8(sp)"},
	{0xfff78503, PROBE_OK, false, LOADS, "lb a0, -1(a5)"},
	{0x2988, PROBE_OK, false, LOADS, "c.fld fa0, 16(a1)"},
	{0xe406, PROBE_OK, false, STORES, "c.sdsp ra, 8(sp)"},
	{0x00a5a227, PROBE_OK, false, STORES, "fsw fa0, 4(a1)"},
	{0x00a78fa3, PROBE_OK, false, STORES, "sb a0, 31(a5)"},
	{0x02050087, PROBE_OK, false, 0, "vle8.v v1, (a0)"},
	{0x0c05f557, PROBE_OK, false, 0, "vsetvli a0, a1, e8, m1, ta, ma"},
	{0x00b50463, PROBE_OK, true, 0, "beq a0, a1"},
	{0xdd5d, PROBE_OK, true, 0, "c.beqz a0"},
	{0xfd55, PROBE_OK, true, 0, "c.bnez a0"},
	{0xfbbff0ef, PROBE_OK, true, 0, "jal"},
	{0x000080e7, PROBE_OK, true, 0, "jalr ra"},
	{0x8502, PROBE_OK, true, 0, "c.jr a0"},
	{0x9502, PROBE_OK, true, 0, "c.jalr a0"},
	{0xbf45, PROBE_OK, true, 0, "c.j"},
	{0x8082, PROBE_OK, true, 0, "ret"},
};

static uint8_t what_it_does(const struct insn *insn)
{
	if (!insn->is_plain)
		return 0;
	return insn->loads ? LOADS : insn->stores ? STORES : insn->keeps_state ? KEEPS : CHANGES;
}

static void test_probes(void)
{
	for (const struct probe_row *p = probes; p < probes + ARRAY_SIZE(probes); p++) {
		struct insn insn;

		is(decode(p->word, &insn), 0, "%s: it is decoded", p->text);
		ok(insn.user_refusal == p->refusal && insn.kernel_refusal == p->refusal,
		   "%s: the kernel's refusal is known", p->text);
		is(insn.emulated, p->emulated, "%s: whether the kernel simulates it", p->text);
		is(what_it_does(&insn), p->does, "%s: what it does", p->text);
	}
}

static void test_memory(void)
{
	struct insn insn;

	decode(0xfff78503, &insn);
	ok(insn.operand.kind == OPERAND_MEM && insn.operand.base == 15 && insn.operand.disp == -1 &&
		   insn.operand.size == 1,
	   "lb loads the byte in front of where a5 points to");
	decode(0xe406, &insn);
	ok(insn.operand.base == 2 && insn.operand.disp == 8 && insn.operand.size == 8,
	   "c.sdsp stores 8 bytes at 8 above sp");
	decode(0x00a5a227, &insn);
	ok(insn.operand.base == 11 && insn.operand.disp == 4 && insn.operand.size == 4,
	   "fsw stores 4 bytes");
}

static uint64_t form(uint32_t word)
{
	struct insn insn;

	decode(word, &insn);
	return arch->uprobe_form((const uint8_t *)&word, sizeof(word), &insn);
}

static void test_forms(void)
{
	ok(form(0x00b50463) == form(0x7ed65fe3), "conditional branches have one form");
	ok(form(0xdd5d) != form(0xfd55), "c.beqz has another one than c.bnez");
	ok(form(0x8082) == form(0x8502), "rets have that of c.jr");
	ok(form(0x8502) != form(0x852e), "c.mv has another one than c.jr");
	ok(form(0x9502) != form(0x9002), "c.ebreak has another one than c.jalr");
	ok(form(0x00c5a52f) != form(0x00c5853b), "each opcode has its own");
}

/* ---- conditions ---- */

static const struct condition_row {
	uint32_t word;
	const char *taken, *not_taken; /* NULL: nothing is proved */
} conditions[] = {
	{0x00b50463, "a0 == a1", "a0 != a1"}, /* beq a0, a1 */
	{0xfe051ee3, "a0 != 0", "a0 == 0"},   /* bnez a0 */
	{0x00d04863, "a3 > 0", "a3 <= 0"},    /* bgtz a3 */
	{0x00a05463, "a0 <= 0", "a0 > 0"},    /* blez a0 */
	{0x7ed65fe3, "a2 >= a3", "a2 < a3"},  /* bge a2, a3 */
	{0x80f76063, "a4 < a5 (unsigned)", "a4 >= a5 (unsigned)"},
	{0x05f2f063, "t0 >= t6 (unsigned)", "t0 < t6 (unsigned)"},
	{0x00a50463, NULL, NULL},	/* beq a0, a0 */
	{0xdd5d, "a0 == 0", "a0 != 0"}, /* c.beqz a0 */
};

static void test_proves(void)
{
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(conditions); i++) {
		const struct condition_row *c = &conditions[i / 2];
		const char *want = i & 1 ? c->taken : c->not_taken;
		autofree struct str s = {0};
		struct insn insn;
		bool proved;

		decode(c->word, &insn);
		proved = arch->proves(insn.kind, insn.cond, i & 1, NULL, &s);
		is(proved, want != NULL, "%08x: whether its outcome proves something", c->word);
		if (want)
			is_str(s.data, want, "%08x: what it proves if %staken", c->word,
			       i & 1 ? "" : "not ");
	}
}

/* Section 2.5.2, by comparing as C does. */
static bool holds(unsigned funct3, uint64_t a, uint64_t b)
{
	const bool all[] = {a == b, a != b, 0, 0, (int64_t)a < (int64_t)b, (int64_t)a >= (int64_t)b,
			    a < b,  a >= b};

	return all[funct3];
}

static void test_taken(void)
{
	static const uint64_t values[] = {0, 1, 2, INT64_MAX, 1ull << 63, UINT64_MAX};
	static const unsigned kinds[] = {0, 1, 4, 5, 6, 7};
	struct insn insn;
	unsigned wrong = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		decode(0x00b50463 | kinds[i] << 12, &insn);
		ok(insn.reads[0] == 10 && insn.reads[1] == 11, "funct3 %u compares a0 and a1",
		   kinds[i]);
		for (unsigned k = 0; k < ARRAY_SIZE(values) * ARRAY_SIZE(values); k++) {
			uint64_t reads[2] = {values[k % ARRAY_SIZE(values)],
					     values[k / ARRAY_SIZE(values)]};

			wrong += arch->taken(insn.kind, insn.cond, reads) !=
				 holds(kinds[i], reads[0], reads[1]);
		}
	}
	is(wrong, 0, "branches are taken as their conditions say");
}

/* ---- static probes ---- */

static void test_static_probes(void)
{
	static const char *const unknown[] = {"8@%rdi", "8@q0", "8@x32",       "8@a8",
					      "8@8(a0", "8@()", "8@lo(a)(a0)", "8@x1x"};

	is_argument("8@a0", (struct usdt_argument){USDT_REGISTER, 8, false, 10});
	is_argument("-4@s11", (struct usdt_argument){USDT_REGISTER, 4, true, 27});
	is_argument("8@zero", (struct usdt_argument){USDT_REGISTER, 8, false, 0});
	is_argument("8@fp", (struct usdt_argument){USDT_REGISTER, 8, false, 8});
	is_argument("8@x31", (struct usdt_argument){USDT_REGISTER, 8, false, 31});
	is_argument("-4@5", (struct usdt_argument){USDT_CONSTANT, 4, true, .disp = 5});
	is_argument("-8@-1", (struct usdt_argument){USDT_CONSTANT, 8, true, .disp = -1});
	is_argument("-4@12(sp)",
		    (struct usdt_argument){USDT_MEMORY, 4, true, 2, REG_NONE, .disp = 12});
	is_argument("8@-24(s0)",
		    (struct usdt_argument){USDT_MEMORY, 8, false, 8, REG_NONE, .disp = -24});
	is_argument("1@(a5)", (struct usdt_argument){USDT_MEMORY, 1, false, 15, REG_NONE});
	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct usdt_argument got[USDT_ARGUMENTS];

		ok(usdt__arguments(arch, unknown[i], got) == 1 && got[0].kind == USDT_UNKNOWN,
		   "'%s' can't be told", unknown[i]);
	}
}

/* ---- the kernel ---- */

static void test_kernel(void)
{
	static const uint32_t call[] = {0x00001297, 0xffc282e7};  /* auipc t0, 1; jalr t0, -4(t0) */
	static const uint32_t other[] = {0x00001297, 0xffc280e7}; /* auipc t0, 1; jalr -4(t0) */
	const struct arch_kernel *k = arch->kernel;
	uint64_t target = 0;

	ok(k->ftrace_call((const uint8_t *)call, sizeof(call), AT, &target) && target == AT + 0xffc,
	   "ftrace's call is two instructions by t0");
	ok(!k->ftrace_call((const uint8_t *)other, sizeof(other), AT, &target),
	   "a call by ra is none of ftrace's");
	ok(!k->ftrace_call((const uint8_t *)call, 4, AT, &target), "half of it is none");
	is(k->ftrace_size, 8, "ftrace's place has 8 bytes");
	is_str(k->syscalls[0].prefix, "__riscv_sys_", "system calls have their prefix");
	ok(k->branch_at((const uint8_t *)&(uint16_t){0xbf45}, 2, AT, &target) && target == AT - 80,
	   "c.j is a direct branch");
	ok(!k->branch_at((const uint8_t *)&(uint16_t){0x8082}, 2, AT, &target),
	   "a ret is no direct branch");
}

int main(void)
{
	arch = arch__by_machine(EM_RISCV);
	test_probes();
	test_memory();
	test_forms();
	test_proves();
	test_taken();
	test_static_probes();
	test_kernel();
	return tap__done();
}
