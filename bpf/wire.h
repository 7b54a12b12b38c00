/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * wire: the interface between the BPF program (bpf/) and user space (src/): records, maps and
 * configuration. wire_named.h has the records of named events, and of marks. Only these two are
 * included by both; include linux/types.h or vmlinux.h before them for __u64, __u32, __u16 and
 * __u8.
 */
#ifndef BBTRACE_BPF_WIRE_H
#define BBTRACE_BPF_WIRE_H

#include "arch/regs.h"
#include "execution.h"

/* ---- up: records in the ring buffer ---- */

/* The type of a record: the high 8 bits of wire_event.site_type; the low 24 are the site. */
enum wire_type {
	WIRE_BRANCH, /* struct wire_event alone */
	WIRE_VALUE,  /* struct wire_value: ret (value 0: where to, value 1: the return register),
		      * indirect (value 0: target) */
	WIRE_ENTRY,  /* struct wire_entry */
	/*
	 * struct wire_value: value 0 = the number of this thread's events that found the ring full
	 * since its last record, as SITE_EVENTS counts them; value 1 = 1: also records that are not
	 * events; both 0: a signal's; site: none
	 */
	WIRE_LOST,
	/*
	 * struct wire_signal: a signal is delivered to this thread, whose handler is about to run
	 * unless WIRE_UNHANDLED says otherwise; sp and value 0 = its program's stack pointer and
	 * next instruction, value 1 = the top of its stack, or its link register; site: none
	 */
	WIRE_SIGNAL,
	WIRE_GOROUTINE, /* struct wire_value: value 0 = the goroutine that this thread runs from
			   here on (GOROUTINE_AT), 0: none, or the thread's own stack; site: none */
	/*
	 * struct wire_value, by a return probe (kernel: of a function that may end in a tail call,
	 * whose rets are recorded, too): sp as at the entry, value 0 = target, value 1 = the return
	 * register; site: the entry's
	 */
	WIRE_RETURN,
	/*
	 * struct wire_value: a thread ended in its program; value 0 = the address of its next
	 * instruction there; value 1 = END_LAST, its exit code from END_CODE_SHIFT on; logged with
	 * config.rings: 1 + its ring's slot; site: none
	 */
	WIRE_END,
	/* struct wire_value: a signal's handler returns; sp and value 0 are the stack pointer and
	 * instruction at which the thread's program continues; site: none */
	WIRE_RESUME,
	/*
	 * struct wire_value, with config.inlines: the filters for which it is reported whether the
	 * thread passes them from here on (value 0: enum filter_flags, and PASSES_PROCESS), and
	 * those that it passes (value 1); site: none
	 */
	WIRE_PASSES,
	/*
	 * struct wire_value: recording is to be switched, or a thread's last branches shown; value
	 * 0 = the index of the marker in probe_options.markers, value 1 = the return register;
	 * site: none
	 */
	WIRE_SWITCH,
	WIRE_MARK,  /* struct wire_mark; site: none */
	WIRE_NAMED, /* struct wire_named; site: an index into the plan's named events */
	WIRE_TYPES
};

/* value 1 of WIRE_END */
#define END_LAST       1  /* the process's last thread */
#define END_CODE_SHIFT 32 /* as wait(2) has it */

/* A goroutine is identified by its goid or, if that is unknown, by the address of its g with this
 * bit set. */
#define GOROUTINE_AT (1ull << 63)

#define WIRE_SITE_BITS 24
#define WIRE_SITE_MASK ((1u << WIRE_SITE_BITS) - 1)

/* wire_event.missing: values that could not be read (the page is not resident: -EFAULT). For an
 * operand in memory (ACTION_MEM), value 0 is then its address, value 1 that of the instruction. */
#define WIRE_NO_VALUE0	1
#define WIRE_NO_VALUE1	2
#define WIRE_NO_CALLER	4
#define WIRE_NO_SYSCALL 8
#define WIRE_NO_STACK	16 /* an entry's arguments on the stack */

