/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The architecture that the kernel side is built for: __TARGET_ARCH_NAME, as in libbpf. Each says
 * the same things. Included once, by bbtrace.bpf.c.
 *
 *	ARCH_GENERAL		how many registers, the first ones, may hold an address
 *	ARCH_CALL_PUSHES	bytes of stack that a call takes
 *	ARCH_KPROBE_BEHIND	how far behind a kprobe's address the instruction pointer is
 *	ARCH_FRAME_RETURN	where the return address lies, from what a frame pointer points to
 *	ARCH_FRAME_NEXT		where the caller's frame pointer does
 *	ARCH_RESUME_SP, _IP	where a signal's frame has the stack pointer and the instruction
 *				that its handler returns to, from the stack pointer of that
 *				system call (struct rt_sigframe)
 *	arch_calls_exec()	is the thread in execve(2) or execveat(2)? It may say yes in other
 *				system calls that name no thread
 *	arch_calls_setuid()	is it in one that may change the user? It may say yes in others
 */
#ifndef BBTRACE_BPF_ARCH_ARCH_H
#define BBTRACE_BPF_ARCH_ARCH_H

#if defined(__TARGET_ARCH_x86)
#include "x86.h"
#else
#error "no file in bpf/arch for this architecture"
#endif

#endif
