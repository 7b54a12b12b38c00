/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Samples: where a timer interrupts threads, with their stacks. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_SAMPLE_H
#define BBTRACE_SAMPLE_H

/* ctx begins with the registers of what was interrupted. */
static __always_inline bool put_sample(struct pt_regs *ctx, struct who *w, __u32 which,
				       __u64 period)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	bool program = arch_is_user(ctx);
	struct wire_named *n = bpf_ringbuf_reserve(&ring, head + COPY_ROOM + sizeof(period), 0);
	__u64 now = bpf_ktime_get_ns();
	struct wire_frames *f;

	if (!n)
		return false;
	fill_named(n, now, w, which);
	n->ip = arch_ip(ctx);
	n->event.state |= program ? WIRE_FRAMES : WIRE_FRAMES | WIRE_KERNEL;
	f = (void *)(n + 1);
	fill_frames(ctx, f, program ? NAMED_USER_STACK : NAMED_USER_STACK | NAMED_KERNEL_STACK);
	if (config.copy) {
		n->event.state |= WIRE_COPIED;
		if (program)
			fill_copy(ctx, (void *)(f + 1));
		else
			copy_program((void *)(f + 1));
	}
	*(__u64 *)((__u8 *)(f + 1) + COPY_ROOM) = period;
	n->len = sizeof(period);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	__u64 period = *(__u64 *)(ctx + ARCH_PERF_PERIOD);
	__u32 which = bpf_get_attach_cookie(ctx);
	struct who w;

	if (stopped)
		return 0;
	w = who_am_i();
	/* a CPU that idles does nothing for anybody */
	if (!w.tid || !passes(w, true))
		return 0;
	if (lost_records && tell_named_losses(&w))
		return lose_named(&w);
	return put_sample(ctx, &w, which, period) ? 0 : lose_named(&w);
}

#endif
