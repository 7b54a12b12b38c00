/* SPDX-License-Identifier: BSD-2-Clause */
/* areas: the programs' memory for logs, as it is mapped here. Private to rings.c. */
#ifndef BBTRACE_SOURCE_INLINE_LOGS_AREAS_H
#define BBTRACE_SOURCE_INLINE_LOGS_AREAS_H

#include "source/inline/supervisor/supervisor.h"

struct log_area {
	uint32_t number;
	char *data;
	size_t size;
	uint64_t base; /* running address in its programs */
};

struct areas {
	VEC(struct log_area) all;
	uint64_t slot_size;
};

/* Adds the area of a NOTICE_AREA, with its descriptor; -1 if that was not received. What can't be
 * mapped is reported. */
void areas__add(struct areas *a, const struct notice *notice, int fd);
void areas__drop(struct areas *a, uint32_t number);
/* Returns NULL if there is none. */
struct log_area *areas__find(const struct areas *a, uint32_t number);
/* Returns the ring in a slot; NULL if the area, which may be NULL, has no such slot. */
struct log_ring *areas__ring(const struct areas *a, const struct log_area *area, uint32_t slot);
/* Returns the slot's running address. */
static inline uint64_t areas__base(const struct areas *a, const struct log_area *in, uint32_t slot)
{
	return in->base + slot * a->slot_size;
}
void areas__free(struct areas *a);

#endif
