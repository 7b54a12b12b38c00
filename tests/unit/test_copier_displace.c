// SPDX-License-Identifier: BSD-2-Clause
/* Copies of instructions do what the originals do: both are executed natively. */
#include "tap.h"

#ifndef __x86_64__
int main(void)
{
	printf("1..0 # SKIP executes x86-64 code\n");
	return 0;
}
#else
#include <errno.h>
#include <link.h>
#include "copier_fixture.h"

#define DATA_SIZE  512
#define DISTANCE   0x11, 0x22, 0x33, 0x44 /* replaced by that to the data */
#define STACK_USED 64

static const struct arch *x86;
static const struct arch_copier *copier;
/* One mapping: the originals, what they address, their copies, a stack. */
static uint8_t *original, *data, *copy, *stack;

static void random_bytes(uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = random64();
}

/* ---- forms ---- */

struct form {
	const char *name;
	uint8_t bytes[16];
	uint8_t len;
};
#define FORM(name, ...)                                                                            \
	{                                                                                          \
		name, {__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})                              \
	}

static const struct form forms[] = {
	FORM("mov x(%rip),%rax", 0x48, 0x8b, 0x05, DISTANCE),
	FORM("mov %r13,x(%rip)", 0x4c, 0x89, 0x2d, DISTANCE),
	FORM("movl $imm,x(%rip)", 0xc7, 0x05, DISTANCE, 1, 2, 3, 4),
	FORM("movq $imm,x(%rip)", 0x48, 0xc7, 0x05, DISTANCE, 1, 2, 3, 0xf4),
	FORM("movw $imm,x(%rip)", 0x66, 0xc7, 0x05, DISTANCE, 1, 2),
	FORM("movb $imm,x(%rip)", 0xc6, 0x05, DISTANCE, 7),
	FORM("addq $imm8,x(%rip)", 0x48, 0x83, 0x05, DISTANCE, 0x85),
	FORM("cmpl $imm,x(%rip)", 0x81, 0x3d, DISTANCE, 1, 2, 3, 4),
	FORM("testb $imm,x(%rip)", 0xf6, 0x05, DISTANCE, 0x55),
	FORM("imul $imm,x(%rip),%ebx", 0x69, 0x1d, DISTANCE, 1, 2, 3, 4),
	FORM("imul $imm8,x(%rip),%rbx", 0x48, 0x6b, 0x1d, DISTANCE, 0x93),
	FORM("shll $3,x(%rip)", 0xc1, 0x25, DISTANCE, 3),
	FORM("incl x(%rip)", 0xff, 0x05, DISTANCE),
	FORM("lea x(%rip),%rsi", 0x48, 0x8d, 0x35, DISTANCE),
	FORM("lea x(%rip),%r9", 0x4c, 0x8d, 0x0d, DISTANCE),
	FORM("lea x(%rip),%ecx", 0x8d, 0x0d, DISTANCE),
	FORM("movups x(%rip),%xmm0", 0x0f, 0x10, 0x05, DISTANCE),
	FORM("movups %xmm3,x(%rip)", 0x0f, 0x11, 0x1d, DISTANCE),
	FORM("pshufd $imm,x(%rip),%xmm1", 0x66, 0x0f, 0x70, 0x0d, DISTANCE, 0x1b),
	FORM("palignr $imm,x(%rip),%xmm1", 0x66, 0x0f, 0x3a, 0x0f, 0x0d, DISTANCE, 3),
	FORM("pinsrw $imm,x(%rip),%xmm1", 0x66, 0x0f, 0xc4, 0x0d, DISTANCE, 3),
	FORM("lock xadd %rdx,x(%rip)", 0xf0, 0x48, 0x0f, 0xc1, 0x15, DISTANCE),
	FORM("lock cmpxchg %rdx,x(%rip)", 0xf0, 0x48, 0x0f, 0xb1, 0x15, DISTANCE),
	FORM("xchg %rdi,x(%rip)", 0x48, 0x87, 0x3d, DISTANCE),
	FORM("cmove x(%rip),%rbp", 0x48, 0x0f, 0x44, 0x2d, DISTANCE),
	FORM("sete x(%rip)", 0x0f, 0x94, 0x05, DISTANCE),
	FORM("btsq $imm,x(%rip)", 0x48, 0x0f, 0xba, 0x2d, DISTANCE, 5),
	FORM("movzbl x(%rip),%r8d", 0x44, 0x0f, 0xb6, 0x05, DISTANCE),
	FORM("push x(%rip)", 0xff, 0x35, DISTANCE),
	FORM("pop x(%rip)", 0x8f, 0x05, DISTANCE),
	FORM("fildll x(%rip)", 0xdf, 0x2d, DISTANCE),
	FORM("mulq x(%rip)", 0x48, 0xf7, 0x25, DISTANCE),
	FORM("nopl x(%rip)", 0x0f, 0x1f, 0x05, DISTANCE),
	FORM("prefetcht0 x(%rip)", 0x0f, 0x18, 0x0d, DISTANCE),
	FORM("endbr64", 0xf3, 0x0f, 0x1e, 0xfa),
	FORM("mov 8(%rsp),%rax", 0x48, 0x8b, 0x44, 0x24, 8),
	FORM("push %rbp", 0x55),
	FORM("pop %rbx", 0x5b),
	FORM("pushf", 0x9c),
	FORM("sub $32,%rsp", 0x48, 0x83, 0xec, 32),
	FORM("mov %fs:0,%rax", 0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0),
	FORM("adc %rcx,%rdx", 0x48, 0x11, 0xca),
	FORM("cmc", 0xf5),
	FORM("movabs $imm,%rax", 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8),
};
/* They go to machine_exit by themselves: its address is on the stack, in rax and in the data. */
static const struct form leaving[] = {
	FORM("ret", 0xc3),
	FORM("rep ret", 0xf3, 0xc3),
	FORM("ret $16", 0xc2, 16, 0),
	FORM("jmp *%rax", 0xff, 0xe0),
	FORM("notrack jmp *%rax", 0x3e, 0xff, 0xe0),
	FORM("jmp *x(%rip)", 0xff, 0x25, DISTANCE),
	FORM("notrack jmp *x(%rip)", 0x3e, 0xff, 0x25, DISTANCE),
	FORM("jmp *(%rsp)", 0xff, 0x24, 0x24),
};
static const struct form refused[] = {
	FORM("jmp rel32", 0xe9, 0, 0, 0, 0),
	FORM("jmp rel8", 0xeb, 0),
	FORM("je rel8", 0x74, 0),
	FORM("je rel32", 0x0f, 0x84, 0, 0, 0, 0),
	FORM("loop", 0xe2, 0),
	FORM("jrcxz", 0xe3, 0),
	FORM("call rel32", 0xe8, 0, 0, 0, 0),
	FORM("call *%rax", 0xff, 0xd0),
	FORM("call *x(%rip)", 0xff, 0x15, 0, 0, 0, 0),
	FORM("lcall *(%rax)", 0xff, 0x18),
	FORM("ljmp *(%rax)", 0xff, 0x28),
	FORM("syscall", 0x0f, 0x05),
	FORM("sysenter", 0x0f, 0x34),
	FORM("int $0x80", 0xcd, 0x80),
	FORM("int3", 0xcc),
	FORM("int1", 0xf1),
	FORM("ud2", 0x0f, 0x0b),
	FORM("iret", 0x48, 0xcf),
	FORM("lret", 0xcb),
	FORM("lret $8", 0xca, 8, 0),
	FORM("xbegin", 0xc7, 0xf8, 0, 0, 0, 0),
	FORM("xabort", 0xc6, 0xf8, 0),
	FORM("jkzd (Xeon Phi)", 0xc5, 0x58, 0x84, 0, 0, 0, 0),
	FORM("mov x(%eip),%eax", 0x67, 0x8b, 0x05, 0, 0, 0, 0),
	FORM("jmp *x(%eip)", 0x67, 0xff, 0x25, 0, 0, 0, 0),
	FORM("mov %gs:0,%rax", 0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0),
	FORM("mov %gs:(%rax),%rax", 0x65, 0x48, 0x8b, 0x00),
	FORM("jmp *%gs:(%rax)", 0x65, 0xff, 0x20),
	FORM("movsb %gs:(%rsi),(%rdi)", 0x65, 0xa4),
	FORM("movabs %gs:0,%al", 0x65, 0xa0, 0, 0, 0, 0, 0, 0, 0, 0),
	FORM("vmovups %gs:(%rax),%xmm0", 0x65, 0xc5, 0xf8, 0x10, 0x00),
	FORM("mov %eax,%gs", 0x8e, 0xe8),
	FORM("mov %gs,%eax", 0x8c, 0xe8),
	FORM("pop %gs", 0x0f, 0xa9),
	FORM("lgs (%rax),%eax", 0x0f, 0xb5, 0x00),
	FORM("swapgs", 0x0f, 0x01, 0xf8),
	FORM("rdgsbase %rax", 0xf3, 0x48, 0x0f, 0xae, 0xc8),
	FORM("wrgsbase %rax", 0xf3, 0x48, 0x0f, 0xae, 0xd8),
	FORM("no instruction", 0x06),
	FORM("half an instruction", 0x48, 0x8b, 0x05, 0, 0),
};
/* What this processor needn't have. */
static const struct form accepted[] = {
	FORM("rdpkru", 0x0f, 0x01, 0xee),
	FORM("rdfsbase %rax", 0xf3, 0x48, 0x0f, 0xae, 0xc0),
	FORM("vpaddd x(%rip),%xmm1,%xmm0", 0xc5, 0xf1, 0xfe, 0x05, DISTANCE),
	FORM("vpalignr $3,x(%rip),%xmm1,%xmm0", 0xc4, 0xe3, 0x71, 0x0f, 0x05, DISTANCE, 3),
	FORM("vmovups x(%rip),%zmm0", 0x62, 0xf1, 0x7c, 0x48, 0x10, 0x05, DISTANCE),
	FORM("vpternlogd $3,x(%rip),%zmm1,%zmm0", 0x62, 0xf3, 0x75, 0x48, 0x25, 0x05, DISTANCE, 3),
	FORM("bextr $imm,x(%rip),%eax", 0x8f, 0xea, 0x78, 0x10, 0x05, DISTANCE, 1, 2, 3, 4),
};

