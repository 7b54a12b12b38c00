// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * A thread that changes how its program's code is mapped, or writes it through /proc/self/mem or
 * process_vm_writev(2), has a signal before it is back in its program: so it stops for its tracer
 * first. Such calls are seen as they release the lock of the address space: a tracepoint of system
 * calls would make each one of the machine slower.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "wire_text.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The tracer, with the kernel's numbers, and the depth of its PID namespace: it calls mprotect(2)
 * with this address, and with TEXT_LEARN. */
__u64 address;
__u32 tracer;
__u32 level;
/* Writes by others to programs that are watched. */
__u64 foreign;

/* By the numbers that the tracer has for them; it writes the first table, and empties slots of the
 * others: threads that were sent SIGURG, and SIGSTOP. One may wait while the other arrives. */
struct text_process processes[TEXT_SLOTS];
__u32 urged[TEXT_THREADS];
__u32 halted[TEXT_THREADS];

/* Address spaces of watched processes. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TEXT_SLOTS);
	__type(key, __u64);
	__type(value, __u32);
} spaces SEC(".maps");

/* x86-64's numbers (arch/x86/entry/syscalls/syscall_64.tbl);
 * include/uapi/asm-generic/mman-common.h, include/uapi/linux/mman.h and shm.h;
 * include/uapi/asm-generic/signal.h */
enum {
	NR_WRITE = 1,
	NR_MMAP = 9,
	NR_MPROTECT = 10,
	NR_MUNMAP = 11,
	NR_PWRITE64 = 18,
	NR_WRITEV = 20,
	NR_MREMAP = 25,
	NR_SHMAT = 30,
	NR_SENDFILE = 40,
	NR_PTRACE = 101,
	NR_REMAP_FILE_PAGES = 216,
	NR_SPLICE = 275,
	NR_PWRITEV = 296,
	NR_PROCESS_VM_WRITEV = 311,
	NR_COPY_FILE_RANGE = 326,
	NR_PWRITEV2 = 328,
	NR_PKEY_MPROTECT = 329,
	NR_IO_URING_ENTER = 426,
};
#define FIXED		0x10
#define FIXED_NOREPLACE 0x100000
#define REMAP_FIXED	2
#define SHM_REMAPS	040000
#define ENOSYS		38
#define SIGNAL_STOP	19
#define SIGNAL_URG	23

static __always_inline __u32 number_of(const struct task_struct *task)
{
	const struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid upid = {};

	bpf_core_read(&upid, sizeof(upid),
		      (const void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid));
	return upid.nr;
}

static __always_inline const struct text_process *find(__u32 pid)
{
	for (__u32 i = 0; pid && i < TEXT_PROBES; i++) {
		const struct text_process *p = &processes[(pid + i) & (TEXT_SLOTS - 1)];

		if (p->pid == pid)
			return p;
	}
	return 0;
}

static __always_inline int overlaps(const struct text_process *r, __u64 start, __u64 size)
{
	for (int i = 0; i < TEXT_RANGES; i++)
		if (r->at[i].start < start + size && start < r->at[i].end)
			return 1;
	return 0;
}

static __always_inline int writes(__u64 nr)
{
	switch (nr) {
	case NR_WRITE:
	case NR_PWRITE64:
	case NR_WRITEV:
	case NR_PWRITEV:
	case NR_PWRITEV2:
	case NR_SENDFILE:
	case NR_SPLICE:
	case NR_COPY_FILE_RANGE:
	case NR_PROCESS_VM_WRITEV:
	case NR_PTRACE:
	case NR_IO_URING_ENTER:
		return 1;
	default:
		return 0;
	}
}

static __always_inline int changes(const struct text_process *r, const struct pt_regs *regs)
{
	__u64 a = PT_REGS_PARM1_CORE_SYSCALL(regs), b = PT_REGS_PARM2_CORE_SYSCALL(regs);
	__u64 flags = PT_REGS_PARM4_CORE_SYSCALL(regs);

	switch (BPF_CORE_READ(regs, orig_ax)) {
	case NR_MPROTECT:
	case NR_PKEY_MPROTECT:
	case NR_MUNMAP:
	case NR_REMAP_FILE_PAGES:
		return overlaps(r, a, b);
	case NR_MMAP:
		return flags & FIXED && !(flags & FIXED_NOREPLACE) && overlaps(r, a, b);
	case NR_MREMAP:
		return overlaps(r, a, b) ||
		       (flags & REMAP_FIXED && overlaps(r, PT_REGS_PARM5_CORE_SYSCALL(regs),
							PT_REGS_PARM3_CORE_SYSCALL(regs)));
	case NR_SHMAT:
		return !!(PT_REGS_PARM3_CORE_SYSCALL(regs) & SHM_REMAPS);
	default:
		return writes(BPF_CORE_READ(regs, orig_ax));
	}
}

/* Without a tracer the signal does nothing, unless it is blocked: then it can only be one that
 * stops. */
static __always_inline void call_tracer(struct task_struct *task)
{
	__u32 tid = number_of(task);
	bool blocked = BPF_CORE_READ(task, blocked.sig[0]) >> (SIGNAL_URG - 1) & 1;

	if (BPF_CORE_READ(task, parent, tgid) != tracer)
		return;
	if (blocked)
		halted[tid & (TEXT_THREADS - 1)] = tid;
	else
		urged[tid & (TEXT_THREADS - 1)] = tid;
	bpf_send_signal_thread(blocked ? SIGNAL_STOP : SIGNAL_URG);
}

/* Returns false if it handles a fault, or makes room for a signal's handler, with registers of
 * something else: arch/x86/entry/entry_64.S */
static __always_inline bool is_in_call(const struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, ax) == (__u64)-ENOSYS;
}

static __always_inline void learn(struct task_struct *task, const struct pt_regs *regs)
{
	if (BPF_CORE_READ(regs, orig_ax) != NR_MPROTECT ||
	    PT_REGS_PARM1_CORE_SYSCALL(regs) != address ||
	    PT_REGS_PARM4_CORE_SYSCALL(regs) != TEXT_LEARN)
		return;
	tracer = bpf_get_current_pid_tgid() >> 32;
	level = BPF_CORE_READ(task, thread_pid, level);
}

/* include/trace/events/mmap_lock.h: (mm, write) */
SEC("raw_tp/mmap_lock_released")
int on_release(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	__u64 mm = ctx->args[0];
	const struct text_process *r;
	__u32 pid;

	if (!is_in_call(regs))
		return 0;
	if (address)
		learn(task, regs);
	if (!tracer || bpf_get_current_pid_tgid() >> 32 == tracer)
		return 0;
	if (mm != (__u64)BPF_CORE_READ(task, mm)) {
		if (bpf_map_lookup_elem(&spaces, &mm) && writes(BPF_CORE_READ(regs, orig_ax)))
			__sync_fetch_and_add(&foreign, 1);
		return 0;
	}
	pid = number_of(BPF_CORE_READ(task, group_leader));
	r = find(pid);
	if (!r)
		return 0;
	bpf_map_update_elem(&spaces, &mm, &pid, BPF_NOEXIST);
	if (changes(r, regs))
		call_tracer(task);
	return 0;
}
