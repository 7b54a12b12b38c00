// SPDX-License-Identifier: BSD-2-Clause
/*
 * x86-64: which instructions a uprobe's program does itself, by rows of bytes; and what it does
 * (bpf/arch/x86_execution.h) against the processor: random instructions of all these forms with
 * random registers, flags and memory must leave behind what is computed.
 */
#include <asm/types.h>
#include "copier_fixture.h"
#include "../../bpf/arch/x86_execution.h"

#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1

/* ---- rows ---- */

struct row {
	const char *text;
	const uint8_t *bytes;
	size_t len;
	int op; /* -1: none */
	bool moves_sp;
};
static const struct row rows[] = {
	{"endbr64", BYTES("\xf3\x0f\x1e\xfa"), EXECUTE_NOTHING, false},
	{"ret", BYTES("\xc3"), EXECUTE_RET, true},
	{"repz ret", BYTES("\xf3\xc3"), EXECUTE_RET, true},
	{"ret 0xfff0", BYTES("\xc2\xf0\xff"), EXECUTE_RET, true},
	{"mov eax, edi", BYTES("\x89\xf8"), EXECUTE_COPY, false},
	{"mov rax, rdi", BYTES("\x48\x89\xf8"), EXECUTE_COPY, false},
	{"mov r8, r15, the other way round", BYTES("\x4d\x8b\xc7"), EXECUTE_COPY, false},
	{"mov rbp, rsp", BYTES("\x48\x89\xe5"), EXECUTE_COPY, false},
	{"mov rsp, rbp", BYTES("\x48\x89\xec"), EXECUTE_COPY, true},
	{"mov eax, 1", BYTES("\xb8\x01\x00\x00\x00"), EXECUTE_SET, false},
	{"mov rax, -1", BYTES("\x48\xc7\xc0\xff\xff\xff\xff"), EXECUTE_SET, false},
	{"movabs r9", BYTES("\x49\xb9\x01\x02\x03\x04\x05\x06\x07\x08"), EXECUTE_SET, false},
	{"lea rax, [rdi+rsi*4-8]", BYTES("\x48\x8d\x44\xb7\xf8"), EXECUTE_LEA, false},
	{"lea eax, [rip+0x20]", BYTES("\x8d\x05\x20\x00\x00\x00"), EXECUTE_LEA, false},
	{"lea rsp, [rbp-0x28]", BYTES("\x48\x8d\x65\xd8"), EXECUTE_LEA, true},
	{"add rsp, 8", BYTES("\x48\x83\xc4\x08"), EXECUTE_ADD, true},
	{"sub rsp, 0x1000", BYTES("\x48\x81\xec\x00\x10\x00\x00"), EXECUTE_SUB, true},
	{"pop rbx", BYTES("\x5b"), EXECUTE_POP, true},
	{"pop r15", BYTES("\x41\x5f"), EXECUTE_POP, true},
	{"pop rsp", BYTES("\x5c"), EXECUTE_POP, true},
	{"jmp rax", BYTES("\xff\xe0"), EXECUTE_JMP, false},
	{"jmp r11", BYTES("\x41\xff\xe3"), EXECUTE_JMP, false},
	{"bnd jmp [rip+8]", BYTES("\xf2\xff\x25\x08\x00\x00\x00"), EXECUTE_JMP_MEM, false},
	{"jmp [rax+rcx*8]", BYTES("\xff\x24\xc8"), EXECUTE_JMP_MEM, false},
	{"call rax: it stores", BYTES("\xff\xd0"), -1, false},
	{"call", BYTES("\xe8\x00\x00\x00\x00"), -1, false},
	{"push rax: it stores", BYTES("\x50"), -1, false},
	{"mov ax, di", BYTES("\x66\x89\xf8"), -1, false},
	{"mov al, dil", BYTES("\x40\x88\xf8"), -1, false},
	{"mov ax, 1", BYTES("\x66\xb8\x01\x00"), -1, false},
	{"mov al, 1", BYTES("\xb0\x01"), -1, false},
	{"mov rax, [rdi]", BYTES("\x48\x8b\x07"), -1, false},
	{"mov [rdi], rax", BYTES("\x48\x89\x07"), -1, false},
	{"mov dword [rdi], 1", BYTES("\xc7\x07\x01\x00\x00\x00"), -1, false},
	{"xbegin", BYTES("\xc7\xf8\x00\x00\x00\x00"), -1, false},
	{"mov eax, ds", BYTES("\x8c\xd8"), -1, false},
	{"lea ax, [rdi]", BYTES("\x66\x8d\x07"), -1, false},
	{"lea rax, [edi]", BYTES("\x67\x48\x8d\x07"), -1, false},
	{"lea rax, fs:[rdi]", BYTES("\x64\x48\x8d\x07"), -1, false},
	{"add esp, 8", BYTES("\x83\xc4\x08"), -1, false},
	{"add r12, 8", BYTES("\x49\x83\xc4\x08"), -1, false},
	{"add rax, 8", BYTES("\x48\x83\xc0\x08"), -1, false},
	{"and rsp, -16", BYTES("\x48\x83\xe4\xf0"), -1, false},
	{"cmp rsp, 8", BYTES("\x48\x83\xfc\x08"), -1, false},
	{"add qword [rsp], 8", BYTES("\x48\x83\x04\x24\x08"), -1, false},
	{"pop bx", BYTES("\x66\x5b"), -1, false},
	{"pop [rax]", BYTES("\x8f\x00"), -1, false},
	{"jmp fs:[rax]", BYTES("\x64\xff\x20"), -1, false},
	{"jmp [eax]", BYTES("\x67\xff\x20"), -1, false},
	{"data16 jmp rax", BYTES("\x66\xff\xe0"), -1, false},
	{"notrack jmp rax", BYTES("\x3e\xff\xe0"), -1, false},
	{"data16 ret", BYTES("\x66\xc3"), -1, false},
	{"lret", BYTES("\xcb"), -1, false},
	{"jmp far [rax]", BYTES("\xff\x28"), -1, false},
	{"endbr32", BYTES("\xf3\x0f\x1e\xfb"), -1, false},
	{"endbr64, cut off", BYTES("\xf3\x0f\x1e"), -1, false},
	{"ret, cut off", BYTES("\xc2\xf0"), -1, false},
};

