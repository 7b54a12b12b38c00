// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions and operands compared with the processor that runs the test: each conditional with all
 * combinations of the flags, loops and jrcxz with counters around zero and 2^32, indirect jumps
 * through every kind of operand.
 */
#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "code_fixture.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP needs an x86-64 processor\n");
	return 0;
}
#else

static const struct arch *x86;
static uint8_t *page;
static size_t used;

static void emit(const void *bytes, size_t len)
{
	memcpy(page + used, bytes, len);
	used += len;
}
#define EMIT(...)                                                                                  \
	({                                                                                         \
		const uint8_t b_[] = {__VA_ARGS__};                                                \
		emit(b_, sizeof(b_));                                                              \
	})

typedef uint64_t (*stub_fn)(uint64_t flags, uint64_t counter);

/* push %rdi; popf; mov %rsi,%rcx; BRANCH +6; mov $0,%eax; ret; mov $1,%eax; ret */
static stub_fn branch_stub(const uint8_t *branch, size_t len, struct insn *insn)
{
	used = 0;
	EMIT(0x57, 0x9d, 0x48, 0x89, 0xf1);
	x86->decode(branch, len, 0, false, insn);
	emit(branch, len);
	EMIT(0xb8, 0, 0, 0, 0, 0xc3, 0xb8, 1, 0, 0, 0, 0xc3);
	return (stub_fn)(uintptr_t)page;
}

/* CF PF AF ZF SF OF, and DF and TF left alone */
static uint16_t flags_of(unsigned bits)
{
	static const uint16_t flag[] = {1, 4, 0x10, 0x40, 0x80, 0x800};
	uint16_t flags = 2;

	for (unsigned i = 0; i < ARRAY_SIZE(flag); i++)
		if (bits >> i & 1)
			flags |= flag[i];
	return flags;
}

/* Gives taken() the registers that the decoder says the branch reads, by their names. */
static bool decides(const struct insn *i, uint64_t flags, uint64_t counter)
{
	uint64_t reads[2] = {0};

	for (unsigned k = 0; k < 2 && i->reads[k] != REG_NONE; k++)
		reads[k] = !strcmp(x86->reg_names[i->reads[k]], "flags") ? flags
			   : !strcmp(x86->reg_names[i->reads[k]], "rcx") ? counter
									 : ~0ull;
	return x86->taken(i->kind, i->cond, reads);
}

static void test_jcc(void)
{
	for (unsigned cc = 0; cc < 16; cc++)
		for (unsigned form = 0; form < 2; form++) {
			uint8_t near[] = {0x0f, 0x80 | cc, 6, 0, 0, 0}, small[] = {0x70 | cc, 6};
			unsigned wrong = 0, taken = 0;
			struct insn i;
			stub_fn stub = form ? branch_stub(near, sizeof(near), &i)
					    : branch_stub(small, sizeof(small), &i);

			for (unsigned bits = 0; bits < 64; bits++) {
				uint64_t did = stub(flags_of(bits), 0);

				taken += did;
				wrong += did != decides(&i, flags_of(bits), 0);
			}
			ok(!wrong && taken && taken < 64,
			   "%s of %u bytes is decided as by the processor, 64 flags (%u wrong)",
			   i.mnemonic, i.len, wrong);
		}
}

static void test_loops(void)
{
	static const uint64_t counters[] = {
		0,	     1,		  2,	       3,	   0xffffffff,
		0x100000000, 0x100000001, 0x100000002, UINT64_MAX, 0x8000000000000000,
	};

	for (unsigned op = 0xe0; op <= 0xe3; op++)
		for (unsigned addr32 = 0; addr32 < 2; addr32++) {
			uint8_t code[] = {0x67, op, 6};
			struct insn i;
			stub_fn stub = branch_stub(code + !addr32, sizeof(code) - !addr32, &i);
			unsigned wrong = 0;

			for (unsigned n = 0; n < ARRAY_SIZE(counters); n++)
				for (unsigned bits = 0; bits < 64; bits++)
					wrong += stub(flags_of(bits), counters[n]) !=
						 decides(&i, flags_of(bits), counters[n]);
			is(wrong, 0,
			   "%s%s is decided as by the processor, %zu counters with 64 flags",
			   addr32 ? "addr32 " : "", i.mnemonic, ARRAY_SIZE(counters));
		}
}

