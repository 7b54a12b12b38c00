/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where a program switches recording on and off: at a marker, or at an instruction that the user
 * named. Their probes are there while the others are not. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_SWITCH_H
#define BBTRACE_SWITCH_H

/* Switches that found the ring full, and the cookie of the last one. */
volatile __u64 switches_lost;
volatile __u64 switch_lost;

static __always_inline int report_switch(__u64 cookie)
{
	struct who w = who_am_i();
	struct wire_value *v;
	__u64 now;

	if (!passes(w, false))
		return 0;
	now = bpf_ktime_get_ns();
	/* no hit of any thread is recorded from here on, long before the probes are gone */
	if (cookie & COOKIE_STOPS)
		stopped = 1;
	v = reserve_task_record(w, now, WIRE_SWITCH, sizeof(*v));
	if (!v) {
		switch_lost = cookie;
		__sync_fetch_and_add(&switches_lost, 1);
		return 0;
	}
	v->value[0] = cookie & ~COOKIE_STOPS;
	bpf_ringbuf_submit(v, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("uprobe.multi")
int hit_switch(struct pt_regs *ctx)
{
	report_switch(bpf_get_attach_cookie(ctx));
	return end_on_own_stack(ctx, &nowhere_multi);
}

#endif
