/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notice: the messages between bbtrace and the supervisor of its copies, as they are on their
 * socket (SOCK_SEQPACKET, one struct a message). Only data, and how a user reads it
 * (merge/notices.c).
 */
#ifndef BBTRACE_SOURCE_INLINE_TARGET_NOTICE_H
#define BBTRACE_SOURCE_INLINE_TARGET_NOTICE_H

#include <stdbool.h>
#include <stdint.h>
#include "plan/plan.h"

/* ---- what it says ---- */

/*
 * The page of a RING's struct log_ring is in the page table of its process, so that BPF programs
 * can read it. Messages on a slot are in order: AREA, RING, END; a RING is sent before the thread
 * runs, an END when the thread can't write any more.
 */

enum notice_type {
	NOTICE_AREA,	  /* a process has a new area of slots; its descriptor comes along */
	NOTICE_AREA_GONE, /* no process has that area any more */
	NOTICE_RING,	  /* a thread will write to a slot */
	NOTICE_END,	  /* it has ended, or was detached; REQUEST_FREE_SLOT when all was read */
	NOTICE_MAPPED,	  /* an object's copies are in place; .position 1: they were made before the
			  process was stopped */
	/* A process that ran already has its copies, and continues; .time, ns, is how long it was
	 * stopped. */
	NOTICE_ATTACHED,
	NOTICE_REFUSED,	 /* they could not be put there: its functions run untraced in this process
			  */
	NOTICE_DETACHED, /* a process is traced no more: text says why; empty: it was asked to, and
		       .time, ns, is how long it was stopped */
	NOTICE_NOTE,	 /* text is for the user */
	/*
	 * from .position on a thread executes a function without logging it: a row of the plan, in
	 * .function; NO_FUNCTION: all of .object; .size 1: it may be in there now; .base 1: its
	 * entries are still logged
	 */
	NOTICE_UNLOGGED,
	NOTICE_LOGGED,	/* up to .position it did */
	NOTICE_LOST,	/* the program has changed the code of .function, a row of the plan, which
			isn't logged from now on; .base 1: but for its entries */
	NOTICE_PAUSED,	/* no thread runs, as was asked for */
	NOTICE_CHANGED, /* the springboards are away, or back, as was asked for */
	NOTICE_GONE,	/* the last message: there are no processes any more */
	NOTICE_DIED, /* not said, but found: it has ended without that; .size 1: it was given up */
};
struct notice {
	uint32_t type; /* enum notice_type */
	uint32_t pid, tid;
	uint32_t area, slot; /* areas have numbers, which aren't reused */
	uint32_t object;     /* of the plan */
	uint32_t function;   /* UNLOGGED, LOGGED */
	uint32_t ptid;	     /* RING of a forked process: the thread that forked it; else 0 */
	uint64_t time;	     /* RING: ns, CLOCK_MONOTONIC, before its first record; of a new program
				after its exec. END: after its last one */
	uint64_t position;   /* RING: of its first record (log_ring__position()). END: after its
				last one */
	uint64_t forked;     /* RING, with ptid: the position of that thread at the fork */
	uint64_t sp;	     /* RING: the stack pointer, for the records' upper half */
	uint64_t base, size; /* AREA: running address, bytes; MAPPED: the copies' */
	uint64_t bias;	     /* MAPPED */
	char text[160];	     /* REFUSED, LET_GO, NOTE; RING: the thread's name, if it ran already */
};

/* Before all of that: whether it could attach. */
struct start_answer {
	int32_t err;	/* 0 or -errno */
	char text[160]; /* why not; empty: as the error says */
};

/* ---- what it is asked ---- */

enum request_type {
	REQUEST_FREE_SLOT, /* the slot may be used again */
	REQUEST_PAUSE,	   /* stop all threads: NOTICE_PAUSED, unless they can't be stopped */
	REQUEST_RESUME,	   /* resume them; springboards aren't to be removed or put back either */
	REQUEST_DISARM,	   /* take all springboards away, put new ones nowhere: NOTICE_CHANGED */
	REQUEST_ARM,	   /* put them back: NOTICE_CHANGED */
	REQUEST_QUIT,	   /* detach from everything */
};
struct supervisor_request {
	uint32_t type; /* enum request_type */
	uint32_t area, slot;
};

/* Shows the user what was reported (notices.c). Returns true if events of that thread, or process,
 * are missing from here on, or were until now. */
bool notice__show(const struct notice *notice, const struct plan *plan);

#endif