/* The form at the original's place, with the distance to the data. */
static void place_form(const struct form *f, unsigned slot)
{
	static const uint8_t mark[] = {DISTANCE};
	int32_t distance = data + slot - (original + f->len);
	uint8_t *at;

	memcpy(original, f->bytes, f->len);
	at = memmem(original, f->len, mark, sizeof(mark));
	if (at)
		memcpy(at, &distance, sizeof(distance));
}

static bool in_reach(uint64_t to)
{
	return to - (uintptr_t)copy + 0x7fff0000 < 0xfffe0000;
}

static int place_copy(const uint8_t *bytes, size_t len, uint64_t vaddr, bool leaves)
{
	struct code_buffer c = {0};
	int rc = copier->displace(&c, bytes, len, vaddr);

	if (!rc && c.hot.fixups.len && !in_reach(c.hot.fixups.data[0].to))
		rc = -ERANGE;
	if (!rc && !leaves)
		put_exit(&c.hot);
	if (!rc)
		place_code(&c, copy);
	code_buffer__free(&c);
	return rc;
}

struct world {
	struct machine m;
	uint8_t data[DATA_SIZE], stack[2 * STACK_USED], fp[FP_SIZE];
};

static void execute(const uint8_t *code, const struct world *in, struct world *out)
{
	memcpy(data, in->data, DATA_SIZE);
	memcpy(stack, in->stack, sizeof(in->stack));
	memcpy(machine_fp + FP_REGISTERS, in->fp, FP_SIZE);
	machine__run(code, &in->m, &out->m);
	memcpy(out->fp, machine_fp_out + FP_REGISTERS, FP_SIZE);
	memcpy(out->data, data, DATA_SIZE);
	memcpy(out->stack, stack, sizeof(out->stack));
}

