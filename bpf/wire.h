/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * wire: what crosses the border between the kernel side (bpf/) and user space (src/). The one
 * header both include; it needs __u64, __u32, __u16 and __u8 from linux/types.h or vmlinux.h before
 * it.
 */
#ifndef BBTRACE_WIRE_H
#define BBTRACE_WIRE_H

/* ---- up: records in the ring buffer ---- */

/* What a record holds: the high 8 bits of wire_event.site_type; the low 24 are the site. */
enum wire_type {
	WIRE_BRANCH, /* struct wire_event alone */
	WIRE_VALUE,  /* struct wire_value: ret (value 0: where to, value 1: the return register),
		      * indirect (value 0: target) */
	WIRE_ENTRY,  /* struct wire_entry */
	WIRE_LOST,   /* struct wire_value: value 0 = how many events of this thread found the ring
		      * full since its last record, as their probe words count them; value 1 = 1:
		      * and records that are no event by themselves; both 0: a signal's; site: none
		      */
	WIRE_SIGNAL, /* struct wire_event alone: a signal's handler is about to run in this thread;
			site: none */
	WIRE_GOROUTINE, /* struct wire_value: value 0 = what this thread runs from here on: a
			   goroutine (GOROUTINE_AT), 0: no one's, or the thread's own stack; site:
			   none */
	WIRE_RETURN, /* struct wire_value, by a return probe (kernel: of a function that may end in
		      a
		      * jump to another one, whose own rets are told as well): sp as at the entry,
		      value 0 = where to, value 1 = the return register; site: the entry's */
	WIRE_TYPES
};

/* A goroutine goes by its number, or, where that isn't known, by the address of its g with this
 * bit. */
#define GOROUTINE_AT (1ull << 63)

#define WIRE_SITE_BITS 24
#define WIRE_SITE_MASK ((1u << WIRE_SITE_BITS) - 1)

/* wire_event.missing: which values could not be read (the page is not there: -EFAULT). Of an
 * operand in memory (ACTION_MEM) value 0 is then its address, value 1 that of the instruction. */
#define WIRE_NO_VALUE0	1
#define WIRE_NO_VALUE1	2
#define WIRE_NO_CALLER	4
#define WIRE_NO_SYSCALL 8

/* wire_event.state */
enum wire_state {
	/* the kernel ran this in an interrupt: enum event_interrupt of src/event/event.h */
	WIRE_SOFTIRQ = 1,
	WIRE_HARDIRQ = 2,
	WIRE_NMI = 4,
	WIRE_INTERRUPT = WIRE_SOFTIRQ | WIRE_HARDIRQ | WIRE_NMI,
	WIRE_TAKEN = 8,	   /* a conditional branch: so it was */
	WIRE_PENDING = 16, /* an entry: a return probe has replaced the return address */
};

struct wire_event {
	__u64 time;	/* ns, CLOCK_MONOTONIC */
	__u32 pid, tid; /* as bbtrace's PID namespace numbers them; kernel: tid 0 is a CPU's idle
			   thread */
	__u64 sp; /* stack pointer before the instruction runs; of a goroutine, whose stack moves:
		     from its stack's upper end */
	__u32 site_type; /* site | type << WIRE_SITE_BITS */
	__u16 state;	 /* enum wire_state */
	__u16 cpu : 12, missing : 4;
};

/*
 * A branch as most are told, known by the record's size: what it doesn't say is as in the last
 * full WIRE_BRANCH record of the same thread from the same CPU, which came less than
 * WIRE_FULL_FOR ns before it.
 */
struct wire_compact {
	__u64 where; /* site : 24, tid : 22, cpu : 12, taken : 1, from the low bits up */
	__u64 when;  /* sp >> 3 : 24, time : 40; their low bits */
};

#define WIRE_CPUS	   4096
#define WIRE_TID_BITS	   22 /* include/linux/threads.h: PID_MAX_LIMIT is 4 << 20 */
#define WIRE_TID_MASK	   ((1ull << WIRE_TID_BITS) - 1)
#define WIRE_SP_LOW	   27 /* bits of the stack pointer that a short record has */
#define WIRE_ARITHMETIC	   0x8d5
#define WIRE_FULL_FOR_BITS 24 /* units of 1024 ns: 17 s */
#define WIRE_FULL_FOR	   (1ull << (WIRE_FULL_FOR_BITS + 10))

struct wire_value {
	struct wire_event event;
	__u64 value[2];
};

#define WIRE_REGS                                                                                   \
	18 /* x86: rax rcx rdx rbx rsp rbp rsi rdi r8 … r15 (machine numbers), 16: rip, 17: flags \
	    */
#define WIRE_ARGS  6
#define WIRE_STACK 64 /* frames at most */

/* An entry. value as in wire_value, for an entry that is a branch as well. */
struct wire_entry {
	struct wire_event event;
	__u64 value[2];
	__u64 caller; /* the return address on top of the stack */
	char comm[16];
	__u64 regs[WIRE_REGS];
	/* Of the pt_regs that a syscall wrapper was given, where it is one (else
	 * WIRE_NO_SYSCALL). */
	__u64 args[WIRE_ARGS];
};

/*
 * With config.stack: the call stack, innermost first: the entry, its return address, then what the
 * frame pointers lead to, or the kernel's unwinder.
 */
struct wire_entry_stack {
	struct wire_entry entry;
	__u64 frames;
	__u64 stack[WIRE_STACK];
};

