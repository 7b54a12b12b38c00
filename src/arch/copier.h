/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copier: emits relocated copies of instructions, and the code that logs. Part of the public header
 * of src/arch, which includes it; src/copy decides what is copied, and to which address.
 *
 * Addresses of the original are link-time addresses; emitted code is referred to by its offset in
 * struct code_buffer.
 */
#ifndef BBTRACE_ARCH_COPIER_H
#define BBTRACE_ARCH_COPIER_H

#include "arch/log.h"
#include "util/util.h"

struct insn;
struct operand;

/* 4 bytes that hold the distance from the end of their instruction to a place. */
struct code_fixup {
	uint32_t at;	   /* offset of the 4 bytes */
	uint8_t following; /* bytes of the instruction that follow them */
	bool to_label;	   /* to: a label; else an address of the original */
	uint64_t to;
};

struct code_part {
	VEC(uint8_t) bytes;
	VEC(struct code_fixup) fixups;
};

struct code_label {
	bool set, cold;
	uint32_t offset; /* in its part */
};

/* A range of emitted code whose loads may fault: execution has to resume at resume, which logs what
 * was read until then, restores the registers and leaves the log. */
struct code_fault {
	uint32_t start, end; /* offsets in their part */
	uint32_t resume;     /* a label */
	bool cold;
};

/*
 * A range of emitted code that begins by reading the time stamp counter, which a process may be
 * forbidden (prctl(2), PR_SET_TSC). Then execution continues at a label instead or, with NO_LABEL,
 * the time 0 is stored. The code in the range may be executed from its start again.
 */
#define NO_LABEL UINT32_MAX
struct code_time {
	uint32_t start, end; /* offsets in their part */
	uint32_t instead;    /* a label, or NO_LABEL */
	bool cold;
};

/* How a thread of a Go program finds its goroutine: struct g of Go's runtime, which begins with the
 * ends of its stack. */
struct log_goroutine {
	bool any;
	int32_t g;     /* where its address is, from the thread pointer on */
	uint32_t goid; /* offset of its number; 0: unknown */
};

/* Emitted code. Rarely executed code is in cold, which follows hot in the end. */
struct code_buffer {
	struct code_part hot, cold;
	VEC(struct code_label) labels;
	VEC(struct code_fault) faults;
	VEC(struct code_time) times;
	/* Set before log_begin(): the stack has little room, so little is kept below the stack
	 * pointer; records have their goroutine. */
	bool small_stack;
	struct log_goroutine goroutine;
	uint32_t slow, walk,
		reported[32]; /* labels of what log_begin() appended; reported: by register */
};
uint32_t code_buffer__label(struct code_buffer *c); /* a new one, not set */
void code_buffer__set(struct code_buffer *c, uint32_t label,
		      bool cold); /* to the end of the part */
void code_part__put(struct code_part *p, const void *bytes, size_t n);
/* Appends 4 bytes for a distance. */
void code_part__fix(struct code_part *p, bool to_label, uint64_t to, uint8_t following);
void code_buffer__free(struct code_buffer *c);

/* What an instruction does to registers (a bit each, by number) and flags. reads is never too few,
 * writes never too many: only whole 64-bit registers that are written in any case. */
struct reg_use {
	uint32_t reads, writes;
	bool reads_flags;  /* any of those that the log changes (arithmetic flags) */
	bool writes_flags; /* all of them, in any case */
	bool may_fault;	   /* false: never, on any processor */
};

/* What is logged before an instruction, or on an edge. */
struct log_point {
	uint32_t site;
	uint8_t kind; /* enum log_kind: BRANCH, TARGET, RETURN, ENTRY */
	bool taken;
	/* TARGET, and ENTRY of such a site: where the target is. Operands relative to rip are those
	 * of the instruction at vaddr, len bytes long. NULL if there is none. */
	const struct operand *operand;
	bool is_ret; /* an ENTRY that is also a ret */
	/* BRANCH: the values of the record: registers, and at most one in memory. Its base REG_IP
	 * is as in .operand; it is LOG_UNREADABLE if it can't be read. */
	struct operand values[2];
	uint8_t nvalues;
	uint64_t vaddr; /* of the instruction that is logged */
	uint8_t len;
	uint32_t dead;	 /* registers that may be changed */
	bool flags_dead; /* the arithmetic flags may be changed, too */
};

