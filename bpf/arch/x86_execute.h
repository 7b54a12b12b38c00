/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86-64: does the instruction of a uprobe in a thread's registers, so that the kernel neither
 * emulates nor steps it (kernel/events/uprobes.c, handle_swbp(): the instruction pointer is
 * elsewhere). Whatever could make a difference is left to the kernel. Included once, by arch.h.
 */
#ifndef BBTRACE_BPF_ARCH_X86_EXECUTE_H
#define BBTRACE_BPF_ARCH_X86_EXECUTE_H

#include "x86_execution.h"

#define ARCH_EXECUTES 1

/* arch/x86/include/asm/segment.h: __USER_CS; processors with FRED have more above it */
#define CODE_64 0x33
#define CS_WORD 17
#define CS_BITS 0xffff
#define FLAG_TF (1 << 8)
#define FLAG_RF (1 << 16)
#define FLAG_AC (1 << 18)
/* Other bits stay when a breakpoint is taken away. */
#define DR7_ENABLED    0xff
#define FEATURES_SHSTK 1 /* arch/x86/include/uapi/asm/prctl.h: ARCH_SHSTK_SHSTK */
/* The end of the lower half with 48 bits, and its guard page: arch/x86/include/asm/page_64_types.h.
 * Where there is more, the kernel executes what leads there. */
#define USER_END 0x7ffffffff000ull

struct thread_struct___execution {
	unsigned long features;
	struct perf_event *ptrace_bps[4];
} __attribute__((preserve_access_index));
struct task_struct___execution {
	struct thread_struct___execution thread;
} __attribute__((preserve_access_index));

/* One load or store each, at a constant offset, which a compiler could not keep. */
#define AT(field) __builtin_offsetof(struct pt_regs, field)
#define EACH_REGISTER(do)                                                                          \
	do                                                                                         \
	(0, ax) do(1, cx) do(2, dx) do(3, bx) do(4, sp) do(5, bp) do(6, si) do(7, di) do(          \
		8, r8) do(9, r9) do(10, r10) do(11, r11) do(12, r12) do(13, r13) do(14,            \
										    r14) do(15,    \
											    r15)
#define STORE(ctx, field, v)                                                                       \
	asm volatile("*(u64 *)(%0 + %1) = %2"                                                      \
		     :                                                                             \
		     : "r"(ctx), "i"(AT(field)), "r"((__u64)(v))                                   \
		     : "memory")
#define LOAD(ctx, field, v)                                                                        \
	asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(v) : "r"(ctx), "i"(AT(field)) : "memory")

static __always_inline __u64 register_of(struct pt_regs *ctx, __u8 reg)
{
	__u64 v = 0;

#define TAKE(n, field)                                                                             \
	case n:                                                                                    \
		LOAD(ctx, field, v);                                                               \
		break;
	switch (reg) {
		EACH_REGISTER(TAKE)
	}
#undef TAKE
	return v;
}

static __always_inline void set_register(struct pt_regs *ctx, __u8 reg, __u64 v)
{
#define PUT(n, field)                                                                              \
	case n:                                                                                    \
		STORE(ctx, field, v);                                                              \
		break;
	switch (reg) {
		EACH_REGISTER(PUT)
	}
#undef PUT
}

/* A debugger steps it; what it accesses must be aligned; it is 32-bit code; its shadow stack would
 * have to be changed, too. */
static __always_inline bool is_special(struct pt_regs *ctx, struct task_struct___execution *task)
{
	__u64 cs = ((const volatile __u64 *)ctx)[CS_WORD];

	if ((cs & CS_BITS) != CODE_64 || ctx->flags & (FLAG_TF | FLAG_AC))
		return true;
	return bpf_core_field_exists(task->thread.features) &&
	       BPF_CORE_READ(task, thread.features) & FEATURES_SHSTK;
}

/* Returns true if debug registers have breakpoints, which see accesses: those of a debugger, and
 * what is in this CPU's DR7 now: arch/x86/kernel/hw_breakpoint.c, cpu_dr7. */
static __always_inline bool is_watched(struct task_struct___execution *task)
{
	__u64 base, dr7, at = config.per_cpu_offset + bpf_get_smp_processor_id() * sizeof(base);

	if (!config.debug_registers || !config.per_cpu_offset ||
	    bpf_probe_read_kernel(&base, sizeof(base), (void *)at) ||
	    bpf_probe_read_kernel(&dr7, sizeof(dr7), (void *)(base + config.debug_registers)) ||
	    dr7 & DR7_ENABLED)
		return true;
	for (int i = 0; i < 4; i++)
		if (BPF_CORE_READ(task, thread.ptrace_bps[i]))
			return true;
	return false;
}

/* The kernel may copy byte by byte: what another thread changes meanwhile, such as the target of a
 * jump, is left to the processor, which loads it at once. */
static __always_inline bool load_whole(const struct wire_execution *e,
				       const struct x86_execution *x, __u64 *out)
{
	void *from = (void *)x86_address(e, x);
	__u64 again;

	return !bpf_probe_read_user(out, sizeof(*out), from) &&
	       (e->op != X86_JMP_MEM ||
		(!bpf_probe_read_user(&again, sizeof(again), from) && again == *out));
}

static __always_inline void arch_execute(struct pt_regs *ctx, const struct wire_execution *e)
{
	struct task_struct___execution *task = (void *)bpf_get_current_task();
	struct x86_execution x = {.ip = ctx->ip, .sp = ctx->sp, .flags = ctx->flags};

	if (is_special(ctx, task))
		return;
	x.base = e->base == X86_NEXT ? x.ip + e->len : register_of(ctx, e->base);
	x.index = register_of(ctx, e->index);
	if (x86_loads(e) && (is_watched(task) || !load_whole(e, &x, &x.loaded)))
		return;
	x86_execute(e, &x);
	x.flags &= ~(__u64)FLAG_RF; /* as after each instruction; SDM 3B, 18.3.1.1 */
	/* If the instruction pointer stays, the kernel would execute the instruction again. */
	if (x.ip >= USER_END || x.ip == ctx->ip)
		return;
	set_register(ctx, x.dst, x.value);
	if (x.sp != ctx->sp)
		STORE(ctx, sp, x.sp);
	if (x.flags != ctx->flags)
		STORE(ctx, flags, x.flags);
	STORE(ctx, ip, x.ip);
}

#endif
