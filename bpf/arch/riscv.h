/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * RISC-V, 64 bit: registers, branch conditions and return address. Included once, by
 * bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_ARCH_RISCV_H
#define BBTRACE_BPF_ARCH_RISCV_H

#define ARCH_GENERAL	   32
#define ARCH_SP		   2
#define ARCH_IP		   32
#define ARCH_LINKS	   1
#define ARCH_LINK	   1
#define ARCH_LOADS_TARGETS 0
#define ARCH_HAS_RETHOOK   1
#define ARCH_STACK_BY_CPU  0
#define ARCH_CALL_PUSHES   0
#define ARCH_KPROBE_AFTER  0
/* RISC-V ABIs Specification, "Frame Pointer Convention": it is at the frame's end */
#define ARCH_FRAME_RETURN (-8)
#define ARCH_FRAME_NEXT	  (-16)
#define ARCH_XOL_SLOT	  8 /* arch/riscv/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES */
/* arch/riscv/kernel/traps.c, do_trap_break() */
#define ARCH_BREAKPOINT_IS_NMI 1
/* struct ucontext after struct siginfo, uc_mcontext.sc_regs: arch/riscv/kernel/signal.c */
#define ARCH_RESUME_SP 320
#define ARCH_RESUME_IP 304

/* struct bpf_perf_event_data: the period and addr, after a struct user_regs_struct */
#define ARCH_PERF_PERIOD 256
#define ARCH_PERF_ADDR	 264
/* the kernel's half */
#define ARCH_IS_KERNEL(ip) ((__s64)(ip) < 0)

/* Copies the registers by number: the zero register has the place of the program counter. */
static __always_inline void copy_regs(__u64 *r, struct pt_regs *ctx)
{
	const volatile __u64 *from = (const volatile __u64 *)ctx;

	/* one load each, at a constant offset: the verifier refuses ctx + variable */
	r[0] = 0;
#pragma unroll
	for (int i = 1; i < 32; i++)
		r[i] = from[i];
	r[32] = ctx->epc;
}

/* The context of a probe is the registers: the verifier lets a helper read any of them. */
static __always_inline __u64 arch_register(struct pt_regs *ctx, __u32 reg)
{
	__u64 value = 0;

	reg &= ARCH_GENERAL - 1;
	bpf_probe_read_kernel(&value, sizeof(value), (const __u64 *)(const void *)ctx + reg);
	return reg ? value : 0;
}

/* An indirect branch leaves out the lowest bit: ISA manual, section 2.5.1. */
static __always_inline __u64 arch_target(__u64 addr)
{
	return addr & ~1ull;
}

static __always_inline __u64 arch_sp(struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __u64 arch_ip(struct pt_regs *ctx)
{
	return ctx->epc;
}

#include "plain.h"

/* A perf event's context has no status. */
static __always_inline bool arch_is_user(struct pt_regs *ctx)
{
	return !ARCH_IS_KERNEL(ctx->epc);
}

static __always_inline __u64 arch_frame_pointer(struct pt_regs *ctx)
{
	return ctx->s0;
}

static __always_inline __u64 arch_return_value(struct pt_regs *ctx)
{
	return ctx->a0;
}

/* arch_rethook_prepare() */
static __always_inline __u64 arch_call(struct pt_regs *ctx)
{
	return ctx->s0;
}

static __always_inline __u64 arch_own_address(__u64 addr)
{
	return addr;
}

static __always_inline __u64 arch_first_argument(struct pt_regs *ctx)
{
	return ctx->a0;
}

#define CAUSE_SYSCALL 8 /* EXC_SYSCALL */

/*
 * Returns where a thread's program entered the kernel: regs->epc, or in a system call the
 * instruction that makes it: ecall has no short form. When signals are delivered, the kernel has
 * cleared the cause, and epc is where the program continues (arch_do_signal_or_restart()).
 */
static __always_inline __u64 arch_user_ip(struct pt_regs *regs)
{
	__u64 ip = BPF_CORE_READ(regs, epc);

	return BPF_CORE_READ(regs, cause) == CAUSE_SYSCALL ? ip - 4 : ip;
}

static __always_inline __u64 arch_user_link(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, ra);
}

