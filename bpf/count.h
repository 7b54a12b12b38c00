/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Counters: what a hit does if only counts are wanted. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_COUNT_H
#define BBTRACE_BPF_COUNT_H

/*
 * A task can preempt another one's program on the same CPU, and CPUs may share a slot, so all
 * additions are atomic.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, struct wire_target);
	__type(value, __u64);
} targets SEC(".maps");

/* By PID: the time of the last exec. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u64);
} exec_times SEC(".maps");

/* The bank in which hits count now. */
volatile __u32 count_bank;
/* Hits whose target found no space in the table; execs without space for their time. */
volatile __u64 targets_full, exec_times_full;

static __always_inline void count_target(struct who *w, __u32 site_bank, __u64 target, bool kernel)
{
	struct wire_target key = {.target = target, .site_bank = site_bank};
	__u64 one = 1, *n, *since;

	if (!kernel) {
		since = bpf_map_lookup_elem(&exec_times, &w->pid);
		key.since = since ? *since : 0;
		key.pid = w->pid;
	}
	n = bpf_map_lookup_elem(&targets, &key);
	if (!n && bpf_map_update_elem(&targets, &key, &one, BPF_NOEXIST)) {
		/* another CPU was faster, or there is no space */
		n = bpf_map_lookup_elem(&targets, &key);
		if (!n)
			__sync_fetch_and_add(&targets_full, 1);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
}

/* Not inlined, to have its own stack frame. */
static __noinline int count_hit(struct pt_regs *ctx, __u64 word, struct who *w, bool kernel)
{
	__u32 slot = bpf_get_smp_processor_id() & (config.count_slots - 1), bank = count_bank, at;
	__u64 action = SITE_ACTION(word), value[2], *n;
	bool taken = action != ACTION_CONDITION || arch_taken(ctx, SITE_CONDITION(word));

	if (bank)
		slot += config.count_slots;
	at = slot * config.count_stride + COUNTER(SITE_ID(word), !taken);
	n = bpf_map_lookup_elem(&counts, &at);
	if (n)
		__sync_fetch_and_add(n, 1);
	if (action <= ACTION_CONDITION)
		return 0;
	at = SITE_ID(word) | !!bank << WIRE_SITE_BITS;
	if (!(read_values(ctx, word, kernel, value) & WIRE_NO_VALUE0))
		count_target(w, at, value[0], kernel);
	else if (action == ACTION_MEM)
		count_target(w, at | TARGET_UNREAD, value[0] - value[1], kernel);
	return 0;
}

/* ---- generations of links, for counts and records ---- */

volatile __u64 current;

/* By TID: the last hit that a link of the newer generation took: generation << 32 | the cookie's
 * low half. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u64);
} marks SEC(".maps");

/* Hits that two links may have taken. */
volatile __u64 marks_full;

enum whose_hit {
	HIT_OWN,
	HIT_OTHERS,
	HIT_UNMARKED, /* its own, but the older link may take it again */
};

/* Returns whether the link of this generation takes the hit. Each hit is taken by one link. */
static __always_inline enum whose_hit whose_hit(__u64 generation, __u32 cookie)
{
	__u64 now = current, settled = now >> 1, mark, *marked;
	__u32 tid = bpf_get_current_pid_tgid();

	if (!(now & GENERATION_TAKES_OVER))
		return generation <= settled ? HIT_OWN : HIT_OTHERS;
	mark = (settled + 1) << 32 | cookie;
	marked = bpf_map_lookup_elem(&marks, &tid);
	if (generation > settled) {
		if (marked) {
			*marked = mark;
			return HIT_OWN;
		}
		if (!bpf_map_update_elem(&marks, &tid, &mark, BPF_ANY))
			return HIT_OWN;
		__sync_fetch_and_add(&marks_full, 1);
		return HIT_UNMARKED;
	}
	if (!marked || *marked != mark)
		return HIT_OWN;
	*marked = 0;
	return HIT_OTHERS;
}

/* The cookie of the link that a hit ran this program for first. */
volatile __u64 first_cookie;

SEC("uprobe.multi")
int report_first(struct pt_regs *ctx)
{
	if (!first_cookie)
		first_cookie = bpf_get_attach_cookie(ctx);
	return 0;
}

static __always_inline void note_exec(struct who w)
{
	__u64 now = bpf_ktime_get_ns();

	if (bpf_map_update_elem(&exec_times, &w.pid, &now, BPF_ANY))
		__sync_fetch_and_add(&exec_times_full, 1);
}

#endif
