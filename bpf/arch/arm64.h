/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * arm64: registers, branch conditions and return address. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_ARCH_ARM64_H
#define BBTRACE_BPF_ARCH_ARM64_H

#define ARCH_GENERAL	   32 /* x0 to x30, sp */
#define ARCH_SP		   31
#define ARCH_IP		   32
#define ARCH_LINKS	   1
#define ARCH_LINK	   30
#define ARCH_LOADS_TARGETS 0
#define ARCH_HAS_RETHOOK   0
#define ARCH_STACK_BY_CPU  1
#define ARCH_CALL_PUSHES   0
#define ARCH_KPROBE_AFTER  0
/* AAPCS64, 6.4.6: the frame record */
#define ARCH_FRAME_RETURN 8
#define ARCH_FRAME_NEXT	  0
#define ARCH_XOL_SLOT	  4 /* arch/arm64/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES */
/* arch/arm64/kernel/entry-common.c: arm64_enter_el1_dbg() */
#define ARCH_BREAKPOINT_IS_NMI 0
/* struct ucontext after struct siginfo, uc_mcontext.sp and .pc: arch/arm64/kernel/signal.c */
#define ARCH_RESUME_SP 560
#define ARCH_RESUME_IP 568

/* struct bpf_perf_event_data: the period and addr, after the registers */
#define ARCH_PERF_PERIOD 272
#define ARCH_PERF_ADDR	 280
/* Documentation/arch/arm64/memory.rst: the kernel's half */
#define ARCH_IS_KERNEL(ip) ((__s64)(ip) < 0)

static __always_inline void copy_regs(__u64 *r, struct pt_regs *ctx)
{
	/* one load each, at a constant offset: the verifier refuses ctx + variable */
#pragma unroll
	for (int i = 0; i < 31; i++)
		r[i] = ctx->regs[i];
	r[31] = ctx->sp;
	r[32] = ctx->pc;
	r[33] = ctx->pstate;
}

/* The context of a probe is the registers: the verifier lets a helper read any of them. */
static __always_inline __u64 arch_register(struct pt_regs *ctx, __u32 reg)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value),
			      (const __u64 *)(const void *)ctx + (reg & (ARCH_GENERAL - 1)));
	return value;
}

static __always_inline __u64 arch_target(__u64 addr)
{
	return addr;
}

static __always_inline __u64 arch_sp(struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __u64 arch_ip(struct pt_regs *ctx)
{
	return ctx->pc;
}

#include "plain.h"

#define MODE_MASK 0xf /* PSR_MODE_MASK; 0: EL0 */

static __always_inline bool arch_is_user(struct pt_regs *ctx)
{
	return !(ctx->pstate & MODE_MASK);
}

static __always_inline __u64 arch_frame_pointer(struct pt_regs *ctx)
{
	return ctx->regs[29];
}

static __always_inline __u64 arch_return_value(struct pt_regs *ctx)
{
	return ctx->regs[0];
}

/* arch_prepare_kretprobe() */
static __always_inline __u64 arch_call(struct pt_regs *ctx)
{
	return ctx->regs[29];
}

/*
 * FEAT_PAuth: a signature is above the bits of an address of a program. Those have 48: what lies
 * above must be asked for (Documentation/arch/arm64/memory.rst, "52-bit userspace VAs").
 */
#define USER_BITS 48
#define IN_KERNEL (1ull << 55)

static __always_inline __u64 arch_own_address(__u64 addr)
{
	return addr & IN_KERNEL ? addr : addr & ((1ull << USER_BITS) - 1);
}

static __always_inline __u64 arch_first_argument(struct pt_regs *ctx)
{
	return ctx->regs[0];
}

/* Returns where a thread's program entered the kernel: regs->pc, or in a system call the
 * instruction that makes it. NO_SYSCALL: -1 */
static __always_inline __u64 arch_user_ip(struct pt_regs *regs)
{
	__u64 ip = BPF_CORE_READ(regs, pc);

	return BPF_CORE_READ(regs, syscallno) >= 0 ? ip - 4 : ip;
}

static __always_inline __u64 arch_user_link(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, regs[30]);
}

/* The address of the instruction that raised a signal: a breakpoint's own, too. */
static __always_inline __u64 arch_trap_address(const struct pt_regs *regs, bool trap)
{
	return BPF_CORE_READ(regs, pc);
}

/* What the kernel writes for a uprobe: BRK64_OPCODE_UPROBES. */
#define BRK_UPROBE 0xd42000a0

static __always_inline bool arch_is_uprobe(const __u8 *insn)
{
	return *(const __u32 *)insn == BRK_UPROBE;
}

