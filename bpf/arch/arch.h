/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The architecture that the kernel side is built for: __TARGET_ARCH_NAME, as in libbpf. Each says
 * the same things. Included once, by bbtrace.bpf.c.
 *
 *	ARCH_REGISTERS		room for a copy of the registers; 1: they are read one by one
 *	ARCH_GENERAL		how many registers, the first ones, may hold an address: a power
 *				of two
 *	ARCH_LINKS		a call leaves its return address in register ARCH_LINK, not on the
 *				stack
 *	ARCH_LOADS_TARGETS	indirect branches may find their target in memory
 *	ARCH_HAS_RETHOOK	the kernel's return probes are rethooks; else kretprobes
 *	ARCH_STACK_BY_CPU	the kernel's compiler may put a program's stack frame into memory of
 *				the CPU (bpf_jit_supports_private_stack())
 *	ARCH_CALL_PUSHES	bytes of stack that a call takes
 *	ARCH_BREAKPOINT_IS_NMI	the kernel counts the breakpoint of a kprobe as an NMI
 *	ARCH_XOL_SLOT		bytes of a slot where the kernel steps an instruction of a uprobe
 *	ARCH_KPROBE_AFTER	how far after a kprobe's address the instruction pointer is
 *	ARCH_FRAME_RETURN	where the return address lies, from what a frame pointer points to
 *	ARCH_FRAME_NEXT		where the caller's frame pointer does
 *	ARCH_RESUME_SP, _IP	where a signal's frame has the stack pointer and the instruction
 *				that its handler returns to, from the stack pointer of that
 *				system call (struct rt_sigframe)
 *	arch_register()		by number, of the first ARCH_GENERAL
 *	arch_target()		where an indirect branch goes, by what it computes
 *	arch_user_link()	with ARCH_LINKS: the link register of a thread's program
 *	arch_call()		in the kernel: what its return probes know a call by
 *	arch_own_address()	a return address without what the program has signed it with
 *	arch_preempt_count()	that of this CPU; false: not known
 *	ARCH_NARROW		the kernel runs 32-bit programs, too, as config.narrow says;
 *				else it may be left out, and arch_stack_arguments()
 *	arch_stack_arguments()	puts their arguments at the stack pointer into registers;
 *				false: they can't be read
 *	ARCH_EXECUTES, arch_execute()	does a uprobe's instruction in the thread's registers; the
 *				instruction pointer stays: it was left to the kernel
 *	arch_calls_exec()	is the thread in execve(2) or execveat(2)? It may say yes in other
 *				system calls that name no thread
 *	arch_calls_setuid()	is it in one that may change the user? It may say yes in others
 *	arch_saved_by_signal()	with config.signal_state: where a signal has saved the state on an
 *				alternate stack; ARCH_SAVED_STACK: uc_stack in it
 */
#ifndef BBTRACE_BPF_ARCH_ARCH_H
#define BBTRACE_BPF_ARCH_ARCH_H

#if defined(__TARGET_ARCH_x86)
#include "x86.h"
#include "x86_execute.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arm64.h"
#elif defined(__TARGET_ARCH_riscv)
#include "riscv.h"
#else
#error "no file in bpf/arch for this architecture"
#endif

#ifndef ARCH_SAVED_STACK
#define ARCH_SAVED_STACK 0
static __always_inline __u64 arch_saved_by_signal(__u64 top)
{
	return 0;
}
#endif

#ifndef ARCH_EXECUTES
static __always_inline void arch_execute(struct pt_regs *ctx, const struct wire_execution *e)
{
}
#endif

#ifndef ARCH_NARROW
static __always_inline bool arch_stack_arguments(__u64 *r, __u64 sp)
{
	return true;
}
#endif

#endif
