// SPDX-License-Identifier: BSD-2-Clause
/*
 * AArch64: what tracing needs of an instruction: whether a branch is taken, what the kernel does
 * with a probe on it (arch/arm64/kernel/probes), which instructions set flags, operands of static
 * probes. Encodings: Arm Architecture Reference Manual, DDI 0487, C6.
 */
#include <elf.h>

#define AT 0x10000
#include "arch_fixture.h"

/* ---- conditions ---- */

enum { V = 1, C = 2, Z = 4, N = 8 };

/* C1.2.4, table C1-1, as it is written there: what is true for these flags. */
static bool by_table(unsigned cond, unsigned f)
{
	bool n = f & N, z = f & Z, c = f & C, v = f & V;

	switch (cond) {
	case 0:
		return z;
	case 1:
		return !z;
	case 2:
		return c;
	case 3:
		return !c;
	case 4:
		return n;
	case 5:
		return !n;
	case 6:
		return v;
	case 7:
		return !v;
	case 8:
		return c && !z;
	case 9:
		return !(c && !z);
	case 10:
		return n == v;
	case 11:
		return n != v;
	case 12:
		return !z && n == v;
	case 13:
		return !(!z && n == v);
	}
	return true;
}

static void test_flags(void)
{
	for (unsigned cond = 0; cond < 14; cond++) {
		bool all = true;
		struct insn insn;

		decode(0x54000080 | cond, &insn);
		for (unsigned f = 0; f < 16; f++) {
			/* the other bits are no flags */
			const uint64_t reads[2] = {(uint64_t)f << 28 | 0x800003c5 % (1u << 28)};

			all &= arch->taken(insn.kind, insn.cond, reads) == by_table(cond, f);
		}
		ok(all, "%s is taken by each of the 16 sets of flags as the manual says",
		   insn.mnemonic);
	}
}

static const struct tested {
	uint32_t word;
	uint64_t value;
	bool taken;
	const char *text;
} registers[] = {
	{0xb4000103, 0, true, "cbz x3, of 0"},
	{0xb4000103, 1ull << 32, false, "cbz x3, of a high bit"},
	{0x34000103, 1ull << 32, true, "cbz w3, of a high bit"},
	{0x34000103, 1ull << 31, false, "cbz w3, of bit 31"},
	{0x35000103, 1ull << 32, false, "cbnz w3, of a high bit"},
	{0xb5000103, 1ull << 32, true, "cbnz x3, of a high bit"},
	{0x3400011f, 7, true, "cbz wzr"},
	{0xb500011f, 7, false, "cbnz xzr"},
	{0x36180205, 8, false, "tbz w5, #3, which is set"},
	{0x36180205, ~8ull, true, "tbz w5, #3, of all others"},
	{0x37180205, 8, true, "tbnz w5, #3, which is set"},
	{0xb7080205, 1ull << 33, true, "tbnz x5, #33, which is set"},
	{0xb7080205, ~(1ull << 33), false, "tbnz x5, #33, of all others"},
	{0xb7f80205, 1ull << 63, true, "tbnz x5, #63, which is set"},
	{0x3618021f, 8, true, "tbz wzr, #3"},
};

static void test_registers(void)
{
	const struct tested *t;

	for (t = registers; t < registers + ARRAY_SIZE(registers); t++) {
		const uint64_t reads[2] = {t->value};
		struct insn insn;

		decode(t->word, &insn);
		is(arch->taken(insn.kind, insn.cond, reads), t->taken,
		   "%s: whether it is taken follows from the register", t->text);
	}
}

/* ---- probes ---- */

