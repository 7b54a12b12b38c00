/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A signal that ends the process: where it found the thread. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_KILLED_H
#define BBTRACE_BPF_KILLED_H

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
	struct wire_frames *f;
	struct wire_ring *r;

	if (!n)
		return false;
	fill_named(n, now, w, config.killed);
	if (config.rings) {
		r = own_ring(w);
		n->event.logged = r ? r->slot + 1 : 0;
	}
	n->event.state |= WIRE_FRAMES;
	n->ip = arch_user_ip(regs);
	n->event.sp = BPF_CORE_READ(regs, sp);
	f = (void *)(n + 1);
	fill_frames(ctx, f, NAMED_USER_STACK, 0);
	if (config.copy) {
		n->event.state |= WIRE_COPIED;
		copy_program((void *)(f + 1));
	}
	fill_killed((void *)(f + 1) + COPY_ROOM, sig, info);
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

#endif
