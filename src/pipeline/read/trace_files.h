/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_files: several trace files, or files of counts, read one after the other: their plans are
 * joined, and their steps are passed on, or all that they have is added up. Memory is that of the
 * joined plan, and of the files that it was made of: a file that has nothing new is dropped.
 */
#ifndef BBTRACE_PIPELINE_READ_TRACE_FILES_H
#define BBTRACE_PIPELINE_READ_TRACE_FILES_H

#include "merged_plan.h"
#include "replay.h"

struct files_calls {
	/* A file begins, and its plan is joined. */
	int (*begin)(void *ctx, const struct replay *p);
	/* The joined plan was extended. */
	int (*extended)(void *ctx, const struct plan_increment *i);
	/* Counts of a file, to be merged_plan__add()ed. */
	int (*add)(void *ctx, const struct replay *p, const struct trace_counts *c);
	/* A file has ended, with these totals. NULL: nothing is to be done. */
	void (*end)(void *ctx, const struct replay *p, const struct trace_totals *totals);
	/* A thread was made. NULL: nothing is to be done. */
	void (*forked)(void *ctx, const struct sideband_event *e);
};

struct file;
struct trace_files {
	const struct request *request;
	const struct files_calls *calls;
	void *ctx;
	bool counts;	       /* all that they have is added up */
	const char *only;      /* counts of this name; NULL: all */
	struct output *output; /* else: of the joined plan; where steps go, once begin was called */
	int (*opened)(void);   /* called once a file that is the only one is open; NULL: nothing */
	struct merged_plan *joined; /* may be given: that of an earlier reading of the same files */
	bool rereads;		    /* it was */
	struct trace_totals totals;
	untraced_vec untraced; /* of the joined plan */
	uint64_t damaged;      /* files that are damaged, or have no end */
	uint64_t parts;	       /* of counts, that had the name which is asked for */
	struct file *file;
	VEC(struct input *) kept;
};
/* Sets counts if any file has counts instead of events. */
int trace_files__find_counts(struct trace_files *f);
/* After that: the first one, which is open. */
struct input *trace_files__first(struct trace_files *f);
/* Reads them all. 0; 1: the limit is reached; -errno. */
int trace_files__read(struct trace_files *f);
/* Prints the summary on stderr. */
void trace_files__report(const struct trace_files *f);
/* -EBADMSG: some were damaged. */
int trace_files__damage(const struct trace_files *f);
void trace_files__close(struct trace_files *f);

#endif
