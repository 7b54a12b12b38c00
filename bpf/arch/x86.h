/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* x86-64: registers, branch conditions and return address; with config.narrow also those of i386,
 * whose programs the same kernel runs. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_ARCH_X86_H
#define BBTRACE_BPF_ARCH_X86_H

#define ARCH_NARROW	   1
#define ARCH_REGISTERS	   WIRE_REGS
#define ARCH_GENERAL	   16
#define ARCH_SP		   4
#define ARCH_IP		   16
#define ARCH_LINKS	   0
#define ARCH_LINK	   0
#define ARCH_LOADS_TARGETS 1
#define ARCH_HAS_RETHOOK   1
#define ARCH_STACK_BY_CPU  1
#define ARCH_CALL_PUSHES   8
#define ARCH_KPROBE_AFTER  1
#define ARCH_FRAME_RETURN  8
#define ARCH_FRAME_NEXT	   0
#define ARCH_XOL_SLOT	   128 /* arch/x86/include/asm/uprobes.h: UPROBE_XOL_SLOT_BYTES */
/* kernel/entry/common.c, irqentry_nmi_enter() */
#define ARCH_BREAKPOINT_IS_NMI 1
/* after the return address, which the handler popped: struct ucontext, uc_mcontext.sp and .ip */
#define ARCH_RESUME_SP 160
#define ARCH_RESUME_IP 168
/* in struct ucontext: uc_stack */
#define ARCH_SAVED_STACK 16

/* Where a signal's struct ucontext is on an alternate stack (arch/x86/kernel/signal.c,
 * get_sigframe(); kernel/fpu/signal.c, fpu__alloc_mathframe()): struct rt_sigframe has 440 bytes,
 * and begins with the return address. */
static __always_inline __u64 arch_saved_by_signal(__u64 top)
{
	__u64 state = (top - config.signal_state) & ~63ull;

	return (state - 440) & ~15ull;
}

/* struct bpf_perf_event_data: the period and addr, after the registers */
#define ARCH_PERF_PERIOD 168
#define ARCH_PERF_ADDR	 176
/* the kernel's half */
#define ARCH_IS_KERNEL(ip) ((__s64)(ip) < 0)

static __always_inline void copy_regs(__u64 *r, struct pt_regs *ctx)
{
	/* one load each, at a constant offset: the verifier refuses ctx + variable */
	r[0] = ctx->ax;
	r[1] = ctx->cx;
	r[2] = ctx->dx;
	r[3] = ctx->bx;
	r[4] = ctx->sp;
	r[5] = ctx->bp;
	r[6] = ctx->si;
	r[7] = ctx->di;
	r[8] = ctx->r8;
	r[9] = ctx->r9;
	r[10] = ctx->r10;
	r[11] = ctx->r11;
	r[12] = ctx->r12;
	r[13] = ctx->r13;
	r[14] = ctx->r14;
	r[15] = ctx->r15;
	r[16] = ctx->ip;
	r[17] = ctx->flags;
	if (!config.narrow)
		return;
	r[0] = (__u32)r[0];
	r[1] = (__u32)r[1];
	r[2] = (__u32)r[2];
	r[3] = (__u32)r[3];
	r[5] = (__u32)r[5];
	r[6] = (__u32)r[6];
	r[7] = (__u32)r[7];
	r[8] = r[9] = r[10] = r[11] = r[12] = r[13] = r[14] = r[15] = 0;
}

#define I386_ARGS 6 /* of src/arch/x86/x86.h */

/* In the place of registers that 32-bit code doesn't have: loads the words after the return address
 * at sp. Returns false if they can't be read. */
static __always_inline bool arch_stack_arguments(__u64 *r, __u64 sp)
{
	__u32 words[I386_ARGS];

	if (bpf_probe_read_user(words, sizeof(words), (void *)(sp + 4)))
		return false;
	r[8] = words[0];
	r[9] = words[1];
	r[10] = words[2];
	r[11] = words[3];
	r[12] = words[4];
	r[13] = words[5];
	return true;
}

static __always_inline __u64 arch_register(struct pt_regs *ctx, __u32 reg)
{
	__u64 r[WIRE_REGS];

	copy_regs(r, ctx);
	return r[reg & (ARCH_GENERAL - 1)];
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
	return ctx->ip;
}

static __always_inline bool arch_is_user(struct pt_regs *ctx)
{
	/* cs: a perf event's context is read by words, whatever the member's type (ABI: ptrace) */
	return ((const volatile __u64 *)ctx)[17] & 3;
}

static __always_inline __u64 arch_frame_pointer(struct pt_regs *ctx)
{
	return visible(ctx->bp);
}

