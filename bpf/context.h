/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The context that the kernel runs a function in: a task's, or an interrupt's. Included once, by
 * bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_CONTEXT_H
#define BBTRACE_BPF_CONTEXT_H

/* PREEMPT_RT counts softirqs per task. */
struct task_struct___rt {
	int softirq_disable_cnt;
} __attribute__((preserve_access_index));

/* include/linux/preempt.h */
#define SOFTIRQ_SHIFT 8 /* 8 bits; the lowest is set while one is served */
#define HARDIRQ_SHIFT 16
#define NMI_SHIFT     20
#define IRQ_MASK      0xf

static __always_inline bool serves_softirq(__u32 count)
{
	struct task_struct___rt *rt = (void *)bpf_get_current_task();

	if (bpf_core_field_exists(rt->softirq_disable_cnt))
		count = BPF_CORE_READ(rt, softirq_disable_cnt) << SOFTIRQ_SHIFT;
	return count >> SOFTIRQ_SHIFT & 1;
}

/* The context of code that calls a tracepoint. */
static __always_inline __u16 tracepoint_context(void)
{
	__u32 count, nmis;

	if (!arch_preempt_count(&count))
		return 0;
	nmis = count >> NMI_SHIFT & IRQ_MASK;
	return (nmis ? WIRE_NMI : 0) |
	       ((count >> HARDIRQ_SHIFT & IRQ_MASK) > nmis ? WIRE_HARDIRQ : 0) |
	       (serves_softirq(count) ? WIRE_SOFTIRQ : 0);
}

/*
 * Each NMI counts as a hardirq, too, and a breakpoint may count as an NMI. The probe's own
 * breakpoint must not count. The kprobe was hit by it, not
 * by a jump or ftrace's call, if one is at its address, which can't change while this CPU has
 * interrupts disabled.
 */
static __always_inline __u16 interrupt_context(struct pt_regs *ctx)
{
	__u32 count, nmis, hardirqs;

	if (!arch_preempt_count(&count))
		return 0;
	nmis = count >> NMI_SHIFT & IRQ_MASK;
	hardirqs = (count >> HARDIRQ_SHIFT & IRQ_MASK) - nmis;
	if (ARCH_BREAKPOINT_IS_NMI && nmis == 1 && arch_is_breakpoint(ctx))
		nmis = 0;
	return (nmis ? WIRE_NMI : 0) | (hardirqs ? WIRE_HARDIRQ : 0) |
	       (serves_softirq(count) ? WIRE_SOFTIRQ : 0);
}

#endif
