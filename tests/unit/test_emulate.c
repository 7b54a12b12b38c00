// SPDX-License-Identifier: BSD-2-Clause
/* What arch_tracee.emulate does with a block of registers and memory is what the processor does:
 * random instructions of all kinds that it knows, with random registers. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <sys/user.h>
#include "copier_fixture.h"

#define CASES		       300000
#define DATA		       4096
#define CODE		       4096
#define MEMORY		       (CODE + DATA)
#define WRITTEN		       16

static const struct arch_tracee *tracee;
static uint8_t *memory, *data, before[DATA], expected[DATA];
static unsigned done, wrong_registers, wrong_flags, wrong_memory, wrong_pc, many_writes;
static unsigned writes, seen[512];

static bool is_data(uint64_t addr, size_t n)
{
	return addr >= (uintptr_t)data && addr - (uintptr_t)data <= DATA - n;
}

static bool read_data(const void *of, uint64_t addr, void *out, size_t n)
{
	(void)of;
	if (!is_data(addr, n) || writes)
		return false;
	memcpy(out, (const void *)(uintptr_t)addr, n);
	return true;
}

/* Kept for later: the processor is to find what was there. */
static bool write_data(const void *of, uint64_t addr, const void *bytes, size_t n)
{
	(void)of;
	if (!is_data(addr, n))
		return false;
	writes++;
	memcpy(expected + (addr - (uintptr_t)data), bytes, n);
	return true;
}

static const struct tracee_memory mem = {NULL, read_data, write_data};

/* ---- instructions ---- */

/* opcodes, of one byte, or of two: 0x100 + the second one */
static uint16_t choose_opcode(void)
{
	static const uint16_t others[] = {
		0x88,  0x89,  0x8a,  0x8b,  0xc6, 0xc7, 0x8d, 0x8d, 0x9c, 0x9e, 0x9f, 0x84,
		0x85,  0xa8,  0xa9,  0xfe,  0xff, 0x86, 0x87, 0x90, 0x80, 0x81, 0x83, 0x83,
		0x1b6, 0x1b7, 0x190, 0x11f, 0x8b, 0x89, 0x3b, 0x2b, 0x80, 0x81,
	};
	uint64_t r = random64();

	switch (r >> 60) {
	case 0:
	case 1:
		return 0x50 + (r & 15); /* push, pop */
	case 2:
		return 0xb0 + (r & 15);
	case 3:
	case 4:
	case 5:
		return (r & 7) * 8 + (r >> 8 & 7) % 6; /* add … cmp */
	default:
		return others[(r & 0xffff) % ARRAY_SIZE(others)];
	}
}

static size_t put_instruction(uint8_t *out)
{
	uint64_t r = random64();
	uint16_t opcode = choose_opcode();
	size_t n = 0;

	if ((r & 31) == 0)
		out[n++] = 0x65; /* gs */
	if ((r >> 8 & 7) == 0)
		out[n++] = 0x66;
	if ((r >> 16 & 3) != 0)
		out[n++] = 0x40 | (r >> 24 & 15);
	if (opcode > 0xff)
		out[n++] = 0x0f;
	out[n++] = (uint8_t)opcode;
	for (unsigned i = 0; i < 12; i++)
		out[n + i] = (uint8_t)random64();
	/* displacements that leave it in the data, mostly */
	if (random64() & 1)
		memset(out + n + 2, 0, 3);
	return n;
}

static void put_jump_out(uint8_t *at)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uint64_t to = (uintptr_t)machine_exit;

	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &to, sizeof(to));
}

/* ---- registers ---- */

static void choose_registers(struct machine *m)
{
	machine__randomize(m);
	for (int i = 0; i < GENERAL; i++) {
		uint64_t r = random64();

		if (r & 1)
			m->r[i] = (uintptr_t)data + DATA / 2 + (r >> 8 & 255);
		else if (r & 2)
			m->r[i] = r >> 8 & 63;
		else if (r & 4)
			m->r[i] = (uint64_t)1 << (r >> 8 & 63);
	}
	m->r[RSP] = (uintptr_t)data + DATA / 2 + (random64() & 63) * 8;
}

static void set_block(struct user_regs_struct *u, const struct machine *m)
{
	*u = (struct user_regs_struct){
		.rax = m->r[RAX],
		.rcx = m->r[RCX],
		.rdx = m->r[RDX],
		.rbx = m->r[RBX],
		.rsp = m->r[RSP],
		.rbp = m->r[RBP],
		.rsi = m->r[RSI],
		.rdi = m->r[RDI],
		.r8 = m->r[R8],
		.r9 = m->r[9],
		.r10 = m->r[R10],
		.r11 = m->r[R11],
		.r12 = m->r[R12],
		.r13 = m->r[R13],
		.r14 = m->r[R14],
		.r15 = m->r[R15],
		.rip = (uintptr_t)memory,
		.eflags = m->flags,
		.gs_base = (uintptr_t)data,
	};
}

static void get_block(const struct user_regs_struct *u, struct machine *m)
{
	*m = (struct machine){{u->rax, u->rcx, u->rdx, u->rbx, u->rsp, u->rbp, u->rsi, u->rdi,
			       u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15},
			      u->eflags};
}

/* ---- one of both ---- */