static void test_rows(const struct arch *arch)
{
	for (const struct row *r = rows; r < rows + ARRAY_SIZE(rows); r++) {
		struct execution e = {0};
		bool is = arch->execution(r->bytes, r->len, &e);

		ok(is == (r->op >= 0), "%s: it is %sdone by a program", r->text,
		   r->op < 0 ? "not " : "");
		if (!is)
			continue;
		ok(e.op == r->op && e.moves_sp == r->moves_sp && e.len == r->len,
		   "%s: what it is, its length, and whether it moves the stack pointer", r->text);
	}
}

/* ---- the processor ---- */

#define AREA	 8192
#define EXIT_AT	 512
#define MEMORY	 6144
#define RANDOMLY 200000

static uint8_t *area; /* the instruction, behind it the exit; the exit; memory */
static struct machine in, out;
static struct code_part part;

struct made {
	uint8_t bytes[15];
	unsigned len;
};

static void put(struct made *m, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		m->bytes[m->len++] = v >> 8 * i;
}

static unsigned any(unsigned n)
{
	return random64() % n;
}

static uint64_t edge(void)
{
	const uint64_t v[] = {0, 1, -1ull, 1ull << 63, (1ull << 63) - 1, 1ull << 31, -128ull, 15};

	return any(2) ? random64() : v[any(8)] + any(3) - 1;
}

/* REX for the register of ModRM and that of r/m. */
static void put_rex(struct made *m, bool wide, unsigned reg, unsigned rm)
{
	uint8_t rex = wide << 3 | reg >> 3 << 2 | rm >> 3;

	if (rex || any(2))
		put(m, 0x40 | rex, 1);
}

static void make_move(struct made *m)
{
	unsigned reg = any(16), rm = any(16);

	put_rex(m, any(2), reg, rm);
	put(m, any(2) ? 0x89 : 0x8b, 1);
	put(m, 0xc0 | (reg & 7) << 3 | (rm & 7), 1);
}

