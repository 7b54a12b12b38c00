/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracee: what a tracer reads and changes in the registers of a stopped thread. Part of the public
 * header of src/arch, which includes it. A block of registers is what PTRACE_GETREGSET gives for
 * NT_PRSTATUS.
 */
#ifndef BBTRACE_TRACEE_H
#define BBTRACE_TRACEE_H

#define TRACEE_REGS_MAX 512 /* bytes of a block, at most */

enum tracee_reg {
	TRACEE_PC,
	TRACEE_SP,
	TRACEE_LOG,	/* the base that finds a thread's ring */
	TRACEE_CONTEXT, /* at the first instruction of a signal's handler: its ucontext_t */
};

struct arch_tracee {
	size_t size; /* of a block; another size: a thread of another architecture */
	uint64_t (*get)(const void *regs, enum tracee_reg reg);
	void (*set)(void *regs, enum tracee_reg reg, uint64_t value);
	/* Makes the thread execute a system call by the instruction at addr, whose bytes these are.
	 */
	const uint8_t *enter;
	size_t enter_len;
	void (*call)(void *regs, uint64_t addr, uint64_t number, const uint64_t args[6]);
	/* A thread that was stopped within a system call, which is to be executed again: sets the
	 * registers as the kernel does when no signal is delivered (handle_signal() of
	 * arch/x86/kernel/signal.c). False: it was not, or need not. */
	bool (*restart)(void *regs);
	/* The code that a handler returns to, and the frame that the stack pointer points to at the
	 * handler's first instruction: the registers that it interrupted. False: not a frame. */
	const uint8_t *sigreturn;
	size_t sigreturn_len;
	size_t frame_size;
	bool (*frame)(const void *frame, uint64_t *pc, uint64_t *sp);
	uint64_t returned; /* bytes that the handler's return has popped when it calls sigreturn */
};

#endif
