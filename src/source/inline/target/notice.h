/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notice: the messages between bbtrace and the supervisor of its copies, as they are on their
 * socket (SOCK_SEQPACKET, one struct a message). Only data, and how a user reads it
 * (merge/notices.c).
 */
#ifndef BBTRACE_NOTICE_H
#define BBTRACE_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/plan.h"

/* ---- what it says ---- */

/*
 * Of a RING the page of struct log_ring is in the page table of its process, so that BPF programs
 * can read it. What is said of a slot is in order: AREA, RING, END; a RING is said before the
 * thread runs, an END when the thread can't write any more.
 */

enum say_type {
	SAY_AREA,      /* a process has a new area of slots; its descriptor comes along */
	SAY_AREA_GONE, /* no process has that area any more */
	SAY_RING,      /* a thread will write to a slot */
	SAY_END,       /* it has ended, or was let go; ASK_DONE when all was read */
	SAY_MAPPED,    /* an object's copies are in place; .position 1: they were made before the
			  process was stopped */
	SAY_BEGUN,     /* a process that ran already has its copies, and goes on: .time, ns, is
			  how long it was stopped */
	SAY_REFUSED,   /* they could not be put there: its functions run untraced in this process */
	SAY_LET_GO,    /* a process is traced no more: text says why; empty: it was asked to, and
			  .time, ns, is how long it was stopped */
	SAY_NOTE,      /* text is for the user */
	SAY_UNCOVERED, /* from .position on a thread executes a function without logging it: a row
			  of the plan, in .function; NO_FUNCTION: all of .object; .size 1: it may
			  be in there now; .base 1: its entries are still logged */
	SAY_COVERED,   /* up to .position it did */
	SAY_LOST,      /* the program has changed the code of .function, a row of the plan, which
			  isn't logged from now on; .base 1: but for its entries */
	SAY_PAUSED,    /* no thread runs, as was asked for */
	SAY_CHANGED,   /* the springboards are away, or back, as was asked for */
	SAY_GONE,      /* the last message: there are no processes any more */
	SAY_DIED, /* not said, but found: it has ended without that; .size 1: it was given up */
};
struct say {
	uint32_t type; /* enum say_type */
	uint32_t pid, tid;
	uint32_t area, slot; /* areas have numbers, which aren't reused */
	uint32_t object;     /* of the plan */
	uint32_t function;   /* UNCOVERED, COVERED */
	uint32_t ptid;	     /* RING of a forked process: the thread that forked it; else 0 */
	uint64_t time;	     /* RING: ns, CLOCK_MONOTONIC, before its first record; of a new program
				after its exec. END: after its last one */
	uint64_t position;   /* RING: of its first record (log_ring__position()). END: behind its
				last one */
	uint64_t forked;     /* RING, with ptid: the position of that thread at the fork */
	uint64_t sp;	     /* RING: the stack pointer, for the records' upper half */
	uint64_t base, size; /* AREA: running address, bytes; MAPPED: the copies' */
	uint64_t bias;	     /* MAPPED */
	char text[160];	     /* REFUSED, LET_GO, NOTE; RING: the thread's name, if it ran already */
};

/* Before all of that: whether it could attach. */
struct say_answer {
	int32_t err;	/* 0 or -errno */
	char text[160]; /* why not; empty: as the error says */
};

/* ---- what it is asked ---- */

enum ask_type {
	ASK_DONE,  /* the slot may be used again */
	ASK_PAUSE, /* stop all threads: SAY_PAUSED, unless they can't be stopped */
	ASK_GO_ON, /* let them go on; nor are springboards to be taken away, or put back */
	ASK_AWAY,  /* take all springboards away, put new ones nowhere: SAY_CHANGED */
	ASK_BACK,  /* put them back: SAY_CHANGED */
	ASK_QUIT,  /* let go of everything */
};
struct ask {
	uint32_t type; /* enum ask_type */
	uint32_t area, slot;
};

/* Tells the user what was said (said.c). True: events of that thread, or process, are missing from
 * here on, or were until now. */
bool say__note(const struct say *say, const struct plan *plan);

#endif
