/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Watchpoints: hardware breakpoints as perf events, by task or by CPU. What children inherit has no
 * cookie (kernel/events/core.c, perf_event_alloc()), so they are known by their address. Included
 * once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_WATCH_H
#define BBTRACE_BPF_WATCH_H

/* Hits that ran the program: the events count those that happened. If reads by the kernel are hits
 * as well, those of this program are among them. */
volatile __u64 watch_hits;
/* The programs' addresses, for on_fork(). */
volatile __u64 watch_addrs[WIRE_WATCHES];

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_WATCHES);
	__type(key, __u64);
	__type(value, struct wire_watch);
} watches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct wire_watch_key);
	__type(value, __u64);
} watch_values SEC(".maps");

/* A child's memory is a copy. */
static __noinline int inherit_values(__u32 parent, __u32 child)
{
	struct wire_watch_key key = {};
	__u64 *value, copy;

	for (int i = 0; i < WIRE_WATCHES; i++) {
		key.addr = watch_addrs[i];
		key.pid = parent;
		value = key.addr ? bpf_map_lookup_elem(&watch_values, &key) : NULL;
		if (!value)
			continue;
		copy = *value;
		key.pid = child;
		bpf_map_update_elem(&watch_values, &key, &copy, BPF_ANY);
	}
	return 0;
}

/* What is not recorded changes the value as well. */
static __noinline int pass_over(__u64 addr, __u32 pid)
{
	bool kernel = ARCH_IS_KERNEL(addr);
	struct wire_watch_key key = {.addr = addr, .pid = kernel ? 0 : pid};
	__u64 *value = bpf_map_lookup_elem(&watch_values, &key);

	if (value && load(value, sizeof(*value), addr & ~7ull, kernel))
		bpf_map_delete_elem(&watch_values, &key);
	return 0;
}

/* The present value becomes the one that was seen last. */
static __always_inline void fill_values(struct wire_watch_hit *h, __u64 addr, __u32 pid)
{
	bool kernel = ARCH_IS_KERNEL(addr);
	struct wire_watch_key key = {.addr = addr, .pid = kernel ? 0 : pid};
	__u64 word = 0, *old = bpf_map_lookup_elem(&watch_values, &key);

	h->word = h->old = 0;
	if (old) {
		h->old = *old;
		h->flags |= WATCH_HAS_OLD;
	}
	if (load(&word, sizeof(word), addr & ~7ull, kernel))
		return;
	h->word = word;
	h->flags |= WATCH_HAS_WORD;
	if (old)
		*old = word;
	else
		bpf_map_update_elem(&watch_values, &key, &word, BPF_ANY);
}

static __always_inline void fill_machine(struct wire_watch_hit *h, __u64 sp, bool kernel)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 top = 0;

	h->fs = kernel ? 0 : segment_base(1);
	h->gs = kernel ? 0 : segment_base(2);
	if (kernel && config.per_cpu_offset)
		bpf_probe_read_kernel(&h->gs, sizeof(h->gs),
				      (void *)(config.per_cpu_offset +
					       bpf_get_smp_processor_id() * sizeof(h->gs)));
	if (!load(&top, sizeof(top), sp, kernel))
		h->flags |= WATCH_HAS_TOP;
	h->top = top;
	h->user_ip = 0;
	if (kernel && task->mm)
		h->user_ip = arch_user_ip((struct pt_regs *)bpf_task_pt_regs(task));
}

/* An instruction that carries a uprobe is stepped elsewhere (kernel/events/uprobes.c): returns its
 * address in the program. */
static __always_inline __u64 original_ip(__u64 ip)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct uprobe_task *utask = task->utask;
	__u64 slot, from;

	if (!utask)
		return ip;
	slot = utask->xol_vaddr;
	from = utask->vaddr;
	return slot && ip - slot < ARCH_XOL_SLOT ? ip - slot + from : ip;
}

static __always_inline void fill_watch(struct pt_regs *ctx, struct wire_named *n,
				       struct wire_watch_hit *h, __u64 now, struct who *w,
				       const struct wire_watch *watch, __u64 addr)
{
	__u64 ip = arch_ip(ctx), sp = arch_sp(ctx);
	bool kernel = ARCH_IS_KERNEL(ip);

	copy_regs(h->regs, ctx);
	barrier_var(ip); /* no load of the context in branches */
	barrier_var(sp);
	if (!kernel)
		ip = original_ip(ip);
	h->regs[ARCH_IP] = ip;
	fill_named(n, now, w, watch->which);
	n->ip = ip;
	n->event.sp = sp;
	n->event.state |= kernel ? WIRE_KERNEL : 0;
	n->len = sizeof(*h);
	h->addr = addr;
	h->flags = 0;
	fill_machine(h, sp, kernel);
	fill_values(h, addr, w->pid);
}

static __always_inline bool put_watch(struct pt_regs *ctx, struct who *w,
				      const struct wire_watch *watch, __u64 addr)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	__u64 now = bpf_ktime_get_ns();
	struct wire_frames *f;
	struct wire_named *n;
	struct reserved r;

	if (!config.stack) {
		r = reserve_common(sizeof(*n) + sizeof(struct wire_watch_hit), true);
		n = r.record;
		if (!r.is)
			return false;
		fill_watch(ctx, n, (void *)(n + 1), now, w, watch, addr);
		bpf_ringbuf_submit(n, ring_flags(now));
		return true;
	}
	r = reserve_common(head + sizeof(struct wire_watch_hit), true);
	n = r.record;
	if (!r.is)
		return false;
	f = (void *)(n + 1);
	fill_watch(ctx, n, (void *)(f + 1), now, w, watch, addr);
	n->event.state |= WIRE_FRAMES;
	fill_frames(ctx, f, NAMED_USER_STACK | NAMED_KERNEL_STACK, 0);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

SEC("perf_event")
int on_watch(void *ctx)
{
	__u64 addr = *(__u64 *)(ctx + ARCH_PERF_ADDR);
	struct wire_watch *watch;
	struct who w;

	watch = bpf_map_lookup_elem(&watches, &addr);
	if (watch && watch->counted)
		__sync_fetch_and_add(&watch_hits, 1);
	if (!watch)
		return 0;
	w = who_am_i();
	if (stopped || !passes(w, ARCH_IS_KERNEL(addr)))
		return pass_over(addr, w.pid);
	if (lost_records && report_named_losses(&w))
		return lose_named(&w);
	return put_watch(ctx, &w, watch, addr) ? 0 : lose_named(&w);
}

#endif