static void make_constant(struct made *m)
{
	unsigned reg = any(16), wide = any(2);

	put_rex(m, wide, 0, reg);
	if (any(2)) {
		put(m, 0xb8 | (reg & 7), 1);
		put(m, edge(), wide ? 8 : 4);
		return;
	}
	put(m, 0xc7, 1);
	put(m, 0xc0 | (reg & 7), 1);
	put(m, edge(), 4);
}

/* Behind the opcode. disp_at: where the displacement is; its size. */
struct address {
	unsigned mod, rm, base, index, scale, disp_at, disp_size;
};
static void choose_address(struct address *a)
{
	*a = (struct address){.mod = any(3), .rm = any(2) ? 4 : any(16), .scale = any(4)};
	a->base = a->rm;
	a->index = RSP;
	if ((a->rm & 7) != 4)
		return;
	a->rm = 4;
	a->base = any(16);
	a->index = any(16);
}
static void put_address(struct made *m, unsigned field, struct address *a)
{
	put(m, a->mod << 6 | (field & 7) << 3 | (a->rm & 7), 1);
	if (a->rm == 4)
		put(m, a->scale << 6 | (a->index & 7) << 3 | (a->base & 7), 1);
	a->disp_at = m->len;
	a->disp_size = a->mod == 1 ? 1 : a->mod == 2 || (a->base & 7) == 5 ? 4 : 0;
	put(m, random64(), a->disp_size);
}
static uint8_t rex_of(const struct address *a)
{
	return 0x40 | (a->rm == 4 ? a->base >> 3 | a->index >> 3 << 1 : a->rm >> 3);
}

static void make_lea(struct made *m)
{
	struct address a;
	unsigned reg = any(16);

	choose_address(&a);
	put(m, rex_of(&a) | any(2) << 3 | reg >> 3 << 2, 1);
	put(m, 0x8d, 1);
	put_address(m, reg, &a);
}

static void make_sum(struct made *m)
{
	bool is_small = any(2);

	in.r[RSP] = edge();
	put(m, 0x48, 1);
	put(m, is_small ? 0x83 : 0x81, 1);
	put(m, any(2) ? 0xc4 : 0xec, 1);
	put(m, edge(), is_small ? 1 : 4);
}

static void point_to_memory(uint64_t content)
{
	memcpy(area + MEMORY, &content, 8);
	in.r[RSP] = (uintptr_t)area + MEMORY;
}

static void make_pop(struct made *m)
{
	unsigned reg = any(16);

	point_to_memory(edge());
	put_rex(m, any(2), 0, reg);
	put(m, 0x58 | (reg & 7), 1);
}

static void make_ret(struct made *m)
{
	point_to_memory((uintptr_t)area + EXIT_AT);
	if (!any(3))
		put(m, 0xf3, 1);
	else if (any(2)) {
		put(m, 0xc2, 1);
		put(m, random64(), 2);
		return;
	}
	put(m, 0xc3, 1);
}

static void make_jump(struct made *m)
{
	unsigned reg = any(16);

	in.r[reg] = (uintptr_t)area + EXIT_AT;
	if (!any(4))
		put(m, 0xf2, 1);
	put_rex(m, any(2), 0, reg);
	put(m, 0xff, 1);
	put(m, 0xe0 | (reg & 7), 1);
}

/* By rip, or by a base register that is none of the index's. */
static void make_jump_by_memory(struct made *m)
{
	struct address a;
	int32_t disp;
	uint64_t index;

	point_to_memory((uintptr_t)area + EXIT_AT);
	do
		choose_address(&a);
	while (a.index == a.base || (!a.mod && (a.base & 7) == 5));
	if (!any(4)) {
		put(m, 0xff, 1);
		put(m, 0x25, 1);
		put(m, MEMORY - 6, 4);
		return;
	}
	put(m, rex_of(&a), 1);
	put(m, 0xff, 1);
	put_address(m, 4, &a);
	disp = 0;
	memcpy(&disp, m->bytes + a.disp_at, a.disp_size);
	disp = a.disp_size == 1 ? (int8_t)disp : disp;
	index = a.rm == 4 && a.index != RSP ? in.r[a.index] << a.scale : 0;
	in.r[a.base] = (uintptr_t)area + MEMORY - disp - index;
}

