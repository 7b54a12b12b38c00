/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owners: which goroutine each thread runs, in the merged order. Private to merge.c.
 *
 * Logs and probes each report when a thread has changed to another goroutine since their own last
 * event, and both are passed on. So the goroutine is reported again before each event that follows
 * one of another goroutine of its thread, or one of the same goroutine in another thread.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_OWNERS_H
#define BBTRACE_SOURCE_INLINE_MERGE_OWNERS_H

#include "filter_states.h"
#include "source/source.h"

struct goroutine {
	uint32_t pid;
	uint64_t number;
};
struct owners {
	VEC(struct goroutine) all;
	/* log.number of the last thread that ran it; by process and goroutine */
	struct map64 by_goroutine;
};
void owners__free(struct owners *g);
/* Before an event of the log's thread, which runs this goroutine, 0 for none. give passes on a
 * log's next event. */
struct goroutine_run {
	const struct event *e;
	uint64_t number;
	int (*give)(void *ctx, struct log *l);
	void *ctx;
};
int owners__run(struct owners *g, const log_vec *logs, struct log *l,
		const struct goroutine_run *run, const struct source_sink *sink);
/* Something is missing of any that the thread may have run. */
int owners__forget_runs(struct owners *g, struct log *l, const struct source_sink *sink);

#endif
