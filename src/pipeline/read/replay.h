/* SPDX-License-Identifier: BSD-2-Clause */
/* replay: passes one trace file through the replay, with the options that choose a part of it. */
#ifndef BBTRACE_PIPELINE_READ_REPLAY_H
#define BBTRACE_PIPELINE_READ_REPLAY_H

#include "input.h"
#include "pipeline/show.h"

struct merged_plan;

struct replay;
struct replay_calls {
	/* Called when the plan was read. Sets *out to the output that gets the steps, or NULL.
	 * The output is of this plan, whose extensions it then gets, or of the merged one. */
	int (*begin)(void *ctx, const struct replay *r, const struct plan *plan,
		     struct output **out);
	/* Called when an increment has extended the plan. NULL if not needed. */
	int (*extended)(void *ctx, const struct replay *r, const struct plan *plan);
	/* Called with the counts of a file that has counts instead of events. */
	int (*counts)(void *ctx, const struct replay *r, const struct trace_counts *c);
	/* Called when a thread was created. NULL if not needed. */
	void (*forked)(void *ctx, const struct sideband_event *e);
};

struct replay {
	const struct request *request;
	struct input *in;
	const struct replay_calls *calls;
	void *ctx;
	struct merged_plan
		*joined; /* gets the steps first if the output is of its plan; may be NULL */
	struct source *source;
	struct trace_meta meta;
	struct report_filter_options filter;
	bool *functions; /* for the filter */
	bool begun;	 /* the plan was read */
	struct show show;
};
/* Reads to the end. Returns 0; 1 if the limit is reached; or an error of the file, or of a
 * callback. */
int replay__run(struct replay *r);
void replay__close(struct replay *r);

/*
 * Sets *out to which functions of a plan the operands and --exclude choose, by number; the caller
 * frees it; NULL: all. name is that of the file. -ENOENT with a message if an operand names none.
 */
int replay__choose(const struct request *req, const struct plan *plan, const char *name,
		   bool **out);

#endif
