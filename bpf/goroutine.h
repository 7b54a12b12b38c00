/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Goroutines move between threads, and their stacks move. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_GOROUTINE_H
#define BBTRACE_BPF_GOROUTINE_H

struct on_thread {
	__u64 stamp; /* identifies the task and its program: TIDs are reused */
	__u64 goroutine;
};

struct goroutine_key {
	__u64 goroutine, pid;
};

/* The goroutine of each thread at its last record, and the thread of each goroutine. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u64);	/* pid << 32 | tid */
	__type(value, struct on_thread);
} on_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct goroutine_key);
	__type(value, __u32);
} on_tid SEC(".maps");

/* runtime/runtime2.go: struct g starts with its stack's lo and hi. The goid of a thread's own g0 is
 * 0. */
static __noinline int find_goroutine(struct pt_regs *ctx, struct who *w)
{
	__u64 g = 0, goid = 0, stack[2] = {};

	if (arch_load_g(ctx, &g) || load(stack, sizeof(stack), g, false) ||
	    arch_sp(ctx) < stack[0] || arch_sp(ctx) > stack[1])
		return 0;
	if (!config.go_goid)
		goid = g | GOROUTINE_AT;
	else if (load(&goid, 8, g + config.go_goid, false))
		return 0;
	w->goroutine = goid;
	w->base = goid ? stack[1] : 0;
	return 0;
}

/* Records the goroutine that the thread runs, if it has changed. Non-zero: it could not be
 * recorded. */
static __noinline int report_goroutine(struct pt_regs *ctx, struct who *w, __u64 word)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 key = (__u64)w->pid << 32 | w->tid;
	struct on_thread now = {}, *before = bpf_map_lookup_elem(&on_threads, &key);
	struct goroutine_key at = {};
	__u64 time = bpf_ktime_get_ns();
	struct wire_value *v;
	struct reserved r;
	__u32 *tid;

	if (word & SITE_GO)
		find_goroutine(ctx, w);
	now.stamp = BPF_CORE_READ(task, start_time) ^ (__u64)BPF_CORE_READ(task, self_exec_id)
							      << 48;
	now.goroutine = at.goroutine = w->goroutine;
	at.pid = w->pid;
	tid = bpf_map_lookup_elem(&on_tid, &at);
	if (before && before->stamp == now.stamp && before->goroutine == now.goroutine &&
	    (!now.goroutine || (tid && *tid == w->tid)))
		return 0;
	r = reserve(w, sizeof(*v), false);
	v = r.record;
	if (!r.is)
		return -1;
	fill_event(&v->event, time, ctx, *w, WIRE_SITE_MASK, WIRE_GOROUTINE, 0);
	v->value[0] = now.goroutine;
	v->value[1] = 0;
	submit(w, v, time);
	bpf_map_update_elem(&on_threads, &key, &now, BPF_ANY);
	if (now.goroutine)
		bpf_map_update_elem(&on_tid, &at, &w->tid, BPF_ANY);
	return 0;
}

#endif