enum { STEPPED, SIMULATED };
static const struct probed {
	uint32_t word;
	uint8_t refusal, how;
	const char *text;
} probed[] = {
	{0x14000002, PROBE_OK, SIMULATED, "b"},
	{0x97fffffe, PROBE_OK, SIMULATED, "bl"},
	{0x54000080, PROBE_OK, SIMULATED, "b.eq"},
	{0xb4000103, PROBE_OK, SIMULATED, "cbz"},
	{0xb70ffe05, PROBE_OK, SIMULATED, "tbnz"},
	{0xd61f0200, PROBE_OK, SIMULATED, "br"},
	{0xd63f0020, PROBE_OK, SIMULATED, "blr"},
	{0xd65f03c0, PROBE_OK, SIMULATED, "ret"},
	{0x100091a0, PROBE_OK, SIMULATED, "adr"},
	{0x90000001, PROBE_OK, SIMULATED, "adrp"},
	{0x54000090, PROBE_STEPPED, STEPPED, "bc.eq"},
	{0x7423a005, PROBE_STEPPED, STEPPED, "cbbge"},
	{0xf5210045, PROBE_STEPPED, STEPPED, "cblt"},
	{0x19010440, PROBE_STEPPED, STEPPED, "cpyfp"},
	{0xd65f0bff, PROBE_PREFIX, STEPPED, "retaa"},
	{0xd71f083f, PROBE_PREFIX, STEPPED, "braa"},
	{0xd73f0885, PROBE_PREFIX, STEPPED, "blraa"},
	{0xd4000001, PROBE_PREFIX, STEPPED, "svc"},
	{0xd4207d00, PROBE_PREFIX, STEPPED, "brk"},
	{0x58000200, PROBE_PREFIX, STEPPED, "ldr of a literal"},
	{0x98000200, PROBE_PREFIX, STEPPED, "ldrsw of a literal"},
	{0x1c000200, PROBE_PREFIX, STEPPED, "ldr of a literal, to a vector register"},
	{0xc85f7c41, PROBE_PREFIX, STEPPED, "ldxr"},
	{0xc8057ce6, PROBE_PREFIX, STEPPED, "stxr"},
	{0x48227cc4, PROBE_PREFIX, STEPPED, "casp"},
	{0xd503207f, PROBE_PREFIX, STEPPED, "wfi"},
	{0xd50323bf, PROBE_PREFIX, STEPPED, "autiasp"},
	{0xd51b4200, PROBE_PREFIX, STEPPED, "msr nzcv"},
	{0xd503233f, PROBE_OK, STEPPED, "paciasp"},
	{0xd503245f, PROBE_OK, STEPPED, "bti c"},
	{0xd53bd041, PROBE_OK, STEPPED, "mrs of tpidr_el0"},
	{0xc8a17c62, PROBE_OK, STEPPED, "cas"},
	{0xa9be7bfd, PROBE_OK, STEPPED, "stp"},
	{0x8b020020, PROBE_OK, STEPPED, "add"},
	{0xd69f03e0, PROBE_UNSUPPORTED, STEPPED, "eret"},
};

static void test_probes(void)
{
	struct insn insn;

	for (const struct probed *p = probed; p < probed + ARRAY_SIZE(probed); p++) {
		decode(p->word, &insn);
		is(insn.user_refusal, p->refusal, "%s: whether a uprobe is refused is known",
		   p->text);
		is(insn.emulated, p->how, "%s: whether the kernel simulates it is known", p->text);
	}
	decode(0xd503201f, &insn);
	ok(insn.varies && !insn.emulated, "not all kernels simulate nop");
}

static uint64_t form(uint32_t word)
{
	struct insn insn;

	decode(word, &insn);
	return arch->uprobe_form((const uint8_t *)&word, sizeof(word), &insn);
}

static void test_forms(void)
{
	ok(form(0x54000080) == form(0x54fffff0 - 0x10), "branches of one form have one key");
	ok(form(0x54000080) != form(0x54000090), "b.eq and bc.eq have two");
	ok(form(0xd65f03c0) != form(0xd65f0bff), "ret and retaa have two");
	ok(form(0xd503245f) != form(0xd503207f), "bti and wfi have two");
	ok(form(0x8b020020) == form(0x8b040083), "additions of registers have one");
}

/* ---- flags ---- */

