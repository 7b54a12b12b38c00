/* SPDX-License-Identifier: BSD-2-Clause */
/* rings: what its files share (rings.c, the side of the thread that reads; queue.c, the decoder's).
 */
#ifndef BBTRACE_INLINE_RINGS_PRIVATE_H
#define BBTRACE_INLINE_RINGS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "areas.h"
#include "rings.h"

struct rings {
	struct rings_options options;
	int wake; /* eventfd: the thread is to look, or to end */
	bool runs;
	atomic_bool waits; /* nothing is kept yet */
	pthread_t thread;
	struct pieces *pieces;
	pthread_mutex_t pulling; /* held while the rings are read; protects areas */
	struct areas areas;
	uint64_t *sums; /* by counter; protected by pulling, too */

	pthread_mutex_t lock; /* protects the following members, and streams' */
	VEC(struct stream *) streams;
	VEC(struct said) said;
	size_t told; /* of said */
	size_t waiting;
	struct rings_totals totals;
	bool gone, ends;
};

#endif
