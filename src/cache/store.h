/* SPDX-License-Identifier: BSD-2-Clause */
/* store: files by key in the cache's folder. Private to src/cache. */
#ifndef BBTRACE_CACHE_STORE_H
#define BBTRACE_CACHE_STORE_H

#include "key.h"

/* Returns true if the file of that key could be read: its content is appended. kind: "plan". */
bool store__find(const struct key *key, const char *kind, struct str *out);
/* Keeps the content, and removes what wasn't used for the longest time. */
void store__put(const struct key *key, const char *kind, const struct str *content);

#endif
