/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fork, exec, signals and exit of tasks: updates the filters, and detects processes that lost their
 * probes. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_TASKS_H
#define BBTRACE_BPF_TASKS_H

/* The number of processes that were added to lost_targets. */
volatile __u32 targets_lost;

/* Processes that lost their probes by an exec, with the time. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* pid */
	__type(value, __u64);
} lost_targets SEC(".maps");

/* Before Linux 6.2 hardware events and others had separate contexts. */
struct task_struct___two {
	void *perf_event_ctxp[2];
} __attribute__((preserve_access_index));
struct task_struct___one {
	void *perf_event_ctxp;
} __attribute__((preserve_access_index));

static __always_inline bool has_perf_events(void)
{
	struct task_struct___two *two = (void *)bpf_get_current_task();
	struct task_struct___one *one = (void *)bpf_get_current_task();

	if (bpf_core_field_exists(two->perf_event_ctxp))
		return BPF_CORE_READ(two, perf_event_ctxp[1]);
	return !bpf_core_field_exists(one->perf_event_ctxp) || BPF_CORE_READ(one, perf_event_ctxp);
}

/* bbtrace holds the event of a requested process's main thread, so it continues, but is no longer
 * inherited. */
static __always_inline bool is_held(struct who w)
{
	return !(config.filters & FILTER_FOLLOW) && (config.filters & FILTER_PID) &&
	       (config.pid ? w.pid == config.pid : bpf_map_lookup_elem(&pids, &w.pid) != 0);
}

/* old_pid: the TID of the thread that called exec, in the initial PID namespace. */
static __always_inline bool is_lost(struct who w, __u32 old_pid)
{
	bool taken_over = old_pid != (__u32)bpf_get_current_pid_tgid();

	if (taken_over && links_by_process)
		return true;
	if (config.loss == LOSS_TAKEOVER)
		return taken_over;
	return config.loss >= LOSS_EVENTS && !has_perf_events() && (taken_over || !is_held(w));
}

static __always_inline void lose_target(__u32 pid)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&lost_targets, &pid, &now, BPF_ANY);
	__sync_fetch_and_add(&targets_lost, 1);
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct who w = who_am_i();

	if (w.pid == config.command)
		command_runs = 1;
	if (config.targets && passes(w, false))
		note_exec(w);
	if (config.inlines && may_pass(w.pid))
		report_all_filters(w, bpf_get_current_task_btf());
	if (config.judges)
		forget_mute(w, false);
	/* include/trace/events/sched.h: (task, old_pid, bprm) */
	if (is_lost(w, ctx->args[1]) && passes(w, false))
		lose_target(w.pid);
	return 0;
}

struct kernel_siginfo___any {
	int si_code;
} __attribute__((preserve_access_index));

#define SIGNAL_ILL  4
#define SIGNAL_TRAP 5
#define SIGNAL_BUS  7
#define SIGNAL_FPE  8
#define SIGNAL_SEGV 11

/* Returns true if the next instruction itself caused it. Nobody else may send a signal with a code
 * above 0. The next instruction after a trap was not executed yet. */
static __always_inline bool is_fault(__u64 sig, void *info)
{
	struct kernel_siginfo___any *i = info;

	return (sig == SIGNAL_ILL || sig == SIGNAL_BUS || sig == SIGNAL_FPE ||
		sig == SIGNAL_SEGV) &&
	       BPF_CORE_READ(i, si_code) > 0;
}

/* Fills in where the signal interrupts the thread's program. */
static __always_inline void fill_signal(struct wire_signal *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	s->event.sp = BPF_CORE_READ(regs, sp);
	s->value[0] = arch_user_ip(regs);
	if (ARCH_LINKS)
		s->value[1] = arch_own_address(arch_user_link(regs));
	else if (load_word(&s->value[1], s->event.sp, false))
		s->event.missing = WIRE_NO_VALUE1;
	/* one by one: some of the pages may not be resident, or not be there */
	for (int i = 0; signals > 2 && i < WIRE_ABOVE; i++)
		load(&s->above[i], 8, s->event.sp + 8 * (i + 1), false);
}

