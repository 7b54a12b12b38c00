// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Where the threads of a process are: an iterator over tasks that writes a record for each of them.
 * A thread that is on no CPU has entered the kernel, which has saved its registers: they are those
 * of the program until it is scheduled again, and then one of its switch counts has changed.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire_threads.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile __u32 process; /* in bbtrace's PID namespace */
const volatile __u32 pid_ns;  /* that namespace */

#define LEVELS 32 /* include/linux/pid_namespace.h, MAX_PID_NS_LEVEL */

struct task_struct___threads {
	int on_cpu;
	unsigned long nvcsw, nivcsw;
} __attribute__((preserve_access_index));

struct bpf_iter__task___threads {
	struct bpf_iter_meta___threads *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

struct bpf_iter_meta___threads {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

/* Returns the number of a struct pid in bbtrace's PID namespace; 0 if it is not visible there. */
static __always_inline __u32 visible_number(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i <= LEVELS && i <= level; i++) {
		struct upid *at = (void *)pid + bpf_core_field_offset(pid->numbers) +
				  i * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(at, ns, ns.inum) == pid_ns)
			return BPF_CORE_READ(at, nr);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
/* arch/x86/entry: what is no system call has a negative number there. */
static __always_inline __s64 number_of_call(const struct pt_regs *regs)
{
	return (__s64)BPF_CORE_READ(regs, orig_ax);
}
static __always_inline __u64 first_argument(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, di);
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline __s64 number_of_call(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}
static __always_inline __u64 first_argument(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_x0);
}
#else
#define EXC_SYSCALL 8 /* arch/riscv/include/asm/csr.h */
static __always_inline __s64 number_of_call(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, cause) == EXC_SYSCALL ? (__s64)BPF_CORE_READ(regs, a7) : -1;
}
static __always_inline __u64 first_argument(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_a0);
}
#endif

/* An int; from Linux 7 on an u8. */
static __always_inline bool is_on_cpu(const struct task_struct___threads *task)
{
	return BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu) != 0;
}

SEC("iter/task")
int read_thread(struct bpf_iter__task___threads *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct task_struct___threads *more = (void *)task;
	struct wire_thread t = {};
	struct pt_regs *regs;

	if (!task || visible_number(BPF_CORE_READ(task, group_leader, thread_pid)) != process)
		return 0;
	t.tid = visible_number(BPF_CORE_READ(task, thread_pid));
	t.on_cpu = is_on_cpu(more);
	t.switches = BPF_CORE_READ(more, nvcsw) + BPF_CORE_READ(more, nivcsw);
	bpf_probe_read_kernel(t.comm, sizeof(t.comm), task->comm);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bpf_probe_read_kernel(t.regs, WIRE_THREAD_REGS * sizeof(t.regs[0]), regs);
	t.call = number_of_call(regs);
	t.first = first_argument(regs);
	bpf_seq_write(seq, &t, sizeof(t));
	return 0;
}
