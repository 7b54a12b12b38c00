/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which tasks are traced: the filters, with PIDs of bbtrace's PID namespace. Included once, by
 * bbtrace.bpf.c, which has config and the variables.
 */
#ifndef BBTRACE_BPF_WHO_H
#define BBTRACE_BPF_WHO_H

/* Their sizes are set by user space. */
#define FILTER_MAP(name, key_type)                                                                 \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 1);                                                            \
		__type(key, key_type);                                                             \
		__type(value, __u8);                                                               \
	} name SEC(".maps")

FILTER_MAP(pids, __u32);
FILTER_MAP(tids, __u32);
FILTER_MAP(comms, struct comm_key);
FILTER_MAP(uids, __u32);
FILTER_MAP(followed, __u32); /* children of processes that passed */
FILTER_MAP(excluded, __u32);

/* Processes in an inner PID namespace, with their PID there. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32);
} inner SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroup SEC(".maps");

/* ---- the current task ---- */

struct who {
	__u32 pid, tid;
	__u16 state; /* enum wire_state */
	__u64 goroutine,
		base; /* base: the upper end of a goroutine's stack; 0: a thread's own stack */
	struct wire_ring *ring; /* its own (ring.h); NULL: not looked up */
};

static __always_inline struct upid *number_at(struct pid *pid, __u32 level)
{
	return (void *)pid + bpf_core_field_offset(pid->numbers) +
	       level * bpf_core_type_size(struct upid);
}

/* Returns the number of a struct pid in bbtrace's PID namespace; 0 if it is not visible there. */
static __u32 visible_number(struct pid *pid)
{
	__u32 level = pid_level;

	if (BPF_CORE_READ(pid, level) < level ||
	    BPF_CORE_READ(number_at(pid, level), ns, ns.inum) != config.pid_ns)
		return 0;
	return BPF_CORE_READ(number_at(pid, level), nr);
}

static __always_inline struct who task_who(struct task_struct *task)
{
	struct who w = {};

	if (!config.pid_ns) {
		w.pid = BPF_CORE_READ(task, tgid);
		w.tid = BPF_CORE_READ(task, pid);
	} else {
		w.pid = visible_number(BPF_CORE_READ(task, group_leader, thread_pid));
		w.tid = visible_number(BPF_CORE_READ(task, thread_pid));
	}
	return w;
}

static __always_inline struct who who_am_i(void)
{
	struct bpf_pidns_info own;
	__u64 id;

	if (config.pid_ns) {
		/* the task is in that namespace; else it may be in one below */
		if (!bpf_get_ns_current_pid_tgid(config.pid_ns_dev, config.pid_ns, &own,
						 sizeof(own)))
			return (struct who){.pid = own.tgid, .tid = own.pid};
		return task_who((struct task_struct *)bpf_get_current_task());
	}
	id = bpf_get_current_pid_tgid();
	return (struct who){.pid = id >> 32, .tid = id};
}

static __always_inline bool is_named_process(__u32 pid)
{
	if (config.pid ? pid != config.pid : !bpf_map_lookup_elem(&pids, &pid))
		return false;
	return !((config.filters & FILTER_COMMAND) && pid == config.command && !command_runs);
}

static __always_inline bool has_named_comm(void)
{
	struct comm_key comm = {};

	bpf_get_current_comm(&comm, sizeof(comm));
	return bpf_map_lookup_elem(&comms, &comm);
}

static __always_inline bool has_named_uid(void)
{
	__u32 uid = bpf_get_current_uid_gid();

	return bpf_map_lookup_elem(&uids, &uid);
}

static __always_inline bool named_by_filters(struct who w)
{
	__u32 filters = config.filters;

	if ((filters & FILTER_PID) && !is_named_process(w.pid))
		return false;
	if ((filters & FILTER_TID) && !bpf_map_lookup_elem(&tids, &w.tid))
		return false;
	if ((filters & FILTER_COMM) && !has_named_comm())
		return false;
	if ((filters & FILTER_UID) && !has_named_uid())
		return false;
	if ((filters & FILTER_CGROUP) && bpf_current_task_under_cgroup(&cgroup, 0) != 1)
		return false;
	return true;
}

#define ANCESTORS 8

/* A process that the filters name passes if it isn't left out by others. */
static __always_inline bool is_followed(__u32 pid)
{
	if (bpf_map_lookup_elem(&followed, &pid))
		return true;
	if (config.filters & ~(FILTER_PID | FILTER_FOLLOW | FILTER_COMMAND))
		return false;
	return config.pid ? pid == config.pid : bpf_map_lookup_elem(&pids, &pid) != 0;
}

/*
 * Returns true if an ancestor is followed. A tracepoint's program is skipped while another task is
 * in it on the same CPU (kernel/trace/bpf_trace.c, __bpf_trace_run()), which newer kernels may
 * preempt there, so a fork may go unnoticed.
 */
static __noinline int has_followed_ancestor(struct who *w)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u8 yes = 1;

	for (int i = 0; i < ANCESTORS; i++) {
		struct who parent;

		task = BPF_CORE_READ(task, real_parent);
		parent = task_who(task);
		if (parent.pid <= 1)
			return 0;
		if (!is_followed(parent.pid))
			continue;
		bpf_map_update_elem(&followed, &w->pid, &yes, BPF_ANY);
		return 1;
	}
	return 0;
}

/* kernel: for a probe of the kernel's, which idle threads may hit as well */
static __always_inline bool passes(struct who w, bool kernel)
{
	if (w.pid == config.self)
		return false;
	if (!w.pid) /* an idle task, or one that is not visible in bbtrace's PID namespace */
		return kernel && !bpf_get_current_pid_tgid() && !(config.filters & ~FILTER_FOLLOW);
	if (!config.filters)
		return !bpf_map_lookup_elem(&excluded, &w.pid);
	if ((config.filters & FILTER_FOLLOW) && bpf_map_lookup_elem(&followed, &w.pid))
		return true;
	if (named_by_filters(w))
		return true;
	return (config.filters & FILTER_FOLLOW) && (config.filters & FILTER_PID) &&
	       has_followed_ancestor(&w);
}

#endif
