/* SPDX-License-Identifier: BSD-2-Clause */
/* diff_inputs: reads trace files as paths, or counts, of one merged plan. Each file is a run. */
#ifndef BBTRACE_PIPELINE_READ_DIFF_INPUTS_H
#define BBTRACE_PIPELINE_READ_DIFF_INPUTS_H

#include "diff/diff.h"
#include "trace_files.h"

struct run {
	const char *name; /* of its file */
	struct paths paths;
	struct trace_meta meta;		/* without strings */
	struct trace_totals totals;	/* of this run */
	uint64_t unknown;		/* number of counts that are unknown */
	unsigned events;		/* enum plan_events: the kinds that its file has */
	bool damaged;			/* its end is missing */
	VEC(uint32_t) functions;	/* of the merged plan, which this run traced */
	VEC(uint32_t) unknown_outcomes; /* the outcomes with unknown counts */
	bool bounds;			/* counts are lower bounds */
};

struct diff_inputs {
	const struct request *request;
	struct trace_files files;
	struct outcomes outcomes;
	struct scratch *scratch;
	struct output *sink;
	struct run *run; /* by file: request->files of them */
	size_t begun;
	char *host; /* of the first file */
	bool several_hosts;
	uint64_t damaged; /* number of files so far */
	/* Set before diff_inputs__read(), or NULL: called when a file has ended. Paths that
	 * aren't kept may be freed. */
	void (*ended)(struct diff_inputs *r, struct run *run);
	void *ctx;
};
/* Reads all files. keeps_paths: the paths go to a scratch file, and no file may be stdin.
 * Returns 0, or -errno with a message. */
int diff_inputs__read(struct diff_inputs *r, const struct request *req, bool keeps_paths);
/* Reads the first n files again, for the steps of run[i].paths that paths__want() has requested:
 * again[i].captured() gets them. */
int diff_inputs__read_again(struct diff_inputs *r, struct paths *again, size_t n);
void diff_inputs__close(struct diff_inputs *r);

#endif
