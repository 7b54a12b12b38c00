/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* wire_named: of the interface between the BPF program and user space (wire.h), the records of
 * named events and of marks. */
#ifndef BBTRACE_BPF_WIRE_NAMED_H
#define BBTRACE_BPF_WIRE_NAMED_H

#include "wire.h"

/* ---- named events (plan/named.h of src): tracepoints, USDT probes, samples … ---- */

#define WIRE_NAMED_FRAMES 128  /* of the kernel, and of the program, at most */
#define WIRE_NAMED_DATA	  4096 /* bytes at most */

/* With WIRE_FRAMES, struct wire_frames follows; then len bytes of data, and padding: a record has
 * one of a few sizes, since the verifier has to know it. */
struct wire_named {
	struct wire_event event;
	__u64 ip;    /* the thread's next instruction; 0: not recorded */
	__u64 count; /* events that this one stands for */
	char comm[16];
	__u32 len, pad;
};

struct wire_frames {
	__u16 kernel, user; /* their numbers */
	__u8 user_end;	    /* enum stack_end of src/event/event.h */
	__u8 pad[3];
	__u64 kernel_stack[WIRE_NAMED_FRAMES], user_stack[WIRE_NAMED_FRAMES];
};

/* With config.copy: in place of the program's frames, its registers and a copy of its stack. */
struct wire_user_copy {
	__u64 regs[WIRE_REGS];
	struct wire_copied copied;
	__u64 room; /* config.copy */
	__u8 bytes[];
};

/* Samples that are added up, by thread, CPU and stacks. */
struct wire_sampled_key {
	__u32 pid, tid;
	__u64 program; /* another one after each exec; 0: a thread of the kernel's */
	__u32 which;   /* the named event */
	__s32 kernel_stack, user_stack; /* their ids; negative: there is none */
	__u32 cpu;
};
struct wire_sampled {
	__u64 count;
	__u64 periods; /* theirs added up */
	__u64 time;    /* of the last one */
	__u64 ip;
	__u32 kernel; /* it interrupted the kernel */
	__u32 pad;
	char comm[16];
};
#define WIRE_SAMPLED_FRAMES 127 /* of a stack: PERF_MAX_STACK_DEPTH */

/* By named event: how its record is made. */
#define NAMED_DYNAMIC 8
struct wire_named_spec {
	__u32 size;			 /* bytes of its fields: copied from the context */
	__u16 flags;			 /* enum named_flags */
	__u16 dynamic;			 /* fields that refer to data after them (__data_loc) */
	__u16 dynamic_at[NAMED_DYNAMIC]; /* their offsets */
};
enum named_flags {
	NAMED_USER_STACK = 1,
	NAMED_KERNEL_STACK = 2,
};

/* The instruction of a static probe, by its attach cookie: its arguments, as struct usdt_argument
 * of src/arch/arch.h. */
#define USDT_ARGS 12
#define USDT_TEXT 64
struct wire_usdt_arg {
	__s64 disp;
	__u8 kind, size, is_signed, base, index, scale, pad[2];
};
struct wire_usdt {
	__u32 which; /* the named event */
	__u32 nargs;
	struct wire_usdt_arg args[USDT_ARGS];
};
/* The data of its event: the arguments' values, then the texts that they point to, if they do;
 * known: a bit for each that could be read. */
struct wire_usdt_data {
	__u64 known;
	__u64 args[USDT_ARGS];
	char text[USDT_ARGS][USDT_TEXT];
};

/* ---- watchpoints: hardware breakpoints ---- */

#define WIRE_WATCHES 16 /* addresses at most, of all processes */

/* By address: the named event, and whether its hits are counted in watch_hits. */
struct wire_watch {
	__u32 which, counted;
};

/* The value that was seen there last, by process; the kernel's: pid 0. */
struct wire_watch_key {
	__u64 addr;
	__u32 pid, pad;
};

/* The data of its record. The instruction is found later (src/code/access.h): the processor traps
 * after it. */