/* ---- operands: jmp *OPERAND goes to the address stored where the decoded operand says ---- */

/* Low memory, so that 32-bit addresses and displacements can name it too. */
static uint64_t *low;
#define LOW	 0x10000000ul
#define LOW_SIZE 0x100000ul

static uint64_t gs_base;

static uint64_t address_of(const struct operand *op, const uint64_t regs[16], uint64_t next)
{
	uint64_t a = op->base == REG_IP ? next : op->base == REG_NONE ? 0 : regs[op->base];

	if (op->index != REG_NONE)
		a += regs[op->index] * op->scale;
	a += op->disp;
	return (op->addr32 ? (uint32_t)a : a) + (op->seg == SEG_GS ? gs_base : 0);
}

static unsigned build_jump(uint64_t regs[16], const uint8_t *jump, size_t len)
{
	/* push rbx rbp r12 … r15; mov %rsp,SAVED; mov $imm,reg …; jmp */
	used = 0;
	EMIT(0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57);
	EMIT(0x48, 0xb8);
	emit(&(uint64_t){(uint64_t)(page + 2048)}, 8);
	EMIT(0x48, 0x89, 0x20); /* mov %rsp,(%rax) */
	for (unsigned r = 0; r < 16; r++) {
		EMIT(r < 8 ? 0x48 : 0x49, 0xb8 | (r & 7));
		emit(&regs[r], 8);
	}
	emit(jump, len);
	return used - len;
}

/* Where the jump has to go: it fetches %rsp back and returns 1. */
static uint64_t landing(void)
{
	size_t keep = used;
	uint64_t at;

	used = 1024;
	at = (uint64_t)(page + used);
	EMIT(0x48, 0xb8);
	emit(&(uint64_t){(uint64_t)(page + 2048)}, 8);
	EMIT(0x48, 0x8b, 0x20); /* mov (%rax),%rsp */
	EMIT(0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xb8, 1, 0, 0, 0, 0xc3);
	used = keep;
	return at;
}

static bool jump_lands(const uint8_t *jump, size_t len)
{
	uint64_t regs[16], addr;
	struct insn i;
	unsigned at;

	for (unsigned r = 0; r < 16; r++)
		regs[r] = LOW + 0x20000 + r * 0x1008;
	if (x86->decode(jump, len, 0, false, &i) || i.len != len || i.kind != BRANCH_IJMP)
		return false;
	if (i.operand.index != REG_NONE)
		regs[i.operand.index] = i.operand.index == i.operand.base
						? (LOW + 0x20000) / (1 + i.operand.scale)
						: 0x108;
	at = build_jump(regs, jump, len);
	if (i.operand.kind == OPERAND_REG) {
		regs[i.operand.base] = landing();
		build_jump(regs, jump, len);
		return ((stub_fn)(uintptr_t)page)(0, 0) == 1;
	}
	addr = address_of(&i.operand, regs, (uint64_t)page + at + len);
	if (addr < LOW || addr >= LOW + LOW_SIZE - 8)
		return false;
	memset(low, 0, LOW_SIZE); /* another address would lead to 0 */
	memcpy((void *)addr, &(uint64_t){landing()}, 8);
	return ((stub_fn)(uintptr_t)page)(0, 0) == 1;
}

static size_t encode(uint8_t *out, bool addr32, uint8_t mod, uint8_t base, uint8_t index,
		     uint8_t scale, int32_t disp)
{
	size_t n = 0;
	bool sib = index != REG_NONE || (base & 7) == 4;

	if (addr32)
		out[n++] = 0x67;
	if (base > 7 || (index != REG_NONE && index > 7))
		out[n++] = 0x40 | (base > 7) | (index != REG_NONE && index > 7 ? 2 : 0);
	out[n++] = 0xff;
	out[n++] = mod << 6 | 4 << 3 | (sib ? 4 : base & 7);
	if (sib)
		out[n++] = scale << 6 | (index == REG_NONE ? 4 : index & 7) << 3 | (base & 7);
	if (mod == 1)
		out[n++] = disp;
	if (mod == 2) {
		memcpy(out + n, &disp, 4);
		n += 4;
	}
	return n;
}