/* include/trace/events/signal.h: signal_deliver(sig, info, ka); SIG_DFL and SIG_IGN are 0 and 1.
 * SIGKILL is delivered, too (kernel/signal.c, get_signal()). */
SEC("raw_tp/signal_deliver")
int on_signal(struct bpf_raw_tracepoint_args *ctx)
{
	struct k_sigaction *ka = (struct k_sigaction *)ctx->args[2];
	struct who w = who_am_i();
	__u64 key = (__u64)w.pid << 32 | w.tid, flag = LOST_SIGNAL, now, *count;
	__u64 handler = (__u64)BPF_CORE_READ(ka, sa.sa_handler);
	struct wire_signal *s;
	struct reserved r;

	if (stopped || !signals || handler == 1 || (!handler && signals < 2) || !passes(w, false) ||
	    !find_ring(&w))
		return 0;
	now = bpf_ktime_get_ns();
	r = reserve_among_hits(&w, now, WIRE_SIGNAL, sizeof(*s));
	s = r.record;
	if (r.is) {
		s->event.state = (handler ? 0 : WIRE_UNHANDLED) |
				 (is_fault(ctx->args[0], (void *)ctx->args[1]) ? WIRE_FAULT : 0);
		fill_signal(s);
		submit(&w, s, now);
		return 0;
	}
	/* so that a loss is recorded before this thread's next record */
	__sync_fetch_and_add(&lost_records, 1);
	if (bpf_map_update_elem(&lost_by_thread, &key, &flag, BPF_NOEXIST)) {
		count = bpf_map_lookup_elem(&lost_by_thread, &key);
		if (count)
			*count |= LOST_SIGNAL;
	}
	return 0;
}

/* The system call by which a signal's handler returns: its frame has where the thread continues. A
 * frame that can't be read is reported as none. */
SEC("kprobe")
int on_sigreturn(struct pt_regs *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 frame = BPF_CORE_READ(regs, sp), now, sp, ip;
	struct who w = who_am_i();
	struct wire_value *v;
	struct reserved r;

	if (stopped || !passes(w, false) || load(&sp, sizeof(sp), frame + ARCH_RESUME_SP, false) ||
	    load(&ip, sizeof(ip), frame + ARCH_RESUME_IP, false) || !find_ring(&w))
		return 0;
	now = bpf_ktime_get_ns();
	r = reserve_among_hits(&w, now, WIRE_RESUME, sizeof(*v));
	v = r.record;
	if (!r.is)
		return 0;
	v->event.sp = sp;
	v->value[0] = ip;
	submit(&w, v, now);
	return 0;
}

/* By PID. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, struct wire_trap);
} traps SEC(".maps");

/*
 * A breakpoint that isn't a uprobe: kernel/events/uprobes.c, handle_swbp(), sends SIGTRAP. It may
 * be the program's own, or the program copied code with a breakpoint of ours.
 */
SEC("raw_tp/signal_deliver")
int on_trap(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 sig = ctx->args[0];
	struct wire_trap t = {.count = 1}, *known;
	struct who w = who_am_i();

	if ((sig != SIGNAL_TRAP && sig != SIGNAL_ILL) || !passes(w, false))
		return 0;
	t.addr = arch_trap_address(regs, sig == SIGNAL_TRAP);
	if (bpf_probe_read_user(t.bytes, sizeof(t.bytes), (void *)t.addr) ||
	    !arch_is_uprobe(t.bytes))
		return 0;
	known = bpf_map_lookup_elem(&traps, &w.pid);
	if (known)
		t.count += known->count;
	copy_comm(t.comm);
	bpf_map_update_elem(&traps, &w.pid, &t, BPF_ANY);
	return 0;
}

