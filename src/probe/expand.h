/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wholes: makes whole records of short ones (struct wire_compact of wire.h), of each thread in the
 * order of the ring.
 */
#ifndef BBTRACE_PROBE_WHOLES_H
#define BBTRACE_PROBE_WHOLES_H

#include <linux/types.h>
#include "util/util.h"
#include "../bpf/wire.h"

struct expander {
	struct map64 by_place; /* cpu << WIRE_TID_BITS | tid -> struct wire_event * */
	size_t kept;	       /* as many were needed when they were looked through last */
	uint64_t key;	       /* of .last */
	struct wire_event *last;
};

/*
 * The record, whole, its size in *size: itself, or room, filled. settled: a time, ns; all
 * records that were made before it have been seen. NULL: what it needs was never seen.
 */
const struct wire_event *expander__record(struct expander *w, const void *record, uint64_t *size,
					  uint64_t settled, struct wire_event *room);
void expander__free(struct expander *w);

#endif