static const struct setter {
	uint32_t word;
	uint8_t effect;
	const char *text;
} setters[] = {
	{0x7100281f, FLAGS_SET, "cmp"},	      {0xeb0600bf, FLAGS_SET, "cmp of registers"},
	{0xba020020, FLAGS_SET, "adcs"},      {0x6a000000, FLAGS_SET, "ands"},
	{0x1e612000, FLAGS_SET, "fcmp"},      {0x7a410800, FLAGS_UNKNOWN, "ccmp"},
	{0x8b020020, FLAGS_KEPT, "add"},      {0xf9000bff, FLAGS_KEPT, "str"},
	{0x9a820020, FLAGS_KEPT, "csel"},     {0xd4000001, FLAGS_UNKNOWN, "svc"},
	{0x3a000800, FLAGS_UNKNOWN, "setf8"},
};

static void test_setters(void)
{
	for (const struct setter *s = setters; s < setters + ARRAY_SIZE(setters); s++)
		is(arch->flags_effect((const uint8_t *)&s->word, sizeof(s->word), BRANCH_JCC, 0),
		   s->effect, "%s: what it does to the flags is known", s->text);
}

static const struct proved {
	uint32_t word;
	const char *compare, *taken, *not_taken; /* NULL: nothing */
} proved[] = {
	{0x54000080, "cmp w0, #0xa", "w0 == 0xa", "w0 != 0xa"},
	{0x54000082, "cmp x0, x1", "x0 >= x1 (unsigned)", "x0 < x1 (unsigned)"},
	{0x54000089, "cmp x0, x1", "x0 <= x1 (unsigned)", "x0 > x1 (unsigned)"},
	{0x5400008b, "cmp w2, w3", "w2 < w3", "w2 >= w3"},
	{0x5400008c, "cmp w2, w3", "w2 > w3", "w2 <= w3"},
	{0x54000084, "cmp w2, #0", "w2 < 0", "w2 >= 0"},
	{0x54000084, "cmp w2, #1", NULL, NULL},
	{0x54000086, "cmp w2, w3", "w2 - w3 overflows", "w2 - w3 doesn't overflow"},
	{0x54000080, "cmp x0, x1, lsl #3", NULL, NULL},
	{0x54000080, "cmp x0, w1, uxtw", NULL, NULL},
	{0x54000081, "tst w0, #1", "(w0 & 1) != 0", "(w0 & 1) == 0"},
	{0x54000084, "tst w0, #1", NULL, NULL},
	{0x54000080, "adds w0, w1, w2", NULL, NULL},
	{0x54000080, "cmp", NULL, NULL},
	{0x54000080, "cmp ,", NULL, NULL},
	{0x54000080, NULL, NULL, NULL},
	{0xb4000103, NULL, "x3 == 0", "x3 != 0"},
	{0x35000103, NULL, "w3 != 0", "w3 == 0"},
	{0x36180205, NULL, "bit 3 of w5 is clear", "bit 3 of w5 is set"},
	{0xb7080205, NULL, "bit 33 of x5 is set", "bit 33 of x5 is clear"},
	{0xf5210045, NULL, NULL, NULL},
};

static void check_proof(const struct proved *p, const struct insn *insn, bool taken)
{
	const char *want = taken ? p->taken : p->not_taken;
	struct str text = {0};
	bool is = arch->proves(insn->kind, insn->cond, taken, p->compare, &text);

	is_str(is ? text.data : "-", want ?: "-", "%s, %s: what %s proves", insn->mnemonic,
	       p->compare ?: "no comparison", taken ? "taken" : "not taken");
	ok(is || !text.len, "nothing is appended where nothing is proved");
	str__free(&text);
}

static void test_proofs(void)
{
	struct insn insn;

	for (const struct proved *p = proved; p < proved + ARRAY_SIZE(proved); p++) {
		decode(p->word, &insn);
		check_proof(p, &insn, true);
		check_proof(p, &insn, false);
	}
}

/* ---- static probes ---- */

