/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Executes the instruction of a uprobe after its record, which has the state before it. Loaded only
 * where the kernel lets programs write a thread's registers. Included once, by bbtrace.bpf.c. */
#ifndef BBTRACE_BPF_EXECUTE_H
#define BBTRACE_BPF_EXECUTE_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by user space */
	__type(key, __u32);
	__type(value, struct wire_execution);
} executions SEC(".maps");

/*
 * Returns true if this is the only consumer of the uprobe (kernel/events/uprobes.c,
 * handler_chain()). Any other one would find the registers changed, and might execute the
 * instruction again; and a return probe is set up with the registers after all consumers. One that
 * is added now is put before this one, and isn't run by this hit.
 */
static __always_inline bool is_alone(struct uprobe_consumer *own, struct uprobe *uprobe)
{
	struct list_head *head = (void *)uprobe + bpf_core_field_offset(uprobe->consumers),
			 *node = (void *)own + bpf_core_field_offset(own->cons_node);

	return BPF_CORE_READ(head, next) == node && BPF_CORE_READ(node, next) == head;
}

/* Returns true if it is the instruction that was planned. The kernel has copied its own from the
 * file when that was mapped, and would execute that. */
static __always_inline bool is_planned(const struct wire_execution *e, struct uprobe *uprobe)
{
	__u64 now[2];

	return !bpf_probe_read_kernel(now, sizeof(now),
				      (void *)uprobe + bpf_core_field_offset(uprobe->arch.insn)) &&
	       !((now[0] ^ e->code[0]) & e->cares[0]) && !((now[1] ^ e->code[1]) & e->cares[1]);
}

static __always_inline void execute(struct pt_regs *ctx, __u32 site, struct uprobe_consumer *own,
				    struct uprobe *uprobe)
{
	struct wire_execution *e = bpf_map_lookup_elem(&executions, &site);

	if (e && e->len && is_alone(own, uprobe) && is_planned(e, uprobe))
		arch_execute(ctx, e);
}

/* kernel/trace/bpf_trace.c: the run's context, whose first member is what the task points to, says
 * which of the link's uprobes it is. */
static __noinline int execute_multi(struct pt_regs *ctx, __u32 site)
{
	struct bpf_uprobe_multi_run_ctx *run =
		(void *)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), bpf_ctx);
	struct bpf_uprobe *own = BPF_CORE_READ(run, uprobe);

	if (ctx && own)
		execute(ctx, site, (void *)own + bpf_core_field_offset(own->consumer),
			BPF_CORE_READ(own, uprobe));
	return 0;
}

/* kernel/trace/trace_uprobe.c, uprobe_dispatcher(): utask->vaddr points to the hit's dispatch
 * data */
static __always_inline struct trace_uprobe *hit_event(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct uprobe_dispatch_data *data = (void *)task->utask->vaddr;

	return BPF_CORE_READ(data, tu);
}

static __noinline int execute_event(struct pt_regs *ctx, __u32 site)
{
	struct trace_uprobe *own = hit_event();

	if (ctx && own)
		execute(ctx, site, (void *)own + bpf_core_field_offset(own->consumer),
			BPF_CORE_READ(own, uprobe));
	return 0;
}

#endif