static bool is_same(const struct form *f, bool leaves)
{
	struct code_part end = {0};
	struct world in, a, b;
	uint64_t exit = (uintptr_t)machine_exit;
	unsigned slot = random64() % 8 * 16;

	machine__randomize(&in.m);
	random_bytes(in.data, sizeof(in.data));
	random_bytes(in.stack, sizeof(in.stack));
	random_bytes(in.fp, sizeof(in.fp));
	in.m.r[RSP] = (uintptr_t)stack + STACK_USED;
	if (leaves) {
		in.m.r[RAX] = exit;
		memcpy(in.data + slot, &exit, 8);
		memcpy(in.stack + STACK_USED, &exit, 8);
	}
	place_form(f, slot);
	put_exit(&end);
	memcpy(original + f->len, end.bytes.data, end.bytes.len);
	vec__free(&end.bytes);
	if (place_copy(original, f->len, (uintptr_t)original, leaves))
		return false;
	execute(original, &in, &a);
	execute(copy, &in, &b);
	return !memcmp(&a, &b, sizeof(a));
}

static void test_forms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms) + ARRAY_SIZE(leaving); i++) {
		bool leaves = i >= ARRAY_SIZE(forms);
		const struct form *f = leaves ? &leaving[i - ARRAY_SIZE(forms)] : &forms[i];
		unsigned bad = 0;

		for (unsigned n = 0; n < 50; n++)
			bad += !is_same(f, leaves);
		is(bad, 0, "%s", f->name);
	}
}

