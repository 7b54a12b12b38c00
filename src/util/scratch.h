/* SPDX-License-Identifier: BSD-2-Clause */
/* scratch: bytes that don't fit into memory, in a temporary file without a name. */
#ifndef BBTRACE_UTIL_SCRATCH_H
#define BBTRACE_UTIL_SCRATCH_H

#include "util/util.h"

/* Opens such a file; the caller closes it. Sets *dir to the folder that it is in. Returns -errno
 * with a message. */
int scratch__open(const char **dir);

struct scratch;
/* Makes it in the directory that TMPDIR names, or in /var/tmp, or else in /tmp. Returns NULL, with
 * a message, if that isn't possible. */
struct scratch *scratch__new(void);
void scratch__free(struct scratch *s);
/* Appends bytes, and sets *at to their place. Returns -errno with a message if the disk is full. */
int scratch__put(struct scratch *s, const void *data, size_t len, uint64_t *at);
/* Reads bytes that were put. Returns -errno with a message. */
int scratch__get(const struct scratch *s, uint64_t at, void *data, size_t len);

#endif