/* The address of the instruction that raised a signal: a breakpoint's own, too. */
static __always_inline __u64 arch_trap_address(const struct pt_regs *regs, bool trap)
{
	return BPF_CORE_READ(regs, epc);
}

/* What the kernel writes for a uprobe: c.ebreak; over a longer instruction, over its first half. */
#define C_EBREAK 0x9002

static __always_inline bool arch_is_uprobe(const __u8 *insn)
{
	return *(const __u16 *)insn == C_EBREAK;
}

/* arch/riscv/include/asm/thread_info.h */
struct thread_info___riscv {
	int preempt_count;
} __attribute__((preserve_access_index));
struct task_struct___riscv {
	struct thread_info___riscv thread_info;
} __attribute__((preserve_access_index));

static __always_inline bool arch_preempt_count(__u32 *count)
{
	struct task_struct___riscv *task = (void *)bpf_get_current_task();

	*count = BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
}

/* include/uapi/asm-generic/unistd.h, also of 32-bit programs */
static __always_inline bool arch_calls_exec(struct pt_regs *regs)
{
	__u32 n = BPF_CORE_READ(regs, a7);

	return n == 221 || n == 281;
}

static __always_inline __u32 arch_syscall(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, a7);
}

/* Returns true if a 32-bit program made the system call: arch/riscv/include/asm/csr.h, SR_UXL. */
static __always_inline bool arch_is_narrow(struct pt_regs *regs)
{
	return (BPF_CORE_READ(regs, status) >> 32 & 3) == 1;
}

static __always_inline __u64 arch_syscall_first(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_a0);
}

/* setuid, setreuid, setresuid */
static __always_inline bool arch_calls_setuid(struct pt_regs *regs)
{
	__u32 n = BPF_CORE_READ(regs, a7);

	return n == 146 || n == 145 || n == 147;
}

/* Go's g: in s11 (its src/cmd/compile/abi-internal.md) */
static __always_inline long arch_load_g(struct pt_regs *ctx, __u64 *g)
{
	*g = ctx->s11;
	return 0;
}

/* arch/riscv/include/asm/syscall_wrapper.h: SC_RISCV_REGS_TO_ARGS; of 32-bit programs their low
 * halves. */
static __always_inline void copy_syscall_args(__u64 *to, struct pt_regs *from, bool is32)
{
	to[0] = BPF_CORE_READ(from, orig_a0);
	to[1] = BPF_CORE_READ(from, a1);
	to[2] = BPF_CORE_READ(from, a2);
	to[3] = BPF_CORE_READ(from, a3);
	to[4] = BPF_CORE_READ(from, a4);
	to[5] = BPF_CORE_READ(from, a5);
	for (int i = 0; is32 && i < 6; i++)
		to[i] = (__u32)to[i];
}

/* RISCV_COND of src/arch/riscv/riscv.h; ISA manual, section 2.5.2: funct3 */
#define CONDITION_NOT	    1 /* the opposite of the even one before it */
#define CONDITION_FIRST(c)  ((c) >> 3 & 31)
#define CONDITION_SECOND(c) ((c) >> 8 & 31)

/* Returns true if the conditional branch at the probe will be taken. condition: insn.cond. */
static __always_inline bool arch_taken(struct pt_regs *ctx, __u16 condition)
{
	__u64 a = arch_register(ctx, CONDITION_FIRST(condition));
	__u64 b = arch_register(ctx, CONDITION_SECOND(condition));
	bool is = a == b;

	if ((condition & 6) == 4)
		is = (__s64)a < (__s64)b;
	else if ((condition & 6) == 6)
		is = a < b;
	return is != (condition & CONDITION_NOT);
}

#endif
