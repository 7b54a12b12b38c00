// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86: what an instruction tests, by rows of bytes; and against the processor: random instructions
 * that set flags are executed with random and edge operands. Their operands, and which of the 16
 * conditions hold, must be what is told from what is left behind them.
 */
#include "copier_fixture.h"
#include "event/event.h"
#include "plan/plan.h"

#define AT	  0x1000
#define BYTES(s)  (const uint8_t *)(s), sizeof(s) - 1
#define NOT_THERE 0xff

/* ---- rows ---- */

struct place {
	uint8_t kind, base, index, scale, size, shift;
	int64_t disp;
	uint64_t constant;
};
struct row {
	const char *text;
	const uint8_t *bytes;
	size_t len;
	uint8_t how, bits, n; /* how NONE: not told */
	bool result;
	struct place at[2];
};

#define R(reg, ...)                                                                                \
	{                                                                                          \
		.kind = OPERAND_REG, .base = (reg), .index = NOT_THERE, __VA_ARGS__                \
	}
#define M(b, i, ...)                                                                               \
	{                                                                                          \
		.kind = OPERAND_MEM, .base = (b), .index = (i), __VA_ARGS__                        \
	}
#define C(number)                                                                                  \
	{                                                                                          \
		.constant = (number)                                                               \
	}
#define NOTHING(text, bytes)                                                                       \
	{                                                                                          \
		text, BYTES(bytes), TEST_NONE, 0, 0, 0,                                            \
		{                                                                                  \
			{                                                                          \
				0                                                                  \
			}                                                                          \
		}                                                                                  \
	}

