/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge: puts what threads have logged between what another source reports. Within a thread the
 * order is exact: an event of the other source has the position of the thread's log (event.logged).
 * Across threads it is the order of time. Private to src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_MERGE_H
#define BBTRACE_SOURCE_INLINE_MERGE_MERGE_H

#include "filter_states.h"
#include "source/inline/logs/rings.h"
#include "waiting.h"

struct merge_options {
	const struct plan *plan;
	const struct log_options *log;
	struct log_clock clock;
	struct rings *rings;
	bool follow;		       /* forked processes have logs, too */
	struct thread_filters filters; /* of threads */
	uint64_t turn; /* ns: merge__until() returns after about so long; 0: when it is done */
};
struct merge;
/* What options refer to must outlive it. */
struct merge *merge__new(const struct merge_options *options);
void merge__free(struct merge *m);
/* The trace has begun: asks which filters the threads that have a log pass. */
void merge__begin(struct merge *m);
/* Returns true if the filters left anything out. */
bool merge__has_hidden(const struct merge *m);
/* Returns true if nothing was traced of a process of which something should have been. */
bool merge__traces_nothing(const struct merge *m);
/* Takes over something that the other source reports. */
void merge__add(struct merge *m, struct waiting *w);
/* Until that time (ns), only the last bytes that threads have logged are decoded, and those before
 * n positions of a thread's log. */
struct wanted_at {
	uint32_t tid;
	uint64_t position;
};
void merge__keep(struct merge *m, uint64_t bytes, const struct wanted_at *wanted, size_t n,
		 uint64_t settled);
/* How much of it waits. */
size_t merge__queued(const struct merge *m);
/*
 * Passes on all that was before this time: the other source has reported all of that, and the rings
 * were pulled since. Sets *reached to the time before which all was passed on. Returns 0, -errno,
 * or what sink returned.
 */
int merge__until(struct merge *m, uint64_t time, const struct source_sink *sink, uint64_t *reached);
/* Nothing is to be recorded from one time to the other, ns: what was logged then, or may have been,
 * is dropped. to is UINT64_MAX while recording is still off. */
void merge__mute(struct merge *m, uint64_t from, uint64_t to);
/* Nothing was to be recorded from stopped (ns) on: passes on the rest; of the logs, what was before
 * that. */
int merge__end(struct merge *m, uint64_t stopped, const struct source_sink *sink);
/* From now on fn is called now and then while logs are passed on. */
void merge__watch(struct merge *m, void (*fn)(void *ctx), void *ctx);

#endif
