/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What went wrong: a signal that ends the process, and where it found the thread; a system call
 * that failed, or wrote to the standard error stream. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_OUTCOME_H
#define BBTRACE_BPF_OUTCOME_H

/* Fills in a record's stack, or its copy, and where the program is; returns where its data goes. */
static __always_inline void *fill_program(void *ctx, struct wire_named *n, struct pt_regs *regs)
{
	struct wire_frames *f = (void *)(n + 1);

	n->event.state |= WIRE_FRAMES;
	n->ip = arch_user_ip(regs);
	fill_frames(ctx, f, NAMED_USER_STACK, 0);
	if (config.copy) {
		n->event.state |= WIRE_COPIED;
		copy_program((void *)(f + 1));
	}
	return (void *)(f + 1) + COPY_ROOM;
}

/* ---- signals ---- */

#define SIGNAL_KILL 9

/* Default actions that end no process: SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
 * SIGURG, SIGWINCH, of all architectures that there are programs for here. */
#define SPARING                                                                                    \
	(1ull << 17 | 1ull << 18 | 1ull << 19 | 1ull << 20 | 1ull << 21 | 1ull << 22 |             \
	 1ull << 23 | 1ull << 28)
/* Signals that dump core are delivered to the thread; others end it like SIGKILL: SIGQUIT, SIGILL,
 * SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS. */
#define DUMPING                                                                                    \
	(1ull << 3 | 1ull << 4 | 1ull << 5 | 1ull << 6 | 1ull << 7 | 1ull << 8 | 1ull << 11 |      \
	 1ull << 24 | 1ull << 25 | 1ull << 31)

#define SIGNAL_UNKILLABLE 0x40 /* include/linux/sched/signal.h */

/* By info of the signal: its members are at the same place on all 64-bit architectures
 * (include/uapi/asm-generic/siginfo.h). */
struct siginfo_head {
	__s32 signo, error, code, pad;
	__u64 first; /* si_addr; or si_pid, si_uid */
};

static __always_inline void fill_info(struct wire_killed *k, const void *info)
{
	struct siginfo_head h;

	/* SEND_SIG_NOINFO is 0, SEND_SIG_PRIV 1 */
	if ((__u64)info <= 1 || bpf_probe_read_kernel(&h, sizeof(h), info))
		return;
	k->known = KILLED_INFO;
	k->code = h.code;
	if (h.code > 0)
		k->addr = h.first;
	else
		k->sender = (__u32)h.first;
}

/* For a signal that dumps no core, the info is still in the process's queue. */
static __always_inline const void *queued_info(struct task_struct *task, __u32 sig)
{
	struct signal_struct *s = BPF_CORE_READ(task, signal);
	void *head = (void *)s + bpf_core_field_offset(s->shared_pending.list);
	void *at = BPF_CORE_READ(s, shared_pending.list.next);

	for (int i = 0; i < 4 && at && at != head; i++) {
		struct sigqueue *q = at - bpf_core_field_offset(struct sigqueue, list);

		if (BPF_CORE_READ(q, info.si_signo) == (int)sig)
			return (void *)q + bpf_core_field_offset(struct sigqueue, info);
		at = BPF_CORE_READ(q, list.next);
	}
	return NULL;
}

/*
 * Returns the signal that ends this thread; 0 if none does. Another thread's, or that of a signal
 * that dumps no core, arrives as SIGKILL (kernel/signal.c, get_signal(), complete_signal()) at all
 * of them: the main thread reports it.
 */
static __always_inline __u32 fatal_signal(__u64 sig, __u64 handler)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 code;

	if (handler || sig > 64 || (SPARING >> (sig & 63) & 1))
		return 0;
	if (sig != SIGNAL_KILL)
		return BPF_CORE_READ(task, signal, flags) & SIGNAL_UNKILLABLE ? 0 : sig;
	code = BPF_CORE_READ(task, signal, group_exit_code) & 0x7f;
	if (!code || DUMPING >> code & 1 || BPF_CORE_READ(task, group_leader) != task)
		return 0;
	return code;
}