static void test_operands(void)
{
	unsigned wrong = 0, tried = 0;
	uint8_t code[16];

	for (uint8_t base = 0; base < 16; base++)
		for (uint8_t index = 0; index < 17; index++)
			for (unsigned k = 0; k < 12; k++) {
				uint8_t mod = k % 3, ix = index == 16 ? REG_NONE : index;
				size_t n;

				if (index == 4 || (mod == 0 && (base & 7) == 5))
					continue;
				n = encode(code, k / 6, mod, base, ix, k % 4,
					   mod == 1 ? -0x70 : 0x1230);
				tried++;
				if (!jump_lands(code, n) && wrong++ < 5)
					printf("# base %u index %u scale %u mod %u\n", base, index,
					       k % 4, mod);
			}
	is(wrong, 0,
	   "%u operands with base, index and displacement are decoded as by the processor", tried);
	for (uint8_t r = 0; r < 16; r++) {
		uint8_t reg[] = {0x41, 0xff, 0xe0 | (r & 7)};

		ok(jump_lands(reg + (r < 8), 3 - (r < 8)),
		   "jmp *%%%s is decoded as by the processor", x86->reg_names[r]);
	}
}

static void test_absolute(void)
{
	int32_t disp = LOW + 0x5678;
	uint8_t abs[] = {0xff, 0x24, 0x25, 0, 0, 0, 0};	  /* jmp *disp32 */
	uint8_t index[] = {0xff, 0x24, 0xcd, 0, 0, 0, 0}; /* jmp *disp32(,%rcx,8) */
	uint8_t r13[] = {0x41, 0xff, 0x64, 0x25, 0};	  /* jmp *0(%r13) by SIB */
	uint8_t rip[] = {0xff, 0x25, 0, 0, 0, 0};

	memcpy(abs + 3, &disp, 4);
	memcpy(index + 3, &disp, 4);
	ok(jump_lands(abs, sizeof(abs)), "an absolute operand is decoded as by the processor");
	ok(jump_lands(index, sizeof(index)),
	   "an operand with an index and no base is decoded as by the processor");
	ok(jump_lands(r13, sizeof(r13)),
	   "an operand with r13 by SIB is decoded as by the processor");
	/* the code page lies below LOW: relative to rip it can be reached */
	disp = (int64_t)LOW + 0x4000 - (int64_t)(uint64_t)page - 183;
	memcpy(rip + 2, &disp, 4);
	ok(jump_lands(rip, sizeof(rip)),
	   "an operand relative to rip is decoded as by the processor");
}

/* Programs don't use gs, so its base can be moved. */
static void test_segment(void)
{
	uint8_t abs[] = {0x65, 0xff, 0x24, 0x25, 0x10, 0x20, 0, 0}; /* jmp *%gs:0x2010 */
	uint8_t rax[] = {0x65, 0xff, 0x60, 0x18};		    /* jmp *%gs:0x18(%rax) */

	gs_base = LOW;
	if (syscall(SYS_arch_prctl, 0x1001 /* ARCH_SET_GS */, LOW)) {
		ok(1,
		   "an absolute operand in gs is decoded as by the processor # SKIP the base of gs can't be set");
		return;
	}
	ok(jump_lands(abs, sizeof(abs)),
	   "an absolute operand in gs is decoded as by the processor");
	syscall(SYS_arch_prctl, 0x1001, 0x8000);
	gs_base = 0x8000;
	ok(jump_lands(rax, sizeof(rax)),
	   "an operand with a base in gs is decoded as by the processor");
}

int main(void)
{
	x86 = arch__by_machine(EM_X86_64);
	page = mmap((void *)(LOW - 0x100000), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	low = mmap((void *)LOW, LOW_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (page == MAP_FAILED || low == MAP_FAILED) {
		printf("1..0 # SKIP can't map code here\n");
		return 0;
	}
	test_jcc();
	test_loops();
	test_operands();
	test_absolute();
	test_segment();
	return tap__done();
}
#endif