/* ---- losses: a map from pid << 32 | tid to how many events ---- */

/* In a thread's count: records were lost that are no event by themselves, of a signal or a hit. */
#define LOST_SIGNAL (1ull << 63)
#define LOST_HIT    (1ull << 62)

/* A goroutine's are its own, whichever thread it runs on. */
#define LOST_GOROUTINE (1u << 31)

/* ---- down: what the probes need to know ---- */

/* An attach cookie, and what an address is looked up for: the site's id; of a return probe that of
 * the entry. */
#define COOKIE_RETURN (1u << WIRE_SITE_BITS)

/* What a site's probe has to do: an array by site. */
#define SITE_ENTRY (1ull << 24)
#define SITE_SYSCALL                                                                               \
	(1ull << 25) /* entry of a syscall wrapper: rdi points to the caller's pt_regs */
/* How many events of the trace a hit is at least: 2: a ret and the return with it, an entry that is
 * a branch; 0: a witness, a ret that may end nothing that is shown. */
#define SITE_EVENTS_SHIFT 26
#define SITE_EVENTS(w)	  (((w) >> SITE_EVENTS_SHIFT) & 3)
#define SITE_ACTION_SHIFT 28
#define SITE_ACTION(w)	  (((w) >> SITE_ACTION_SHIFT) & 7)
#define SITE_GO		  (1ull << 31) /* of a program of Go */
#define SITE_IA32	  SITE_GO      /* with SITE_SYSCALL: of a 32-bit one */
#define SITE_ARG_SHIFT	  32
#define SITE_REG(w)	  (((w) >> SITE_ARG_SHIFT) & 31)
#define SITE_OPERAND(w)	  ((__u32)((w) >> SITE_ARG_SHIFT))
#define SITE_CONDITION(w) ((__u8)((w) >> SITE_ARG_SHIFT)) /* insn.cond of src/arch/arch.h */
#define SITE_ID(w)	  ((__u32)(w)&WIRE_SITE_MASK)
enum probe_action {
	ACTION_NONE,	  /* nothing but the event */
	ACTION_CONDITION, /* is the condition SITE_CONDITION true? */
	ACTION_RET,	  /* value 0: top of the stack; value 1: the return register */
	ACTION_REG,	  /* value 0: register SITE_REG */
	ACTION_MEM,	  /* value 0: loaded from operand SITE_OPERAND of the table */
};

#define OPERAND_MAX (1u << 20)
struct wire_operand {
	__s64 disp; /* base REG_IP: from the address of the instruction */
	__u8 base, index, scale, seg, addr32, size, pad[2];
};

/* How a probe finds its site. */
enum probe_lookup {
	LOOKUP_COOKIE, /* bpf_get_attach_cookie() */
	LOOKUP_KERNEL, /* kernel: hash of the address */
	LOOKUP_UPROBE, /* one tracefs event with many uprobes: hash of (inode, offset) */
};

struct uprobe_key {
	__u64 ino, offset;
};

enum filter_flags {
	FILTER_PID = 1,
	FILTER_TID = 2,
	FILTER_COMM = 4,
	FILTER_UID = 8,
	FILTER_CGROUP = 16,
	FILTER_FOLLOW = 32,  /* children of what passes pass as well */
	FILTER_COMMAND = 64, /* config.command counts from its exec on */
};

struct comm_key {
	char name[16];
};

/* What an exec may do to probes that are there for some processes only. */
enum target_loss {
	LOSS_NONE,
	LOSS_TAKEOVER, /* a link for a process follows its first thread: lost where another one
			  makes the exec */
	LOSS_EVENTS,   /* perf events of a task: ended where it becomes another user's or unreadable
			  program (fs/exec.c, begin_new_exec()) */
	LOSS_THREAD,   /* and threads inherit none: lost with the first one */
};

/* Of a process that took a signal for a breakpoint which is none of the kernel's uprobes. */
struct wire_trap {
	__u64 addr; /* of the last one */
	__u64 count;
	__u8 bytes[16]; /* there */
	char comm[16];
};

/* Read-only data of the BPF object: constants to the verifier. */
struct wire_config {
	__u8 lookup;   /* enum probe_lookup */
	__u8 kernel;   /* values are kernel addresses */
	__u8 stack;    /* record call stacks on entry */
	__u8 signals;  /* record signals that have a handler */
	__u8 compact;  /* branches may be told by struct wire_compact */
	__u8 returns;  /* return probes replace return addresses */
	__u8 loss;     /* enum target_loss */
	__u8 go;       /* some sites are of a program of Go */
	__s32 go_g;    /* where a thread has its goroutine's g, from its base */
	__u32 go_goid; /* where g has the goroutine's number; 0: not known */
	__u32 filters; /* enum filter_flags */
	__u32 self;    /* never traced: bbtrace itself */
	__u32 command; /* CMD's process */
	__u32 pid;     /* with one pid only: compared without a map; else 0 */
	__u32 pid_ns;  /* inode number of bbtrace's PID namespace; 0: the initial one */
	__u32 pid_ns_dev;
	__u64 per_cpu_offset; /* kernel: the address of that array */
	__u64 preempt_count;  /* and what the count's of each CPU is taken from; 0: not known */
	__u8 pcpu_hot;	      /* that one is a member there */
	__u64 ino;    /* LOOKUP_UPROBE: of the one file that has sites; 0: there are several */
	__u64 wakeup; /* bytes in the ring that wake the reader */
};

#endif