static __always_inline __u64 arch_return_value(struct pt_regs *ctx)
{
	return visible(ctx->ax);
}

/* arch_rethook_prepare() */
static __always_inline __u64 arch_call(struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __u64 arch_own_address(__u64 addr)
{
	return addr;
}

static __always_inline __u64 arch_first_argument(struct pt_regs *ctx)
{
	return ctx->di;
}

/*
 * Returns where a thread's program entered the kernel: regs->ip, or in a system call the
 * instruction that makes it: each of these has two bytes. arch/x86/entry: orig_ax is its number
 * there, else -1.
 */
static __always_inline __u64 arch_user_ip(struct pt_regs *regs)
{
	__u64 ip = BPF_CORE_READ(regs, ip);

	return (__s64)BPF_CORE_READ(regs, orig_ax) >= 0 ? ip - 2 : ip;
}

static __always_inline __u64 arch_user_link(struct pt_regs *regs)
{
	return 0;
}

/* A kprobe's address; ip is after its int3. */
static __always_inline __u64 arch_kprobe_address(struct pt_regs *ctx)
{
	return ctx->ip - ARCH_KPROBE_AFTER;
}

#define INT3 0xcc

/* Returns true if a breakpoint hit the current kprobe, not a jump or ftrace's call. */
static __always_inline bool arch_is_breakpoint(struct pt_regs *ctx)
{
	__u8 insn = 0;

	return !bpf_probe_read_kernel(&insn, 1, (void *)arch_kprobe_address(ctx)) && insn == INT3;
}

/* Returns the address of the instruction that raised a signal; after a trap, ip is after the
 * breakpoint. */
static __always_inline __u64 arch_trap_address(const struct pt_regs *regs, bool trap)
{
	return BPF_CORE_READ(regs, ip) - trap;
}

/* What the kernel writes for a uprobe. */
static __always_inline bool arch_is_uprobe(const __u8 *insn)
{
	return insn[0] == INT3;
}

struct desc_struct___x86 {
	__u16 limit0, base0;
} __attribute__((preserve_access_index));
struct thread_struct___x86 {
	struct desc_struct___x86 tls_array[3];
	unsigned long fsbase, gsbase;
} __attribute__((preserve_access_index));
struct task_struct___x86 {
	struct thread_struct___x86 thread;
} __attribute__((preserve_access_index));

/*
 * For a 32-bit program: set_thread_area(2) puts the base into one of three descriptors, and a
 * selector has its number; the kernel doesn't read that before it switches tasks. If there is only
 * one descriptor, it is that one. Returns 0 if not known.
 */
static __always_inline __u64 narrow_segment_base(struct task_struct___x86 *task)
{
	__u64 at = (__u64)task + bpf_core_field_offset(task->thread.tls_array), found = 0, entry;

	for (int i = 0; i < 3; i++) {
		entry = 0;
		bpf_probe_read_kernel(&entry, sizeof(entry), (void *)(at + 8 * i));
		if (entry && found)
			return 0;
		found = entry ? entry : found;
	}
	/* struct desc_struct: base0, base1, base2 */
	return (found >> 16 & 0xffffff) | (found >> 56) << 24;
}

/* enum operand_seg of src/arch/arch.h */
static __always_inline __u64 segment_base(__u8 seg)
{
	struct task_struct___x86 *task = (void *)bpf_get_current_task();

	if (config.narrow)
		return narrow_segment_base(task);
	return seg == 1 ? BPF_CORE_READ(task, thread.fsbase) : BPF_CORE_READ(task, thread.gsbase);
}

/* Returns the address of a thread's log: src/arch/log.h. */
static __always_inline __u64 arch_log_base(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___x86 *)task, thread.gsbase);
}

/* From Linux 6.2 to 6.14 preempt_count was a member of pcpu_hot. */
struct pcpu_hot___count {
	int preempt_count;
} __attribute__((preserve_access_index));

/* Read by address, since BTF with variables isn't available in every container. */
static __always_inline bool arch_preempt_count(__u32 *count)
{
	__u64 base = 0, at = config.preempt_count;

	*count = 0;
	if (!at)
		return false;
	if (config.pcpu_hot)
		at += bpf_core_field_offset(struct pcpu_hot___count, preempt_count);
	bpf_probe_read_kernel(
		&base, sizeof(base),
		(void *)(config.per_cpu_offset + bpf_get_smp_processor_id() * sizeof(base)));
	bpf_probe_read_kernel(count, sizeof(*count), (void *)(base + at));
	return true;
}

/* arch/x86/entry/syscalls: of the 64-bit table, of the 32-bit one, and of that of x32, whose
 * numbers have a bit that is cleared here. */
