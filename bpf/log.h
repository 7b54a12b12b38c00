/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The position of a thread in the log that copied functions write (src/arch/log.h). Included once,
 * by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_LOG_H
#define BBTRACE_BPF_LOG_H

/* For a thread that has the current one's memory. In an interrupt, or if another thread runs
 * meanwhile, it may be between two stores: then the two disagree. */
static __noinline __u64 log_position_of(struct task_struct *task)
{
	__u64 w[WIRE_LOG_WORDS] = {}, base = arch_log_base(task), at, position;

	if (!base || bpf_probe_read_user(w, sizeof(w), (void *)base) || w[WIRE_LOG_BASE] != base)
		return 0;
	at = w[WIRE_LOG_LIMIT] ? w[WIRE_LOG_CURSOR] : w[WIRE_LOG_KEPT];
	at -= base + WIRE_LOG_RING_AT;
	if (at / WIRE_LOG_SEGMENT != w[WIRE_LOG_SEGMENTS] % WIRE_LOG_RING_SEGMENTS)
		return 0;
	position = w[WIRE_LOG_SEGMENTS] * WIRE_LOG_SEGMENT + at % WIRE_LOG_SEGMENT;
	return 1 + position;
}

static __always_inline __u64 log_position(void)
{
	return log_position_of((struct task_struct *)bpf_get_current_task());
}

#endif