static const struct row rows64[] = {
	{"cmp rdi, 0x40", BYTES("\x48\x83\xff\x40"), TEST_SUB, 64, 2, false, {R(RDI), C(0x40)}},
	{"cmp edi, esi", BYTES("\x39\xf7"), TEST_SUB, 32, 2, false, {R(RDI), R(RSI)}},
	{"cmp r8d, -1", BYTES("\x41\x83\xf8\xff"), TEST_SUB, 32, 2, false, {R(R8), C(0xffffffff)}},
	{"cmp ah, 0x7f",
	 BYTES("\x80\xfc\x7f"),
	 TEST_SUB,
	 8,
	 2,
	 false,
	 {R(RAX, .shift = 8), C(0x7f)}},
	{"cmp spl, 0x7f", BYTES("\x40\x80\xfc\x7f"), TEST_SUB, 8, 2, false, {R(RSP), C(0x7f)}},
	{"cmp bh, dl", BYTES("\x38\xd7"), TEST_SUB, 8, 2, false, {R(RBX, .shift = 8), R(RDX)}},
	{"cmp byte ptr [rdi+rcx*2-8], 0xff",
	 BYTES("\x80\x7c\x4f\xf8\xff"),
	 TEST_SUB,
	 8,
	 2,
	 false,
	 {M(RDI, RCX, .scale = 2, .disp = -8, .size = 1), C(0xff)}},
	{"cmp rdx, [rsp+0x10]",
	 BYTES("\x48\x3b\x54\x24\x10"),
	 TEST_SUB,
	 64,
	 2,
	 false,
	 {R(RDX), M(RSP, NOT_THERE, .disp = 16, .size = 8)}},
	{"cmp dword ptr [rip+0x20], 3",
	 BYTES("\x83\x3d\x20\x00\x00\x00\x03"),
	 TEST_SUB,
	 32,
	 2,
	 false,
	 {M(0xfe, NOT_THERE, .disp = 0x20, .size = 4), C(3)}},
	{"test al, al", BYTES("\x84\xc0"), TEST_LOGIC, 8, 1, false, {R(RAX)}},
	{"test al, ah", BYTES("\x84\xe0"), TEST_AND, 8, 2, false, {R(RAX), R(RAX, .shift = 8)}},
	{"add ecx, 1", BYTES("\x83\xc1\x01"), TEST_ADD, 32, 2, true, {R(RCX), C(1)}},
	{"add dword ptr [rax], -1",
	 BYTES("\x83\x00\xff"),
	 TEST_ADD,
	 32,
	 2,
	 true,
	 {M(RAX, NOT_THERE, .size = 4), C(0xffffffff)}},
	{"and edi, 7", BYTES("\x83\xe7\x07"), TEST_LOGIC, 32, 1, true, {R(RDI)}},
	{"inc rbp", BYTES("\x48\xff\xc5"), TEST_INC, 64, 1, true, {R(RBP)}},
	{"dec dword ptr [rbp-4]",
	 BYTES("\xff\x4d\xfc"),
	 TEST_DEC,
	 32,
	 1,
	 true,
	 {M(RBP, NOT_THERE, .disp = -4, .size = 4)}},
	{"neg eax", BYTES("\xf7\xd8"), TEST_RESULT, 32, 1, true, {R(RAX)}},
	{"bt rax, rcx", BYTES("\x48\x0f\xa3\xc8"), TEST_BIT, 64, 2, false, {R(RAX), R(RCX)}},
	{"bt edi, 0x1f", BYTES("\x0f\xba\xe7\x1f"), TEST_BIT, 32, 2, false, {R(RDI), C(0x1f)}},
	NOTHING("bt [rax], ecx: a string of bits", "\x0f\xa3\x08"),
	NOTHING("cmp rax, fs:[0x28]: a segment's base", "\x64\x48\x3b\x04\x25\x28\x00\x00\x00"),
	NOTHING("lock dec dword ptr [rax]: others may change it", "\xf0\xff\x08"),
	NOTHING("lock xadd [rax], ecx", "\xf0\x0f\xc1\x08"),
	NOTHING("ucomisd xmm0, xmm1", "\x66\x0f\x2e\xc1"),
	NOTHING("cmpsb: the registers have gone on", "\xa6"),
	NOTHING("cmp, cut off", "\x48\x81\xff\x00"),
};
static const struct row rows32[] = {
	{"inc eax", BYTES("\x40"), TEST_INC, 32, 1, true, {R(RAX)}},
	{"dec edi", BYTES("\x4f"), TEST_DEC, 32, 1, true, {R(RDI)}},
	{"cmp eax, -1", BYTES("\x83\xf8\xff"), TEST_SUB, 32, 2, false, {R(RAX), C(0xffffffff)}},
	{"cmp dword ptr [ebp+8], 2",
	 BYTES("\x83\x7d\x08\x02"),
	 TEST_SUB,
	 32,
	 2,
	 false,
	 {M(RBP, NOT_THERE, .disp = 8, .size = 4), C(2)}},
	{"cmp dword ptr [0x8049000], 2",
	 BYTES("\x83\x3d\x00\x90\x04\x08\x02"),
	 TEST_SUB,
	 32,
	 2,
	 false,
	 {M(NOT_THERE, NOT_THERE, .disp = 0x8049000, .size = 4), C(2)}},
	{"test bh, bh", BYTES("\x84\xff"), TEST_LOGIC, 8, 1, false, {R(RBX, .shift = 8)}},
	NOTHING("cmp eax, gs:[0x14]", "\x65\x3b\x05\x14\x00\x00\x00"),
};

static bool same_register(uint8_t got, uint8_t want)
{
	return got == want || (want == NOT_THERE && got >= GENERAL && got != 0xfe);
}

static bool is_at(const struct test_operand *o, const struct place *want)
{
	if (o->kind != want->kind)
		return false;
	if (o->kind == OPERAND_NONE)
		return o->constant == want->constant;
	if (o->shift != want->shift || o->at.base != want->base)
		return o->kind == OPERAND_MEM && same_register(o->at.base, want->base);
	return o->kind == OPERAND_REG || (same_register(o->at.index, want->index) &&
					  o->at.disp == want->disp && o->at.size == want->size &&
					  (want->index == NOT_THERE || o->at.scale == want->scale));
}