static void make_landing(struct made *m)
{
	put(m, 0xfa1e0ff3, 4);
}

static void place(const struct made *m)
{
	part.bytes.len = 0;
	code_part__put(&part, m->bytes, m->len);
	put_exit(&part);
	memcpy(area, part.bytes.data, part.bytes.len);
}

static uint64_t register_of(uint8_t reg)
{
	return reg < GENERAL ? in.r[reg] : 0;
}

/* As arch_execute() of bpf/arch/x86_execute.h. */
static void compute(const struct execution *e, struct machine *want, uint64_t *ip)
{
	const struct wire_execution w = {.imm = e->imm,
					 .op = e->op,
					 .bits = e->bits,
					 .dst = e->dst,
					 .base = e->base,
					 .index = e->index,
					 .scale = e->scale,
					 .len = e->len};
	struct x86_execution x = {
		.ip = (uintptr_t)area, .sp = in.r[RSP], .flags = in.flags & 0xffffffff};

	x.base = e->base == X86_NEXT ? x.ip + e->len : register_of(e->base);
	x.index = register_of(e->index);
	if (x86_loads(&w))
		memcpy(&x.loaded, (const void *)(uintptr_t)x86_address(&w, &x), 8);
	x86_execute(&w, &x);
	*want = in;
	if (x.dst < GENERAL)
		want->r[x.dst] = x.value;
	want->r[RSP] = x.sp;
	want->flags = x.flags;
	*ip = x.ip;
}

static unsigned wrong, done[EXECUTE_JMP_MEM + 1];

static void complain(const struct made *m, const char *what)
{
	if (wrong++ >= 10)
		return;
	printf("# %s:", what);
	for (unsigned i = 0; i < m->len; i++)
		printf(" %02x", m->bytes[i]);
	printf("\n");
}

static void check_random(const struct arch *arch)
{
	static void (*const makes[])(struct made * m) = {
		make_move,    make_constant, make_lea,
		make_sum,     make_pop,	     make_ret,
		make_landing, make_jump,     make_jump_by_memory,
	};
	struct made m = {0};
	struct execution e;
	struct machine want;
	uint64_t ip;
	bool leaves;

	machine__randomize(&in);
	for (int i = 0; i < GENERAL; i++)
		in.r[i] = any(2) ? in.r[i] : edge();
	makes[any(ARRAY_SIZE(makes))](&m);
	if (!arch->execution(m.bytes, m.len, &e) || e.len != m.len) {
		complain(&m, "not known");
		return;
	}
	place(&m);
	compute(&e, &want, &ip);
	done[e.op]++;
	leaves = e.op == EXECUTE_RET || e.op == EXECUTE_JMP || e.op == EXECUTE_JMP_MEM;
	if (ip != (uintptr_t)area + (leaves ? EXIT_AT : m.len)) {
		complain(&m, "it leads elsewhere");
		return;
	}
	machine__run(area, &in, &out);
	if (memcmp(out.r, want.r, sizeof(want.r)))
		complain(&m, "other registers");
	if ((out.flags ^ want.flags) & ARITHMETIC)
		complain(&m, "other flags");
}

static void test_processor(const struct arch *arch)
{
	unsigned least = UINT32_MAX;

	area = map_pages(AREA, PROT_READ | PROT_WRITE | PROT_EXEC);
	put_exit(&part);
	memcpy(area + EXIT_AT, part.bytes.data, part.bytes.len);
	machine__init();
	for (unsigned i = 0; i < RANDOMLY; i++)
		check_random(arch);
	for (unsigned i = 0; i <= EXECUTE_JMP_MEM; i++)
		least = min_of(least, done[i]);
	is(wrong, 0, "what is computed is what the processor does");
	ok(least > RANDOMLY / 100, "each operation was tried, at least %u times", least);
}

int main(void)
{
	const struct arch *arch = arch__by_machine(EM_X86_64);

	test_rows(arch);
	if (arch__native() == arch)
		test_processor(arch);
	return tap__done();
}