/* wire_event.state */
enum wire_state {
	/* the kernel ran this in an interrupt: enum event_interrupt of src/event/event.h */
	WIRE_SOFTIRQ = 1,
	WIRE_HARDIRQ = 2,
	WIRE_NMI = 4,
	WIRE_INTERRUPT = WIRE_SOFTIRQ | WIRE_HARDIRQ | WIRE_NMI,
	WIRE_TAKEN = 8,	     /* a conditional branch that is taken */
	WIRE_PENDING = 16,   /* an entry whose return address a return probe has replaced */
	WIRE_UNHANDLED = 32, /* a signal without handler */
	WIRE_FAULT = 64,     /* a signal that the next instruction itself caused */
	WIRE_KERNEL = 128,   /* a named event: its ip is the kernel's */
	WIRE_FRAMES = 256,   /* the kernel's frames and the program's come before its data */
	WIRE_COPIED = 512,   /* an entry: a struct wire_entry_copy; a named event: struct
			      * wire_user_copy comes before its data */
	WIRE_FETCHED = 1024, /* config.fetched struct wire_fetched are its end */
};

struct wire_event {
	__u64 time;	/* ns, CLOCK_MONOTONIC */
	__u32 pid, tid; /* in bbtrace's PID namespace; kernel: tid 0 is a CPU's idle task */
	__u64 sp;	/* stack pointer before the instruction; for a goroutine, whose stack moves,
			   relative to the stack's upper end */
	__u32 site_type; /* site | type << WIRE_SITE_BITS */
	__u16 state;	 /* enum wire_state */
	__u16 cpu : 12, missing : 4;
	/*
	 * With config.inlines: 1 + the position of the thread's log; 0 if it has none, or if it
	 * can't be read. With config.rings, in a record that ends a thread or a process: 1 + the
	 * slot of the thread's ring.
	 */
	__u64 logged;
};

/* The words of struct log_ring (src/arch/log.h), at the thread's segment base, that give its
 * position. */
enum wire_log {
	WIRE_LOG_CURSOR = 0,
	WIRE_LOG_LIMIT = 1,
	WIRE_LOG_SEGMENTS = 2,
	WIRE_LOG_KEPT = 4,
	WIRE_LOG_BASE = 8,
	WIRE_LOG_WORDS
};
#define WIRE_LOG_RING_AT       4096
#define WIRE_LOG_SEGMENT       (64u << 10)
#define WIRE_LOG_RING_SEGMENTS 16

/*
 * A compact record, as most branches have, identified by its size. What it omits is as in the last
 * full WIRE_BRANCH record of the same thread from the same CPU, which is less than WIRE_FULL_FOR ns
 * older.
 */
struct wire_compact {
	__u64 where; /* site : 24, tid : 22, cpu : 12, taken : 1, from the low bits up */
	__u64 when;  /* sp >> 3 : 24, time : 40; their low bits */
};

#define WIRE_CPUS	   4096
#define WIRE_TID_BITS	   22 /* include/linux/threads.h: PID_MAX_LIMIT is 4 << 20 */
#define WIRE_TID_MASK	   ((1ull << WIRE_TID_BITS) - 1)
#define WIRE_SP_LOW	   27 /* bits of the stack pointer in a compact record */
#define WIRE_FULL_FOR_BITS 24 /* units of 1024 ns: 17 s */
#define WIRE_FULL_FOR	   (1ull << (WIRE_FULL_FOR_BITS + 10))

struct wire_value {
	struct wire_event event;
	__u64 value[2];
};

/* A wire_value with more of the stack, for calls that have lowered their stack pointer. */
#define WIRE_ABOVE 63
struct wire_signal {
	struct wire_event event;
	__u64 value[2];
	__u64 above[WIRE_ABOVE]; /* what follows value 1 on the stack; 0 also: could not be read */
};

#define WIRE_ARGS  6
#define WIRE_STACK 64 /* frames at most */

/* An entry. value is as in wire_value, for an entry that is also a branch. */
struct wire_entry {
	struct wire_event event;
	__u64 value[2];
	__u64 caller; /* the return address on top of the stack */
	char comm[16];
	__u64 regs[WIRE_REGS];
	/* From the pt_regs passed to a syscall wrapper; in other functions WIRE_NO_SYSCALL. */
	__u64 args[WIRE_ARGS];
	/* In the kernel, with config.both: the program's registers at entry to the kernel; in a
	 * system call, user_ip is the address of the instruction that made it. 0: no program. */
	__u64 user_ip, user_sp;
};

/*
 * With config.stack: the call stack, innermost first: the entry, its return address, then frames by
 * frame pointers or by the kernel's unwinder.
 */
struct wire_entry_stack {
	struct wire_entry entry;
	__u64 frames;
	__u64 stack[WIRE_STACK];
};

/* With config.copy, for a program: a copy of the stack, from which user space makes the call
 * stack. */
