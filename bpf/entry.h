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

/* ---- copies of the stack ---- */

struct task_struct___alternate {
	unsigned long sas_ss_sp;
	unsigned long sas_ss_size;
} __attribute__((preserve_access_index));

/* The stack that signal handlers may have of their own. */
static __always_inline bool is_on_alternate(__u64 sp)
{
	struct task_struct___alternate *task = (void *)bpf_get_current_task();
	__u64 start = BPF_CORE_READ(task, sas_ss_sp);

	return sp > start && sp - start <= BPF_CORE_READ(task, sas_ss_size);
}

/*
 * The stack pointer of what was interrupted by the signal whose handler was the first one on the
 * alternate stack; 0: not known. What the signal saved is at that stack's upper end; it begins with
 * this stack's description (uc_stack).
 */
static __noinline __u64 interrupted_sp(__u64 sp)
{
	struct task_struct___alternate *task = (void *)bpf_get_current_task();
	__u64 start, size, at, stack[3], found = 0;

	if (!is_on_alternate(sp))
		return 0;
	start = BPF_CORE_READ(task, sas_ss_sp);
	size = BPF_CORE_READ(task, sas_ss_size);
	at = arch_saved_by_signal(start + size);
	if (bpf_probe_read_user(stack, sizeof(stack), (void *)(at + ARCH_SAVED_STACK)) ||
	    stack[0] != start || stack[2] != size ||
	    bpf_probe_read_user(&found, sizeof(found), (void *)(at + ARCH_RESUME_SP)))
		return 0;
	return found;
}

static __always_inline void restore_word(__u8 *bytes, __u64 at, __u64 value)
{
	if (at <= config.copy - 8 && config.narrow)
		*(__u32 *)(bytes + at) = value;
	else if (at <= config.copy - 8)
		*(__u64 *)(bytes + at) = value;
}

/* Return addresses in the copy that return probes have replaced. */
static __noinline void restore_returns(struct wire_entry_copy *s)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct return_instance *r = BPF_CORE_READ(task, utask, return_instances);

	for (int i = 0; r && i < RETURNS_AHEAD; i++) {
		__u64 stack = BPF_CORE_READ(r, stack), at = stack - s->copied.start;

		if (s->copied.other && stack - s->copied.other < s->copied.other_len)
			at = WIRE_COPY_HALF(config.copy) + (stack - s->copied.other);
		restore_word(s->bytes, at, BPF_CORE_READ(r, orig_ret_vaddr));
		r = BPF_CORE_READ(r, next);
	}
}

/* Copies most bytes, block by block: what follows the stack's end can't be read. Returns how many
 * it were. */
static __always_inline __u32 copy_part(__u8 *bytes, __u64 start, __u32 most)
{
	__u32 at;

	for (at = 0; at < most; at += WIRE_COPY_BLOCK)
		if (bpf_probe_read_user(bytes + at, WIRE_COPY_BLOCK, (void *)(start + at)))
			break;
	return at;
}

static __always_inline void copy_stack(struct wire_copied *c, __u8 *bytes, __u64 sp)
{
	const __u32 half = WIRE_COPY_HALF(config.copy);
	__u64 other = config.signal_state ? interrupted_sp(sp) : 0;

	c->start = sp & ~(WIRE_COPY_BLOCK - 1ull);
	c->other = other & ~(WIRE_COPY_BLOCK - 1ull);
	c->other_len = 0;
	if (!c->other) {
		c->len = copy_part(bytes, c->start, config.copy);
		return;
	}
	c->len = copy_part(bytes, c->start, half);
	c->other_len = copy_part(bytes + half, c->other, half);
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
	copy_stack(&s->copied, s->bytes, arch_sp(ctx));
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
