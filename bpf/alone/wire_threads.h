/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* wire_threads: what threads.bpf.c writes of a thread. */
#ifndef BBTRACE_BPF_ALONE_WIRE_THREADS_H
#define BBTRACE_BPF_ALONE_WIRE_THREADS_H

/* The registers that a program has, as in an ELF core dump: struct user_regs_struct of x86-64
 * without segments, struct user_pt_regs of arm64, struct user_regs_struct of RISC-V. struct pt_regs
 * begins with them. */
#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define WIRE_THREAD_REGS 21
#define WIRE_THREAD_PC	 16
#define WIRE_THREAD_SP	 19
#elif defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define WIRE_THREAD_REGS 34
#define WIRE_THREAD_PC	 32
#define WIRE_THREAD_SP	 31
#else
#define WIRE_THREAD_REGS 32
#define WIRE_THREAD_PC	 0
#define WIRE_THREAD_SP	 2
#endif

struct wire_thread {
	__u32 tid;
	__u32 on_cpu;
	__u64 switches; /* how often it was switched away, in all */
	__s64 call;	/* the system call that it is in; negative: none */
	__u64 first;	/* the first argument of that call, which a register may have no longer */
	char comm[16];
	__u64 regs[WIRE_THREAD_REGS];
};

#endif