static __always_inline void fill_killed(struct wire_killed *k, __u32 sig, const void *info)
{
	struct task_struct *task = bpf_get_current_task_btf();

	__builtin_memset(k, 0, sizeof(*k));
	k->signal = sig;
	fill_info(k, info);
	copy_regs(k->regs, (struct pt_regs *)bpf_task_pt_regs(task));
}

static __always_inline bool put_killed(void *ctx, struct who *w, __u32 sig, const void *info)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	struct wire_named *n =
		bpf_ringbuf_reserve(&ring, head + COPY_ROOM + sizeof(struct wire_killed), 0);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 now = bpf_ktime_get_ns();
	struct wire_ring *r;

	if (!n)
		return false;
	fill_named(n, now, w, config.killed);
	if (config.rings) {
		r = own_ring(w);
		n->event.logged = r ? r->slot + 1 : 0;
	}
	n->event.sp = BPF_CORE_READ(regs, sp);
	fill_killed(fill_program(ctx, n, regs), sig, info);
	n->len = sizeof(struct wire_killed);
	bpf_ringbuf_submit(n, BPF_RB_FORCE_WAKEUP);
	return true;
}

SEC("raw_tp/signal_deliver")
int on_killed(struct bpf_raw_tracepoint_args *ctx)
{
	struct k_sigaction *ka = (struct k_sigaction *)ctx->args[2];
	__u64 handler = (__u64)BPF_CORE_READ(ka, sa.sa_handler);
	__u32 sig = fatal_signal(ctx->args[0], handler);
	struct who w = who_am_i();
	const void *info;

	if (stopped || !sig || !is_traced(w, false))
		return 0;
	info = ctx->args[0] == SIGNAL_KILL
		       ? queued_info((struct task_struct *)bpf_get_current_task(), sig)
		       : (void *)ctx->args[1];
	return put_killed(ctx, &w, sig, info) ? 0 : lose_named(&w);
}

/* ---- system calls ---- */

#define ERROR_MOST 4095
/* include/linux/errno.h: the kernel repeats the call, or returns EINTR after all */
#define ERROR_RESTARTS(e) ((e) >= 512 && (e) <= 516)

/* By number of the system call: enum outcome_texts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, __u32);
} outcome_texts SEC(".maps");

static __always_inline void read_bytes(struct wire_outcome *o, __u32 i, __u64 at, __u64 len)
{
	if (!len || i >= OUTCOME_TEXTS)
		return;
	if (len > OUTCOME_TEXT)
		len = OUTCOME_TEXT;
	len = MASKED(len - 1, OUTCOME_TEXT - 1) + 1;
	if (!bpf_probe_read_user(o->text[i], len, (void *)at))
		o->known |= 1ull << i;
}

static __always_inline void read_strings(struct wire_outcome *o, __u32 texts)
{
	__u32 n = 0;

	for (int i = 0; i < WIRE_ARGS; i++) {
		if (!(texts >> i & 1))
			continue;
		if (n >= OUTCOME_TEXTS)
			return;
		if (bpf_probe_read_user_str(o->text[n], OUTCOME_TEXT, (void *)o->args[i]) > 0)
			o->known |= 1ull << n;
		n++;
	}
}

static __always_inline void read_vector(struct wire_outcome *o)
{
	__u64 left = o->result, part[2];

	for (__u32 i = 0; i < OUTCOME_TEXTS && i < o->args[2]; i++) {
		if (bpf_probe_read_user(part, sizeof(part),
					(void *)(o->args[1] + i * sizeof(part))))
			return;
		read_bytes(o, i, part[0], part[1] < left ? part[1] : left);
		left -= part[1] < left ? part[1] : left;
	}
}

static __always_inline void read_texts(struct wire_outcome *o, __u32 texts)
{
	if (o->result < 0) {
		read_strings(o, texts);
		if (texts & OUTCOME_ADDRESS)
			read_bytes(o, 0, o->args[1], o->args[2]);
	} else if (texts & OUTCOME_WAIT) {
		read_bytes(o, 0, o->args[1], sizeof(__u32));
	} else if (texts & OUTCOME_OUTPUT) {
		__u64 left = o->result, skip = 0;

		if (o->args[0] == STDOUT_NUMBER && left > OUTCOME_TEXT)
			skip = left - OUTCOME_TEXT;
		read_bytes(o, 0, o->args[1] + skip, left - skip);
	} else {
		read_vector(o);
	}
}

static __always_inline void fill_outcome(struct wire_outcome *o, struct pt_regs *regs, __u32 number,
					 __s64 result, __u32 texts)
{
	__builtin_memset(o, 0, sizeof(*o));
	o->number = number;
	o->result = result;
	copy_syscall_args(o->args, regs, false);
	read_texts(o, texts);
}

static __always_inline bool put_outcome(void *ctx, struct who *w, struct pt_regs *regs,
					__u32 number, __s64 result, __u32 texts)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	struct wire_named *n =
		bpf_ringbuf_reserve(&ring, head + COPY_ROOM + sizeof(struct wire_outcome), 0);
	__u64 now = bpf_ktime_get_ns();

	if (!n)
		return false;
	fill_named(n, now, w, config.outcome);
	fill_outcome(fill_program(ctx, n, regs), regs, number, result, texts);
	n->len = sizeof(struct wire_outcome);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

#define GENERATIONS 8

/* Returns true if CMD, which runs, is an ancestor of the thread's process. */
static __always_inline bool descends_from_command(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (!(config.filters & FILTER_COMMAND) || !command_runs)
		return false;
	for (int i = 0; i < GENERATIONS; i++) {
		task = BPF_CORE_READ(task, real_parent);
		if (!task || BPF_CORE_READ(task, tgid) <= 1)
			return false;
		if (task_who(task).pid == config.command)
			return true;
	}
	return false;
}