#define WIRE_COPY_BLOCK 1024
#define WIRE_COPY_MAX	(65u << 10)
/* In bytes: the second half, if a signal's handler runs on an alternate stack. */
#define WIRE_COPY_HALF(copy) ((copy) / 2 & ~(WIRE_COPY_BLOCK - 1u))
struct wire_copied {
	__u64 start; /* the address of the first byte: the block of the stack pointer */
	__u64 len;   /* bytes that could be read; as many as there is room for: there may be more */
	/* Likewise, of the stack that the signal interrupted, in the second half; 0: none. */
	__u64 other, other_len;
};
struct wire_entry_copy {
	struct wire_entry entry;
	struct wire_copied copied;
	__u8 bytes[]; /* config.copy */
};

/* ---- values in memory (config.fetched) ---- */

#define WIRE_FETCHES	  8 /* of a hit, at most */
#define WIRE_FETCH_STEPS  7
#define WIRE_FETCH_ROOM	  72
#define WIRE_FETCH_TEXT	  66 /* of a string, with its 0 */
#define WIRE_FETCH_NONE	  (-0x7fffffff)
#define WIRE_FETCH_ABSENT (-14) /* it couldn't be read: its address is there instead */

enum wire_fetch_from { FETCH_REGISTER, FETCH_ARGUMENT /* of a system call */ };

/* How a value is found: the address in a register, or that is returned, + steps[0]; for each
 * further step, the word there + that. */
struct wire_fetch {
	__u8 from, reg;
	__u8 nsteps, text;
	__u32 size;
	__s64 steps[WIRE_FETCH_STEPS];
};
struct wire_fetches {
	__u32 n, pad;
	struct wire_fetch of[WIRE_FETCHES];
};

/* As struct fetched of src/event/event.h. len is WIRE_FETCH_NONE if the site has no such value. */
struct wire_fetched {
	__s32 len;
	__u32 pad;
	__u8 bytes[WIRE_FETCH_ROOM];
};

/* ---- conditions (config.judges) ---- */

#define WIRE_CONDITIONS	     4 /* of a function, at most */
#define WIRE_CONDITION_WORDS 9
enum wire_compare { WIRE_EQ, WIRE_NE, WIRE_LT, WIRE_LE, WIRE_GT, WIRE_GE };
/* NULL: of a pointer that fetch follows */
enum wire_condition_kind { WIRE_IS_NUMBER, WIRE_IS_NULL, WIRE_IS_TEXT };
struct wire_condition {
	struct wire_fetch fetch;		  /* nsteps 0: the value is there */
	__u8 kind, how, width, bit_at, is_signed; /* a number: bits */
	__u8 wide, as_unsigned;			  /* as what it is compared */
	__u8 orders; /* a bit for each that holds: greater, equal, less */
	__u64 with;
	__u64 text[WIRE_CONDITION_WORDS], mask[WIRE_CONDITION_WORDS];
};
/* What is counted if they don't hold. */
enum wire_muted { WIRE_MUTED_CALLS, WIRE_MUTED_HITS, WIRE_MUTED };
struct wire_conditions {
	__u32 n, pad;
	struct wire_condition of[WIRE_CONDITIONS];
};

/* ---- rings of threads (config.rings) ---- */

enum ring_state { RING_FREE, RING_RUNS, RING_ENDED };

/*
 * A thread's last records follow, config.ring_bytes of them, from the oldest position that isn't
 * overwritten up to head. A position's place is its remainder. No record continues from the end to
 * the beginning: the rest there is a record of its own. Each is followed by its size.
 */
struct wire_ring {
	__u64 head;
	__u64 writing; /* up to there it is being written: what was there before is overwritten */
	__u64 started; /* its thread's start, which distinguishes it from others with that TID */
	__u32 pid, tid;
	__u32 state; /* enum ring_state */
	__u32 slot;
	__u32 pad[6];
};
#define WIRE_RING_REST (1ull << 63) /* in a size: no record */
/* After its end, for the verifier: the largest record of a thread's ring, and its size. */
#define WIRE_RING_SLACK 1024

/* ---- losses: a map from pid << 32 | tid to the number of events ---- */

/* Flags in a thread's count: lost records that are not events, of a signal or a hit. */
#define LOST_SIGNAL (1ull << 63)
#define LOST_HIT    (1ull << 62)

/* A goroutine's losses are counted for the goroutine, whichever thread it runs on. */
#define LOST_GOROUTINE (1u << 31)

/* ---- configuration of the probes ---- */

/* An attach cookie, or the result of looking up an address: the site's id; for a return probe that
 * of the entry. */
#define COOKIE_RETURN (1u << WIRE_SITE_BITS)

