/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log: the records that copied functions write, and the ring that they write them to. Written by
 * the code that struct arch_copier emits, read by src/event/log.c. Part of the public header of
 * src/arch.
 *
 * A thread has a ring of its own, found by a segment base that nothing else uses (x86: gs). No
 * signal's handler runs between the words of a record, since the tracer takes a thread out of the
 * log before it passes a signal on; so a ring has one writer, which needs no atomic instruction.
 * The cursor is advanced after the record was written: what precedes it is complete.
 *
 * Without a tracer (if it was killed), handlers may interrupt a record, and new threads share the
 * ring of the thread that made them. Their records are useless, but stay within the ring: the log
 * stores only at a cursor that it has loaded and compared with the limit.
 */
#ifndef BBTRACE_ARCH_LOG_H
#define BBTRACE_ARCH_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the ring ---- */

#define LOG_PAGE       4096
#define LOG_SEGMENT    (64u << 10) /* bytes; records don't cross from one to the next */
#define LOG_SEGMENTS   16	   /* in a ring */
#define LOG_RING       (LOG_SEGMENT * LOG_SEGMENTS)
#define LOG_RECORD_MAX 1024 /* bytes of the longest record, at most */
#define LOG_CALLERS    62   /* the most of an entry, after the first one */
#define LOG_SLOT                                                                                   \
	(2 * LOG_PAGE + LOG_RING) /* struct log_ring, the ring, a spare page for                   \
				     records that are dropped */
#define LOG_BELL_AT  2048
#define LOG_RING_AT  LOG_PAGE
#define LOG_SPARE_AT (LOG_PAGE + LOG_RING)
/* A slot's counters follow, 8 bytes each (arch_copier.count). */
#define LOG_COUNTERS_AT LOG_SLOT
static inline uint64_t log__slot_size(uint32_t counters)
{
	return LOG_SLOT + (counters * sizeof(uint64_t) + LOG_PAGE - 1) / LOG_PAGE * LOG_PAGE;
}

/* Where a process maps areas of slots, a step apart: far from where the kernel maps anything by
 * itself. */
#define LOG_AREAS     0x2a0000000000ull
#define LOG_AREA_STEP 0x001000000000ull
#define LOG_AREAS_END (LOG_AREAS + 64 * LOG_AREA_STEP)
static inline bool log_areas__hold(uint64_t addr)
{
	return addr >= LOG_AREAS && addr < LOG_AREAS_END;
}

/* At the start of a slot, where the segment base points. */
struct log_ring {
	/* written by the thread */
	uint64_t cursor;   /* running address of the next record */
	uint64_t limit;	   /* a cursor that isn't below needs the slow path (struct arch_copier):
			      LOG_RECORD_MAX before the segment's end. 0: records are dropped */
	uint64_t segments; /* segments that were filled before the current one */
	uint64_t dropped;  /* records since dropping began */
	uint64_t kept;	   /* while records are dropped: the cursor to continue from */
	/* For processes that may not read the time stamp counter: the last look of the reader that
	 * this thread waited after, and for how many rounds. */
	uint64_t waited, rounds;
	uint64_t asks; /* 1: it wants its tracer to look (arch_tracee.beacon), and waits for a 0; in
			  its low half a futex(2) */
	/* written by the reader */
	uint64_t base;	   /* running address of this slot */
	uint64_t released; /* segments that were read: segment n may be written if n - released,
			      signed, is less than LOG_SEGMENTS */
	uint64_t beat;	   /* the time stamp counter when the reader last looked */
	uint64_t
		patience; /* a full ring is waited for as long as the reader has looked within this
			     number of ticks; then records are dropped and counted. 0: not at all */
	/* The thread's stack: while its stack pointer is within it, all memory from there to
	 * stack_end can be read. 0, 0 if not known. */
	uint64_t stack_start, stack_end;
	uint64_t owners; /* of a Go program: running address of LOG_OWNERS cells */
	/* Written by the thread: the goroutine, or LOG_GOROUTINE_NONE, that its last record of that
	 * kind has; LOG_GOROUTINE_UNKNOWN if this segment has none yet. */
	uint64_t g;
	uint64_t goid, g_start, g_end; /* its goid; its stack */
	uint64_t owner;		       /* running address of its cell */
	uint64_t seen;		       /* its g at the last record */
	uint64_t bell; /* running address of a futex that is rung by who asks: LOG_BELL_AT of a slot
			*/
};
#define LOG_GOROUTINE_NONE    1
#define LOG_GOROUTINE_UNKNOWN 2