static void check_rows(const struct arch *arch, const struct row *rows, size_t n)
{
	for (const struct row *r = rows; r < rows + n; r++) {
		struct test t;
		bool told = arch->test(r->bytes, r->len, AT, &t);

		ok(told == (r->how != TEST_NONE), "%s, %s: it is %stold what it tests", arch->name,
		   r->text, r->how ? "" : "not ");
		if (!told)
			continue;
		ok(t.how == r->how && t.bits == r->bits && t.n == r->n && t.result == r->result,
		   "%s: how the flags follow, and the size", r->text);
		for (unsigned i = 0; i < r->n; i++)
			ok(is_at(&t.operand[i], &r->at[i]), "%s: operand %u", r->text, i);
	}
}

/* ---- instructions at random, with what is known of them by their making ---- */

/* An operand of one that is made: a register, memory (at `memory`), or a constant. */
struct made_operand {
	enum { IN_REG, IN_MEMORY, CONSTANT } kind;
	uint8_t reg;
	bool high; /* ah … bh */
	uint64_t constant;
};
struct made {
	uint8_t bytes[15];
	unsigned len, bits;
	bool by_result, adds_up; /* A alone: the result. adds_up: carry and overflow aren't told */
	bool keeps_carry, bit;	 /* inc, dec; bt: the carry alone */
	struct made_operand a, b;
	uint32_t address; /* registers that address memory, one bit each */
	uint8_t base, index, scale;
	int32_t disp;
};

static struct machine in, out;
static uint8_t *code, *memory;

static void put(struct made *m, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		m->bytes[m->len++] = v >> 8 * i;
}

static unsigned random_register(void)
{
	unsigned reg = random64() % GENERAL;

	return reg == RSP ? RAX : reg;
}

/* Behind the opcode: ModRM, SIB, displacement. The prefixes are there already; *rex is completed.
 */
static void put_memory(struct made *m, unsigned field, uint8_t *rex)
{
	m->base = random_register();
	m->index = random_register();
	m->scale = random64() % 4;
	m->disp = (int32_t)random64() >> 4;
	if (m->index == m->base)
		m->index = RSP; /* none */
	put(m, 0x84 | (field & 7) << 3, 1);
	put(m, m->scale << 6 | (m->index & 7) << 3 | (m->base & 7), 1);
	put(m, m->disp, 4);
	*rex |= (m->base >> 3) | (m->index == RSP ? 0 : m->index >> 3 << 1);
	m->address = 1u << m->base | (m->index == RSP ? 0 : 1u << m->index);
}

/* The ModRM's register, as an operand of this size. */
static struct made_operand register_of(unsigned reg, unsigned bits, bool has_rex)
{
	struct made_operand o = {.kind = IN_REG, .reg = reg};

	if (bits == 8 && !has_rex && reg >= 4 && reg < 8) {
		o.reg = reg - 4;
		o.high = true;
	}
	return o;
}

/* The operands of r/m and reg (or what stands instead of it). */
static void make(struct made *m, const uint8_t *opcode, unsigned nopcode, unsigned bits, int field,
		 struct made_operand *rm, struct made_operand *reg)
{
	bool has_rex = bits == 64 || random64() & 1, in_memory = random64() % 3 == 0;
	unsigned r = field >= 0 ? (unsigned)field : random64() % (has_rex ? 16 : 8);
	unsigned b = random64() % (has_rex ? 16 : 8), at;
	uint8_t rex = (bits == 64 ? 8 : 0) | (field < 0 ? r >> 3 << 2 : 0);

	*m = (struct made){.bits = bits, .index = RSP, .base = RSP};
	if (bits == 16)
		put(m, 0x66, 1);
	at = m->len;
	if (has_rex || in_memory)
		put(m, 0x40, 1);
	has_rex |= in_memory;
	for (unsigned i = 0; i < nopcode; i++)
		put(m, opcode[i], 1);
	if (in_memory) {
		put_memory(m, r, &rex);
		*rm = (struct made_operand){.kind = IN_MEMORY};
	} else {
		put(m, 0xc0 | (r & 7) << 3 | (b & 7), 1);
		rex |= b >> 3;
		*rm = register_of(b, bits, has_rex);
	}
	if (field < 0)
		*reg = register_of(r, bits, has_rex);
	if (has_rex)
		m->bytes[at] |= rex;
}

