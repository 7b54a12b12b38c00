/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The context that the kernel runs a function in: a task's, or an interrupt's. Included once, by
 * bbtrace.bpf.c.
 */
#ifndef BBTRACE_CONTEXT_H
#define BBTRACE_CONTEXT_H

/* From Linux 6.2 to 6.14 preempt_count was a member of pcpu_hot. */
struct pcpu_hot___count {
	int preempt_count;
} __attribute__((preserve_access_index));

/* PREEMPT_RT counts softirqs per task. */
struct task_struct___rt {
	int softirq_disable_cnt;
} __attribute__((preserve_access_index));

/* include/linux/preempt.h */
#define SOFTIRQ_SHIFT 8 /* 8 bits; the lowest is set while one is served */
#define HARDIRQ_SHIFT 16
#define NMI_SHIFT     20
#define IRQ_MASK      0xf

/* This CPU's count. Read by address, since BTF with variables isn't available in every
 * container. */
static __always_inline __u32 preempt_count(void)
{
	__u64 base = 0, at = config.preempt_count;
	__u32 count = 0;

	if (config.pcpu_hot)
		at += bpf_core_field_offset(struct pcpu_hot___count, preempt_count);
	bpf_probe_read_kernel(
		&base, sizeof(base),
		(void *)(config.per_cpu_offset + bpf_get_smp_processor_id() * sizeof(base)));
	bpf_probe_read_kernel(&count, sizeof(count), (void *)(base + at));
	return count;
}

static __always_inline bool serves_softirq(__u32 count)
{
	struct task_struct___rt *rt = (void *)bpf_get_current_task();

	if (bpf_core_field_exists(rt->softirq_disable_cnt))
		count = BPF_CORE_READ(rt, softirq_disable_cnt) << SOFTIRQ_SHIFT;
	return count >> SOFTIRQ_SHIFT & 1;
}

/* Of what calls a tracepoint. */
static __always_inline __u16 tracepoint_context(void)
{
	__u32 count, nmis;

	if (!config.preempt_count)
		return 0;
	count = preempt_count();
	nmis = count >> NMI_SHIFT & IRQ_MASK;
	return (nmis ? WIRE_NMI : 0) |
	       ((count >> HARDIRQ_SHIFT & IRQ_MASK) > nmis ? WIRE_HARDIRQ : 0) |
	       (serves_softirq(count) ? WIRE_SOFTIRQ : 0);
}

/*
 * A breakpoint counts as an NMI, and each NMI as a hardirq (kernel/entry/common.c,
 * irqentry_nmi_enter()). The probe's own breakpoint must not count. The kprobe was hit by it, not
 * by a jump or ftrace's call, if one is at its address, which can't change while this CPU has
 * interrupts disabled.
 */
static __always_inline __u16 interrupt_context(struct pt_regs *ctx)
{
	__u32 count, nmis, hardirqs;

	if (!config.preempt_count)
		return 0;
	count = preempt_count();
	nmis = count >> NMI_SHIFT & IRQ_MASK;
	hardirqs = (count >> HARDIRQ_SHIFT & IRQ_MASK) - nmis;
	if (nmis == 1 && arch_is_breakpoint(ctx))
		nmis = 0;
	return (nmis ? WIRE_NMI : 0) | (hardirqs ? WIRE_HARDIRQ : 0) |
	       (serves_softirq(count) ? WIRE_SOFTIRQ : 0);
}

#endif
