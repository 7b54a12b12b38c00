/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter_states: which parts of logs are of threads that pass the filters. A report (EVENT_PASSES)
 * holds from a position of the thread's log on or, if that is not known, from a time on: then what
 * may have been logged before or after it is not shown, and a gap is reported. Private to
 * src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_FILTER_STATES_H
#define BBTRACE_SOURCE_INLINE_MERGE_FILTER_STATES_H

#include "thread_log.h"
#include "source/inline/inline.h"

struct filter_states;
/* NULL: all threads pass; the functions below take that, too. */
struct filter_states *filter_states__new(const struct thread_filters *filters);
void filter_states__free(struct filter_states *p);
/* Begins a new log. */
void filter_states__begin(const struct filter_states *p, struct log *l);
/* Asks for the present state of the logs of which nothing was reported. */
void filter_states__ask(struct filter_states *p, const log_vec *logs);
/* Takes reports. Of a log with that position, all up to there was passed on. */
void filter_states__report(struct filter_states *p, const log_vec *logs,
			   const struct event *reported);
void filter_states__forget(struct filter_states *p, uint32_t tid);
/* If changes will not be reported, what the logs have until now is not shown. */
void filter_states__check(struct filter_states *p, const log_vec *logs);

/* Returns true if this event of the log isn't shown. *gap: something is missing here. */
bool filter_states__hides(struct filter_states *p, struct log *l, struct event *e, bool *gap);
/* Returns true if anything was hidden. */
bool filter_states__has_hidden(const struct filter_states *p);

#endif