static __always_inline void note_inner(struct task_struct *child, __u32 number)
{
	struct pid *pid = BPF_CORE_READ(child, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level), own;

	if (level > pid_level) {
		own = BPF_CORE_READ(number_at(pid, level), nr);
		inner_seen = 1;
		bpf_map_update_elem(&inner, &number, &own, BPF_ANY);
	} else if (inner_seen) { /* another process had this PID before */
		bpf_map_delete_elem(&inner, &number);
	}
}

static __always_inline void follow(struct who parent, struct who child)
{
	__u8 yes = 1;

	if (passes(parent, false))
		bpf_map_update_elem(&followed, &child.pid, &yes, BPF_ANY);
	else /* the end of a process that had this PID before may not have been seen */
		bpf_map_delete_elem(&followed, &child.pid);
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[1];
	struct who parent = who_am_i(), child = task_who(task);

	if (!child.pid)
		return 0;
	if (child.pid == child.tid) {
		note_inner(task, child.pid);
		if (config.filters & FILTER_FOLLOW)
			follow(parent, child);
		if (config.watches)
			inherit_values(parent.pid, child.pid);
		if (config.judges)
			inherit_mute(parent, child, task);
	}
	if (config.inlines)
		report_child_filters(parent, child, task);
	return 0;
}

/* A killed thread may have been between two counters at its end. Its ring is left to user space. */
static __always_inline void report_end(struct who w)
{
	__u64 slot = config.rings ? leave_ring(&w) : 0;
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 now = bpf_ktime_get_ns();
	struct wire_value *v;
	struct reserved r;

	if (stopped || !passes(w, false))
		return;
	r = reserve_task_record(w, now, WIRE_END, sizeof(*v));
	v = r.record;
	if (!r.is) {
		__sync_fetch_and_add(config.counts ? &lost_records : &lost_ends, 1);
		return;
	}
	v->value[0] = arch_user_ip(regs);
	v->event.logged = config.rings ? slot : v->event.logged;
	v->value[1] = (__u64)(__u32)BPF_CORE_READ(task, exit_code) << END_CODE_SHIFT;
	if (!BPF_CORE_READ(task, signal, live.counter))
		v->value[1] |= END_LAST;
	bpf_ringbuf_submit(v, ring_flags(now));
}

/* The main thread is exiting, or has exited. */
static __always_inline bool is_without_leader(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	return leader == task || !BPF_CORE_READ(leader, mm);
}

static __always_inline void forget_process(__u32 pid)
{
	bpf_map_delete_elem(&followed, &pid);
	if (config.targets)
		bpf_map_delete_elem(&exec_times, &pid);
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct who w = who_am_i();

	if (config.counts || config.ends)
		report_end(w);
	if (config.judges)
		forget_mute(w, true);
	/* the last thread, not the main thread, which others may outlive (kernel/exit.c,
	 * do_exit()) */
	if (!BPF_CORE_READ(task, signal, live.counter))
		forget_process(w.pid);
	else if (config.loss == LOSS_THREAD && is_without_leader(task) && passes(w, false))
		lose_target(w.pid);
	return 0;
}

/* One of bbtrace's perf events, by its descriptor, and the number of users of the same trace event,
 * including those that traced tasks have inherited and are about to release. */
volatile __u32 event_fd, event_users;

/* Run by bbtrace through bpf_prog_test_run. */
SEC("raw_tp/sys_enter") /* never attached */
int count_users(void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct file **files = BPF_CORE_READ(task, files, fdt, fd), *file = NULL;
	struct perf_event *event;

	bpf_probe_read_kernel(&file, sizeof(file), files + event_fd);
	event = BPF_CORE_READ(file, private_data);
	event_users = BPF_CORE_READ(event, tp_event, refcnt.counter);
	return 0;
}

/* Run once by bbtrace itself. */
SEC("raw_tp/sys_enter") /* never attached */
int own_level(void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	pid_level = BPF_CORE_READ(task, thread_pid, level);
	return 0;
}

#endif
