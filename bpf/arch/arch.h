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
 *	ARCH_LOG_SEGMENT	the segment whose base points to a thread's log
 *	ARCH_RESUME_SP, _IP	where a signal's frame has the stack pointer and the instruction
 *				that its handler returns to, from the stack pointer of that
 *				system call (struct rt_sigframe)
 */
#ifndef BBTRACE_BPF_ARCH_ARCH_H
#define BBTRACE_BPF_ARCH_ARCH_H

#if defined(__TARGET_ARCH_x86)
#include "x86.h"
#else
#error "no file in bpf/arch for this architecture"
#endif

#endif
