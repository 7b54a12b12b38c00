/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86-64: what an instruction does, by the registers that it reads (Intel SDM, volume 2). Pure, so
 * that tests/unit/test_arch_execution.c compares it with the processor; bpf/execute.h has the rest.
 */
#ifndef BBTRACE_BPF_ARCH_X86_EXECUTION_H
#define BBTRACE_BPF_ARCH_X86_EXECUTION_H

#include "../execution.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* enum execution_op of src/arch/execution.h */
enum {
	X86_NOTHING,
	X86_SET,
	X86_COPY,
	X86_LEA,
	X86_ADD,
	X86_SUB,
	X86_POP,
	X86_RET,
	X86_JMP,
	X86_JMP_MEM,
};
#define X86_NO_REG 0xff
#define X86_NEXT   0xfe /* as base: the address of the next instruction */
#define X86_SP	   4

#define X86_CF		(1ull << 0)
#define X86_PF		(1ull << 2)
#define X86_AF		(1ull << 4)
#define X86_ZF		(1ull << 6)
#define X86_SF		(1ull << 7)
#define X86_OF		(1ull << 11)
#define X86_ARITHMETICS (X86_CF | X86_PF | X86_AF | X86_ZF | X86_SF | X86_OF)

struct x86_execution {
	/* In: registers base and index, 0 if there is none, or the address of the next instruction;
	 * what is at its address. */
	__u64 base, index, loaded;
	/* in and out */
	__u64 ip, sp, flags;
	/* out: of register dst, X86_NO_REG: of none */
	__u64 value;
	__u8 dst;
};

static __always_inline int x86_loads(const struct wire_execution *e)
{
	return e->op == X86_POP || e->op == X86_RET || e->op == X86_JMP_MEM;
}

static __always_inline __u64 x86_sum(const struct wire_execution *e, const struct x86_execution *x)
{
	return x->base + x->index * e->scale + e->imm;
}

/* Returns the address that it loads from. */
static __always_inline __u64 x86_address(const struct wire_execution *e,
					 const struct x86_execution *x)
{
	return e->op == X86_JMP_MEM ? x86_sum(e, x) : x->sp;
}

static __always_inline __u64 x86_flags_of(__u64 a, __u64 b, __u64 sum, int subtracts)
{
	__u64 overflow = (subtracts ? a ^ b : ~(a ^ b)) & (a ^ sum);
	__u8 parity = sum;
	__u64 flags = 0;

	parity ^= parity >> 4;
	parity ^= parity >> 2;
	parity ^= parity >> 1;
	if (subtracts ? a < b : sum < a)
		flags |= X86_CF;
	if (!(parity & 1))
		flags |= X86_PF;
	if (!sum)
		flags |= X86_ZF;
	if (sum >> 63)
		flags |= X86_SF;
	if (overflow >> 63)
		flags |= X86_OF;
	return flags | ((a ^ b ^ sum) & X86_AF);
}

static __always_inline void x86_add(struct x86_execution *x, __u64 imm, int subtracts)
{
	__u64 before = x->sp;

	x->sp = subtracts ? before - imm : before + imm;
	x->flags = (x->flags & ~X86_ARITHMETICS) | x86_flags_of(before, imm, x->sp, subtracts);
}

static __always_inline void x86_execute(const struct wire_execution *e, struct x86_execution *x)
{
	x->ip += e->len;
	x->dst = e->dst;
	switch (e->op) {
	case X86_SET:
		x->value = e->imm;
		break;
	case X86_COPY:
		x->value = x->base;
		break;
	case X86_LEA:
		x->value = x86_sum(e, x);
		break;
	case X86_ADD:
		x86_add(x, e->imm, 0);
		break;
	case X86_SUB:
		x86_add(x, e->imm, 1);
		break;
	case X86_POP:
		x->value = x->loaded;
		x->sp += 8;
		break;
	case X86_RET:
		x->ip = x->loaded;
		x->sp += 8 + e->imm;
		break;
	case X86_JMP:
		x->ip = x->base;
		break;
	case X86_JMP_MEM:
		x->ip = x->loaded;
		break;
	}
	if (e->bits == 32)
		x->value = (__u32)x->value;
	if (x->dst == X86_SP)
		x->sp = x->value;
}

#endif