static void test_refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		is(place_copy(refused[i].bytes, refused[i].len, (uintptr_t)original, true),
		   -ENOTSUP, "refused: %s", refused[i].name);
}

/* ---- whole libraries, as text ---- */

/* The copy's text, at its own address, is the original's. */
static bool reads_same(const uint8_t *bytes, size_t len)
{
	char a[128], b[128];

	return x86->format(bytes, len, (uintptr_t)bytes, a, sizeof(a)) &&
	       x86->format(copy, len, (uintptr_t)copy, b, sizeof(b)) && !strcmp(a, b);
}

static void test_accepted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		const struct form *f = &accepted[i];

		place_form(f, 0);
		ok(!place_copy(original, f->len, (uintptr_t)original, true) &&
			   reads_same(original, f->len),
		   "%s", f->name);
	}
}

static uint8_t *text;
static size_t text_size;

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			text = (uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			text_size = info->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

static void test_libc(void)
{
	unsigned done = 0, bad = 0, refusals = 0;
	struct insn insn;

	dl_iterate_phdr(find_libc, NULL);
	for (size_t at = 0; at + 15 < text_size; at += insn.len) {
		if (x86->decode(text + at, 15, (uintptr_t)text + at, false, &insn)) {
			insn.len = 1;
			continue;
		}
		if (insn.flow != FLOW_NEXT || insn.enters_kernel)
			continue;
		if (place_copy(text + at, insn.len, (uintptr_t)text + at, true))
			refusals++;
		else if (!reads_same(text + at, insn.len) && bad++ < 3)
			printf("# differs: at %zx\n", at);
		done++;
	}
	is(bad, 0, "the copies of libc's instructions read as the originals do");
	ok(done > 100000, "%u instructions", done);
	ok(refusals * 1000 < done, "%u refused", refusals);
}

static void describe(size_t len)
{
	printf("# differs:");
	for (size_t i = 0; i < len; i++)
		printf(" %02x", original[i]);
	printf("\n");
}

/* Random bytes: whatever isn't refused reads the same. */
static void test_random(void)
{
	unsigned done = 0, bad = 0;

	for (unsigned i = 0; i < 200000; i++) {
		struct insn insn;

		random_bytes(original, 15);
		if (i % 2)
			original[random64() % 6] = 0x05; /* ModRM of rip-relative operands */
		memset(copy, 0xcc, 32);
		if (place_copy(original, 15, (uintptr_t)original, true))
			continue;
		done++;
		x86->decode(original, 15, 0, false, &insn);
		if (reads_same(original, insn.len) && copy[insn.len] == 0xcc)
			continue;
		if (bad++ < 3)
			describe(insn.len);
	}
	is(bad, 0, "random bytes that are copied read as before");
	ok(done > 50000, "%u were", done);
}

/* ---- branches ---- */

/* rax becomes 1 if the branch is taken, else 0. */
static void put_outcome(struct code_part *p, uint8_t value)
{
	const uint8_t set[] = {0xb8, value, 0, 0, 0};

	code_part__put(p, set, sizeof(set));
	put_exit(p);
}

static int place_branch(const uint8_t *bytes, size_t len)
{
	struct code_buffer c = {0}, o = {0};
	uint32_t label = code_buffer__label(&c);
	struct insn insn;
	int rc;

	x86->decode(bytes, len, 0, false, &insn);
	rc = copier->branch(&c, &insn, bytes, label);
	put_outcome(&c.hot, 0);
	code_buffer__set(&c, label, false);
	put_outcome(&c.hot, 1);
	code_part__put(&o.hot, bytes, len);
	put_outcome(&o.hot, 0);
	put_outcome(&o.hot, 1);
	place_code(&c, copy);
	place_code(&o, original);
	code_buffer__free(&c);
	code_buffer__free(&o);
	return rc;
}

#define OUTCOME_SIZE 19

static void test_branch(const uint8_t *bytes, size_t len, const char *name)
{
	static const uint64_t counts[] = {0, 1, 2, 1ull << 32, (1ull << 32) + 1, (1ull << 32) + 2};
	unsigned bad = 0, taken = 0;

	is(place_branch(bytes, len), 0, "%s is copied", name);
	for (unsigned i = 0; i < 500; i++) {
		struct machine in, a, b;

		machine__randomize(&in);
		in.r[RSP] = (uintptr_t)stack;
		in.r[RCX] = counts[i % ARRAY_SIZE(counts)];
		machine__run(original, &in, &a);
		machine__run(copy, &in, &b);
		bad += memcmp(&a, &b, sizeof(a)) != 0;
		taken += a.r[RAX];
	}
	is(bad, 0, "%s", name);
	ok(taken > 0 && taken < 500, "taken %u times of 500", taken);
}

static void test_branches(void)
{
	for (uint8_t cc = 0; cc < 16; cc++) {
		const uint8_t near[] = {0x0f, 0x80 | cc, OUTCOME_SIZE, 0, 0, 0};
		const uint8_t hinted[] = {0x3e, 0x70 | cc, OUTCOME_SIZE};
		struct insn insn;

		x86->decode(near, sizeof(near), 0, false, &insn);
		test_branch(near, sizeof(near), insn.mnemonic);
		test_branch(hinted, sizeof(hinted), insn.mnemonic);
	}
	for (uint8_t op = 0xe0; op < 0xe4; op++) {
		const uint8_t loop[] = {0x67, op, OUTCOME_SIZE};
		struct insn insn;

		x86->decode(loop, 3, 0, false, &insn);
		test_branch(loop, 3, insn.mnemonic);
		x86->decode(loop + 1, 2, 0, false, &insn);
		test_branch(loop + 1, 2, insn.mnemonic);
	}
	is(place_branch((uint8_t[]){0x66, 0x0f, 0x84, OUTCOME_SIZE, 0, 0, 0}, 7), -ENOTSUP,
	   "data16 je is refused");
	is(place_branch((uint8_t[]){0xeb, OUTCOME_SIZE}, 2), -ENOTSUP, "so is jmp");
}

static void test_jumps(void)
{
	struct code_buffer c = {0}, o = {0};
	struct machine in, out, want;
	uint64_t top;
	uint32_t label = code_buffer__label(&c);

	put_exit(&o.hot);
	place_code(&o, original);
	copier->jump(&c, true, label);
	put_outcome(&c.hot, 0);
	code_buffer__set(&c, label, false);
	copier->push_return(&c, (uintptr_t)data, (uint8_t[]){0xe8, 0, 0, 0, 0}, 5);
	copier->jump(&c, false, (uintptr_t)original);
	place_code(&c, copy);
	machine__randomize(&in);
	in.r[RSP] = (uintptr_t)stack + STACK_USED;
	random_bytes(stack, 2 * STACK_USED);
	memcpy(&top, stack + STACK_USED, 8);
	want = in;
	want.r[RSP] -= 8;
	machine__run(copy, &in, &out);
	ok(!memcmp(&out, &want, sizeof(out)), "push_return changes the stack pointer only");
	is(*(uint64_t *)(stack + STACK_USED - 8), (uintptr_t)data, "and pushes the address");
	is(*(uint64_t *)(stack + STACK_USED), top, "below what was there");
	code_buffer__free(&c);
	code_buffer__free(&o);
}

/* The return address is on the stack: what is relative to the stack pointer is further up. */
static bool is_jump_of(const uint8_t *call, const uint8_t *jump, size_t len,
		       const struct insn *want)
{
	struct operand o = want->operand;
	struct insn got;

	if (o.base == RSP)
		o.disp += 8;
	return !x86->decode(jump, 15, 0, false, &got) && got.kind == BRANCH_IJMP &&
	       got.len == len && (o.base == RSP || len == want->len) &&
	       !memcmp(&got.operand, &o, sizeof(o)) && memcmp(call, jump, got.len);
}

/* Below the stack pointer, or anywhere, may be where the return address is. */
static bool is_refused(const struct operand *o)
{
	return o->base == RSP && (o->kind != OPERAND_MEM || o->index != REG_NONE || o->disp < 0 ||
				  o->disp > INT32_MAX - 8 || o->seg || o->size != 8 || o->addr32);
}

/* Random bytes that are a call. */
static void test_call_to_jump(void)
{
	unsigned bad = 0, done = 0, by_sp = 0;

	for (unsigned i = 0; i < 100000; i++) {
		uint8_t call[15], jump[16] = {0};
		struct insn insn;
		size_t len;

		random_bytes(call, sizeof(call));
		call[random64() % 2] = 0xff;
		if (!(i % 8))
			memcpy(call, "\xff\x54\x24", 3); /* call *disp8(%rsp) */
		if (x86->decode(call, 15, 0, false, &insn) || insn.kind != BRANCH_ICALL) {
			bad += !insn.kind && copier->call_to_jump(call, 15, jump);
			continue;
		}
		done++;
		len = copier->call_to_jump(call, insn.len, jump);
		by_sp += len && insn.operand.base == RSP;
		if (len ? !is_jump_of(call, jump, len, &insn) || is_refused(&insn.operand)
			: !is_refused(&insn.operand))
			bad++;
	}
	is(bad, 0, "a call becomes a jump through the same operand, or is refused");
	ok(done > 1000 && by_sp > 10, "%u calls, %u relative to the stack pointer", done, by_sp);
}

static void test_move_sp(void)
{
	for (int n = -8; n <= 8; n += 16) {
		struct code_buffer c = {0};
		struct machine in, out;

		copier->move_sp(&c, n);
		put_exit(&c.hot);
		place_code(&c, copy);
		code_buffer__free(&c);
		machine__randomize(&in);
		machine__run(copy, &in, &out);
		in.r[RSP] += n;
		ok(!memcmp(&in, &out, sizeof(in)), "the stack pointer is moved by %d", n);
	}
}

/* ---- patches ---- */

static void test_patches(void)
{
	static const uint8_t endbr32[] = {0xf3, 0x0f, 0x1e, 0xfb};
	struct insn insn;
	uint8_t b[64];

	copier->put_jump(b, 0x401000, 0x400123);
	ok(!x86->decode(b, 5, 0x401000, false, &insn) && insn.kind == BRANCH_JMP &&
		   insn.len == copier->jump_size && insn.target == 0x400123,
	   "jump");
	copier->put_short(b, 0x401000, 0x400f82);
	ok(!x86->decode(b, 5, 0x401000, false, &insn) && insn.kind == BRANCH_JMP &&
		   insn.len == copier->short_size && insn.target == 0x400f82,
	   "short jump");
	copier->put_call(b, 0x401000, 0x501000);
	ok(!x86->decode(b, 5, 0x401000, false, &insn) && insn.kind == BRANCH_CALL &&
		   insn.len == copier->call_size && insn.target == 0x501000,
	   "call");
	for (size_t n = 0; n < 32; n++) {
		size_t at = 0;

		memset(b, 0xcc, sizeof(b));
		copier->put_nops(b, n);
		while (at < n && !x86->decode(b + at, n - at, 0, false, &insn) && insn.padding &&
		       b[at] != 0xcc)
			at += insn.len;
		ok(at == n && b[n] == 0xcc, "%zu bytes of nops", n);
	}
	is(copier->landing((const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa, 0x55}, 5), 4, "endbr64");
	is(copier->landing((const uint8_t[]){0xf3, 0x0f, 0x1e, 0xfa}, 3), 0, "half of it");
	is(copier->landing(endbr32, 4), 0, "endbr32 is none");
}

int main(void)
{
	uint8_t *pages = map_pages(8 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC);

	x86 = arch__by_machine(EM_X86_64);
	copier = x86->copier;
	original = pages;
	data = pages + 4096;
	copy = pages + 3 * 4096;
	stack = pages + 6 * 4096;
	machine__init();
	test_forms();
	test_refused();
	test_accepted();
	test_libc();
	test_random();
	test_branches();
	test_jumps();
	test_call_to_jump();
	test_move_sp();
	test_patches();
	return tap__done();
}
#endif
