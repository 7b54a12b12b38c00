/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracee: what a tracer reads and changes in the registers of a stopped thread. Part of the public
 * header of src/arch, which includes it. A block of registers is what PTRACE_GETREGSET gives for
 * NT_PRSTATUS.
 */
#ifndef BBTRACE_ARCH_TRACEE_H
#define BBTRACE_ARCH_TRACEE_H

#define TRACEE_REGS_MAX 512 /* bytes of a block, at most */

struct insn;

/*
 * An injected call is code that the tracer sends a thread to: it executes one instruction, or a
 * system call, sets the mask of signals, and continues with its former registers. So nothing is
 * wrong if the tracer is killed meanwhile; with a single step, or with registers that only the
 * tracer can restore, it would be.
 */
#define INJECTED_MAX 256
struct injected {
	const uint8_t *bytes; /* of an instruction of size len, not a branch; 0: none */
	size_t len;
	uint64_t from; /* its address */
	bool calls;    /* a system call after that */
	uint64_t number, args[6];
	uint64_t mask;	  /* signals that are blocked from then on */
	uint64_t then;	  /* where it continues */
	bool small_stack; /* little is kept below the stack pointer, where there is little room */
};
struct injected_code {
	uint8_t bytes[INJECTED_MAX];
	uint32_t len;
	uint32_t called; /* the offset after the system call */
	uint32_t done;	 /* the offset after the first one that sets the mask */
};

/* Code that its thread calls in order to stop: struct log_ring.asks. It waits that long for its
 * tracer. */
#define BEACON_MAX     192
#define BEACON_WAIT_NS 500000000ull

struct tracee_memory {
	const void *of;
	bool (*read)(const void *of, uint64_t addr, void *out, size_t n);
	bool (*write)(const void *of, uint64_t addr, const void *bytes, size_t n);
};

enum tracee_reg {
	TRACEE_PC,
	TRACEE_SP,
	TRACEE_LOG,	/* the base that finds a thread's ring */
	TRACEE_THREAD,	/* that of its thread control block */
	TRACEE_CONTEXT, /* at the first instruction of a signal's handler: its ucontext_t */
};

#define TRACEE_SETTER_MAX 5
#define TRACEE_CALL_MAX	  128

struct arch_tracee {
	size_t size; /* of a block; another size: a thread of another architecture */
	uint64_t (*get)(const void *regs, enum tracee_reg reg);
	void (*set)(void *regs, enum tracee_reg reg, uint64_t value);
	/* Sets the code of an injected call, to be executed at this address. Returns 0 or
	 * -errno. */
	int (*injected)(const struct injected *e, uint64_t at, struct injected_code *out);
	/* Changes the registers of a thread so that it continues there: nothing is restarted. */
	void (*send)(void *regs, uint64_t addr);
	/* The thread has stopped at .done: sets the registers that it has when it continues at
	 * then. Returns false if its stack can't be read. */
	bool (*return_from)(void *regs, const struct injected *e, const struct tracee_memory *m);
	/* Does what a branch does. Returns false if it is not a branch, or if its target isn't
	 * known. */
	bool (*branch)(void *regs, const struct insn *insn, const struct tracee_memory *m);
	/*
	 * Does what the instruction at the pc does, if that only moves and computes and is not a
	 * branch. Memory is read before it is written, at most once, and doing it twice would write
	 * the same. Returns false if it isn't known, or if memory was refused; then nothing has
	 * changed.
	 */
	bool (*emulate)(void *regs, const uint8_t *bytes, size_t n, const struct tracee_memory *m);
	/* A beacon, which may be anywhere: bytes. */
	size_t (*beacon)(uint8_t out[BEACON_MAX]);
	/* A thread that is at this offset of a beacon: its registers when it has returned from it.
	 * False: its stack can't be read. */
	bool (*leave_beacon)(void *regs, uint64_t offset, const struct tracee_memory *m);
	uint32_t audit; /* the AUDIT_ARCH_ that filters of system calls see */
	/*
	 * For a thread that was stopped within a system call, which has to be executed again: sets
	 * the registers as the kernel does when no signal is delivered (handle_signal() of
	 * arch/x86/kernel/signal.c). Returns false if it wasn't, or if that isn't necessary.
	 */
	bool (*restart)(void *regs);
	/* Returns true if it has stopped after a system call that a signal has ended (EINTR). */
	bool (*interrupted)(const void *regs);
	/* The code that a handler returns to, and the frame that the stack pointer points to at the
	 * handler's first instruction: the registers that it interrupted. False: not a frame. */
	const uint8_t *sigreturn;
	size_t sigreturn_len;
	size_t frame_size, frame_pc; /* frame_pc: offset of the pc in it */
	bool (*frame)(const void *frame, uint64_t *pc, uint64_t *sp);
	/* Has the code, somewhere, what sets the register that finds the log: an instruction; the
	 * number of the system call's request, which others may have, too. At most
	 * TRACEE_SETTER_MAX bytes. */
	bool (*sets_log)(const uint8_t *code, size_t n);
	bool (*asks_to_set_log)(const uint8_t *code, size_t n);
	/* Returns true for that number near the system call's own: within TRACEE_CALL_MAX bytes. */
	bool (*calls_to_set_log)(const uint8_t *code, size_t n);
	/* The registers of a thread that is where a log reads the time stamp counter (struct
	 * code_time): as if it had read that. */
	void (*give_time)(void *regs, uint64_t ticks);
	uint64_t returned; /* bytes that the handler's return has popped when it calls sigreturn */
};

#endif