struct wire_watch_hit {
	__u64 addr;
	__u64 regs[WIRE_REGS];
	__u64 fs, gs;  /* bases of segments */
	__u64 top;     /* the word at the stack pointer */
	__u64 word;    /* the aligned word that the watched bytes are in */
	__u64 old;     /* that word when it was last seen */
	__u64 user_ip; /* in the kernel: of the program; 0: none */
	__u64 flags;   /* enum wire_watch_flags */
};
enum wire_watch_flags {
	WATCH_HAS_TOP = 1,
	WATCH_HAS_WORD = 2,
	WATCH_HAS_OLD = 4,
};

/* ---- a signal ends the process ---- */

/* The data of its record. */
struct wire_killed {
	__u32 signal;
	__s32 code;	     /* si_code */
	__u64 addr;	     /* si_addr, of a fault */
	__u32 sender, known; /* known: enum killed_known */
	__u64 regs[WIRE_REGS];
};
enum killed_known {
	KILLED_INFO = 1, /* code, and of a fault addr, else sender */
};

/* ---- system calls that failed, or that wrote to the standard streams ---- */

#define OUTCOME_TEXTS 2
#define OUTCOME_TEXT  256

/* The data of its record: arguments as they were passed, and what two of them point to. */
struct wire_outcome {
	__u64 known; /* a bit for each text that could be read */
	__u64 number;
	__s64 result;
	__u64 args[WIRE_ARGS];
	/* With a 0 after it, if it is shorter. Of the standard output, the end of what was written
	 * from one place. */
	__u8 text[OUTCOME_TEXTS][OUTCOME_TEXT];
};

/* By number of the system call: what its texts are. Bits below OUTCOME_OUTPUT: this argument is a
 * string. */
enum outcome_texts {
	OUTCOME_OUTPUT = 0x40, /* argument 1, as many bytes as were written; 0 is a descriptor */
	OUTCOME_VECTOR = 0x80, /* likewise, but argument 1 is an array of struct iovec */
	OUTCOME_ADDRESS =
		0x100, /* the bytes at argument 1, argument 2 of them: a socket's address */
	OUTCOME_WAIT =
		0x200, /* argument 1: the status of a child that has ended, as wait(2) has it */
	OUTCOME_SOCKET =
		0x400, /* argument 3: SO_ERROR of a socket, its call's result if it isn't 0 */
};
#define OUTCOME_SOL_SOCKET 1 /* include/uapi/asm-generic/socket.h */
#define OUTCOME_SO_ERROR   4
#define OUTCOME_CALLS	   512 /* numbers are smaller */
#define STDOUT_NUMBER	   1
#define STDERR_NUMBER	   2
#define OUTPUTS_MOST	   100 /* writes to the standard output that are reported, the first ones */

/* The largest record of the ring. */
#define WIRE_RECORD_MAX                                                                            \
	(sizeof(struct wire_named) + sizeof(struct wire_frames) + sizeof(struct wire_user_copy) +  \
	 WIRE_COPY_MAX + WIRE_NAMED_DATA + WIRE_FETCHES * sizeof(struct wire_fetched))

/* A mark. */
#define WIRE_TEXT 64
struct wire_mark {
	struct wire_event event; /* missing: WIRE_NO_VALUE0: text could not be read */
	__u64 marker;		 /* its index in probe_options.markers */
	__u64 value;
	__u64 name, ip; /* running addresses of the text, and of the instruction */
	char text[WIRE_TEXT];
};

/* The locations of a mark's operands, by its index: struct marker_operands. */
struct wire_mark_spec {
	__u64 constant;
	__u8 name, value; /* registers; value WIRE_CONSTANT: it is constant */
	/* Of another marker: enum wire_when; it is reported if the return value compares so with
	 * constant. */
	__u8 when;
};
enum wire_when { WHEN_ALWAYS, WHEN_EQUAL, WHEN_LESS, WHEN_GREATER };
#define WIRE_CONSTANT 0xff

#endif