/*
 * A table after an area's slots, for the threads of a Go program: by goroutine, the base of the
 * thread that reported it last, so that it is reported again if another thread has run it since.
 * Goroutines may share a cell: then more is reported than necessary.
 */
#define LOG_OWNERS	 4096
#define LOG_OWNERS_SIZE	 (LOG_OWNERS * sizeof(uint64_t))
#define LOG_OWNERS_SHIFT 6 /* of the address of g */

/* The position of a record in its thread's stream: bytes, whatever the ring's size. */
static inline uint64_t log_ring__position(const struct log_ring *r)
{
	uint64_t cursor = r->limit ? r->cursor : r->kept;

	return r->segments * LOG_SEGMENT + (cursor - r->base - LOG_RING_AT) % LOG_SEGMENT;
}

/* ---- records ---- */

/* Words of 8 bytes. The first: LOG_ID in the low half, the low half of the stack pointer in the
 * high one, minus LOG_LOWERED of the id. */
enum log_kind {
	LOG_NONE,   /* no record: never written */
	LOG_BRANCH, /* 1 word, and the values that it tests, if they are logged (struct log_point)
		     */
	LOG_TARGET, /* 2: where an indirect branch goes; 0: the pointer can't be read */
	LOG_RETURN, /* 4: where to, the return register, time */
	/*
	 * 4 + registers: time, the return address, the running address of the instruction; then,
	 * for an entry that is also a ret or indirect, the target and the return register; then the
	 * registers of log_options.regs in ascending order; then, with log_options.callers, the
	 * number of further return addresses, and these.
	 */
	LOG_ENTRY,
	LOG_LOST, /* 2: number of records that were dropped here */
	LOG_END,  /* 1: the segment has no more records */
	/*
	 * 5: time; the goroutine that the thread runs from here on while its stack pointer is
	 * within the given stack: its goid or, with LOG_TAKEN, the address of its g; the lower and
	 * the upper end of that stack. 0: none.
	 */
	LOG_GOROUTINE,
	LOG_KINDS
};
/* In place of a value in memory that can't be read. A value that is equal to it is not reported. */
#define LOG_UNREADABLE	  0x5ba1d0ffe71c3a96ull
#define LOG_SITE_BITS	  24
#define LOG_TAKEN	  (1u << LOG_SITE_BITS) /* of a conditional branch */
#define LOG_LOWERED_SHIFT 25
#define LOG_LOWERED_MASK                                                                           \
	15u /* n: the log had lowered the stack pointer by LOG_LOWERED(n) words                    \
	     */
#define LOG_LOWERED(n)                                                                             \
	((n) > 7 ? (n)-6                                                                           \
	 : (n)	 ? 15 + (n)                                                                        \
		 : 0) /* what is pushed, and the red zone's 16; from 8 on a zone of 2 */
#define LOG_KIND_SHIFT 29
#define LOG_ID(kind, lowered, taken, site)                                                         \
	((uint32_t)(kind) << LOG_KIND_SHIFT | (uint32_t)(lowered) << LOG_LOWERED_SHIFT |           \
	 ((taken) ? LOG_TAKEN : 0) | (uint32_t)(site))
/* With log_options.timed, LOG_BRANCH and LOG_TARGET have another word at the end, the time. Times
 * are those of the time stamp counter; 0 if not known, since the process may not read it. */

struct log_options {
	uint32_t regs; /* of an entry, a bit each by register number: always those of the arguments
			  and the stack pointer */
	bool timed;    /* every branch has a time */
	bool runs;     /* the programs run already */
	bool by_records; /* what only counts has records, too, instead of counters */
	bool callers;	 /* entries have the return addresses that frame pointers lead to */
	bool real_calls; /* none is done by a push and a jump: the machine has shadow stacks */
};

#endif
