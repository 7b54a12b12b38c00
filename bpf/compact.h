/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Compact records: branches in 16 bytes, which omit what the thread's last full record from the
 * same CPU contains. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_COMPACT_H
#define BBTRACE_BPF_COMPACT_H

/*
 * A CPU's last full record of a branch. Another task's program can preempt a uprobe's program
 * anywhere. Each word contains the thread that wrote it, so a mix of two threads' words is valid
 * for neither.
 */
struct last_full {
	__u64 when;    /* its time in units of 1024 ns : 42 | tid : 22 */
	__u64 who;     /* pid : 22, state but for WIRE_TAKEN : 16 | tid : 22 */
	__u64 sp_high; /* the stack pointer >> WIRE_SP_LOW : 42 | tid : 22 */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct last_full);
} last_fulls SEC(".maps");

#define BY_TID(v, tid) ((__u64)(v) << WIRE_TID_BITS | (tid))

static __always_inline __u64 pid_and_state(struct who w)
{
	return (__u64)w.pid << 16 | (w.state & ~WIRE_TAKEN);
}

static __always_inline bool is_as_full(struct last_full *l, struct who w, __u64 now, __u64 sp)
{
	__u64 when = ((volatile struct last_full *)l)->when;

	if (w.tid >> WIRE_TID_BITS || w.pid >> WIRE_TID_BITS || sp & 7 ||
	    (when & WIRE_TID_MASK) != w.tid ||
	    (((now >> 10) - (when >> WIRE_TID_BITS)) & ((1ull << 42) - 1)) >> WIRE_FULL_FOR_BITS)
		return false;
	return l->who == BY_TID(pid_and_state(w), w.tid) &&
	       l->sp_high == BY_TID(sp >> WIRE_SP_LOW, w.tid);
}

static __always_inline void note_full(struct last_full *l, struct who w, __u64 now, __u64 sp)
{
	volatile struct last_full *v = l;

	if (w.tid >> WIRE_TID_BITS || w.pid >> WIRE_TID_BITS)
		return;
	v->when = BY_TID(now >> 10, w.tid);
	v->who = BY_TID(pid_and_state(w), w.tid);
	v->sp_high = BY_TID(sp >> WIRE_SP_LOW, w.tid);
}

static __always_inline void fill_compact(struct wire_compact *s, struct who w, __u32 site,
					 __u32 cpu, __u64 now, __u64 sp)
{
	s->where = site | (__u64)w.tid << 24 | (__u64)cpu << 46 |
		   (__u64) !!(w.state & WIRE_TAKEN) << 58;
	s->when = now << 24 | (sp >> 3 & 0xffffff);
}

static __always_inline bool put_branch(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	__u32 zero = 0, cpu = bpf_get_smp_processor_id();
	__u64 now = bpf_ktime_get_ns(), sp = arch_sp(ctx) - w.base;
	struct last_full *l = bpf_map_lookup_elem(&last_fulls, &zero);
	struct wire_compact *s;
	struct wire_event *e;
	struct reserved r;

	if (config.compact && l && is_as_full(l, w, now, sp)) {
		r = reserve(&w, sizeof(*s), kernel);
		s = r.record;
		if (!r.is)
			return false;
		fill_compact(s, w, SITE_ID(word), cpu, now, sp);
		submit(&w, s, now);
		return true;
	}
	r = reserve(&w, sizeof(*e), kernel);
	e = r.record;
	if (!r.is)
		return false;
	fill_event(e, now, ctx, w, SITE_ID(word), WIRE_BRANCH, 0);
	submit(&w, e, now);
	if (config.compact && l)
		note_full(l, w, now, sp);
	return true;
}

#endif
