/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rings: reads the rings that copied functions write to (arch/log.h), and the supervisor's messages
 * about them. A thread of bbtrace's copies the bytes to queues as they come, so that the program
 * seldom waits; the decoder takes them from there. Private to src/source/inline.
 */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_RINGS_H
#define BBTRACE_SOURCE_INLINE_LOGS_RINGS_H

#include "copied_ring.h"
#include "source/inline/supervisor/supervisor.h"

/* What a thread writes, from NOTICE_RING to NOTICE_END. */
struct stream {
	struct notice ring, end; /* end.type NOTICE_RING: it has not ended yet */
	struct chunk *first, *last;
	size_t waiting;		/* bytes of records, also of those that were taken */
	size_t held;		/* what these take of the room (rings_options.max) */
	uint64_t at;		/* position up to which it was read */
	uint64_t complete;	/* ns: all that was written before was read; UINT64_MAX: all */
	uint64_t looked;	/* ns: when a position was last found that can be */
	uint64_t seen, seen_at; /* where its thread was, at most, when it was last looked at, ns */
	uint64_t dropping; /* ns: since when its records are dropped, as was seen; 0: they aren't */
	uint64_t dropped;  /* when it ended: records since it last wrote one */
	uint64_t torn;	   /* ns: since when the ring made no sense; 0: it does */
	bool broken;	   /* its ring doesn't make sense: it is read no more */
	uint64_t full;	   /* ns: since when it has waited, as was seen last; 0: it doesn't */
	uint64_t waited;   /* ns: it was seen to wait so long, at one go between two looks */
	uint64_t *counted; /* its counters, as they were last added to the sums */
	bool forged;	   /* something in its ring was what it can't be */
};

/* A message for the reader; stream: of RING and END. */
struct received {
	struct notice notice;
	struct stream *stream;
};

struct rings;
/*
 * socket: the supervisor's, or -1 if messages come by rings__receive(). second: ticks per second;
 * ticks: reads the counter. max: the bytes that may wait to be taken: of records or, if their
 * consumer is in no hurry (later), of the memory that they take compressed. torn, ns: a ring that
 * is inconsistent for this long is not read any more. Starts the thread.
 */
struct rings_options {
	int socket;
	uint64_t second;
	uint64_t (*ticks)(void);
	size_t max;
	bool later;
	uint64_t torn;
	uint32_t counters; /* of each thread */
	struct log_options log;
	/* Bytes that are wanted of what each thread has written last, at most LOG_RING: threads
	 * don't wait, and overwrite what they have written. 0: all is read as it comes. */
	uint64_t tail;
	bool waits; /* nothing is kept before rings__start() */
};
int rings__open(const struct rings_options *options, struct rings **out);
/* Everything that was reported and written before this call was read, if there is room. */
void rings__pull(struct rings *r);
void rings__start(struct rings *r);
/* With options.tail: reads the last records that each thread has written until now, unless they
 * were read before. Only then are threads read that have not ended. */
void rings__tail(struct rings *r);
/* A message, and the descriptor that came along, which it takes over. */
void rings__receive(struct rings *r, const struct notice *notice, int fd);
/* Takes the next message, in order. Returns false if there is none. */
bool rings__next_received(struct rings *r, struct received *out);
/* The supervisor stays, for threads that can't be stopped: what they log from now on isn't read. */
void rings__give_up(struct rings *r);
/* There are no processes any more, or the supervisor is gone. */
bool rings__gone(struct rings *r);
/* ns: all that any thread wrote before was read, and all that was reported before was heard. */
uint64_t rings__complete(struct rings *r);
/* Stops all threads until rings__go_on(). Returns false if not all could be stopped. */
bool rings__pause(struct rings *r);
void rings__go_on(const struct rings *r);
/* Takes the springboards away, or puts them back. False: not all threads could be stopped, and
 * nothing was done. */
bool rings__set_disarmed(struct rings *r, bool disarmed);
/* What all threads have counted until now: out has an element for each counter. */
void rings__count(struct rings *r, uint64_t *out);
/* Bytes: of all that was read; the most that waited; of what was cut. */
struct rings_totals {
	uint64_t bytes, most, left_out;
};
struct rings_totals rings__totals(struct rings *r);
/* What a thread has done for its log until now. */
struct log_work {
	uint32_t pid;
	uint64_t bytes, counts; /* bytes that it has written; events that it has counted */
	uint64_t waited;	/* ns, for room */
};
void rings__work(struct rings *r, void (*fn)(void *ctx, const struct log_work *w), void *ctx);
/* Bytes of records that wait. */
size_t rings__waiting(struct rings *r);
/* Returns true if threads write so fast that they and the reading thread use all processors, while
 * there is room. Decoding would slow them down then. */
bool rings__hurry(struct rings *r);
/* All its chunks, in order; each is to be given back. */
struct chunk *rings__take(struct rings *r, struct stream *s);
/* A chunk like that, whose data are the words; free() it. */
struct chunk *rings__expand(struct rings *r, const struct chunk *p);
void rings__give_back(struct rings *r, struct stream *s, struct chunk *p);
/* From now on, what waits is counted as lost, not decoded. Async-signal-safe. */
void rings__cut(struct rings *r);
bool rings__is_cut(const struct rings *r);
/* This many further bytes were left out. */
void rings__left_out(struct rings *r, uint64_t bytes);
/* Returns true if nothing is to be taken except what waits now. */
bool rings__is_over(struct rings *r, const struct stream *s);
/* Frees a stream that has ended, and of which all was taken and given back. */
void rings__forget(struct rings *r, struct stream *s);
void rings__close(struct rings *r);

#endif
