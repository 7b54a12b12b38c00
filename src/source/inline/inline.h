/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inline: functions that log by copies of themselves (src/copy), in the processes of a command.
 * Part of the public header of src/source.
 */
#ifndef BBTRACE_SOURCE_INLINE_INLINE_H
#define BBTRACE_SOURCE_INLINE_INLINE_H

#include "copy/copy.h"
#include "event/event.h"

struct inline_options {
	const struct plan *plan;
	const struct copies *copies;
	struct log_options log; /* as in copies__make() */
	pid_t command;		/* waits to exec; 0: none */
	const uint32_t *pids;	/* else processes that run */
	size_t npids;
	bool follow;   /* children, too */
	bool disarmed; /* nothing is recorded at first: the originals stay as they are until unpark
			*/
	/* The number of a thread's last branches that are wanted: the thread doesn't wait for
	 * bbtrace, and its log is read on request (catch_up) or at the end. 0 for all. */
	uint64_t last;
	/* The bytes of the logs up to which all is decoded. After that only what threads have
	 * logged last is: when one that NAMED_OUTCOME reports has succeeded, such as the write of a
	 * message, and at the end. 0: all is. */
	uint64_t whole;
	/* Nobody looks at what is reported before the end: if processors are few, bbtrace waits
	 * while threads log much. */
	bool later;
	int (*drop_privileges)(void);	 /* as in struct supervisor_options */
	const char *(*unfit)(pid_t pid); /* likewise */
};

/* Which filters (bits) each thread passes is reported (EVENT_PASSES). */
struct thread_filters {
	uint32_t needed;  /* a thread passes if it passes all of these; 0: all threads pass */
	uint32_t suffice; /* or one of these */
	void *ctx;
	uint32_t (*passed)(void *ctx, uint32_t pid,
			   uint32_t tid); /* returns the filters that it passes now */
	uint64_t (*missed)(void *ctx);	  /* how many changes will not be reported, until now */
};

/* What copies have cost a process: what they log costs about LOG_WORD_NS for 8 bytes, and a count
 * COUNT_NS; for how long threads have waited for room is known. */
#define LOG_WORD_NS 2
#define COUNT_NS    1

/* Copies that log in processes (inlined__start() of source.h). */
struct inliner;

#endif