static uint64_t edge(unsigned bits)
{
	uint64_t v[] = {
		0, 1, -1ull, 1ull << (bits - 1), (1ull << (bits - 1)) - 1, random64() % 256};

	return random64() & 1 ? random64() : v[random64() % 6];
}

static void put_constant(struct made *m, unsigned size)
{
	uint64_t v = edge(size * 8);
	int64_t extended = (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size);

	put(m, v, size);
	m->b = (struct made_operand){.kind = CONSTANT, .constant = extended};
}

enum { ADD, OR, ADC, SBB, AND, SUB, XOR, CMP, ALUS };

static void is_alu(struct made *m, unsigned op)
{
	m->by_result = op == OR || op == AND || op == XOR || op == ADC || op == SBB;
	m->adds_up = op == ADC || op == SBB;
}

/* add … cmp, in all their forms but those of the accumulator. */
static void make_alu(struct made *m, unsigned bits)
{
	unsigned op = random64() % ALUS, form = random64() % 4;
	uint8_t opcode = op << 3 | (bits == 8 ? 0 : 1);
	struct made_operand rm, reg;

	if (form == 0) {
		make(m, &opcode, 1, bits, -1, &rm, &reg);
		m->a = rm;
		m->b = reg;
	} else if (form == 1) {
		opcode |= 2;
		make(m, &opcode, 1, bits, -1, &rm, &reg);
		m->a = reg;
		m->b = rm;
	} else {
		bool small = form == 2 || bits == 8;

		opcode = bits == 8 ? 0x80 : small ? 0x83 : 0x81;
		make(m, &opcode, 1, bits, op, &m->a, NULL);
		put_constant(m, small ? 1 : bits == 16 ? 2 : 4);
	}
	is_alu(m, op);
}

static void make_test(struct made *m, unsigned bits)
{
	bool constant = random64() & 1;
	uint8_t opcode = (constant ? 0xf6 : 0x84) | (bits == 8 ? 0 : 1);

	make(m, &opcode, 1, bits, constant ? 0 : -1, &m->a, &m->b);
	if (constant)
		put_constant(m, bits == 8 ? 1 : bits == 16 ? 2 : 4);
	else if (m->a.kind == IN_REG && m->a.reg == m->b.reg && m->a.high == m->b.high)
		m->by_result = true;
}

static void make_single(struct made *m, unsigned bits)
{
	static const struct {
		uint8_t opcode, field;
	} all[] = {{0xfe, 0}, {0xfe, 1}, {0xf6, 3}, {0xc0, 4}, {0xc0, 5}, {0xc0, 7},
		   {0xd0, 4}, {0xd0, 5}, {0xd0, 7}, {0xd2, 4}, {0xd2, 5}, {0xd2, 7}};
	unsigned which = random64() % ARRAY_SIZE(all);
	uint8_t opcode = all[which].opcode | (bits == 8 ? 0 : 1);

	make(m, &opcode, 1, bits, all[which].field, &m->a, NULL);
	if (all[which].opcode == 0xc0)
		put(m, random64(), 1);
	m->by_result = true;
	m->keeps_carry = which < 2;
	m->adds_up = which >= 2;
}

static void make_bit(struct made *m, unsigned bits)
{
	static const uint8_t by_register[] = {0x0f, 0xa3}, by_constant[] = {0x0f, 0xba};
	bool constant = random64() & 1;

	make(m, constant ? by_constant : by_register, 2, bits, constant ? 4 : -1, &m->a, &m->b);
	if (constant)
		put_constant(m, 1);
	m->b.constant &= 0xff;
	m->bit = true;
}

static void make_random(struct made *m)
{
	unsigned bits = 8u << random64() % 4;

	switch (random64() % 6) {
	case 0:
		return make_test(m, bits);
	case 1:
		return make_single(m, bits);
	case 2:
		return make_bit(m, bits == 8 ? 32 : bits);
	default:
		return make_alu(m, bits);
	}
}

