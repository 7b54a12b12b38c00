/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Named events: tracepoints and USDT probes. Included once, by bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_NAMED_H
#define BBTRACE_BPF_NAMED_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_named_spec);
} named_specs SEC(".maps");

/* The command counts from its exec on. */
static __always_inline bool is_traced(struct who w, bool kernel)
{
	return passes(w, kernel) &&
	       !((config.filters & FILTER_COMMAND) && w.pid == config.command && !command_runs);
}

/* ---- records ---- */

static __always_inline int lose_named(struct who *w)
{
	__u64 key = loss_key(w), one = 1, *count;

	__sync_fetch_and_add(&lost_records, 1);
	count = bpf_map_lookup_elem(&lost_by_thread, &key);
	if (!count && !bpf_map_update_elem(&lost_by_thread, &key, &one, BPF_NOEXIST))
		return 0;
	count = bpf_map_lookup_elem(&lost_by_thread, &key);
	__sync_fetch_and_add(count ? count : &lost_unattributed, 1);
	return 0;
}

/* As report_losses(), without registers. */
static __noinline int report_named_losses(struct who *w)
{
	__u64 key = loss_key(w), *count = bpf_map_lookup_elem(&lost_by_thread, &key);
	struct wire_value *v;
	struct reserved r;

	if (!count || !*count)
		return 0;
	r = reserve_task_record(*w, bpf_ktime_get_ns(), WIRE_LOST, sizeof(*v));
	v = r.record;
	if (!r.is)
		return -1;
	v->value[0] = *count & ~(LOST_SIGNAL | LOST_HIT);
	v->value[1] = !!(*count & LOST_HIT);
	*count = 0;
	bpf_ringbuf_submit(v, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void fill_named(struct wire_named *n, __u64 now, struct who *w, __u32 which)
{
	n->event.time = now;
	n->event.pid = w->pid;
	n->event.tid = w->tid;
	n->event.sp = 0;
	n->event.site_type = which | WIRE_NAMED << WIRE_SITE_BITS;
	n->event.state = w->state;
	n->event.cpu = bpf_get_smp_processor_id();
	n->event.missing = 0;
	n->event.logged = config.inlines ? log_position() : 0;
	n->ip = 0;
	n->count = 1;
	n->len = n->pad = 0;
	copy_comm(n->comm);
}

/* Fills in the stacks that follow from the event's context, without the innermost frames of the
 * kernel. */
static __always_inline void fill_frames(void *ctx, struct wire_frames *f, __u16 flags, __u64 skip)
{
	long len = 0;

	if (flags & NAMED_KERNEL_STACK)
		len = bpf_get_stack(ctx, f->kernel_stack, sizeof(f->kernel_stack), skip);
	f->kernel = len > 0 ? len >> 3 : 0;
	len = 0;
	if ((flags & NAMED_USER_STACK) && !config.copy)
		len = bpf_get_stack(ctx, f->user_stack, sizeof(f->user_stack), BPF_F_USER_STACK);
	f->user = len > 0 ? len >> 3 : 0;
	f->user_end = 0;
	__builtin_memset(f->pad, 0, sizeof(f->pad));
}

/* The registers are the program's. */
static __always_inline void fill_copy(struct pt_regs *regs, struct wire_user_copy *c)
{
	copy_regs(c->regs, regs);
	copy_stack(&c->copied, c->bytes, c->regs[ARCH_SP]);
	c->room = config.copy;
}

/* Copies the state in which the thread's program entered the kernel. */
static __always_inline void copy_program(struct wire_user_copy *c)
{
	struct task_struct *task = bpf_get_current_task_btf();

	c->room = config.copy;
	if (task->mm)
		fill_copy((struct pt_regs *)bpf_task_pt_regs(task), c);
	else
		__builtin_memset(c, 0, offsetof(struct wire_user_copy, room));
}

/* The room of a copy before a record's data: a constant to the verifier. */
#define COPY_ROOM (config.copy ? sizeof(struct wire_user_copy) + config.copy : 0)

/* ---- tracepoints ---- */

/* Hides a value from the compiler, which would drop the mask that the verifier needs. */
#define MASKED(v, mask)                                                                            \
	({                                                                                         \
		__u64 v_ = (v);                                                                    \
		asm volatile("" : "+r"(v_));                                                       \
		v_ &(mask);                                                                        \
	})

/* What a dynamic field refers to; returns its length, at most half - 1. */
static __always_inline __u32 copy_dynamic(void *ctx, __u8 *data, __u32 at, __u32 half, __u32 where)
{
	__u64 len = where >> 16;

	if (at >= half)
		return 0;
	if (len > half - 1)
		len = half - 1;
	len = MASKED(len, half - 1);
	return bpf_probe_read_kernel(data + MASKED(at, half - 1), len, ctx + (where & 0xffff))
		       ? 0
		       : len;
}

/*
 * Copies the record as tracefs describes it: size bytes, then the data of its dynamic fields, with
 * their places in this record. What has no room is cut. half: half of the room, a constant power of
 * two.
 */
static __always_inline void copy_fields(void *ctx, const struct wire_named_spec *spec,
					struct wire_named *n, __u8 *data, __u32 half)
{
	__u32 at = spec->size, size = spec->size < half ? spec->size : half - 1;

	size = MASKED(size, half - 1);
	__builtin_memset(data, 0, 8);
	/* the first 8 bytes are the kernel's (kernel/trace/bpf_trace.c) */
	if (size > 8)
		bpf_probe_read_kernel(data + 8, MASKED(size - 8, half - 1), ctx + 8);
	for (int i = 0; i < NAMED_DYNAMIC; i++) {
		__u32 where = 0, to;

		if (i >= spec->dynamic)
			break;
		to = MASKED(spec->dynamic_at[i], half - 1);
		if (to + 4 > half || bpf_probe_read_kernel(&where, sizeof(where), ctx + to))
			continue;
		where = at | copy_dynamic(ctx, data, at, half, where) << 16;
		__builtin_memcpy(data + to, &where, sizeof(where));
		at += where >> 16;
	}
	n->len = at;
}

static __always_inline bool put_fields(void *ctx, const struct wire_named_spec *spec, struct who *w,
				       __u32 which, __u32 room)
{
	struct wire_named *n = bpf_ringbuf_reserve(&ring, sizeof(*n) + room, 0);
	__u64 now = bpf_ktime_get_ns();

	if (!n)
		return false;
	fill_named(n, now, w, which);
	copy_fields(ctx, spec, n, (__u8 *)(n + 1), room / 2);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

static __always_inline bool put_fields_and_frames(void *ctx, const struct wire_named_spec *spec,
						  struct who *w, __u32 which, __u32 room)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	struct wire_named *n = bpf_ringbuf_reserve(&ring, head + COPY_ROOM + room, 0);
	__u64 now = bpf_ktime_get_ns();
	struct wire_frames *f;

	if (!n)
		return false;
	fill_named(n, now, w, which);
	n->event.state |= WIRE_FRAMES;
	f = (void *)(n + 1);
	fill_frames(ctx, f, spec->flags, 0);
	if (config.copy) {
		n->event.state |= WIRE_COPIED;
		copy_program((void *)(f + 1));
	}
	copy_fields(ctx, spec, n, (__u8 *)(f + 1) + COPY_ROOM, room / 2);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

/* Twice what the fields take, so that what they refer to has as much room. */
static __always_inline bool put_tracepoint(void *ctx, const struct wire_named_spec *spec,
					   struct who *w, __u32 which)
{
	bool small = spec->size <= 128 && !spec->dynamic;

	if (spec->flags & (NAMED_USER_STACK | NAMED_KERNEL_STACK))
		return small ? put_fields_and_frames(ctx, spec, w, which, 256)
			     : put_fields_and_frames(ctx, spec, w, which, WIRE_NAMED_DATA);
	if (small)
		return put_fields(ctx, spec, w, which, 256);
	return spec->size <= 256 ? put_fields(ctx, spec, w, which, 1024)
				 : put_fields(ctx, spec, w, which, WIRE_NAMED_DATA);
}

SEC("tp")
int on_tracepoint(void *ctx)
{
	__u32 which = bpf_get_attach_cookie(ctx);
	struct wire_named_spec *spec;
	struct who w;

	if (stopped)
		return 0;
	spec = bpf_map_lookup_elem(&named_specs, &which);
	w = who_am_i();
	if (!spec || !is_traced(w, true))
		return 0;
	w.state = tracepoint_context();
	if (lost_records && report_named_losses(&w))
		return lose_named(&w);
	return put_tracepoint(ctx, spec, &w, which) ? 0 : lose_named(&w);
}

/* ---- static probes of programs ---- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_usdt);
} usdt_sites SEC(".maps");

enum { USDT_CONSTANT = 1, USDT_REGISTER, USDT_MEMORY }; /* enum usdt_kind */

static __always_inline __u64 extend(__u64 value, __u8 size, bool is_signed)
{
	__u32 shift = 64 - 8 * size;

	if (!size || size >= 8)
		return value;
	value <<= shift & 63;
	return is_signed ? (__u64)((__s64)value >> (shift & 63)) : value >> (shift & 63);
}

/* ip: the probe's address, which a symbol's is relative to. Returns false if it can't be read. */
static __always_inline bool argument(const struct wire_usdt_arg *a, const __u64 *r, __u64 ip,
				     __u64 *out)
{
	__u64 value = a->disp, at;

	if (a->kind == USDT_REGISTER)
		value = r[a->base & (ARCH_GENERAL - 1)];
	else if (a->base == REG_IP)
		value += ip;
	if (a->kind == USDT_MEMORY) {
		if (a->base < ARCH_GENERAL)
			value += r[a->base & (ARCH_GENERAL - 1)];
		if (a->index < ARCH_GENERAL)
			value += r[a->index & (ARCH_GENERAL - 1)] * a->scale;
		at = visible(value);
		value = 0;
		if (load_sized(&value, a->size, at, false))
			return false;
	}
	*out = extend(value, a->size, a->is_signed);
	return a->kind != 0;
}

static __noinline int copy_arguments(struct pt_regs *ctx, const struct wire_usdt *u,
				     struct wire_usdt_data *d)
{
	__u64 r[WIRE_REGS], ip = arch_ip(ctx);

	copy_regs(r, ctx);
	d->known = 0;
	for (int i = 0; i < USDT_ARGS; i++) {
		__u64 value = 0;

		if (i < u->nargs && argument(&u->args[i], r, ip, &value))
			d->known |= 1ull << i;

		d->args[i] = value;
		d->text[i][0] = 0;
		if (value > 4096 && u->args[i].size == USER_WORD)
			bpf_probe_read_user_str(d->text[i], USDT_TEXT, (void *)value);
	}
	return 0;
}

static __always_inline bool put_usdt(struct pt_regs *ctx, const struct wire_usdt *u, __u16 flags,
				     struct who *w)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	struct wire_named *n =
		bpf_ringbuf_reserve(&ring, head + COPY_ROOM + sizeof(struct wire_usdt_data), 0);
	__u64 now = bpf_ktime_get_ns();
	struct wire_frames *f;
	__u8 *data;

	if (!n)
		return false;
	fill_named(n, now, w, u->which);
	n->event.state |= WIRE_FRAMES;
	n->event.sp = arch_sp(ctx);
	n->ip = arch_ip(ctx);
	f = (void *)(n + 1);
	fill_frames(ctx, f, flags, 0);
	data = (void *)(f + 1);
	if (config.copy && flags) {
		n->event.state |= WIRE_COPIED;
		fill_copy(ctx, (void *)data);
		data += COPY_ROOM;
	}
	copy_arguments(ctx, u, (void *)data);
	n->len = sizeof(struct wire_usdt_data);
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

static __always_inline int hit_usdt(struct pt_regs *ctx)
{
	__u32 site = bpf_get_attach_cookie(ctx);
	struct wire_named_spec *spec;
	struct wire_usdt *u = bpf_map_lookup_elem(&usdt_sites, &site);
	struct who w = who_am_i();
	__u32 which;

	if (!u || !is_traced(w, false))
		return 0;
	which = u->which;
	spec = bpf_map_lookup_elem(&named_specs, &which);
	if (!spec)
		return 0;
	if (lost_records && report_named_losses(&w))
		return lose_named(&w);
	return put_usdt(ctx, u, spec->flags, &w) ? 0 : lose_named(&w);
}

SEC("uprobe")
int on_usdt(struct pt_regs *ctx)
{
	return stopped ? end_on_own_stack(ctx, &nowhere_usdt) : hit_usdt(ctx);
}

SEC("uprobe.multi")
int on_usdt_multi(struct pt_regs *ctx)
{
	return stopped ? end_on_own_stack(ctx, &nowhere_multi) : hit_usdt(ctx);
}

/* ---- the scheduler: traced threads leave their CPU, and come back ---- */

/* Threads whose leaving was recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);	/* tid */
	__type(value, __u8);
} off_cpu SEC(".maps");

/* Linux before 5.14 */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));
struct task_struct___now {
	unsigned int __state;
} __attribute__((preserve_access_index));

