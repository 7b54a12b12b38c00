/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The kernel types that bpf/ uses, and of each only the fields it reads: CO-RE finds the rest in
 * the BTF of the kernel it runs on, from 5.15 on. Names and types are the kernel's:
 * include/linux/sched.h, include/linux/pid.h, include/linux/signal_types.h,
 * include/linux/uprobes.h, kernel/trace/trace_uprobe.c, kernel/trace/bpf_trace.c,
 * kernel/events/uprobes.c. What differs
 * between architectures is in vmlinux/NAME/machine.h.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef int pid_t;
typedef _Bool bool;
enum { false, true };

/* include/uapi/linux/bpf.h */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_USER_STACK = 256,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};
struct bpf_pidns_info {
	__u32 pid, tgid;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

#include "machine.h"

struct ns_common {
	unsigned int inum;
};
struct pid_namespace {
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct sigaction {
	void *sa_handler;
};
struct k_sigaction {
	struct sigaction sa;
};

struct inode {
	unsigned long i_ino;
};
struct dentry {
	struct inode *d_inode;
};
struct path {
	struct dentry *dentry;
};

struct uprobe;
struct list_head {
	struct list_head *next;
};
struct uprobe_consumer {
	struct list_head cons_node;
};
struct trace_uprobe {
	struct uprobe_consumer consumer;
	struct uprobe *uprobe;
	struct path path;
	unsigned long offset;
};
struct uprobe_dispatch_data {
	struct trace_uprobe *tu;
	unsigned long bp_addr;
};
/* in a union without a name */
struct arch_uprobe {
	__u8 insn[16];
};
struct uprobe {
	struct list_head consumers;
	struct arch_uprobe arch;
};
struct bpf_uprobe {
	struct uprobe *uprobe;
	struct uprobe_consumer consumer;
};
struct bpf_uprobe_multi_run_ctx {
	struct bpf_uprobe *uprobe;
};
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
};
struct uprobe_task {
	unsigned long vaddr;
	unsigned long xol_vaddr;
	struct return_instance *return_instances;
};
struct xol_area {
	unsigned long vaddr;
};
struct uprobes_state {
	struct xol_area *xol_area;
};
struct mm_struct {
	struct uprobes_state uprobes_state;
};

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

typedef struct {
	int counter;
} atomic_t;
/* include/linux/signal_types.h */
struct kernel_siginfo {
	int si_signo;
};
struct sigqueue {
	struct list_head list;
	struct kernel_siginfo info;
};
struct sigpending {
	struct list_head list;
};
struct signal_struct {
	struct sigpending shared_pending;
	atomic_t live; /* threads that have not ended */
	int group_exit_code;
	unsigned int flags;
};

/* include/linux/trace_events.h, include/linux/perf_event.h, include/linux/fs.h,
 * include/linux/fdtable.h */
struct trace_event_call {
	atomic_t refcnt;
};
struct perf_event {
	struct trace_event_call *tp_event;
};
struct file {
	void *private_data;
};
struct fdtable {
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};

/* include/linux/cgroup-defs.h, include/linux/kernfs.h */
struct kernfs_node {
	__u64 id;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};
struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};
struct css_set {
	struct cgroup *dfl_cgrp; /* v2 */
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct task_struct {
	int exit_state, exit_code;
	struct css_set *cgroups;
	struct files_struct *files;
	pid_t pid, tgid;
	struct signal_struct *signal;
	struct task_struct *real_parent, *parent;
	struct task_struct *group_leader;
	sigset_t blocked;
	struct pid *thread_pid;
	struct mm_struct *mm;
	struct uprobe_task *utask;
	struct bpf_run_ctx *bpf_ctx;
	__u64 start_time;
	__u64 self_exec_id;
	char comm[16];
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif
