/* SPDX-License-Identifier: BSD-2-Clause */
/* key: what a cached plan, or cached copies, were made from, as a digest. Private to src/cache. */
#ifndef BBTRACE_CACHE_KEY_H
#define BBTRACE_CACHE_KEY_H

#include "copy/copy.h"
#include "plan/packed.h"

#define KEY_SIZE 32 /* bytes of a BLAKE2b digest */

struct key {
	uint8_t bytes[KEY_SIZE];
};

/* Set the key, and the objects that the result may refer to. Return false if there is none: it
 * depends on what isn't known here, or is made as fast as it is read. */
bool key__of_plan(const function_vec *functions, const struct plan_options *o, object_vec *objects,
		  struct key *out);
bool key__of_copies(const struct plan *p, const struct log_options *o, struct key *out);
/* The digest of bytes. */
void key__of_bytes(const void *data, size_t len, struct key *out);

#endif
