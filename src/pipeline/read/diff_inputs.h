/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_inputs: trace files as paths, or counts, of one merged plan; each file is a run. */
#ifndef BBTRACE_PIPELINE_READ_DIFF_INPUTS_H
#define BBTRACE_PIPELINE_READ_DIFF_INPUTS_H

#include "diff/diff.h"
#include "trace_files.h"

struct run {
	const char *name; /* of its file */
	struct paths paths;
	struct trace_meta meta;		/* without strings */
	struct trace_totals totals;	/* of this run */
	uint64_t unknown;		/* counts that can't be told */
	unsigned events;		/* enum plan_events: those that its file has */
	bool damaged;			/* its end is missing */
	VEC(uint32_t) functions;	/* of the joined plan, that it traced */
	VEC(uint32_t) unknown_outcomes; /* the outcomes that have them */
	bool bounds;			/* counts are lower bounds */
};

struct diff_inputs {
	const struct request *request;
	struct trace_files files;
	struct outcomes outcomes;
	struct scratch *scratch;
	struct output *sink;
	struct run *run; /* by file: args->files of them */
	size_t begun;
	char *host; /* of the first file */
	bool several_hosts;
	uint64_t damaged; /* files, so far */
	/* Set before diff_inputs__read(), or NULL: a file has ended. Paths that aren't kept may be
	 * freed.
	 */
	void (*ended)(struct diff_inputs *r, struct run *run);
	void *ctx;
};
/* Reads all files; the paths go to a scratch file if keeps_paths, and then no file may be stdin.
 * -errno with a message. */
int diff_inputs__read(struct diff_inputs *r, const struct request *req, bool keeps_paths);
/* Reads the files once more, for the steps that paths__want() has asked for of run[i].paths:
 * again[i].captured() takes them. */
int diff_inputs__read_again(struct diff_inputs *r, struct paths *again);
void diff_inputs__close(struct diff_inputs *r);

#endif