/*
 * Links of uprobe_multi have a generation, in their cookies. Links for what remains of an older
 * link's sites are attached before that one is closed; in between, each hit of a site runs the
 * program twice, for the newer link first (kernel/events/uprobes.c, consumer_add()). current, a
 * variable of the program, decides which links count: those of generation() or an older one; if a
 * newer generation is taking over, that one, and the older ones where it isn't attached.
 */
#define COOKIE_GENERATION_SHIFT 32
#define GENERATION_TAKES_OVER	1 /* in current, generation << 1 */

/* The cookie of a switch: its index, and whether it stops recording, which the program does at
 * once.
 */
#define COOKIE_STOPS (1ull << 32)

/* By site: what its probe does. */
#define SITE_ENTRY (1ull << 24)
#define SITE_SYSCALL                                                                               \
	(1ull << 25) /* entry of a syscall wrapper: argument 1 points to the caller's pt_regs */
/* The least number of events that a hit makes. 2: a ret with its return, or an entry that is also a
 * branch; 0: a witness, or a ret that may end no shown call. */
#define SITE_EVENTS_SHIFT 26
#define SITE_EVENTS(w)	  (((w) >> SITE_EVENTS_SHIFT) & 3)
#define SITE_ACTION_SHIFT 28
#define SITE_ACTION(w)	  (((w) >> SITE_ACTION_SHIFT) & 7)
#define SITE_GO		  (1ull << 31) /* in a Go program */
#define SITE_SYSCALL32	  SITE_GO      /* with SITE_SYSCALL: of the 32-bit ABI */
#define SITE_ARG_SHIFT	  32
#define SITE_REG(w)	  (((w) >> SITE_ARG_SHIFT) & 31)
#define SITE_DISP_SHIFT	  37 /* 12 bits, signed */
#define SITE_DISP(w)	  ((__s64)((w) << 15) >> 52)
#define SITE_OPERAND(w)	  ((__u32)((w) >> SITE_ARG_SHIFT) & WIRE_SITE_MASK)
#define SITE_CONDITION(w) ((__u16)((w) >> SITE_ARG_SHIFT)) /* insn.cond of src/arch/arch.h */
/* By how many words the program has lowered the stack pointer since its entry, which this site
 * reports. */
#define SITE_LOWERED_SHIFT 56
#define SITE_LOWERED(w)	   (((w) >> SITE_LOWERED_SHIFT) & WIRE_ABOVE)
#define SITE_LEAVES	   (1ull << 62) /* it may lead to a function's entry, with its stack pointer */
#define SITE_IGNORED	   (1ull << 63) /* its probe could not be removed: hits are ignored */
#define SITE_ID(w)	   ((__u32)(w)&WIRE_SITE_MASK)
enum probe_action {
	ACTION_NONE,	  /* only the event */
	ACTION_CONDITION, /* taken by SITE_CONDITION */
	ACTION_RET,  /* value 0: top of the stack, or register SITE_REG, where calls leave their
			return address in one; value 1: the return register */
	ACTION_REG,  /* value 0: register SITE_REG + SITE_DISP */
	ACTION_MEM,  /* value 0: loaded from operand SITE_OPERAND of the table */
	ACTION_TEST, /* as CONDITION; the values: those that it tests, by the map tests */
};

#define OPERAND_MAX (1u << 20)
struct wire_operand {
	__s64 disp; /* base REG_IP: from the address of the instruction */
	__u8 base, index, scale, seg, addr32, size, pad[2];
};

/* By site: where the values are that a conditional tests. */
enum wire_tested {
	TESTED_NOTHING, /* a constant, which isn't recorded */
	TESTED_REG,	/* of is a register: base */
	TESTED_MEM,	/* read again; base REG_IP: from the address of the branch on */
};
struct wire_test {
	struct wire_operand of[2];
	__u8 kind[2], pad[6]; /* enum wire_tested */
};

struct uprobe_key {
	__u64 ino, offset;
};

/* ---- counters (config.counts): what probes count instead of making records ---- */

/*
 * The counters of a site: counts[(bank * count_slots + slot) * count_stride + COUNTER(site,
 * not_taken)]. CPUs may share a slot. Branches that aren't conditional have the first one only.
 * There are two banks, so that one is at rest while it is read.
 */
#define COUNT_BANKS		 2
#define COUNTER(site, not_taken) (2 * (site) + (not_taken))

