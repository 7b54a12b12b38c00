/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Losses: counted per thread, and recorded before its next record. A thread with a log may log much
 * before that: its losses are recorded at once, in a ring of their own, and counted only if that is
 * full, too. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_LOSSES_H
#define BBTRACE_BPF_LOSSES_H

/* Records that found the ring full; the events of those that lost_by_thread had no space for. */
volatile __u64 lost_records, lost_unattributed;

/* With config.inlines: losses, each at its position. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by user space */
} losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384); /* made at each start: 65536 took a tenth of its time */
	__type(key, __u64);	    /* pid << 32 | tid */
	__type(value, __u64);
} lost_by_thread SEC(".maps");

static __always_inline __u64 loss_key(struct who *w)
{
	__u32 number = w->goroutine & GOROUTINE_AT ? w->goroutine >> 4 : w->goroutine;

	return (__u64)w->pid << 32 | (w->goroutine ? number | LOST_GOROUTINE : w->tid);
}

static __always_inline bool record_loss(struct pt_regs *ctx, struct who *w, __u64 events)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_value *v;

	v = config.inlines ? bpf_ringbuf_reserve(&losses, sizeof(*v), 0) : NULL;
	if (!v)
		return false;
	fill_event(&v->event, now, ctx, *w, WIRE_SITE_MASK, WIRE_LOST, 0);
	v->value[0] = events;
	v->value[1] = !events;
	bpf_ringbuf_submit(v, BPF_RB_NO_WAKEUP);
	return true;
}

static __noinline int lose(struct pt_regs *ctx, struct who *w, __u64 word)
{
	__u64 key = loss_key(w), n = SITE_EVENTS(word), first = n ? n : LOST_HIT, *count;

	if (record_loss(ctx, w, n))
		return 0;
	__sync_fetch_and_add(&lost_records, 1);
	count = bpf_map_lookup_elem(&lost_by_thread, &key);
	if (!count && bpf_map_update_elem(&lost_by_thread, &key, &first, BPF_NOEXIST)) {
		count = bpf_map_lookup_elem(&lost_by_thread, &key);
		if (!count)
			__sync_fetch_and_add(&lost_unattributed, n);
	}
	if (count && n)
		__sync_fetch_and_add(count, n);
	else if (count)
		*count |= LOST_HIT;
	return 0;
}

/* Non-zero: this thread's earlier losses could not be recorded, so no record of it may be
 * submitted. */
static __noinline int report_losses(struct pt_regs *ctx, struct who *w, bool kernel)
{
	__u64 key = loss_key(w), now = bpf_ktime_get_ns(), *count;
	struct wire_value *v;
	struct reserved r;

	count = bpf_map_lookup_elem(&lost_by_thread, &key);
	if (!count || !*count)
		return 0;
	r = reserve(w, sizeof(*v), kernel);
	v = r.record;
	if (!r.is)
		return -1;
	fill_event(&v->event, now, ctx, *w, WIRE_SITE_MASK, WIRE_LOST, 0);
	v->value[0] = *count & ~(LOST_SIGNAL | LOST_HIT);
	v->value[1] = !!(*count & LOST_HIT);
	*count = 0;
	submit(w, v, now);
	return 0;
}

#endif
