/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Definitions that architectures share whose calls link, whose breakpoints don't move the
 * instruction pointer, and which have no segments. Included by their headers. */
#ifndef BBTRACE_BPF_ARCH_PLAIN_H
#define BBTRACE_BPF_ARCH_PLAIN_H

#define ARCH_REGISTERS 1 /* nothing is copied */

static __always_inline __u64 arch_kprobe_address(struct pt_regs *ctx)
{
	return arch_ip(ctx);
}

static __always_inline bool arch_is_breakpoint(struct pt_regs *ctx)
{
	return true;
}

/* Nothing is logged. */
static __always_inline __u64 segment_base(__u8 seg)
{
	return 0;
}

static __always_inline __u64 arch_log_base(struct task_struct *task)
{
	return 0;
}

#endif