/* ---- executed ---- */

#define HOLDS_AT 4096 /* behind the code: what the 16 conditions said */

static void place_code_of(const struct made *m)
{
	struct code_buffer c = {0};

	code_part__put(&c.hot, m->bytes, m->len);
	for (unsigned cc = 0; cc < 16; cc++) { /* setcc [rip+…] */
		uint8_t set[7] = {0x0f, 0x90 | cc, 0x05};
		int32_t disp = HOLDS_AT + cc - (int32_t)(c.hot.bytes.len + sizeof(set));

		memcpy(set + 3, &disp, 4);
		code_part__put(&c.hot, set, sizeof(set));
	}
	put_exit(&c.hot);
	place_code(&c, code);
	code_buffer__free(&c);
}

static void set_machine(const struct made *m)
{
	uint64_t word = edge(m->bits);

	machine__randomize(&in);
	for (int i = 0; i < GENERAL; i++)
		in.r[i] = random64() & 1 ? edge(m->bits) : in.r[i];
	if (m->address)
		in.r[m->base] = (uintptr_t)memory - m->disp -
				(m->index == RSP ? 0 : in.r[m->index] << m->scale);
	memcpy(memory, &word, 8);
}

/* What is in an operand's place. */
static uint64_t value_of(const struct made *m, const struct made_operand *o,
			 const struct machine *state, uint64_t in_memory)
{
	uint64_t v = o->kind == IN_REG	    ? state->r[o->reg] >> (o->high ? 8 : 0)
		     : o->kind == IN_MEMORY ? in_memory
					    : o->constant;

	return m->bits == 64 ? v : v & ((1ull << m->bits) - 1);
}

static uint64_t in_memory(void)
{
	uint64_t v;

	memcpy(&v, memory, 8);
	return v;
}

/* As the probe does: registers, and the memory that is read again. */
static uint64_t place_of(const struct test_operand *o)
{
	uint64_t addr = o->at.disp, v = 0;

	if (o->kind == OPERAND_REG)
		return out.r[o->at.base];
	if (o->kind != OPERAND_MEM)
		return 0;
	addr += o->at.base < GENERAL ? out.r[o->at.base] : 0;
	addr += o->at.index < GENERAL ? out.r[o->at.index] * o->at.scale : 0;
	if (addr != (uintptr_t)memory)
		return 0x5a5a5a5a5a5a5a5a;
	memcpy(&v, memory, o->at.size);
	return v;
}

/* Is what is needed of it still there? */
static bool survives(const struct test *t, unsigned i)
{
	const struct test_operand *o = &t->operand[i];
	uint32_t regs = o->kind != OPERAND_NONE && o->at.base < GENERAL ? 1u << o->at.base : 0;

	if (o->kind == OPERAND_MEM && o->at.index < GENERAL)
		regs |= 1u << o->at.index;
	return (!i && o->kind == OPERAND_REG) || !(regs & t->kills);
}

/* Conditions whose flags the values leave open; cc: in pairs. */
static bool may_be_open(const struct made *m, unsigned cc)
{
	bool carry = cc >> 1 == 1 || cc >> 1 == 3, overflow = cc >> 1 == 0 || cc >> 1 >= 6;

	if (m->bit)
		return cc >> 1 != 1;
	return (m->keeps_carry && carry) || (m->adds_up && (carry || overflow));
}

static unsigned told, open_ones, unseen, wrong;

static void complain(const struct made *m, unsigned cc, const char *what)
{
	if (wrong++ >= 10)
		return;
	printf("# %s, condition %u:", what, cc);
	for (unsigned i = 0; i < m->len; i++)
		printf(" %02x", m->bytes[i]);
	printf("\n");
}