struct arch_copier {
	/* ---- instructions ---- */

	/*
	 * Returns false if not known; then out, too, says that the instruction reads all registers
	 * and flags, and writes none. This includes calls, returns, indirect jumps, and what enters
	 * the kernel.
	 */
	bool (*use)(const uint8_t *bytes, size_t len, uint64_t addr, struct reg_use *out);
	/* Appends the same instruction, with what it addresses relative to itself. 0; -ENOTSUP: it
	 * can't be executed elsewhere. Not for direct branches, calls, and what enters the kernel.
	 */
	int (*displace)(struct code_buffer *c, const uint8_t *bytes, size_t len, uint64_t vaddr);
	/* A jump to an address of the original, or to a label. */
	void (*jump)(struct code_buffer *c, bool to_copy, uint64_t to);
	/* The conditional branch insn, to a label if it is taken. -ENOTSUP. */
	int (*branch)(struct code_buffer *c, const struct insn *insn, const uint8_t *bytes,
		      uint32_t label);
	/* Pushes an address of the original, as the call before that would, without changing
	 * registers or flags. If what the call reads can't be read, or the stack ends there, the
	 * fault comes before anything was changed. */
	void (*push_return)(struct code_buffer *c, uint64_t vaddr, const uint8_t *call, size_t len);
	/* Sets a jump to the target of an indirect call, for where the return address is on the
	 * stack already. Returns its length, at most 16 bytes; 0 if the operand may be where that
	 * is. */
	size_t (*call_to_jump)(const uint8_t *bytes, size_t len, uint8_t *out);
	/* Adds bytes to the stack pointer, without changing flags. */
	void (*move_sp)(struct code_buffer *c, int8_t bytes);

	/* ---- the log ---- */

	/* Appends what the slow paths of all logs have in common, to the cold part: once, before
	 * any log. */
	void (*log_begin)(struct code_buffer *c);
	/*
	 * Appends code that writes the record, and changes nothing except what is dead. The stack
	 * pointer is never changed, even if it is dead, and must be a valid one: what is not dead
	 * may be kept below the red zone. An operand in the segment of the ring can't be logged
	 * (displace() refuses it).
	 */
	void (*log)(struct code_buffer *c, const struct log_point *p,
		    const struct log_options *options);

	/* Appends code that adds 1 to a counter of the thread, and changes nothing else but
	 * registers that are dead, a bit each, and the flags if they are. */
	void (*count)(struct code_buffer *c, uint32_t counter, uint32_t dead, bool flags_dead);

	/* Changes the n bytes of a struct code_time to what is executed instead. instead is the
	 * distance of that from their start, or 0: the time 0 is stored. */
	void (*untime)(uint8_t *code, size_t n, int32_t instead);

	/* ---- patches of the original ---- */

	uint8_t jump_size;  /* a jump to anywhere in reach of 32 bits */
	uint8_t short_size; /* a jump to -128 … 127 bytes from its end */
	uint8_t call_size;  /* a direct call */
	void (*put_jump)(uint8_t *out, uint64_t at, uint64_t to);
	void (*put_short)(uint8_t *out, uint64_t at, uint64_t to);
	void (*put_call)(uint8_t *out, uint64_t at, uint64_t to);
	void (*put_nops)(uint8_t *out, size_t n);
	size_t (*landing)(const uint8_t *bytes, size_t len); /* endbr64 at the start; 0: none */
	/* How far below the stack pointer, which it doesn't move, an instruction keeps something.
	 */
	uint32_t (*keeps_below)(const uint8_t *bytes, size_t len);
	/* How /proc/cpuinfo says that programs may have shadow stacks
	 * (arch/x86/include/asm/cpufeatures.h). */
	const char *shadow_stacks;
	uint16_t small_zone; /* bytes below the stack pointer that are left alone if it is small */
	/* How many bytes below the stack pointer copies and injected calls use at most if the stack
	 * is small. */
	uint16_t below;
};

#endif
