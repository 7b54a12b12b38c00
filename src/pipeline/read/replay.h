/* SPDX-License-Identifier: BSD-2-Clause */
/* replay: one trace file through the replay, with the options that choose a part of it. */
#ifndef BBTRACE_PIPELINE_READ_REPLAY_H
#define BBTRACE_PIPELINE_READ_REPLAY_H

#include "input.h"
#include "pipeline/show.h"

struct merged_plan;

struct replay;
struct replay_calls {
	/* The plan was read: *out, which may be NULL, is where steps go. It is of this plan, whose
	 * growth it is then told, or of the joined one. */
	int (*begin)(void *ctx, const struct replay *r, const struct plan *plan,
		     struct output **out);
	/* An increment has extended it. NULL: nothing is to be done. */
	int (*extended)(void *ctx, const struct replay *r, const struct plan *plan);
	/* The file has counts instead of events. */
	int (*counts)(void *ctx, const struct replay *r, const struct trace_counts *c);
	/* A thread was made. NULL: nothing is to be done. */
	void (*forked)(void *ctx, const struct sideband_event *e);
};

struct replay {
	const struct request *request;
	struct input *in;
	const struct replay_calls *calls;
	void *ctx;
	struct merged_plan
		*joined; /* steps go there first if the output is of its plan; may be NULL */
	struct source *source;
	struct trace_meta meta;
	struct report_filter_options filter;
	bool *functions; /* for the filter */
	bool begun;	 /* the plan was read */
	struct show show;
};
/* Reads to the end. 0; 1: the limit is reached; an error of the file, or of a callback. */
int replay__run(struct replay *r);
void replay__close(struct replay *r);

/* Which functions of a plan the operands and --exclude choose: by number, the caller's to free;
 * NULL: all. -ENOENT: one names none; name is that of the file. */
int replay__choose(const struct request *req, const struct plan *plan, const char *name,
		   bool **out);

#endif