/* The target of an indirect branch. */
struct wire_target {
	__u64 since; /* the time of the process's last exec; 0: not seen */
	__u64 target;
	__u32 pid;	 /* 0: the kernel */
	__u32 site_bank; /* site | bank << WIRE_SITE_BITS | TARGET_UNREAD */
};
/* The pointer could not be read: target is its address minus that of the instruction. */
#define TARGET_UNREAD (1u << 31)

enum filter_flags {
	FILTER_PID = 1,
	FILTER_TID = 2,
	FILTER_COMM = 4,
	FILTER_UID = 8,
	FILTER_CGROUP = 16,
	FILTER_FOLLOW = 32,  /* children of processes that pass, pass as well */
	FILTER_COMMAND = 64, /* config.command counts from its exec on */
};

/* WIRE_PASSES: of all threads of the process; logged is of this one. */
#define PASSES_PROCESS (1u << 31)

struct comm_key {
	char name[16];
};

/* How an exec may remove probes that are attached to some processes only. */
enum target_loss {
	LOSS_NONE,
	LOSS_TAKEOVER, /* a link for a process follows its main thread: lost if another thread calls
			  exec */
	LOSS_EVENTS,   /* perf events of a task end if it executes a set-ID or unreadable program
			  (fs/exec.c, begin_new_exec()) */
	LOSS_THREAD,   /* also, threads don't inherit them: lost with the main thread */
};

/* A process that got a signal for a breakpoint that isn't a uprobe. */
struct wire_trap {
	__u64 addr; /* of the last one */
	__u64 count;
	__u8 bytes[16]; /* there */
	char comm[16];
};

/* Read-only data of the BPF object: constants to the verifier. */
struct wire_config {
	__u8 both;     /* programs and the kernel are traced */
	__u8 stack;    /* record call stacks on entry */
	__u8 compact;  /* branches may be recorded as struct wire_compact */
	__u8 returns;  /* return probes replace return addresses */
	__u8 counts;   /* probes count */
	__u8 targets;  /* and where indirect branches go */
	__u8 replaces; /* links may be replaced while hits run their program */
	__u8 loss;     /* enum target_loss */
	__u8 go;       /* some sites are of a Go program */
	__u8 narrow;   /* sites are of 32-bit programs, which a 64-bit kernel runs */
	__u8 inlines;  /* threads have logs */
	__u8 watches;  /* there are watchpoints */
	__u8 adds_up;  /* samples are added up */
	__u8 tests;    /* some sites record what they test */
	__u8 rings;    /* each thread has a ring of its own */
	__u8 ends;     /* ends of threads are recorded */
	__u8 fetched;  /* the number of values in memory that entries and returns have */
	__u8 judges;   /* some entries are judged, each by at most this many conditions */
	__u8 outcomes; /* system calls that fail, or write to the standard error stream, are
			  recorded */
	__u8 retries;  /* there are several CPUs: one may hold the lock of the ring for a moment */
	__s32 go_g;    /* offset of the current g from the thread pointer */
	__u32 go_goid; /* offset of goid in g; 0: unknown */
	__u32 filters; /* enum filter_flags */
	__u32 self;    /* bbtrace's own PID, never traced */
	__u32 command; /* CMD's process */
	__u32 pid;     /* the only requested PID, compared without a map; 0: none or several */
	__u32 pid_ns;  /* inode number of bbtrace's PID namespace; 0: the initial one */
	__u32 pid_ns_dev;
	__u64 per_cpu_offset;  /* kernel: the address of __per_cpu_offset */
	__u64 preempt_count;   /* the per-CPU address of the count; 0: unknown */
	__u8 pcpu_hot;	       /* preempt_count is in pcpu_hot */
	__u64 debug_registers; /* x86: the per-CPU address of cpu_dr7; 0: unknown */
	__u64 ino;    /* uprobes of one tracefs event: the only file with sites; 0: several */
	__u64 cgroup; /* the id of the requested one */
	__u64 wakeup; /* bytes in the ring that wake the reader */
	/* With stack: how many bytes of programs' stacks are copied, a multiple of WIRE_COPY_BLOCK;
	 * 0: frame pointers are followed. */
	__u32 copy;
	/* With copy, x86-64: bytes of the processor's state that a signal saves; 0: not known */
	__u32 signal_state;
	__u32 off_cpu, on_cpu; /* named events: a thread leaves a CPU, or is back on one */
	__u32 count_slots;     /* a power of two */
	__u32 count_stride;
	__u32 ring_bytes; /* a power of two */
	__u32 killed;	  /* named event: a signal ends the process */
	__u32 outcome; /* named event: a system call failed, or wrote to the standard error stream
			*/
};

#endif