/* include/trace/events/sched.h: the task's state before it was scheduled, which a thread that wakes
 * it on another CPU may have changed since, is an argument from Linux 5.18 on: the second one
 * there, later the last. */
typedef void (*btf_trace_sched_switch)(void *, bool, struct task_struct *, struct task_struct *,
				       unsigned int);
typedef void (*btf_trace_sched_switch___second)(void *, bool, unsigned int, struct task_struct *,
						struct task_struct *);

struct switched {
	bool preempted;
	struct task_struct *prev, *next;
	__u32 state; /* of prev: include/linux/sched.h, __state */
};

/* each argument at a constant offset */
#define SWITCH_ARG(ctx, n) (*(volatile __u64 *)&(ctx)->args[n])

/* before Linux 5.18 */
static __always_inline __u32 state_now(void *task)
{
	struct task_struct___now *now = task;
	struct task_struct___state *old = task;

	return bpf_core_field_exists(now->__state) ? BPF_CORE_READ(now, __state)
						   : BPF_CORE_READ(old, state);
}

static __always_inline struct switched switch_of(struct bpf_raw_tracepoint_args *ctx)
{
	bool preempted = SWITCH_ARG(ctx, 0) & 1;
	void *prev = (void *)SWITCH_ARG(ctx, 1), *next = (void *)SWITCH_ARG(ctx, 2);

	if (bpf_core_type_exists(btf_trace_sched_switch___second))
		return (struct switched){preempted, next, (void *)SWITCH_ARG(ctx, 3), (__u64)prev};
	if (bpf_core_type_exists(btf_trace_sched_switch))
		return (struct switched){preempted, prev, next, SWITCH_ARG(ctx, 3)};
	return (struct switched){preempted, prev, next, state_now(prev)};
}

