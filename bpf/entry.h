/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Records of entries, with call stacks. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_ENTRY_H
#define BBTRACE_BPF_ENTRY_H

/*
 * Follows the frame pointers: each points to the caller's frame pointer and the return address.
 * src/pipeline/frames.c checks the frames later. Returns their number.
 */
static __always_inline __u64 follow_frames(struct pt_regs *ctx, struct wire_entry_stack *s)
{
	__u64 fp = arch_frame_pointer(ctx), next, addr;
	__u32 n;

	s->stack[0] = arch_ip(ctx);
	s->stack[1] = s->entry.caller;
	if (s->entry.event.missing & WIRE_NO_CALLER)
		return 1;
	for (n = 2; n < WIRE_STACK; n++) {
		if (load_frame_return(fp, &addr) || load_word(&next, fp + ARCH_FRAME_NEXT, false))
			break;
		s->stack[n] = addr;
		/* outer frames are at higher addresses */
		if (next <= fp) {
			n++;
			break;
		}
		fp = next;
	}
	return n;
}

/* At an entry, if calls link, the kernel's unwinder skips the caller: it uses the frame pointer,
 * which is still the caller's. */
static __always_inline __u64 unwind_kernel(struct pt_regs *ctx, struct wire_entry_stack *s)
{
	__u64 *to = s->stack + ARCH_LINKS;
	long len = bpf_get_stack(ctx, to, sizeof(s->stack) - ARCH_LINKS * sizeof(*to), 0);

	if (len <= 0 || !ARCH_LINKS)
		return len > 0 ? (__u64)len >> 3 : 0;
	s->stack[0] = to[0];
	to[0] = s->entry.caller;
	return ((__u64)len >> 3) + 1;
}

/* Return addresses in the copy that return probes have replaced. */
static __noinline void restore_returns(struct wire_entry_copy *s)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct return_instance *r = BPF_CORE_READ(task, utask, return_instances);

	for (int i = 0; r && i < RETURNS_AHEAD; i++) {
		__u64 at = BPF_CORE_READ(r, stack) - s->start;

		if (at <= config.copy - 8 && config.narrow)
			*(__u32 *)(s->bytes + at) = BPF_CORE_READ(r, orig_ret_vaddr);
		else if (at <= config.copy - 8)
			*(__u64 *)(s->bytes + at) = BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
}

/* Copies config.copy bytes, block by block: what follows the stack's end can't be read. Returns how
 * many it were. */
static __always_inline __u32 copy_stack(__u8 *bytes, __u64 start)
{
	__u32 at;

	for (at = 0; at < config.copy; at += WIRE_COPY_BLOCK)
		if (bpf_probe_read_user(bytes + at, WIRE_COPY_BLOCK, (void *)(start + at)))
			break;
	return at;
}

static __always_inline bool put_copy(struct pt_regs *ctx, __u64 word, struct who w)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_entry_copy *s;
	struct reserved r = reserve(&w, sizeof(*s) + config.copy + FETCHED_SIZE, false);

	s = r.record;
	if (!r.is)
		return false;
	fill_entry(&s->entry, now, ctx, word, w, false);
	s->entry.event.state |= WIRE_COPIED;
	s->start = arch_sp(ctx) & ~(WIRE_COPY_BLOCK - 1ull);
	s->len = copy_stack(s->bytes, s->start);
	if (config.returns)
		restore_returns(s);
	if (config.fetched)
		fetch_entry(ctx, word, false, &s->entry, s->bytes + config.copy);
	submit(&w, s, now);
	return true;
}

static __always_inline bool put_entry(struct pt_regs *ctx, __u64 word, struct who w, bool kernel)
{
	__u64 now = bpf_ktime_get_ns();
	struct wire_entry_stack *s;
	struct wire_entry *e;
	struct reserved r;

	if (!config.stack) {
		r = reserve(&w, sizeof(*e) + FETCHED_SIZE, kernel);
		e = r.record;
		if (!r.is)
			return false;
		fill_entry(e, now, ctx, word, w, kernel);
		if (config.fetched)
			fetch_entry(ctx, word, kernel, e, e + 1);
		submit(&w, e, now);
		return true;
	}
	if (!kernel && config.copy)
		return put_copy(ctx, word, w);
	r = reserve(&w, sizeof(*s) + FETCHED_SIZE, kernel);
	s = r.record;
	if (!r.is)
		return false;
	fill_entry(&s->entry, now, ctx, word, w, kernel);
	if (config.fetched)
		fetch_entry(ctx, word, kernel, &s->entry, s + 1);
	s->frames = kernel ? unwind_kernel(ctx, s) : follow_frames(ctx, s);
	submit(&w, s, now);
	return true;
}

#endif
