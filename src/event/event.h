/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event: what happened to a thread, decoded and independent of the machine and of the mechanism
 * that told it. Front door of src/event.
 */
#ifndef BBTRACE_EVENT_H
#define BBTRACE_EVENT_H

#include "util/util.h"

/* ---- what a probe told ---- */

enum event_type {
	EVENT_BRANCH, /* a branch, or a witness was hit: the plan's site says which */
	EVENT_ENTRY,
	EVENT_RETURN,	 /* by a return probe: site is that of the entry, sp as there */
	EVENT_LOST,	 /* events of this thread are missing since its last one */
	EVENT_SIGNAL,	 /* a signal's handler is about to run in this thread */
	EVENT_GOROUTINE, /* what this thread runs from here on */
	EVENT_TYPES
};

/* The kernel ran this in an interrupt. */
enum event_interrupt {
	IN_SOFTIRQ = 1,
	IN_HARDIRQ = 2,
	IN_NMI = 4,
};

/* Registers of an entry, by the architecture's numbers: what is recorded of any architecture. */
#define EVENT_REGS 36
#define EVENT_ARGS 6 /* of a system call */

/* A goroutine goes by its number, or, where that isn't known, by the address of its g with this
 * bit. */
#define GOROUTINE_AT (1ull << 63)

/* Why a call stack has no more frames. */
enum stack_end {
	STACK_WHOLE,	  /* the outermost one is there */
	STACK_NO_POINTER, /* its caller can't be told: it is not shown to keep a frame pointer */
	STACK_UNREADABLE, /* its frame could not be read */
	STACK_LIMIT,	  /* there is no room for more */
	STACK_ENDS
};
#define STACK_FRAMES 64 /* at most */

/* What an entry has besides. What is pointed to is valid as long as the event is. */
struct event_entry {
	uint64_t ip;	 /* running address of the probe */
	uint64_t caller; /* the return address; 0: not known */
	bool pending; /* a return probe has replaced it: what was called with it has not returned */
	const char *comm;     /* at most 15 bytes */
	const uint64_t *regs; /* nregs of them, by number; NULL: not recorded */
	unsigned nregs;
	const uint64_t *args;  /* of a system call: EVENT_ARGS of them; NULL: it is none */
	const uint64_t *stack; /* running addresses, innermost first; NULL: not asked for */
	unsigned nstack;
	uint8_t stack_end; /* enum stack_end */
};

struct event {
	uint64_t time;	   /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid; /* as bbtrace's PID namespace numbers them; kernel: tid 0 is a CPU's idle
			      thread */
	uint64_t sp;	   /* stack pointer before the instruction runs; of a goroutine, whose stack
			      moves: from its stack's upper end */
	uint32_t site;	   /* in the plan; BRANCH, ENTRY, RETURN */
	uint16_t cpu;
	uint8_t type;	   /* enum event_type */
	uint8_t interrupt; /* enum event_interrupt */
	bool taken;	   /* of a conditional branch */
	bool has_target, has_value;
	uint64_t target; /* where an indirect branch, a ret or a return goes, if that is known */
	uint64_t value;	 /* ret, RETURN: the return register, if that is known */
	uint64_t count;	 /* LOST: how many events are missing at least */
	bool hits; /* LOST: and hits that are no event by themselves, or nothing but a signal's */
	uint64_t goroutine;		 /* GOROUTINE: 0: no one's, or the thread's own stack */
	const struct event_entry *entry; /* ENTRY */
};

/* ---- what happens to processes, beside the probes ---- */

enum sideband_type {
	SIDEBAND_FORK,
	SIDEBAND_EXEC,
	SIDEBAND_COMM,
	SIDEBAND_EXIT,
	SIDEBAND_MAP,
	SIDEBAND_LOST,	/* so many side events were lost */
	SIDEBAND_GAP,	/* of this process some events were not seen, nobody knows how many */
	SIDEBAND_INNER, /* in a PID namespace of its own the process is number count */
};

struct sideband_event {
	enum sideband_type type;
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, len, offset; /* MAP */
	uint32_t major, minor;	     /* MAP */
	uint64_t ino;		     /* MAP */
	uint64_t count;		     /* LOST, INNER */
	const char *text; /* COMM, EXEC: the name; MAP: the path. Valid during the call */
};

#endif