static void compare(const uint8_t *bytes, const struct machine *want, const struct machine *got,
		    uint64_t written)
{
	bool same = !memcmp(want->r, got->r, sizeof(want->r));

	wrong_registers += !same;
	wrong_flags += want->flags != got->flags;
	wrong_memory += memcmp(data, expected, DATA) != 0;
	many_writes += written > 1;
	if (!same || want->flags != got->flags || memcmp(data, expected, DATA))
		printf("# %02x %02x %02x %02x %02x %02x %02x %02x: flags %lx, the processor %lx\n",
		       bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6],
		       bytes[7], (long)got->flags, (long)want->flags);
}

static void run_case(void)
{
	struct machine in, want, got;
	struct user_regs_struct u;
	uint8_t bytes[32];
	size_t opcode = put_instruction(bytes), len;

	choose_registers(&in);
	set_block(&u, &in);
	memcpy(before, data, DATA);
	memcpy(expected, data, DATA);
	writes = 0;
	if (!tracee->emulate(&u, bytes, 16, &mem))
		return;
	done++;
	seen[bytes[opcode - 1]]++;
	len = u.rip - (uintptr_t)memory;
	wrong_pc += !len || len > 15;
	memcpy(memory, bytes, len);
	put_jump_out(memory + len);
	machine__run(memory, &in, &want);
	get_block(&u, &got);
	compare(bytes, &want, &got, writes);
	/* once more from the same registers, as if the tracer had been killed: the same memory */
	if (writes) {
		machine__run(memory, &in, &want);
		wrong_memory += memcmp(data, expected, DATA) != 0;
	}
}

static void test_random(void)
{
	unsigned kinds = 0;

	for (int i = 0; i < CASES; i++)
		run_case();
	for (int i = 0; i < 256; i++)
		kinds += seen[i] > 0;
	ok(done > CASES / 5, "%u of %u random instructions are emulated", done, CASES);
	ok(kinds > 90, "%u opcodes", kinds);
	is(wrong_registers, 0, "all registers are as the processor leaves them");
	is(wrong_flags, 0, "and all flags");
	is(wrong_memory, 0, "and memory, even if it is done twice");
	is(wrong_pc, 0, "and the pc");
	is(many_writes, 0, "memory is written once at most, after it was read");
}

/* ---- what it must not do ---- */

static bool emulates(const char *bytes, size_t n, uint64_t flags)
{
	uint8_t code[16] = {0};
	struct user_regs_struct u, was;
	struct machine m;
	bool done_it;

	memcpy(code, bytes, n);
	choose_registers(&m);
	m.flags |= flags;
	m.r[RBX] = (uintptr_t)data;
	set_block(&u, &m);
	was = u;
	writes = 0;
	done_it = tracee->emulate(&u, code, sizeof(code), &mem);
	if (!done_it && memcmp(&u, &was, sizeof(u)))
		abort();
	return done_it;
}
#define EMULATES(bytes, flags) emulates((bytes), sizeof(bytes) - 1, (flags))

static void test_refused(void)
{
	uint64_t low, high;

	ok(EMULATES("\x48\x89\x03", 0), "a store");
	ok(!EMULATES("\x48\x89\x03", 0x100), "not while the program steps itself");
	ok(!EMULATES("\x48\x01\x03", 0), "what adds to memory is left to the processor");
	ok(!EMULATES("\x48\xff\x03", 0), "and what counts there");
	ok(!EMULATES("\x48\x87\x03", 0), "and what exchanges with it");
	ok(!EMULATES("\xf0\x48\x21\x03", 0), "and what is locked");
	ok(!EMULATES("\xf3\x41\x90", 0), "rep xchg %%r8,%%rax is not pause");
	ok(EMULATES("\xf3\x90", 0), "pause");
	ok(!EMULATES("\xc3", 0) && !EMULATES("\x0f\x05", 0) && !EMULATES("\xcc", 0) &&
		   !EMULATES("\xf4", 0),
	   "nor branches, system calls, breakpoints, privileged ones");
	ok(!EMULATES("\x8e\xd8", 0), "nor segment registers");
	ok(!EMULATES("\x67\x8b\x03", 0), "nor addresses of 32 bits");
	ok(!EMULATES("\x0f\x10\x03", 0) && !EMULATES("\x48\x0f\xaf\xc3", 0) &&
		   !EMULATES("\x48\xd3\xe0", 0),
	   "nor vectors, products and shifts");
	low = arch__by_machine(EM_X86_64)->ticks();
	{
		uint8_t rdtsc[16] = {0x0f, 0x31};
		struct user_regs_struct u = {.rip = 1, .eflags = 0x202};

		ok(tracee->emulate(&u, rdtsc, sizeof(rdtsc), &mem) && u.rip == 3, "rdtsc");
		high = arch__by_machine(EM_X86_64)->ticks();
		ok((u.rdx << 32 | u.rax) - low <= high - low && !(u.rax >> 32),
		   "it says what time it is");
	}
}

int main(void)
{
	tracee = arch__by_machine(EM_X86_64)->tracee;
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED || syscall(SYS_arch_prctl, ARCH_SET_GS, memory + CODE))
		abort();
	data = memory + CODE;
	for (int i = 0; i < DATA; i += 8)
		*(uint64_t *)(data + i) = random64();
	test_random();
	test_refused();
	return tap__done();
}
#endif