#define TASK_IDLE 0x402 /* TASK_UNINTERRUPTIBLE | TASK_NOLOAD */

/* The state that ps(1) and tracefs show: include/linux/sched.h, task_index_to_char(), by the
 * highest bit of TASK_REPORT. R: it was preempted. */
static __always_inline char state_of(const struct switched *s)
{
	const char letters[] = "SDTtXZP";
	struct task_struct *prev = s->prev;
	__u32 state = s->state | BPF_CORE_READ(prev, exit_state);

	if (s->preempted)
		return 'R';
	if (s->state == TASK_IDLE)
		return 'I';
	for (int i = 6; i >= 0; i--)
		if (state >> i & 1)
			return letters[i];
	return 'R';
}

/* the frames at the start of a raw tracepoint's stack: the program's, and that of bpf_trace_run4(),
 * which calls it */
#define OWN_FRAMES 2

static __always_inline bool put_off(void *ctx, struct who *w, const struct wire_named_spec *spec,
				    char state)
{
	const __u64 head = sizeof(struct wire_named) + sizeof(struct wire_frames);
	__u64 now = bpf_ktime_get_ns();
	struct wire_named *n;
	char *data;

	if (spec->flags) {
		n = bpf_ringbuf_reserve(&ring, head + COPY_ROOM + 8, 0);
		if (!n)
			return false;
		fill_named(n, now, w, config.off_cpu);
		n->event.state |= WIRE_FRAMES;
		fill_frames(ctx, (void *)(n + 1), spec->flags, OWN_FRAMES);
		data = (void *)(n + 1) + sizeof(struct wire_frames);
		if (config.copy) {
			n->event.state |= WIRE_COPIED;
			copy_program((void *)data);
		}
		data += COPY_ROOM;
	} else {
		n = bpf_ringbuf_reserve(&ring, sizeof(*n) + 8, 0);
		if (!n)
			return false;
		fill_named(n, now, w, config.off_cpu);
		data = (void *)(n + 1);
	}
	__builtin_memset(data, 0, 8);
	data[0] = state;
	n->len = 1;
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

/* Before the thread runs anything: the current one is still the one before it. */
static __always_inline bool put_on(struct who *w, struct task_struct *task)
{
	struct wire_named *n = bpf_ringbuf_reserve(&ring, sizeof(*n), 0);
	__u64 now = bpf_ktime_get_ns();

	if (!n)
		return false;
	fill_named(n, now, w, config.on_cpu);
	bpf_probe_read_kernel(n->comm, sizeof(n->comm), &task->comm);
	n->event.logged = 0; /* its log is in another address space, perhaps */
	bpf_ringbuf_submit(n, ring_flags(now));
	return true;
}

static __always_inline void leave_cpu(void *ctx, const struct switched *s)
{
	__u32 which = config.off_cpu;
	struct wire_named_spec *spec = bpf_map_lookup_elem(&named_specs, &which);
	struct who w = who_am_i();
	__u8 yes = 1;

	if (!spec || !w.tid || !is_traced(w, false))
		return;
	bpf_map_update_elem(&off_cpu, &w.tid, &yes, BPF_ANY);
	if ((lost_records && report_named_losses(&w)) || !put_off(ctx, &w, spec, state_of(s)))
		lose_named(&w);
}

/* Filters by name, user or control group are of the current thread only: then its leaving must have
 * been seen. */
static __always_inline bool comes_back(struct who w)
{
	if (bpf_map_lookup_elem(&off_cpu, &w.tid))
		return true;
	if (w.pid == config.self || ((config.filters & FILTER_COMMAND) && !command_runs) ||
	    config.filters & (FILTER_COMM | FILTER_UID | FILTER_CGROUP))
		return false;
	if (!config.filters)
		return !bpf_map_lookup_elem(&excluded, &w.pid);
	return (config.filters & FILTER_TID) ? bpf_map_lookup_elem(&tids, &w.tid) != 0
					     : is_followed(w.pid);
}

static __always_inline void come_to_cpu(struct task_struct *task)
{
	struct who w = task_who(task);

	if (!w.tid || !comes_back(w))
		return;
	bpf_map_delete_elem(&off_cpu, &w.tid);
	if ((lost_records && report_named_losses(&w)) || !put_on(&w, task))
		lose_named(&w);
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct switched s;

	if (stopped)
		return 0;
	s = switch_of(ctx);
	leave_cpu(ctx, &s);
	come_to_cpu(s.next);
	return 0;
}

#endif
