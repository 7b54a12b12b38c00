/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_log: decodes what a thread has logged, one event after the other. Private to
 * src/source/inline. */
#ifndef BBTRACE_SOURCE_INLINE_MERGE_THREAD_LOG_H
#define BBTRACE_SOURCE_INLINE_MERGE_THREAD_LOG_H

#include "uncertain.h"
#include "source/inline/logs/rings.h"
#include "event/event.h"

/* Whether the thread passes the filters (filter_states.h). */
enum log_standing {
	LOG_SHOWN,     /* its thread passes them */
	LOG_HIDDEN,    /* it doesn't pass */
	LOG_UNCERTAIN, /* whether it passes is not known */
};

/* A thread's log, as far as it was decoded. */
struct log {
	struct rings *rings;
	struct stream *stream;
	struct log_decoder *decoder;
	struct log_thread thread;
	struct chunk *chunks;  /* the chunks that were taken */
	const uint64_t *words; /* of the first one */
	size_t at;	       /* the next one of these */
	/* the first chunk, and one that was looked at ahead, if they are compressed: expanded */
	struct chunk *expanded, *ahead;
	uint64_t next_piece;	   /* where it begins if nothing is missing before; 0: the first */
	bool gap;		   /* something is missing before the next event ... */
	uint64_t gap_from;	   /* … from this position on, if it was not read */
	uint64_t skip;		   /* what is before this position is no record */
	const struct event *event; /* the next one; NULL: not decoded yet */
	uint64_t position;	   /* the next event's */
	uint64_t read; /* it had happened by this time, when it was read from the ring */
	/* log__known(): the position up to which it has searched; the record that it has found
	 * there, and its time; 0 if none */
	uint64_t looked, timed, timed_at;
	uint64_t known, known_for;
	uint64_t after;	     /* what of its chunk has no time was logged after that */
	VEC(uint64_t) stops; /* positions at which the other source's next events were */
	size_t passed;	     /* of these */
	uint8_t standing;    /* enum log_standing, of the next event */
	bool turned;	     /* that has changed before it */
	bool gap_due;	  /* a gap is to be reported, once, for what is hidden because the state is
			     unknown */
	uint64_t changed; /* ns: when it did, as opposed to where; 0: it has not */
	uint64_t number;  /* of the logs, from 1 on */
	uint64_t goroutine; /* the goroutine that was passed on as what the thread runs */
	uint64_t probed;    /* the goroutine that the probes reported last */
	bool reported;	    /* what it has lost at its end */
	struct uncertain uncertain;
	struct event lost;
};

typedef VEC(struct log *) log_vec;

/* Takes over decoder. The stream is the rings'. */
struct log *log__new(struct rings *rings, struct stream *s, struct log_decoder *decoder);
void log__free(struct log *l);
/* Returns the position of the other source's next event. */
static inline uint64_t log__stop(const struct log *l)
{
	return l->passed == l->stops.len ? UINT64_MAX : l->stops.data[l->passed];
}
/* Returns the next event, which stays the next one until .event is set to NULL; NULL if there is
 * none yet. */
const struct event *log__peek(struct log *l);
/* Returns a position, which may be after us, before which all was written before that time: that of
 * the last record that shows it. Records that were read by then are known anyway. */
uint64_t log__known(struct log *l, uint64_t time);
/* What is to be decoded of what a thread has logged: the last bytes before each of these positions,
 * and before that time (ns). */
struct wanted_log {
	uint64_t bytes;
	const uint64_t *before;
	size_t n;
	uint64_t settled;
};
/* Takes all that was read, and leaves out what isn't decoded yet and was logged before that time,
 * but for what is wanted. */
void log__keep(struct log *l, const struct wanted_log *w);
/* All before that position that is known was decoded: returns true if what the thread has logged
 * last before it was not. */
bool log__misses(const struct log *l, uint64_t position);
/* Returns true if the next event, which must be this one, had happened before that time. */
bool log__was_before(struct log *l, uint64_t time);
/* Sets what is there to be decoded, up to this position. Returns false if there is nothing, or if
 * an event is first. */
bool log__run(struct log *l, uint64_t stop, struct event_run *out);
/* Removes this many words, which are done. */
void log__skip(struct log *l, size_t words);

/* Returns the log that the thread wrote at that time; NULL if there is none. */
struct log *logs__find(const log_vec *logs, uint32_t tid, uint64_t time);
/* Returns the log of a process that was forked then. */
struct log *logs__child(const log_vec *logs, const struct sideband_event *fork);
/* Takes the supervisor's message on a thread's originals (uncertain.h). */
void logs__mark_uncertain(const log_vec *logs, const struct notice *notice);

#endif
