/* SPDX-License-Identifier: BSD-2-Clause */
/* rings: what its files share (rings.c, the side of the thread that reads; counts.c;
 * queue.c, the decoder's). */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_RINGS_PRIVATE_H
#define BBTRACE_SOURCE_INLINE_LOGS_RINGS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "areas.h"
#include "rings.h"

struct rings {
	struct rings_options options;
	int wake; /* eventfd: the thread is to look, or to end */
	bool runs;
	unsigned cpus;
	atomic_ullong hurry; /* ns: until then rings__hurry() */
	atomic_bool cut;
	pthread_t thread;
	struct chunks *chunks;
	struct compressor *expander; /* the decoder's */
	pthread_mutex_t pulling; /* held while the rings are read; protects the following members */
	bool waits;		 /* nothing is kept yet */
	struct compressor *compressor;
	struct areas areas;
	uint64_t *sums;	    /* by counter */
	uint32_t forged_by; /* the last process that rings__see_forged() has reported ... */
	unsigned forged;    /* … and how often it has */

	pthread_mutex_t lock; /* protects the following members, and streams' */
	VEC(struct stream *) streams;
	VEC(struct received) received;
	size_t taken;	      /* of said */
	size_t waiting, held; /* as of streams */
	struct rings_totals totals;
	uint64_t heard; /* ns: all that was reported before was heard */
	uint64_t began; /* ns: before any thread could count */
	bool gone, ends;
	uint32_t answers; /* to what was asked last: a bit for each enum notice_type */
};

/* Copies what the thread has written since, up to position, before that time (ns): of all; of what
 * is wanted of the last (rings_options.tail). */
size_t rings__copy_up_to(struct rings *r, struct stream *s, struct log_ring *ring,
			 uint64_t position, uint64_t time);
void rings__copy_tail(struct rings *r, struct stream *s, struct log_ring *ring, uint64_t position,
		      uint64_t time);
/* Stops reading it, or one that is inconsistent, which is reported. */
void rings__break_off(struct rings *r, struct stream *s);
void rings__give_up_ring(struct rings *r, struct stream *s);
/* Returns true if a thread can be there at that time (ns). */
bool rings__can_be_at(const struct rings *r, const struct stream *s, uint64_t position,
		      uint64_t now);
/* Returns the ring of a thread that continues; NULL if there is nothing to read. */
struct log_ring *rings__open_ring(const struct rings *r, const struct stream *s, uint64_t *base);
/* All that was reported until now; pulling is held. */
void rings__receive_all(struct rings *r);
/* What a chunk takes of the room. */
static inline size_t rings__weight(const struct rings *r, const struct chunk *p)
{
	return r->options.later ? sizeof(*p) + p->bytes : chunk__records(p);
}
/* Something in its log can't be: that is reported, once for its process. */
void rings__see_forged(struct rings *r, struct stream *s);
/* Frees it with what waits of it. */
void stream__free(struct rings *r, struct stream *s);
/* As rings__pull(), for threads that are stopped: reads all, whether there is room or not. */
void rings__pull_whole(struct rings *r);
/* A thread counts on meanwhile: each counter is read once. */
void rings__add_counts(struct rings *r, struct stream *s, const struct log_ring *ring);

#endif