/* arch/arm64/include/asm/thread_info.h: the low half */
struct thread_info___arm64 {
	__u64 preempt_count;
} __attribute__((preserve_access_index));
struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} __attribute__((preserve_access_index));

static __always_inline bool arch_preempt_count(__u32 *count)
{
	struct task_struct___arm64 *task = (void *)bpf_get_current_task();

	*count = BPF_CORE_READ(task, thread_info.preempt_count);
	return true;
}

static __always_inline __u32 arch_syscall(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

/* Returns true if a 32-bit program made the system call: arch/arm64/include/asm/ptrace.h,
 * PSR_MODE32_BIT. */
static __always_inline bool arch_is_narrow(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, pstate) & 0x10;
}

static __always_inline __u64 arch_syscall_first(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_x0);
}

/* include/uapi/asm-generic/unistd.h, and of 32-bit programs arch/arm/tools/syscall.tbl */
static __always_inline bool arch_calls_exec(struct pt_regs *regs)
{
	__s32 n = BPF_CORE_READ(regs, syscallno);

	return n == 221 || n == 281 || n == 11 || n == 387;
}

static __always_inline bool arch_calls_setuid(struct pt_regs *regs)
{
	__s32 n = BPF_CORE_READ(regs, syscallno);

	/* setuid, setreuid, setresuid; those with 16 and with 32 bits */
	return n == 146 || n == 145 || n == 147 || n == 23 || n == 70 || n == 164 || n == 213 ||
	       n == 203 || n == 208;
}

/* Go's g: in x28 (its src/cmd/compile/abi-internal.md) */
static __always_inline long arch_load_g(struct pt_regs *ctx, __u64 *g)
{
	*g = ctx->regs[28];
	return 0;
}

/* arch/arm64/include/asm/syscall_wrapper.h: SC_ARM64_REGS_TO_ARGS; of 32-bit programs their low
 * halves. */
static __always_inline void copy_syscall_args(__u64 *to, struct pt_regs *from, bool is32)
{
	to[0] = BPF_CORE_READ(from, orig_x0);
	to[1] = BPF_CORE_READ(from, regs[1]);
	to[2] = BPF_CORE_READ(from, regs[2]);
	to[3] = BPF_CORE_READ(from, regs[3]);
	to[4] = BPF_CORE_READ(from, regs[4]);
	to[5] = BPF_CORE_READ(from, regs[5]);
	for (int i = 0; is32 && i < 6; i++)
		to[i] = (__u32)to[i];
}

/* enum aarch64_condition of src/arch/aarch64/aarch64.h */
#define CONDITION_BIT	  0x10 /* of a register, not of the flags */
#define CONDITION_NONZERO 0x01
#define CONDITION_ONE	  0x02 /* one bit; else all of them */
#define CONDITION_WIDE	  0x04 /* 64 bits; else 32 */
#define CONDITION_REG(c)  ((c) >> 5 & 31)
#define CONDITION_AT(c)	  ((c) >> 10 & 63)

#define FLAG_V (1u << 28)
#define FLAG_C (1u << 29)
#define FLAG_Z (1u << 30)
#define FLAG_N (1u << 31)

/* DDI 0487, C1.2.4: an odd condition is the opposite of the even one before it, but for the last
 * one: always, too. */
static __always_inline bool flags_taken(__u64 flags, __u16 condition)
{
	bool signs = !(flags & FLAG_N) == !(flags & FLAG_V), is = true;

	switch (condition >> 1 & 7) {
	case 0:
		is = flags & FLAG_Z;
		break;
	case 1:
		is = flags & FLAG_C;
		break;
	case 2:
		is = flags & FLAG_N;
		break;
	case 3:
		is = flags & FLAG_V;
		break;
	case 4:
		is = (flags & FLAG_C) && !(flags & FLAG_Z);
		break;
	case 5:
		is = signs;
		break;
	case 6:
		is = signs && !(flags & FLAG_Z);
		break;
	default:
		return true;
	}
	return is != (condition & 1);
}

static __always_inline bool register_taken(__u64 value, __u16 condition)
{
	if (condition & CONDITION_ONE)
		value = value >> CONDITION_AT(condition) & 1;
	else if (!(condition & CONDITION_WIDE))
		value = (__u32)value;
	return (value != 0) == (condition & CONDITION_NONZERO);
}

/* Returns true if the conditional branch at the probe will be taken. condition: insn.cond. */
static __always_inline bool arch_taken(struct pt_regs *ctx, __u16 condition)
{
	__u32 reg = CONDITION_REG(condition);

	if (!(condition & CONDITION_BIT))
		return flags_taken(ctx->pstate, condition);
	/* number 31 is the zero register here */
	return register_taken(reg == 31 ? 0 : arch_register(ctx, reg), condition);
}

#endif
