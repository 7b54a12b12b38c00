/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where a program switches recording on and off, and its marks: at the markers of bbtrace.h, and at
 * instructions that the user named. The switches' probes are attached while the others are not.
 * Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_MARKER_H
#define BBTRACE_BPF_MARKER_H

/* Switches that found the ring full, and the cookie of the last one. */
volatile __u64 switches_lost;
volatile __u64 switch_lost;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_mark_spec);
} mark_specs SEC(".maps");

/* What a function returns as an int is in the lower half of the register, and the upper one is 0.
 */
static __always_inline bool is_asked(__u64 value, const struct wire_mark_spec *spec)
{
	__s64 v = value >> 32 ? (__s64)value : (__s64)(__s32)value, to = spec->constant;

	switch (spec->when) {
	case WHEN_EQUAL:
		return v == to || value == spec->constant;
	case WHEN_LESS:
		return v < to;
	case WHEN_GREATER:
		return v > to;
	}
	return true;
}

static __always_inline void report_switch(struct pt_regs *ctx, __u64 cookie)
{
	__u32 which = cookie & ~COOKIE_STOPS;
	struct wire_mark_spec *spec = bpf_map_lookup_elem(&mark_specs, &which);
	__u64 value = arch_return_value(ctx);
	struct who w = who_am_i();
	struct wire_value *v;
	struct reserved r;
	__u64 now;

	if (!passes(w, false) || (spec && !is_asked(value, spec)))
		return;
	now = bpf_ktime_get_ns();
	/* no hit of any thread is recorded from here on, long before the probes are gone */
	if (cookie & COOKIE_STOPS)
		stopped = 1;
	r = reserve_task_record(w, now, WIRE_SWITCH, sizeof(*v));
	v = r.record;
	if (!r.is) {
		switch_lost = cookie;
		__sync_fetch_and_add(&switches_lost, 1);
		return;
	}
	v->value[0] = which;
	v->value[1] = value;
	bpf_ringbuf_submit(v, BPF_RB_FORCE_WAKEUP);
}

SEC("uprobe.multi")
int hit_switch(struct pt_regs *ctx)
{
	report_switch(ctx, bpf_get_attach_cookie(ctx));
	return end_on_own_stack(ctx, &nowhere_multi);
}

static __always_inline bool put_mark(struct pt_regs *ctx, __u32 marker,
				     const struct wire_mark_spec *spec, struct who *w)
{
	__u64 now = bpf_ktime_get_ns(), regs[WIRE_REGS];
	struct wire_mark *m;
	struct reserved r = reserve_task_record(*w, now, WIRE_MARK, sizeof(*m));

	m = r.record;
	if (!r.is)
		return false;
	copy_regs(regs, ctx);
	m->marker = marker;
	m->value = spec->value == WIRE_CONSTANT ? spec->constant
						: regs[spec->value & (ARCH_GENERAL - 1)];
	m->name = regs[spec->name & (ARCH_GENERAL - 1)];
	m->ip = arch_ip(ctx);
	if (bpf_probe_read_user_str(m->text, sizeof(m->text), (void *)m->name) < 0)
		m->event.missing = WIRE_NO_VALUE0;
	bpf_ringbuf_submit(m, ring_flags(now));
	return true;
}

SEC("uprobe.multi")
int hit_mark(struct pt_regs *ctx)
{
	__u32 marker = bpf_get_attach_cookie(ctx);
	struct wire_mark_spec *spec;
	struct who w;

	if (stopped)
		return end_on_own_stack(ctx, &nowhere_multi);
	spec = bpf_map_lookup_elem(&mark_specs, &marker);
	w = who_am_i();
	if (!spec || !passes(w, false))
		return 0;
	if (lost_records && report_named_losses(&w))
		return lose_named(&w);
	return put_mark(ctx, marker, spec, &w) ? 0 : lose_named(&w);
}

#endif
