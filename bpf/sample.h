/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Samples: where a timer interrupts threads, with their stacks: a record each, or added up by
 * thread, CPU and stack. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_SAMPLE_H
#define BBTRACE_BPF_SAMPLE_H

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
	fill_frames(ctx, f, program ? NAMED_USER_STACK : NAMED_USER_STACK | NAMED_KERNEL_STACK, 0);
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

/* ---- added up ---- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct wire_sampled_key);
	__type(value, struct wire_sampled);
} sampled SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1); /* set by user space */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, WIRE_SAMPLED_FRAMES * sizeof(__u64));
} sampled_stacks SEC(".maps");

#define NO_STACK    -1
#define IS_FULL(id) ((id) == -EEXIST || (id) == -ENOMEM)
#define EEXIST	    17
#define ENOMEM	    12

/* Returns false if another stack has its place, or if there is no room. Then it gets a record. */
static __always_inline bool find_stacks(void *ctx, bool program, struct wire_sampled_key *key)
{
	long id = program ? NO_STACK : bpf_get_stackid(ctx, &sampled_stacks, 0);

	if (IS_FULL(id))
		return false;
	key->kernel_stack = id < 0 ? NO_STACK : id;
	id = key->program ? bpf_get_stackid(ctx, &sampled_stacks, BPF_F_USER_STACK) : NO_STACK;
	key->user_stack = id < 0 ? NO_STACK : id;
	return !IS_FULL(id);
}

static __always_inline bool add_sample(struct pt_regs *ctx, struct who *w, __u32 which,
				       __u64 period)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_sampled_key key = {
		.pid = w->pid,
		.tid = w->tid,
		.program = (__u64)task->mm,
		.which = which,
		.cpu = bpf_get_smp_processor_id(),
	};
	struct wire_sampled first = {.count = 1,
				     .periods = period,
				     .time = bpf_ktime_get_ns(),
				     .ip = arch_ip(ctx)},
			    *s;
	bool program = arch_is_user(ctx);

	if (!find_stacks(ctx, program, &key))
		return false;
	s = bpf_map_lookup_elem(&sampled, &key);
	if (s) {
		__sync_fetch_and_add(&s->count, 1);
		__sync_fetch_and_add(&s->periods, period);
		s->time = first.time;
		return true;
	}
	first.kernel = !program;
	copy_comm(first.comm);
	return !bpf_map_update_elem(&sampled, &key, &first, BPF_NOEXIST);
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
	if (config.adds_up && add_sample(ctx, &w, which, period))
		return 0;
	if (lost_records && report_named_losses(&w))
		return lose_named(&w);
	return put_sample(ctx, &w, which, period) ? 0 : lose_named(&w);
}

#endif