static void check_condition(const struct made *m, const struct test *t, unsigned cc,
			    const uint64_t want[2])
{
	const struct plan plan = {.arch = arch__by_machine(EM_X86_64)};
	const struct plan_site s = {.kind = BRANCH_JCC, .cond = cc, .test = t};
	bool holds = code[HOLDS_AT + cc];
	uint64_t place[2] = {place_of(&t->operand[0]), place_of(&t->operand[1])};
	struct tested got;

	tested__take(&got, &plan, &s, !holds, place, 3);
	if (got.flags)
		complain(m, cc, "told, though it went otherwise");
	tested__take(&got, &plan, &s, holds, place, 3);
	if (!got.flags) {
		open_ones++;
		if (!may_be_open(m, cc))
			complain(m, cc, "not told");
		return;
	}
	told++;
	if (got.value[0] != want[0] || (t->n == 2 && got.value[1] != want[1]))
		complain(m, cc, "other values");
	if ((8u << (got.flags >> TESTED_SIZE_SHIFT & 3)) != m->bits ||
	    !(got.flags & TESTED_TWO) != (t->n == 1))
		complain(m, cc, "other operands");
}

static void check_random(const struct arch *arch)
{
	uint64_t want[2], before;
	struct made m;
	struct test t;

	make_random(&m);
	if (!arch->test(m.bytes, m.len, (uintptr_t)code, &t)) {
		if (!m.bit || m.a.kind != IN_MEMORY)
			complain(&m, 0, "not known");
		return;
	}
	if (m.bit && m.a.kind == IN_MEMORY) { /* not executed: it may be anywhere */
		complain(&m, 0, "a string of bits");
		return;
	}
	for (unsigned i = 0; i < t.n; i++)
		if (!survives(&t, i)) {
			unseen++;
			return;
		}
	place_code_of(&m);
	set_machine(&m);
	before = in_memory();
	machine__run(code, &in, &out);
	want[0] = m.by_result ? value_of(&m, &m.a, &out, in_memory())
			      : value_of(&m, &m.a, &in, before);
	want[1] = value_of(&m, &m.b, &in, before);
	for (unsigned cc = 0; cc < 16; cc++)
		if (arch->flags_effect(m.bytes, m.len, BRANCH_JCC, cc) == FLAGS_SET)
			check_condition(&m, &t, cc, want);
}

static void test_processor(void)
{
	const struct arch *arch = arch__by_machine(EM_X86_64);

	code = map_pages(8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	memory = map_pages(4096, PROT_READ | PROT_WRITE);
	memory += 2048;
	machine__init();
	for (unsigned i = 0; i < 100000; i++)
		check_random(arch);
	printf("# %u conditions told, %u open, %u instructions whose operands are gone\n", told,
	       open_ones, unseen);
	is(wrong, 0, "values and conditions are the processor's");
	ok(told > 500000, "most conditions are told");
	ok(open_ones > 1000 && unseen > 100, "some aren't");
}

/* ---- what is not told ---- */

static void test_unknown(void)
{
	const struct plan plan = {.arch = arch__by_machine(EM_X86_64)};
	struct plan_site s = {.kind = BRANCH_JCC, .cond = 4};
	uint64_t place[2] = {5, 5};
	struct tested got;
	struct test t;

	plan.arch->test(BYTES("\x48\x3b\x10"), AT, &t); /* cmp rdx, [rax] */
	s.test = &t;
	tested__take(&got, &plan, &s, true, place, 3);
	ok(got.flags == (TESTED | TESTED_TWO | TESTED_AGAIN | 3 << TESTED_SIZE_SHIFT),
	   "memory was read again");
	tested__take(&got, &plan, &s, true, place, 1);
	is(got.flags, 0, "nothing is told if it could not be read");
	place[1] = 6;
	tested__take(&got, &plan, &s, true, place, 3);
	is(got.flags, 0, "nor if it has changed");
	ok(!got.value[0] && !got.value[1], "no values are left then");
}

int main(void)
{
	check_rows(arch__by_machine(EM_X86_64), rows64, ARRAY_SIZE(rows64));
	check_rows(arch__by_machine(EM_386), rows32, ARRAY_SIZE(rows32));
	test_processor();
	test_unknown();
	return tap__done();
}