static __always_inline __u32 syscall_number(struct pt_regs *regs)
{
	return (__u32)BPF_CORE_READ(regs, orig_ax) & ~(1u << 30);
}

#define arch_syscall(regs) syscall_number(regs)

/* Returns true if a 32-bit program made the system call: arch/x86/include/asm/segment.h, USER32_CS;
 * one by int 0x80 of a 64-bit program isn't recognised. */
static __always_inline bool arch_is_narrow(struct pt_regs *regs)
{
	return (__u16)BPF_CORE_READ(regs, cs) == 0x23;
}

static __always_inline __u64 arch_syscall_first(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, di);
}

static __always_inline bool arch_calls_exec(struct pt_regs *regs)
{
	__u32 n = syscall_number(regs);

	return n == 59 || n == 322 || n == 11 || n == 358 || n == 520 || n == 545;
}

static __always_inline bool arch_calls_setuid(struct pt_regs *regs)
{
	__u32 n = syscall_number(regs);

	/* setuid, setreuid, setresuid; those with 16 and with 32 bits */
	return n == 105 || n == 113 || n == 117 || n == 23 || n == 70 || n == 164 || n == 213 ||
	       n == 203 || n == 208;
}

/* Go's g: in the thread's own memory (its src/runtime/asm_amd64.s) */
static __always_inline long arch_load_g(struct pt_regs *ctx, __u64 *g)
{
	return bpf_probe_read_user(g, sizeof(*g), (void *)(segment_base(1) + config.go_g));
}

/* arch/x86/include/asm/syscall_wrapper.h: SC_X86_64_REGS_TO_ARGS, SC_IA32_REGS_TO_ARGS */
static __always_inline void copy_syscall_args(__u64 *to, struct pt_regs *from, bool ia32)
{
	if (ia32) {
		to[0] = (__u32)BPF_CORE_READ(from, bx);
		to[1] = (__u32)BPF_CORE_READ(from, cx);
		to[2] = (__u32)BPF_CORE_READ(from, dx);
		to[3] = (__u32)BPF_CORE_READ(from, si);
		to[4] = (__u32)BPF_CORE_READ(from, di);
		to[5] = (__u32)BPF_CORE_READ(from, bp);
		return;
	}
	to[0] = BPF_CORE_READ(from, di);
	to[1] = BPF_CORE_READ(from, si);
	to[2] = BPF_CORE_READ(from, dx);
	to[3] = BPF_CORE_READ(from, r10);
	to[4] = BPF_CORE_READ(from, r8);
	to[5] = BPF_CORE_READ(from, r9);
}

/* enum x86_loop of src/arch/x86/x86.h: the counter is rcx, or ecx */
#define CONDITION_LOOP	 0x10
#define CONDITION_ADDR32 0x80
enum { LOOPNE, LOOPE, LOOP, JRCXZ };

#define FLAG_CF (1 << 0)
#define FLAG_PF (1 << 2)
#define FLAG_ZF (1 << 6)
#define FLAG_SF (1 << 7)
#define FLAG_OF (1 << 11)

static __always_inline bool loop_taken(__u64 flags, __u64 counter, __u16 condition)
{
	__u8 which = condition & 3;

	if (condition & CONDITION_ADDR32)
		counter = (__u32)counter;
	if (which == JRCXZ)
		return !counter;
	if (condition & CONDITION_ADDR32 ? (__u32)counter == 1 : counter == 1)
		return false;
	return which == LOOP || !!(flags & FLAG_ZF) == (which == LOOPE);
}

/* SDM 2, appendix B.1.4.7: tttn */
static __always_inline bool flags_taken(__u64 flags, __u16 condition)
{
	bool sign = !(flags & FLAG_SF) != !(flags & FLAG_OF), is = false;

	switch (condition >> 1 & 7) {
	case 0:
		is = flags & FLAG_OF;
		break;
	case 1:
		is = flags & FLAG_CF;
		break;
	case 2:
		is = flags & FLAG_ZF;
		break;
	case 3:
		is = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		is = flags & FLAG_SF;
		break;
	case 5:
		is = flags & FLAG_PF;
		break;
	case 6:
		is = sign;
		break;
	case 7:
		is = sign || (flags & FLAG_ZF);
		break;
	}
	return is != (condition & 1);
}

/* Returns true if the conditional branch at the probe will be taken. condition: insn.cond. */
static __always_inline bool arch_taken(struct pt_regs *ctx, __u16 condition)
{
	return condition & CONDITION_LOOP ? loop_taken(ctx->flags, ctx->cx, condition)
					  : flags_taken(ctx->flags, condition);
}

#endif
