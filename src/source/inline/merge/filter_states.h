/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_states: which of what threads have logged is of threads that pass the filters. What is
 * reported of them (EVENT_PASSES) holds from a position of their log on, or, if that is not known,
 * from a time on: then what may have been logged before or after it is not shown, and a gap is
 * reported. Private to src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_FILTER_STATES_H
#define BBTRACE_SOURCE_INLINE_MERGE_FILTER_STATES_H

#include "thread_log.h"
#include "source/inline/inline.h"

struct filter_states;
/* NULL: all threads pass. So does it below. */
struct filter_states *filter_states__new(const struct thread_filters *filters);
void filter_states__free(struct filter_states *p);
/* Of a new log. */
void filter_states__begin(const struct filter_states *p, struct log *l);
/* Asks what holds now, of the logs of which nothing was reported. */
void filter_states__ask(struct filter_states *p, const log_vec *logs);
/* Takes what was reported. Of a log with that position all up to there was passed on. */
void filter_states__report(struct filter_states *p, const log_vec *logs,
			   const struct event *reported);
void filter_states__forget(struct filter_states *p, uint32_t tid);
/* If changes will not be reported, what the logs have until now is not shown. */
void filter_states__check(struct filter_states *p, const log_vec *logs);

/* Is this event of the log not to be shown? gap: something is missing here. */
bool filter_states__hides(struct filter_states *p, struct log *l, struct event *e, bool *gap);
/* Was anything hidden? */
bool filter_states__has_hidden(const struct filter_states *p);

#endif
