/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Which filters a thread passes, reported when it begins and when that changes: user space filters
 * what threads log (log.h), at the position of each change. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_FILTER_STATES_H
#define BBTRACE_BPF_FILTER_STATES_H

/* Changes that found the ring full. */
volatile __u64 filter_states_missed;

/* All but those by process, which no thread's name or user changes. */
#define FILTERS_OF_THREADS (FILTER_TID | FILTER_COMM | FILTER_UID | FILTER_CGROUP)

/* Threads of other processes are never reported to pass. */
static __always_inline bool may_pass(__u32 pid)
{
	return (config.filters & FILTER_PID) &&
	       (is_named_process(pid) || bpf_map_lookup_elem(&followed, &pid));
}

static __always_inline void report_filters(struct who w, __u64 logged, __u32 filters, __u32 passed)
{
	struct wire_value *v;
	__u64 now = bpf_ktime_get_ns();
	struct reserved r = reserve_task_record(w, now, WIRE_PASSES, sizeof(*v));

	v = r.record;
	if (!r.is) {
		__sync_fetch_and_add(&filter_states_missed, 1);
		return;
	}
	v->event.logged = logged;
	v->value[0] = filters;
	v->value[1] = passed;
	bpf_ringbuf_submit(v, ring_flags(now));
}

#define CGROUP_LEVELS 64

/* As bpf_current_task_under_cgroup(). */
static __noinline int is_in_cgroup(struct task_struct *task)
{
	struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (int i = 0; i < CGROUP_LEVELS && group; i++) {
		struct cgroup_subsys_state *parent = BPF_CORE_READ(group, self.parent);

		if (BPF_CORE_READ(group, kn, id) == config.cgroup)
			return 1;
		group = parent ? BPF_CORE_READ(parent, cgroup) : NULL;
	}
	return 0;
}

/* Reports the state of the current thread, or of one that it has just made, whose name and user are
 * the same. */
static __always_inline void report_all_filters(struct who w, struct task_struct *task)
{
	__u32 passed = 0;

	if (is_named_process(w.pid))
		passed |= FILTER_PID;
	if (bpf_map_lookup_elem(&followed, &w.pid))
		passed |= FILTER_FOLLOW;
	if (bpf_map_lookup_elem(&tids, &w.tid))
		passed |= FILTER_TID;
	if (has_named_comm())
		passed |= FILTER_COMM;
	if (has_named_uid())
		passed |= FILTER_UID;
	if ((config.filters & FILTER_CGROUP) && is_in_cgroup(task))
		passed |= FILTER_CGROUP;
	report_filters(w, 0, FILTER_PID | FILTER_FOLLOW | FILTERS_OF_THREADS, passed);
}

/* Its log begins later. A thread that will never pass is reported, too; otherwise its log would be
 * uncertain. */
static __always_inline void report_child_filters(struct who parent, struct who child,
						 struct task_struct *task)
{
	if ((config.filters & FILTERS_OF_THREADS) &&
	    (may_pass(parent.pid) || may_pass(child.pid) || log_position()))
		report_all_filters(child, task);
}

/* The pointer to the task must be one that the verifier trusts. */
static __always_inline bool is_in_exec(void)
{
	return arch_calls_exec((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

/* include/trace/events/task.h: (task, comm). Threads of one process may rename each other, when
 * nothing shows what the other one is doing meanwhile; an exec is reported when it is over. */
SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	bool own = ctx->args[0] == bpf_get_current_task();
	struct who w = own ? who_am_i() : task_who(task);
	struct comm_key comm = {};

	if (!may_pass(w.pid) || (own && is_in_exec()))
		return 0;
	bpf_probe_read_kernel_str(&comm, sizeof(comm), (void *)ctx->args[1]);
	report_filters(w, log_position_of(task), FILTER_COMM,
		       bpf_map_lookup_elem(&comms, &comm) ? FILTER_COMM : 0);
	return 0;
}

/* include/trace/events/syscalls.h: (regs, ret) */
SEC("raw_tp/sys_exit")
int on_setuid(struct bpf_raw_tracepoint_args *ctx)
{
	struct who w;

	if (!arch_calls_setuid((struct pt_regs *)ctx->args[0]))
		return 0;
	w = who_am_i();
	if (may_pass(w.pid))
		report_filters(w, log_position(), FILTER_UID, has_named_uid() ? FILTER_UID : 0);
	return 0;
}

/* include/trace/events/cgroup.h: (cgroup, path, task, threadgroup); kernel/cgroup/cgroup.c,
 * cgroup_attach_task(): it is called once for a process. */
SEC("raw_tp/cgroup_attach_task")
int on_cgroup(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[2];
	struct who w = task_who(task), me = who_am_i();
	__u32 whole = ctx->args[3] & 1 ? PASSES_PROCESS : 0;
	bool itself = whole ? me.pid == w.pid : me.tid == w.tid;

	if (!may_pass(w.pid))
		return 0;
	report_filters(itself ? me : w, itself ? log_position() : 0, FILTER_CGROUP | whole,
		       is_in_cgroup(task) ? FILTER_CGROUP : 0);
	return 0;
}

#endif
