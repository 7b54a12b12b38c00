/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inline: functions that log by copies of themselves (src/copy), in the processes of a command.
 * Part of the public header of src/source.
 */
#ifndef BBTRACE_INLINE_H
#define BBTRACE_INLINE_H

#include "copy/copy.h"
#include "event/event.h"

struct inline_options {
	const struct plan *plan;
	const struct copies *copies;
	struct log_options log; /* as in copies__make() */
	pid_t command;		/* waits to exec; 0: none */
	const uint32_t *pids;	/* else processes that run */
	size_t npids;
	bool follow; /* children, too */
	/* Only that many branches of each thread are wanted, the last ones: it doesn't wait for
	 * bbtrace, and its log is read when somebody asks (catch_up), or at the end. 0: all. */
	uint64_t last;
	int (*drop_privileges)(void); /* as in struct supervisor_options */
};

struct inliner;
struct source;
/* Starts the supervisor of the command, or the processes. plan and copies must outlive it. 0, or
 * -errno with a message. */
int inliner__open(const struct inline_options *options, struct inliner **out);
/* A source of what inner tells, the probes, and of what the copies log. Takes ownership of inner;
 * the inliner must outlive it. */
struct source *inliner__source(struct inliner *i, struct source *inner);
/* Lets go of all processes. */
void inliner__close(struct inliner *i);

#endif
