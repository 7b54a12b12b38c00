/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_files: reads several trace files, or files of counts, one after the other: merges their
 * plans, and passes on their steps, or adds up all that they have. Memory is that of the merged
 * plan and of the files from which it borrows: a file without anything new is dropped.
 */
#ifndef BBTRACE_PIPELINE_READ_TRACE_FILES_H
#define BBTRACE_PIPELINE_READ_TRACE_FILES_H

#include "merged_plan.h"
#include "replay.h"

struct files_calls {
	/* Called when a file begins, with its plan merged. */
	int (*begin)(void *ctx, const struct replay *p);
	/* Called when the merged plan was extended. */
	int (*extended)(void *ctx, const struct plan_increment *i);
	/* Called with the counts of a file, for merged_plan__add(). */
	int (*add)(void *ctx, const struct replay *p, const struct trace_counts *c);
	/* Called when a file has ended, with these totals. NULL if not needed. */
	void (*end)(void *ctx, const struct replay *p, const struct trace_totals *totals);
	/* Called when a thread was created. NULL if not needed. */
	void (*forked)(void *ctx, const struct sideband_event *e);
};

struct file;
struct trace_files {
	const struct request *request;
	const struct files_calls *calls;
	void *ctx;
	bool counts;	       /* add up all that the files have */
	const char *only;      /* only counts of this name; NULL: all */
	struct output *output; /* else: of the merged plan; gets the steps once begin was called */
	/* called once the file is open, if it is the only one; NULL if not needed */
	int (*opened)(void);
	struct merged_plan *joined; /* may be set: that of an earlier reading of the same files */
	bool rereads;		    /* it was set */
	struct trace_totals totals;
	untraced_vec untraced; /* of the merged plan */
	uint64_t damaged;      /* number of files that are damaged, or have no end */
	uint64_t parts;	       /* number of parts of counts that had the requested name */
	struct file *file;
	VEC(struct input *) kept;
};
/* Sets counts if any file has counts instead of events. */
int trace_files__find_counts(struct trace_files *f);
/* Returns the first file, which is open after that. */
struct input *trace_files__first(struct trace_files *f);
/* Reads all files. Returns 0; 1 if the limit is reached; -errno. */
int trace_files__read(struct trace_files *f);
/* Prints the summary on stderr. */
void trace_files__report(const struct trace_files *f);
/* Returns -EBADMSG if files were damaged; else 0. */
int trace_files__damage(const struct trace_files *f);
void trace_files__close(struct trace_files *f);

#endif
