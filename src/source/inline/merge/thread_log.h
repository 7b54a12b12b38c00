/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_log: decodes what a thread has logged, one event after the other. Private to
 * src/source/inline. */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_THREAD_LOG_H
#define BBTRACE_SOURCE_INLINE_MERGE_THREAD_LOG_H

#include "uncertain.h"
#include "source/inline/logs/rings.h"
#include "event/event.h"

/* Of the filters (passing.h). */
enum log_standing {
	LOG_SHOWN,    /* its thread passes them */
	LOG_HIDDEN,   /* it doesn't */
	LOG_IN_DOUBT, /* that is not known */
};

/* A thread's log, as far as it was decoded. */
struct log {
	struct rings *rings;
	struct stream *stream;
	struct log_decoder *decoder;
	struct log_thread thread;
	struct chunk *chunks;  /* that were taken */
	const uint64_t *words; /* of the first one */
	size_t at;	       /* the next one of these */
	/* the first chunk, and one that was looked at ahead, if they are compressed: expanded */
	struct chunk *expanded, *ahead;
	uint64_t next_piece;	   /* where it begins if nothing is missing before; 0: the first */
	bool gap;		   /* something is missing before the next event */
	uint64_t skip;		   /* what is before this position is no record */
	const struct event *event; /* the next one; NULL: not decoded yet */
	uint64_t position;	   /* the next event's */
	uint64_t read;		   /* it had happened by then: it was read from the ring */
	/* log__known(): up to where it has looked; the record that it has found there, with that
	 * time; 0: none */
	uint64_t looked, timed, timed_at;
	uint64_t known, known_for;
	uint64_t after;	     /* what of its chunk has no time was logged after that */
	VEC(uint64_t) stops; /* positions at which the other source's next events were */
	size_t passed;	     /* of these */
	uint8_t standing;    /* enum log_standing, of the next event */
	bool turned;	     /* that has changed in front of it */
	bool gap_due;	     /* what is hidden in doubt is to be reported, once */
	uint64_t changed;    /* ns: when it did, as opposed to where; 0: it has not */
	uint64_t number;     /* of the logs, from 1 on */
	uint64_t goroutine;  /* that was passed on as what the thread runs */
	uint64_t probed;     /* that the probes have told last */
	bool reported;	     /* what it has lost at its end */
	struct uncertain uncertain;
	struct event lost;
};

typedef VEC(struct log *) log_vec;

/* Takes over decoder. The stream is the rings'. */
struct log *log__new(struct rings *rings, struct stream *s, struct log_decoder *decoder);
void log__free(struct log *l);
/* Where the other source's next event is. */
static inline uint64_t log__stop(const struct log *l)
{
	return l->passed == l->stops.len ? UINT64_MAX : l->stops.data[l->passed];
}
/* The next event, which stays the next one until .event is set to NULL; NULL: there is none yet. */
const struct event *log__peek(struct log *l);
/* Before this position, which may be after us, all was written before that time: what precedes the
 * last record that says so. Those that were read by then are known anyway. */
uint64_t log__known(struct log *l, uint64_t time);
/* Had the next event, of which this is asked, happened before that time? */
bool log__was_before(struct log *l, uint64_t time);
/* What is there to be decoded, up to this position. False: nothing, or an event comes first. */
bool log__run(struct log *l, uint64_t stop, struct event_run *out);
/* So many words of that are done with. */
void log__skip(struct log *l, size_t words);

/* That which the thread wrote at that time; NULL: none. */
struct log *logs__find(const log_vec *logs, uint32_t tid, uint64_t time);
/* That of a process that was forked then. */
struct log *logs__child(const log_vec *logs, const struct sideband_event *fork);
/* What the supervisor says of a thread's originals (doubt.h). */
void logs__doubt(const log_vec *logs, const struct notice *notice);

#endif