static void test_operands(void)
{
	struct usdt_argument a[USDT_ARGUMENTS];
	unsigned n = usdt__arguments(arch,
				     "8@x0 -4@w1 4@5 -8@#-3 8@[sp, 12] -1@[x2] 2@[x3, -8] "
				     "8@[x4, x5] 8@[x6, x7, lsl 3] 8@sp 8@v0 8@x31",
				     a);

	is(n, 12, "an argument for each operand is found");
	ok(a[0].kind == USDT_REGISTER && a[0].base == 0 && a[0].size == 8 && !a[0].is_signed,
	   "8@x0 is a register");
	ok(a[1].kind == USDT_REGISTER && a[1].base == 1 && a[1].size == 4 && a[1].is_signed,
	   "-4@w1 is the low half of one");
	ok(a[2].kind == USDT_CONSTANT && a[2].disp == 5, "4@5 is a constant");
	ok(a[3].kind == USDT_CONSTANT && a[3].disp == -3, "-8@#-3 is a constant");
	ok(a[4].kind == USDT_MEMORY && a[4].base == 31 && a[4].index == REG_NONE && a[4].disp == 12,
	   "8@[sp, 12] is in memory");
	ok(a[5].kind == USDT_MEMORY && a[5].base == 2 && a[5].disp == 0 && a[5].size == 1,
	   "-1@[x2] is in memory");
	ok(a[6].kind == USDT_MEMORY && a[6].base == 3 && a[6].disp == -8,
	   "2@[x3, -8] is in memory");
	ok(a[7].kind == USDT_MEMORY && a[7].base == 4 && a[7].index == 5 && a[7].scale == 1,
	   "8@[x4, x5] is in memory");
	ok(a[8].kind == USDT_MEMORY && a[8].base == 6 && a[8].index == 7 && a[8].scale == 8,
	   "8@[x6, x7, lsl 3] is in memory");
	ok(a[9].kind == USDT_REGISTER && a[9].base == 31, "8@sp is the stack pointer");
	ok(a[10].kind == USDT_UNKNOWN, "8@v0 is not known: a vector register");
	ok(a[11].kind == USDT_UNKNOWN, "8@x31 is not known: there is none");
}

/* ---- the kernel ---- */

static void test_kernel(void)
{
	static const uint32_t call = 0x94000004, jump = 0x14000004, astray = 0x54000090,
			      equal = 0x54000080;
	const struct arch_kernel *k = arch->kernel;
	uint64_t target = 0;

	ok(k->ftrace_call((const uint8_t *)&call, 4, AT, &target) && target == AT + 16,
	   "bl is what ftrace writes");
	ok(!k->ftrace_call((const uint8_t *)&jump, 4, AT, &target), "b is not");
	ok(k->branch_at((const uint8_t *)&equal, 4, AT, &target) && target == AT + 16,
	   "b.eq leads to its target");
	ok(k->emulates_wrongly((const uint8_t *)&astray, 4, ""), "bc.eq may carry no kprobe");
	ok(!k->emulates_wrongly((const uint8_t *)&equal, 4, ""), "b.eq may");
}

static void test_pac_stub(void)
{
	static const uint32_t words[] = {0xd503245f, 0xd0000b10, 0xf947ee11,
					 0x913f6210, 0xd503219f, 0xd61f0220};
	struct plt_stub stub;

	ok(arch->plt_stub((const uint8_t *)words, sizeof(words), AT, 0, &stub) &&
		   stub.slot == AT + 0x162000 + 0xfd8 && stub.size == sizeof(words),
	   "a stub of a PLT that authenticates has its slot and size");
}

int main(void)
{
	arch = arch__by_machine(EM_AARCH64);
	if (!ok(arch != NULL, "AArch64 is known"))
		return tap__done();
	test_flags();
	test_registers();
	test_probes();
	test_forms();
	test_setters();
	test_proofs();
	test_operands();
	test_kernel();
	test_pac_stub();
	return tap__done();
}
