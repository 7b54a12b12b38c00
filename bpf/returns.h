/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Reads return addresses, including those that a return probe has replaced. Included once, by
 * bbtrace.bpf.c.
 */
#ifndef BBTRACE_BPF_RETURNS_H
#define BBTRACE_BPF_RETURNS_H

#define RETURNS_AHEAD 16 /* return probes of calls that were left without a ret may precede it */

/*
 * Returns true if addr is the return probes' trampoline. kernel/events/uprobes.c: the first slot of
 * [uprobes]. Where addresses may have 52 bits (arm64), the kernel asks for the highest page, so
 * both have lost the same bits by arch_own_address().
 */
static __always_inline bool is_replaced(__u64 addr)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct xol_area *area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);

	return area && addr &&
	       arch_own_address(BPF_CORE_READ(area, vaddr)) == arch_own_address(addr);
}

/* Returns the original return address of the call with this stack pointer at its entry or, for a
 * frame, of the innermost one above; 0 if not known. */
static __always_inline __u64 find_replaced_return(__u64 sp, bool frame)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct return_instance *r = BPF_CORE_READ(task, utask, return_instances);

	for (int i = 0; r && i < RETURNS_AHEAD; i++) {
		__u64 stack = BPF_CORE_READ(r, stack);

		if (frame ? stack > sp : stack == sp)
			return BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
	return 0;
}

/* Kernel functions: include/linux/rethook.h, from 5.18 on. vmlinux.h may not have it. */
struct llist_node___any {
	struct llist_node___any *next;
} __attribute__((preserve_access_index));
struct llist_head___any {
	struct llist_node___any *first;
} __attribute__((preserve_access_index));
struct rethook_node___any {
	struct llist_node___any llist;
	unsigned long ret_addr, frame;
} __attribute__((preserve_access_index));
struct task_struct___rethook {
	struct llist_head___any rethooks;
} __attribute__((preserve_access_index));

/* For kretprobes without rethooks: include/linux/kprobes.h. */
struct kretprobe_instance___any {
	struct llist_node___any llist;
	void *ret_addr, *fp;
} __attribute__((preserve_access_index));
struct task_struct___kretprobe {
	struct llist_head___any kretprobe_instances;
} __attribute__((preserve_access_index));

/* As find_hooked_return(). */
static __always_inline __u64 find_kretprobed_return(__u64 call)
{
	struct task_struct___kretprobe *task = (void *)bpf_get_current_task();
	struct llist_node___any *at = NULL;
	__u64 addr = 0;

	if (bpf_core_field_exists(task->kretprobe_instances))
		at = BPF_CORE_READ(task, kretprobe_instances.first);
	for (int i = 0; at && i < RETURNS_AHEAD; i++) {
		struct kretprobe_instance___any *n =
			(void *)at - bpf_core_field_offset(struct kretprobe_instance___any, llist);

		if ((__u64)BPF_CORE_READ(n, fp) == call)
			addr = (__u64)BPF_CORE_READ(n, ret_addr);
		else if (addr)
			break;
		at = BPF_CORE_READ(at, next);
	}
	return addr;
}

/* Returns the original return address of the kernel's call, if return probes of any tracer replaced
 * it: the oldest one is last in the list. 0 if none did. */
static __always_inline __u64 find_hooked_return(__u64 call)
{
	struct task_struct___rethook *task = (void *)bpf_get_current_task();
	struct llist_node___any *at = NULL;
	__u64 addr = 0;

	if (bpf_core_field_exists(task->rethooks))
		at = BPF_CORE_READ(task, rethooks.first);
	for (int i = 0; at && i < RETURNS_AHEAD; i++) {
		struct rethook_node___any *n =
			(void *)at - bpf_core_field_offset(struct rethook_node___any, llist);

		if (BPF_CORE_READ(n, frame) == call)
			addr = BPF_CORE_READ(n, ret_addr);
		else if (addr)
			break;
		at = BPF_CORE_READ(at, next);
	}
	return addr;
}

/*
 * The stacks of a chain of calls may have 512 bytes together, and older kernels take at least 32
 * for each call, even for one that is never made. So functions that are called themselves have
 * these inlined; those that have a large stack of their own call them.
 */
enum lookup { LOOKUP_INLINED, LOOKUP_CALLED };

static __noinline __u64 call_replaced_return(__u64 sp, bool frame)
{
	return find_replaced_return(sp, frame);
}

static __noinline __u64 call_kernel_return(__u64 call)
{
	return ARCH_HAS_RETHOOK ? find_hooked_return(call) : find_kretprobed_return(call);
}

static __always_inline __u64 replaced_return(__u64 sp, bool frame, enum lookup how)
{
	return how == LOOKUP_CALLED ? call_replaced_return(sp, frame)
				    : find_replaced_return(sp, frame);
}

static __always_inline __u64 kernel_return(__u64 call, enum lookup how)
{
	if (how == LOOKUP_CALLED)
		return call_kernel_return(call);
	return ARCH_HAS_RETHOOK ? find_hooked_return(call) : find_kretprobed_return(call);
}

/* If *addr, a return address, is one that return probes put there, it becomes the original one. */
static __always_inline long restore_return(__u64 sp, bool frame, enum lookup how, __u64 *addr,
					   bool *replaced)
{
	*replaced = false;
	if (!config.returns || !is_replaced(*addr))
		return 0;
	*replaced = true;
	*addr = replaced_return(sp, frame, how);
	return *addr ? 0 : -1;
}

/*
 * The return address of a call, from a function's entry to its ret: at its stack pointer, or in the
 * register reg. *replaced: a return probe had replaced it.
 */
static __always_inline long load_return(struct pt_regs *ctx, __u64 sp, __u32 reg, bool kernel,
					enum lookup how, __u64 *addr, bool *replaced)
{
	__u64 hooked;

	*replaced = false;
	if (ARCH_LINKS)
		*addr = arch_own_address(arch_register(ctx, reg));
	else if (load_word(addr, sp, kernel))
		return -1;
	if (!kernel)
		return restore_return(sp, false, how, addr, replaced);
	hooked = kernel_return(ARCH_HAS_RETHOOK && !ARCH_LINKS ? sp : arch_call(ctx), how);
	*replaced = hooked;
	*addr = hooked ? hooked : *addr;
	return 0;
}

/* Loads the return address of a frame of the program, to which its frame pointer leads. */
static __always_inline long load_frame_return(__u64 fp, __u64 *addr)
{
	__u64 at = fp + (config.narrow ? USER_WORD : ARCH_FRAME_RETURN);
	bool replaced;

	if (load_word(addr, at, false))
		return -1;
	*addr = arch_own_address(*addr);
	return restore_return(at, ARCH_LINKS, LOOKUP_CALLED, addr, &replaced);
}

#endif