/* Returns what a socket has failed with in the meantime, as getsockopt(2) has reported it, as the
 * result of that; else the result. */
static __always_inline __s64 socket_error(struct pt_regs *regs, __s64 result)
{
	__u64 args[WIRE_ARGS];
	__s32 error = 0;

	copy_syscall_args(args, regs, false);
	if (result || args[1] != OUTCOME_SOL_SOCKET || args[2] != OUTCOME_SO_ERROR ||
	    bpf_probe_read_user(&error, sizeof(error), (void *)args[3]))
		return result;
	return error > 0 && error <= ERROR_MOST ? -error : result;
}

static __always_inline bool matters(struct pt_regs *regs, __s64 result, __u32 texts)
{
	if (result < 0)
		return !ERROR_RESTARTS(-result);
	if (texts & OUTCOME_WAIT)
		return result > 0;
	return texts & (OUTCOME_OUTPUT | OUTCOME_VECTOR) && result &&
	       (arch_syscall_first(regs) == STDERR_NUMBER ||
		arch_syscall_first(regs) == STDOUT_NUMBER);
}

__u64 outputs; /* writes to the standard output that were reported */

/* Of what CMD itself writes to the standard output, only the first ones count: it may be much. */
static __always_inline bool is_beyond(struct pt_regs *regs, __s64 result, const struct who *w)
{
	if (result < 0 || arch_syscall_first(regs) != STDOUT_NUMBER)
		return false;
	if (!(config.filters & FILTER_COMMAND) || w->pid != config.command ||
	    outputs >= OUTPUTS_MOST)
		return true;
	__sync_fetch_and_add(&outputs, 1);
	return false;
}

/* include/trace/events/syscalls.h: (regs, ret) */
SEC("raw_tp/sys_exit")
int on_outcome(struct bpf_raw_tracepoint_args *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx->args[0];
	__s64 result = ctx->args[1];
	__u32 number, none = 0, *texts;
	struct who w;

	if (stopped || result < -ERROR_MOST || arch_is_narrow(regs))
		return 0;
	number = arch_syscall(regs);
	if (number >> 31) /* -1: rt_sigreturn(2) has restored what the signal interrupted */
		return 0;
	texts = bpf_map_lookup_elem(&outcome_texts, &number);
	texts = texts ? texts : &none;
	if (*texts & OUTCOME_SOCKET)
		result = socket_error(regs, result);
	if (!matters(regs, result, *texts))
		return 0;
	w = who_am_i();
	if (!is_traced(w, false) && !descends_from_command())
		return 0;
	if (!(*texts & OUTCOME_WAIT) && is_beyond(regs, result, &w))
		return 0;
	return put_outcome(ctx, &w, regs, number, result, *texts) ? 0 : lose_named(&w);
}

#endif
