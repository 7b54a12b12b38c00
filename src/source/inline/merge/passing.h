/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * passing: which of what threads have logged is of threads that pass the filters. What is told of
 * them (EVENT_PASSES) holds from a position of their log on, or, if that is not known, from a time
 * on: then what may have been logged before or after it is not shown, and a gap is told. Private to
 * src/source/inline.
 */
#ifndef BBTRACE_INLINE_PASSING_H
#define BBTRACE_INLINE_PASSING_H

#include "thread_log.h"
#include "source/inline/inline.h"

struct passing;
/* NULL: all threads pass. So does it below. */
struct passing *passing__new(const struct thread_filters *filters);
void passing__free(struct passing *p);
/* Of a new log. */
void passing__begin(const struct passing *p, struct log *l);
/* Asks what holds now, of the logs of which nothing was told. */
void passing__ask(struct passing *p, const log_vec *logs);
/* Takes what was told. Of a log with that position all up to there was passed on. */
void passing__tell(struct passing *p, const log_vec *logs, const struct event *told);
void passing__forget(struct passing *p, uint32_t tid);
/* If changes will not be told, what the logs have until now is not shown. */
void passing__check(struct passing *p, const log_vec *logs);

/* Is this event of the log not to be shown? gap: something is missing here. */
bool passing__hides(struct passing *p, struct log *l, struct event *e, bool *gap);
/* Was anything hidden? */
bool passing__has_hidden(const struct passing *p);

#endif
