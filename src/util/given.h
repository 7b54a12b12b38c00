/* SPDX-License-Identifier: BSD-2-Clause */
/* given: files that the user names, of any kind. Opening them never waits for ever. */
#ifndef BBTRACE_UTIL_GIVEN_H
#define BBTRACE_UTIL_GIVEN_H

#include <sys/stat.h>
#include "util/util.h"

/* Opens a file; to be wrapped in with_own_rights. A FIFO must have a writer within a second, and
 * bytes within some. st may be NULL. Returns the descriptor, or -errno with a message. */
int file__open_given(const char *name, struct stat *st);
/* As file__read(), for such a file, with the user's own rights. */
int file__read_given(const char *name, size_t limit, char **out, size_t *len);

#endif
