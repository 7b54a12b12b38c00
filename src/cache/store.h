/* SPDX-License-Identifier: BSD-2-Clause */
/* store: files by key in the cache's folder. Private to src/cache. */
#ifndef BBTRACE_CACHE_STORE_H
#define BBTRACE_CACHE_STORE_H

#include "key.h"

/* Returns true if the file of that key could be read: its content is appended. kind: "plan". */
bool store__find(const struct key *key, const char *kind, struct str *out);
/* A file to be written; NULL if there is none. */
struct writing;
struct writing *store__begin(const struct key *key, const char *kind);
void store__write(void *writing, const void *data, size_t len);
/* Keeps what was written if it is whole, and removes what wasn't used for the longest time. */
void store__end(struct writing *w, bool whole);

#endif
